"""One question as respondents read it, in the survey's language, for its preview."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext, override

from surveys.manifest.languages import direction, language_tag
from surveys.manifest.questions import NONE_TEXT, REFUSED_TEXT, ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class Phone:
    """The words on the page. `control` is the type of the inputs, or "" if there are none.

    If `control` is `tap`, each answer is a button that also goes on, so `go_on` is empty, unless
    the survey asks people to confirm each answer. Every item of a scale has the `shared` answers.
    """

    tag: str
    direction: str
    control: str
    answers: tuple[str, ...]
    unit: str
    follow_up: str
    follow_up_answers: tuple[str, ...]
    items: tuple[str, ...]
    shared: tuple[str, ...]
    go_on: str


def describe_phone(question: ManifestQuestion, *, language: str, confirms: bool) -> Phone:
    control, score = _find_control(question), None if question.is_second else question.score
    is_quick = control == "tap" and not confirms
    with override(language):
        extras = [NONE_TEXT] * question.has_items + [REFUSED_TEXT] * (
            question.refusal and not question.is_second
        )
        yes_no = (gettext("Yes"), gettext("No")) if question.described.has_follow_up else ()
        return Phone(
            tag=language_tag(language),
            direction=direction(language),
            control=control,
            answers=(*(yes_no or _list_answers(question)), *map(gettext, extras)),
            unit=question.unit,
            follow_up=question.follow_up,
            follow_up_answers=yes_no,
            items=tuple(item.text for item in score.items) if score else (),
            shared=tuple(one.text for one in score.options) if score else (),
            go_on="" if is_quick or question.is_second else gettext("Continue"),
        )


def _find_control(question: ManifestQuestion) -> str:
    described = question.described
    if not described.is_answered or question.is_second:  # a second code has no page
        return ""
    if question.score is not None:
        return "radio"
    if described.has_range and not described.has_points:
        return "number"
    return "checkbox" if described.has_items else "tap"


def _list_answers(question: ManifestQuestion) -> tuple[str, ...]:
    if question.score is not None:
        return ()
    if not question.described.has_points:
        return tuple(option.text for option in question.options)
    assert question.minimum is not None
    assert question.maximum is not None
    ends = {question.minimum: question.low_label, question.maximum: question.high_label}
    return tuple(
        f"{point} ({ends[point]})" if ends.get(point) else str(point)
        for point in range(question.minimum, question.maximum + 1)
    )
