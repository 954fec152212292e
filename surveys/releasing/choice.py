"""Checks what a protected survey may release, from the manifest alone.

Releases that a draft plans and releases that are requested after the close follow the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from surveys.formatting import cap, join_list, whole
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.releases import ReleaseKind, ReleaseRequest

# A median needs a middle point. For two points, the leader says everything.
LEAST_POINTS = 3
MOST_PLANNED = 20
TWICE = "This release is already planned."
# A key driver has an outcome and at least two predictors.
LEAST_COMPARED = 3
# Kinds offered after the close, and kinds that drafts can plan.
OFFERED = (ReleaseKind.TABLE, ReleaseKind.LEADER, ReleaseKind.MEDIAN)
PLANNABLE = (*OFFERED, ReleaseKind.ALERT, ReleaseKind.KEY_DRIVER)
# With fewer people, noise and scrambling hide all but very large shares.
ALERT_PEOPLE = 3000
MOST_PERCENT = 99
_WITH_ALERT = (QuestionType.YES_NO, QuestionType.CHOICE, QuestionType.SEVERAL)
_WITH_LEADER = (
    QuestionType.CHOICE,
    QuestionType.DECLARED,
    QuestionType.YES_NO,
    QuestionType.SCALE,
    QuestionType.SEVERAL,
)


NOT_PLANNED = (
    "A table by groups must be planned before the survey opens, because it needs counts that are "
    "made at the close."
)


class NotReleasable(Exception):
    """The release was refused, and nothing was charged. The message is for the researcher."""


def list_candidates(manifest: Manifest, kind: ReleaseKind) -> tuple[ManifestQuestion, ...]:
    """List the questions that a release of this kind may be about."""
    if kind == ReleaseKind.KEY_DRIVER:
        return _list_compared(manifest)
    return tuple(question for question in manifest.questions if _is_candidate(question, kind))


def _list_compared(manifest: Manifest) -> tuple[ManifestQuestion, ...]:
    """List the questions to which every report has Yes or No, or none if there are too few."""
    found = tuple(
        question
        for question in manifest.questions
        if question.is_scrambled
        and question.has_only_yes_and_no
        and question.rule is None
        and (manifest.drawn is None or question.name not in manifest.blocks)
    )
    return found if len(found) >= LEAST_COMPARED else ()


def _is_drawn_apart(request: ReleaseRequest, manifest: Manifest) -> bool:
    """Return whether a random subset alone prevents a key driver."""
    everyone = {one.name for one in _list_compared(replace(manifest, drawn=None))}
    return request.kind == ReleaseKind.KEY_DRIVER and everyone.issuperset(request.questions)


def _is_candidate(question: ManifestQuestion, kind: ReleaseKind) -> bool:
    if kind == ReleaseKind.TABLE:
        # The share of a code says nothing about a rounded number, and if the question has other
        # codes, its mean would refer to an unknown group.
        return question.is_answered and not (question.is_rounded and question.has_extra_codes)
    if question.is_rounded:
        return False
    if kind == ReleaseKind.ALERT:
        # The share refers to everyone, so neither a rule nor a gate may leave people out.
        is_of_all = question.rule is None and not question.has_gate
        return question.type in _WITH_ALERT and is_of_all
    if kind == ReleaseKind.LEADER:
        return question.type in _WITH_LEADER
    if kind == ReleaseKind.TYPICAL:
        return False  # drawn by earlier versions only
    return question.described.has_points and question.answers >= LEAST_POINTS


def list_groupings(manifest: Manifest) -> tuple[ManifestQuestion, ...]:
    """List the questions that may divide a table into groups; everyone answers them unscrambled."""
    return tuple(one for one in manifest.questions if one.is_declared and one.rule is None)


def check_request(request: ReleaseRequest, manifest: Manifest) -> ReleaseRequest:
    """Return the request with its questions in the manifest's order; may raise NotReleasable."""
    if not manifest.publishes_releases:
        raise NotReleasable("The label of this survey does not allow protected releases.")
    _check_questions(request, manifest)
    _check_group(request, manifest)
    _check_epsilon(request.epsilon_hundredths, cap=manifest.release_epsilon_hundredths or 0)
    if request.kind == ReleaseKind.ALERT:
        _check_alert(request, manifest)
    kind = ReleaseKind(request.kind)
    known = [one.name for one in manifest.questions]
    return replace(
        request, kind=kind, questions=kind.sort_questions(request.questions, known=known)
    )


def check_requested(request: ReleaseRequest, manifest: Manifest) -> ReleaseRequest:
    """Check a request after the close, as `check_request` does; may raise NotReleasable."""
    request = check_request(request, manifest)
    if request.kind not in OFFERED:
        raise NotReleasable(
            f"A release of the kind {request.kind.label} must be planned before the survey opens."
        )
    # Counts by group are kept only for planned tables. Such a table can be requested again if its
    # release was lost.
    if request.group and request not in (manifest.planned_releases or ()):
        raise NotReleasable(NOT_PLANNED)
    return request


def check_beside(request: ReleaseRequest, others: Iterable[ReleaseRequest]) -> None:
    """Check a request, which is valid on its own, against all other requests of the survey.

    Without this check, someone could draw leaders of one question until they like the answer.
    Without a table's intervals, the certainty of a named answer would be unknown. May raise
    NotReleasable.
    """
    if request.kind == ReleaseKind.KEY_DRIVER:
        _check_outcome(request, others)
    if not request.kind.names_one_answer:
        return
    (name,) = request.questions
    kinds = {other.kind for other in others if name in other.questions and not other.group}
    if request.kind in kinds:
        raise NotReleasable(
            f"Each question can have only one {request.kind.label.lower()}. Otherwise, someone "
            "could draw again until they like the answer."
        )
    if ReleaseKind.TABLE not in kinds:
        raise NotReleasable(
            f"A {request.kind.label.lower()} needs a table of the same question for everyone "
            "together, whose intervals show how sure this answer is. Choose that table "
            "first."
        )


def _check_outcome(request: ReleaseRequest, others: Iterable[ReleaseRequest]) -> None:
    outcomes = {one.questions[:1] for one in others if one.kind == ReleaseKind.KEY_DRIVER}
    if request.questions[:1] in outcomes:
        raise NotReleasable(
            "Each question can be the outcome of only one key driver. Otherwise, someone could "
            "draw again until they like the answer."
        )


def check_planned(request: ReleaseRequest, manifest: Manifest) -> ReleaseRequest:
    """Check one more release that a draft plans; may raise NotReleasable."""
    request = check_request(request, manifest)
    planned = manifest.planned_releases or ()
    if len(planned) >= MOST_PLANNED:
        raise NotReleasable(f"You can plan {MOST_PLANNED} releases at most. Remove one first.")
    if request in planned:
        raise NotReleasable(TWICE)
    check_beside(request, planned)
    left = (manifest.release_epsilon_hundredths or 0) - add_up_planned(manifest)
    if request.epsilon_hundredths > left:
        raise NotReleasable(
            f"Only ε = {cap(max(0, left))} of the cap is left for this release. Choose a smaller "
            "ε, remove a planned release, or raise the cap in the settings."
        )
    return request


def find_planned_problem(request: ReleaseRequest, manifest: Manifest) -> str:
    """Say why a planned release cannot be made, or return an empty string if it can.

    The draft may have changed since the release was planned. The cost of all planned releases
    together is checked elsewhere.
    """
    planned = manifest.planned_releases or ()
    place = planned.index(request)
    if planned.count(request) > 1:  # two tables differed only in a deleted question
        return TWICE
    try:
        check_request(request, manifest)
        check_beside(request, (*planned[:place], *planned[place + 1 :]))
    except NotReleasable as problem:
        return str(problem)
    return ""


def describe_planned_excess(manifest: Manifest) -> str:
    """Return a message if the planned releases together cost more than the cap, otherwise ""."""
    most, planned = manifest.release_epsilon_hundredths or 0, add_up_planned(manifest)
    if planned <= most:
        return ""
    return (
        f"The planned releases cost ε = {cap(planned)} together, and the cap is {cap(most)}. "
        "Remove some of them, or raise the cap in the settings."
    )


def add_up_planned(manifest: Manifest) -> int:
    """Return the cost of all planned releases together, in hundredths of ε."""
    return sum(one.epsilon_hundredths for one in manifest.planned_releases or ())


def _check_questions(request: ReleaseRequest, manifest: Manifest) -> None:
    if not request.questions:
        raise NotReleasable("Choose at least one question.")
    if len(set(request.questions)) < len(request.questions):
        raise NotReleasable("Choose each question only once.")
    if request.kind not in PLANNABLE:
        raise NotReleasable("Murmur cannot make a release of this kind.")
    known = {one.name: one for one in manifest.questions}
    unknown = [name for name in request.questions if name not in known]
    if unknown:
        raise NotReleasable(f"This survey has no question {join_list(unknown)}.")
    candidates = {one.name for one in list_candidates(manifest, ReleaseKind(request.kind))}
    unfit = [known[name].called for name in request.questions if name not in candidates]
    if unfit:
        why = ", which some people are not asked" if _is_drawn_apart(request, manifest) else ""
        raise NotReleasable(f"A release of this kind cannot be about {join_list(unfit)}{why}.")
    if request.kind == ReleaseKind.KEY_DRIVER:
        if len(request.questions) < LEAST_COMPARED:
            raise NotReleasable("Choose an outcome and at least two other questions.")
    elif request.kind != ReleaseKind.TABLE and len(request.questions) > 1:
        raise NotReleasable("Choose one question.")


def _check_alert(request: ReleaseRequest, manifest: Manifest) -> None:
    (question,) = (one for one in manifest.questions if one.name in request.questions)
    if request.answer not in {option.code for option in question.options}:
        raise NotReleasable(f"Choose an answer to Q{question.number} for the alert.")
    percent = request.percent
    if type(percent) is not int or not 1 <= percent <= MOST_PERCENT:
        raise NotReleasable(f"The share of an alert must be from 1 to {MOST_PERCENT} percent.")
    if (manifest.people_planned or 0) < ALERT_PEOPLE:
        raise NotReleasable(
            f"An alert needs at least {whole(ALERT_PEOPLE)} people. Set how many you expect in the "
            "settings, or plan a table instead."
        )


def _check_group(request: ReleaseRequest, manifest: Manifest) -> None:
    if not request.group:
        return
    if request.kind != ReleaseKind.TABLE:
        raise NotReleasable("Only a table can have groups.")
    if request.group not in {one.name for one in list_groupings(manifest)}:
        raise NotReleasable("Groups must be the answers to a background question of this survey.")
    if request.group in request.questions:
        raise NotReleasable("A question cannot both be in the table and form its groups.")


def _check_epsilon(hundredths: int, *, cap: int) -> None:
    if isinstance(hundredths, bool) or not isinstance(hundredths, int) or hundredths < 1:
        raise NotReleasable("ε must be at least 0.01, in steps of 0.01.")
    if hundredths > cap:
        raise NotReleasable(
            f"ε can be {cap / HUNDREDTHS:.2f} at most, which is all that this survey may publish."
        )
