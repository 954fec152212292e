"""Decide the author's next step with a survey, which all pages show as one link."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surveys.access import allows
from surveys.formatting import whole
from surveys.models import Survey


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """`route` names a survey page or the target of a button; `note` says what comes later."""

    text: str = ""
    route: str = ""
    fragment: str = ""
    is_posted: bool = False
    note: str = ""


ADD_FIRST_QUESTION = NextStep(text="Add the first question", route="surveys:question_create")
CONTINUE = NextStep(text="Continue the draft", route="surveys:edit")
SEE_WHAT_IS_MISSING = NextStep(
    text="See what is missing", route="surveys:edit", fragment="#before-opening"
)
OPEN = NextStep(text="Open the survey…", route="surveys:launch")
SHARE = NextStep(text="Share the link", route="surveys:share")
LAST_REPORTS = NextStep(note="The last reports are being counted.")
PUBLISH = NextStep(text="Publish a release", route="aggregator:releases")
READ_REPORT = NextStep(text="Read the report", route="aggregator:report")
COPY = NextStep(text="Copy as a new draft", route="surveys:copy", is_posted=True)


def plan_draft(*, questions: int, problems: int | None) -> NextStep:
    """Return the next step for a draft; `problems` is None if their number is unknown."""
    if not questions:
        return ADD_FIRST_QUESTION
    if problems is None:
        return CONTINUE
    return SEE_WHAT_IS_MISSING if problems else OPEN


def plan_launched(
    *, is_open: bool, is_counted: bool, is_shown: bool, awaits_release: bool = False
) -> NextStep:
    """Return the next step after the launch.

    `is_shown` says whether there are enough reports for results, and `awaits_release` says whether
    the survey publishes protected figures but readers have none yet.
    """
    if is_open:
        return SHARE
    if not is_counted:
        return LAST_REPORTS
    if not is_shown:
        return COPY
    return PUBLISH if awaits_release else READ_REPORT


def limit_to_role(step: NextStep, survey: Survey, *, is_draft: bool) -> NextStep:
    """Return the step without its link if the reader's role does not allow it."""
    route = "surveys:questions" if is_draft and step.route == "surveys:edit" else step.route
    if route and not allows(survey, route):
        return replace(step, route="", fragment="", is_posted=False)
    return step


def describe_waiting(*, reports_needed: int, is_shown: bool, at_close: bool = False) -> str:
    """Say when results appear, or after how many more reports they change."""
    if at_close and not is_shown:
        return "Results appear when the survey closes."
    if is_shown:
        return f"Results change after {whole(reports_needed)} more reports."
    return f"Results appear after {whole(reports_needed)} reports."
