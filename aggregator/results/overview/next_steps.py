"""What the author of a survey does next: one link, decided here for all pages."""

from __future__ import annotations

from dataclasses import dataclass

from surveys.formatting import whole


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """`route` is a page of the survey, or what a button posts to; `note` says what comes later."""

    text: str = ""
    route: str = ""
    fragment: str = ""
    is_posted: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a launched survey has come, as of its newest look."""

    is_open: bool
    is_scheduled: bool = False
    is_counted: bool = False  # closed, and every report counts
    sealed: int = 0
    first_look: int = 0  # how many reports must come before the first numbers
    next_look: int = 0  # how many more must be sealed before the numbers move
    is_shown: bool = False  # enough reports for results


ADD_FIRST_QUESTION = NextStep(text="Add the first question", route="surveys:question_create")
CONTINUE = NextStep(text="Continue the draft", route="surveys:edit")
SEE_WHAT_IS_MISSING = NextStep(
    text="See what is missing", route="surveys:edit", fragment="#before-opening"
)
OPEN = NextStep(text="Open the survey…", route="surveys:launch")
LAST_REPORTS = NextStep(note="The last reports are being counted.")
READ_REPORT = NextStep(text="Read the report", route="aggregator:report")
COPY = NextStep(text="Copy as a new draft", route="surveys:copy", is_posted=True)


def plan_draft(*, questions: int, problems: int | None) -> NextStep:
    """Return the next step of a draft; `problems` is None where nobody has looked for them."""
    if not questions:
        return ADD_FIRST_QUESTION
    if problems is None:
        return CONTINUE
    return SEE_WHAT_IS_MISSING if problems else OPEN


def plan_launched(progress: Progress) -> NextStep:
    if progress.is_open:
        return NextStep(
            text="Share the link", route="surveys:share", note=_describe_waiting(progress)
        )
    if not progress.is_counted:
        return LAST_REPORTS
    return READ_REPORT if progress.is_shown else COPY


def _describe_waiting(progress: Progress) -> str:
    if progress.is_scheduled:
        return ""
    if not progress.sealed:
        return f"The first numbers come after {whole(progress.first_look)} reports."
    return f"The numbers move after {whole(progress.next_look)} more reports."
