"""Export a survey's draft, which stays the same when the survey opens, as a definition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, cast

from django.db import models

from surveys.authoring.drafts import build_manifest, load_draft
from surveys.authoring.variable_names import suggest_name
from surveys.comparing.indicators import indicator_name
from surveys.definition.format import (
    FORMAT,
    QUESTION_KEYS,
    SETTINGS_IN_FILES,
    VERSION,
    Definition,
)
from surveys.definition.schema import build_schema
from surveys.manifest.languages import list_texts
from surveys.manifest.names import item_name, split_name
from surveys.manifest.rules import rename
from surveys.models import Question, Survey


def export_definition(survey: Survey) -> bytes:
    """Return the bytes of the file. The same content always produces the same bytes."""
    return write_definition(build_definition(survey)).encode()


def build_definition(survey: Survey) -> Definition:
    """Build the definition of a draft or launched survey, leaving out default values."""
    load_draft(survey)
    questions = list(survey.questions.all())
    names = name_variables(questions)
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": survey.title,
        "settings": dict(_list_settings(survey)),
        "questions": [_describe_question(question, names) for question in questions],
        "translations": _list_translations(survey),
        "planned_comparisons": [
            [indicator_name(names[str(key)], part) for key, part in plan.answers]
            for plan in survey.planned_comparisons.all()
        ],
        "planned_releases": [
            _leave_out_none(
                {
                    "kind": plan.kind,
                    "questions": [names[str(key)] for key in plan.questions],
                    "epsilon_hundredths": plan.epsilon_hundredths,
                    "answer": plan.answer,
                    "percent": plan.percent,
                    "group": None if plan.group is None else names[str(plan.group)],
                }
            )
            for plan in survey.planned_releases.all()
        ],
    }
    kept = ("title", "questions")
    return cast(Definition, {key: value for key, value in found.items() if value or key in kept})


def name_variables(questions: Sequence[Question]) -> dict[str, str]:
    """Map primary keys to the names of questions.

    Questions of surveys that were opened before names existed get suggested names, as in copies.
    """
    taken = {question.name for question in questions if question.name}
    names: dict[str, str] = {}
    for question in questions:
        if question.described.is_answered:
            name = question.name or suggest_name(question.text, taken=taken)
            names[str(question.pk)] = name
            taken.add(name)
    return names


def _list_settings(survey: Survey) -> Iterator[tuple[str, Any]]:
    for name in SETTINGS_IN_FILES:
        value, stored = getattr(survey, name), Survey._meta.get_field(name)
        assert isinstance(stored, models.Field)
        if value != stored.get_default():
            yield name, _write_value(value)


def _write_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else value


def _describe_question(question: Question, names: Mapping[str, str]) -> dict[str, Any]:
    """Describe a question with the keys of its type."""

    def find_name(key: str) -> str:
        number, item = split_name(key)
        return item_name(names[number], item) if item else names[number]

    known = build_schema()["$defs"][question.type]
    described: dict[str, Any] = {}
    for key, name in QUESTION_KEYS.items():
        if key in known["properties"]:
            described[key] = getattr(question, name)
    if question.described.is_answered:
        described["name"] = names[str(question.pk)]
    if question.rule is not None and "rule" in described:
        described["rule"] = rename(question.rule, find_name)
    if question.same_fact is not None and "same_fact" in described:
        described["same_fact"] = names[str(question.same_fact)]
    if not question.described.is_scrambled:
        del described["flips"]
    needed = known["required"]
    return {
        key: value
        for key, value in described.items()
        if key in needed or value not in (None, False, "", [])
    }


def _list_translations(survey: Survey) -> dict[str, dict[str, str]]:
    """List translations in survey order. Texts no longer in the survey come last."""
    sources = [one.text for one in list_texts(build_manifest(survey=survey, wave_number=1))]
    places = {text: place for place, text in enumerate(sources)}
    return {
        one.language: dict(
            sorted(one.texts.items(), key=lambda pair: (places.get(pair[0], len(places)), pair[0]))
        )
        for one in survey.translations.all()
    }


def _leave_out_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def write_definition(definition: Mapping[str, Any]) -> str:
    """Write a definition with one unit per line, so that comparing two files shows what changed."""
    parts = [f"  {_compact(key)}: {_write_part(key, part)}" for key, part in definition.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _write_part(key: str, part: Any) -> str:
    if key == "questions":
        return _write_lines([_write_members(one, "    ") for one in part], "[]")
    if key in ("planned_comparisons", "planned_releases"):
        return _write_lines(map(_compact, part), "[]")
    if key == "translations":
        blocks = (f"{_compact(code)}: {_write_members(one, '    ')}" for code, one in part.items())
        return _write_lines(blocks, "{}")
    return _write_members(part, "  ") if isinstance(part, dict) else _compact(part)


def _write_lines(lines: Iterable[str], brackets: str, indent: str = "  ") -> str:
    first, last = tuple(brackets)
    inner = f",\n{indent}  ".join(lines)
    return f"{first}\n{indent}  {inner}\n{indent}{last}" if inner else brackets


def _write_members(members: Mapping[str, Any], indent: str) -> str:
    def write(value: Any) -> str:
        if isinstance(value, list):
            return _write_lines(map(_compact, value), "[]", f"{indent}  ")
        return _compact(value)

    lines = (f"{_compact(key)}: {write(value)}" for key, value in members.items())
    return _write_lines(lines, "{}", indent)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
