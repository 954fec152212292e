"""Describes in words, for authors, what a survey may release."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from django.utils.translation import ngettext

from surveys.formatting import join_list, whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import MOST_POINTS_WITH_SHARES, ManifestQuestion
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import list_candidates

MOST_NAMED = 5  # questions in the name of a table
_NAMES = {
    # Translators: "questions" is "Q1", "Q1 and Q4" or "7 questions", in all of these.
    ReleaseKind.TABLE: noop("Table of %(questions)s"),
    ReleaseKind.LEADER: noop("Leader of %(questions)s"),
    ReleaseKind.MEDIAN: noop("Median of %(questions)s"),
    ReleaseKind.KEY_DRIVER: noop("Key driver of %(outcome)s among %(questions)s"),
    ReleaseKind.TYPICAL: noop("Typical answer of %(questions)s"),
    ReleaseKind.ALERT: noop("Alert: more than %(percent)s %% “%(answer)s” to %(questions)s"),
}


@dataclass(frozen=True, kw_only=True)
class KindWords:
    about: str  # what readers get
    heading: str
    choose: str  # what the form asks for
    nothing: str  # why no question of a survey fits
    unfit: str  # requirements; shown if some questions do not fit
    usual_hundredths: int


KINDS = {
    ReleaseKind.TABLE: KindWords(
        about="The share of every answer, and means of numbers, with intervals.",
        heading="Publish a table",
        choose="Questions in the table",
        nothing="No question of this survey fits.",
        unfit="a table has no mean of a number that some people are not asked or may decline",
        usual_hundredths=100,
    ),
    ReleaseKind.LEADER: KindWords(
        about="Which answer to one question leads, without any count.",
        heading="Publish a leader",
        choose="Question",
        nothing="No question of this survey has answers to choose from.",
        unfit="a leader needs answers to choose from, or a scale of up to "
        f"{MOST_POINTS_WITH_SHARES} points",
        usual_hundredths=50,
    ),
    ReleaseKind.MEDIAN: KindWords(
        about="The middle answer on a rating scale: half of the people gave it or a lower one.",
        heading="Publish a median",
        choose="Rating scale",
        nothing=f"This survey has no rating scale of 3 to {MOST_POINTS_WITH_SHARES} points.",
        unfit=f"a median needs a rating scale of 3 to {MOST_POINTS_WITH_SHARES} points",
        usual_hundredths=50,
    ),
    ReleaseKind.ALERT: KindWords(
        about=(
            "A message as soon as more than a given share of people gave an answer, and nothing "
            "before. Murmur looks once a day for up to a year, and at the close."
        ),
        heading="Publish an alert",
        choose="Answer",
        nothing="No question of this survey has answers to choose from that everyone is asked.",
        unfit="an alert needs answers to choose from, and a question without a rule",
        usual_hundredths=50,
    ),
    ReleaseKind.KEY_DRIVER: KindWords(
        about="Which answer best predicts a chosen answer, and for how many people it is right.",
        heading="Publish a key driver",
        choose="Predictors",
        nothing="This survey has fewer than three yes/no questions that everyone answers.",
        unfit="a key driver needs scrambled yes/no questions that everyone answers",
        usual_hundredths=50,
    ),
}


def describe_unfit(manifest: Manifest, kind: ReleaseKind) -> str:
    """Say which questions are not offered, and why; return an empty string if all are offered."""
    offered = list_candidates(manifest, kind)
    missing = [one for one in manifest.questions if one.is_answered and one not in offered]
    if not missing:
        return ""
    names = join_list([f"Q{one.number}" for one in missing])
    return f"Not offered: {names}, because {KINDS[kind].unfit}."


def find_questions(manifest: Manifest, request: ReleaseRequest) -> tuple[ManifestQuestion, ...]:
    """Return the questions that a release is about, in the order of the request."""
    known = {one.name: one for one in manifest.questions}
    return tuple(known[name] for name in request.questions if name in known)


def _find_answer(manifest: Manifest, request: ReleaseRequest) -> str:
    """Return the answer that an alert is about, or "?" if the draft no longer has it."""
    (question,) = find_questions(manifest, request)
    return {option.code: option.text for option in question.options}.get(request.answer or 0, "?")


def find_group(manifest: Manifest, request: ReleaseRequest) -> ManifestQuestion | None:
    """Return the question whose answers are a table's groups, or None for everyone together."""
    return next((one for one in manifest.questions if one.name == request.group), None)


def name_request(manifest: Manifest, request: ReleaseRequest) -> str:
    """Name a release in a list: Table of Q1 and Q4 by Q5; Key driver of Q1 among Q2 and Q4."""
    numbers = [name_question(one) for one in find_questions(manifest, request)]
    outcome = ""
    if request.kind == ReleaseKind.KEY_DRIVER and numbers:
        outcome, *numbers = numbers
    questions = (
        join_list(numbers)
        if len(numbers) <= MOST_NAMED
        else ngettext("%(count)s question", "%(count)s questions", len(numbers))
        % {"count": whole(len(numbers))}
    )
    found = {"questions": questions, "outcome": outcome}
    if request.kind == ReleaseKind.ALERT:
        found |= {"percent": str(request.percent), "answer": _find_answer(manifest, request)}
    group = find_group(manifest, request)
    if group is not None:
        found["group"] = name_question(group)
        return _("Table of %(questions)s by %(group)s") % found
    return _(_NAMES[request.kind]) % found


def name_question(question: ManifestQuestion) -> str:
    # Translators: short for "Question 3".
    return _("Q%(number)s") % {"number": question.number}
