"""List what a change altered in a draft: settings, questions, translations and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from surveys.authoring.answer_options import call_all
from surveys.authoring.rule_text import write_rule
from surveys.formatting import moment
from surveys.history.recording import Change
from surveys.manifest.languages import NAMES as LANGUAGES
from surveys.manifest.releases import ReleaseKind
from surveys.models import Question, Survey
from surveys.models.settings import SETTING_NAMES, SETTINGS

Key = tuple[Any, ...]
ORDER: Key = ("order",)
_EMPTY: tuple[Any, ...] = (None, "", [])
_NAMES = {
    "order": "order of questions",
    "language": "language",
    "comparison": "planned comparison",
    "release": "planned release",
}
_SHOWN_LETTERS = 60  # the number of characters shown of the original text of a translation


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Everything that an author decides, keyed by part of the draft.

    All values are compared, but only those that differ are put into words.
    """

    values: Mapping[Key, Any]
    questions: Sequence[Question]

    @cached_property
    def called(self) -> Mapping[str, str]:
        return call_all(self.questions)


def read_draft(survey: Survey) -> Draft:
    questions = list(survey.questions.all())
    values: dict[Key, Any] = {("setting", name): getattr(survey, name) for name in SETTING_NAMES}
    for question in questions:
        for name in Question.CONTENT:
            values["question", question.pk, name] = getattr(question, name)
    values[ORDER] = [question.pk for question in questions]
    for translation in survey.translations.all():
        values["language", translation.language] = True
        for source, text in translation.texts.items():
            values["text", translation.language, source] = text
    for plan in survey.planned_comparisons.all():
        values["comparison", plan.pk] = plan.answers
    for release in survey.planned_releases.all():
        about = (release.group, release.answer, release.percent)
        shown = (release.kind, release.questions, release.epsilon_hundredths)
        values["release", release.pk] = (*shown, *about)
    return Draft(values=values, questions=questions)


def _name(key: Key, draft: Draft) -> str:
    match key:
        case "setting", name:
            return SETTINGS[name].label if name in SETTINGS else name.replace("_", " ")
        case "question", pk, name:
            return f"{draft.called[str(pk)]}: {name.replace('_', ' ')}"
        case "text", language, source:
            return f"{LANGUAGES[language]}: {source[:_SHOWN_LETTERS]}"
    return _NAMES[key[0]]


def _show(key: Key, draft: Draft) -> Any:
    """Write a value as the history shows it, or return None if there is no value."""
    value, called = draft.values.get(key), draft.called
    if value is None:
        return None
    match key:
        case "question", _, "type":
            return Question.Type(value).label
        case "question", _, "rule":
            return write_rule(value, questions=draft.questions)
        case "question", _, "same_fact":
            return called.get(str(value))
        case "language", language:
            return LANGUAGES[language]
        case "comparison", _:
            parts = [
                called.get(str(one), "?") + (f" ({part})" if part else "") for one, part in value
            ]
            return ", ".join(parts)
        case "release", _:
            kind, questions, hundredths, *_ = value
            names = ", ".join(called.get(str(one), "?") for one in questions)
            return f"{ReleaseKind(kind).label}, {names}, ε {hundredths / 100:.2f}"
    return moment(value) if isinstance(value, datetime) else value


def compare_drafts(before: Draft, after: Draft) -> list[Change]:
    """List the changed values, before and after the change. None stands for a missing value."""
    changes: list[Change] = []
    for key in dict.fromkeys([*before.values, *after.values]):
        if key == ORDER:
            changes += _compare_order(before, after)
        elif _differ(key, before.values, after.values):
            name = _name(key, after if key in after.values else before)
            changes.append((name, _show(key, before), _show(key, after)))
    return changes


def _differ(key: Key, before: Mapping[Key, Any], after: Mapping[Key, Any]) -> bool:
    """Return whether two values differ, where an empty value counts as a missing one."""
    if key in before and key in after:
        return bool(before[key] != after[key])
    only = (after if key in after else before)[key]
    return only is not False and only not in _EMPTY  # 0 is a value


def _compare_order(before: Draft, after: Draft) -> list[Change]:
    """If the order has changed, list the remaining questions in both orders by their old names."""
    was, now = before.values[ORDER], after.values[ORDER]
    old = [before.called[str(pk)] for pk in was if pk in now]
    new = [before.called[str(pk)] for pk in now if pk in was]
    return [] if old == new else [(_NAMES["order"], old, new)]
