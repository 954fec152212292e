"""What a change to a draft changed: every setting, question, translation and plan that differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surveys.authoring.answer_options import call_all
from surveys.authoring.rule_text import write_rule
from surveys.history.recording import Change
from surveys.models import Question, Survey
from surveys.models.settings import SETTING_NAMES, SETTINGS

ORDER = ("order",)
_EMPTY: tuple[Any, ...] = (None, "", False, [])
_SHOWN_LETTERS = 60  # of a text that a translation belongs to


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One value of a draft. Values are compared; `shown` is what the history says of them."""

    name: str
    value: Any
    shown: Any


Draft = Mapping[tuple[Any, ...], Fact]


def describe_draft(survey: Survey) -> Draft:
    """List everything that an author decides, by what it belongs to."""
    questions = list(survey.questions.all())
    called = call_all(questions)
    facts: dict[tuple[Any, ...], Fact] = {}

    def add(key: tuple[Any, ...], name: str, value: Any, shown: Any = None) -> None:
        facts[key] = Fact(name=name, value=value, shown=value if shown is None else shown)

    for name in SETTING_NAMES:
        label = SETTINGS[name].label if name in SETTINGS else name.replace("_", " ")
        add(("setting", name), label, getattr(survey, name))
    for question in questions:
        for name in Question.CONTENT:
            label = f"{called[str(question.pk)]}: {name.replace('_', ' ')}"
            value = getattr(question, name)
            add((question.pk, name), label, value, _show(name, value, questions, called))
    add(ORDER, "order of questions", {one.pk: called[str(one.pk)] for one in questions})
    for translation in survey.translations.all():
        language = translation.get_language_display()
        add(("language", translation.language), "language", True, language)
        for source, text in translation.texts.items():
            label = f"{language}: {source[:_SHOWN_LETTERS]}"
            add(("language", translation.language, source), label, text)
    for plan in survey.planned_comparisons.all():
        parts = [
            called.get(str(key), "?") + (f" ({part})" if part else "") for key, part in plan.answers
        ]
        add(("comparison", plan.pk), "planned comparison", plan.answers, ", ".join(parts))
    for release in survey.planned_releases.all():
        answer = (release.answer, release.percent)
        values = (release.questions, release.group, release.epsilon_hundredths, answer)
        names = ", ".join(called.get(str(key), "?") for key in release.questions)
        shown = f"{release.get_kind_display()}, {names}, ε {release.epsilon_hundredths / 100:.2f}"
        add(("release", release.pk), "planned release", values, shown)
    return facts


def _show(name: str, value: Any, questions: list[Question], called: Mapping[str, str]) -> Any:
    """Write questions as pages call them, where a value has their keys."""
    if value is None:
        return None
    if name == "type":
        return Question.Type(value).label
    if name == "rule":
        return write_rule(value, questions=questions)
    return called.get(str(value)) if name == "same_fact" else value


def compare_drafts(before: Draft, after: Draft) -> list[Change]:
    """List what differs, with the values before and after; None where there was nothing."""
    changes: list[Change] = []
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if key == ORDER:
            changes += _compare_order(before[key].value, after[key].value)
        elif _differ(old, new):
            name = new.name if new else before[key].name
            changes.append((name, old and old.shown, new and new.shown))
    return changes


def _differ(old: Fact | None, new: Fact | None) -> bool:
    """Whether two values differ; an empty one is as good as none."""
    if old is not None and new is not None:
        return bool(old.value != new.value)
    only = old or new
    return only is not None and only.value not in _EMPTY


def _compare_order(before: Mapping[int, str], after: Mapping[int, str]) -> list[Change]:
    """Say how the questions that stayed were moved, by the names that they had before."""
    old = [name for pk, name in before.items() if pk in after]
    new = [before[pk] for pk in after if pk in before]
    return [] if old == new else [("order of questions", old, new)]
