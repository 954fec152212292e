"""Compares two definitions, unit by unit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from surveys.definition.format import SETTINGS_IN_FILES
from surveys.definition.schema import build_schema
from surveys.manifest.languages import name_language
from surveys.manifest.question_types import TYPES
from surveys.models.settings import SETTINGS

Kind = Literal["Added", "Removed", "Changed", "Moved"]
Value = tuple[str, str, str]  # the name of the part, the old value and the new value


@dataclass(frozen=True, kw_only=True)
class Change:
    """A unit that differs, with the old and new `values` of the parts that differ."""

    kind: Kind
    unit: str
    values: tuple[Value, ...]


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """List the differences in definition order. A stated default equals an omitted value."""
    before, after = _list_units(old), _list_units(new)
    changes = [
        _describe(unit, before.get(unit), after.get(unit))
        for unit in {**before, **after}
        if before.get(unit) != after.get(unit)
    ]
    return [*changes, *_find_moved(old, new)]


def _describe(unit: str, old: Mapping[str, str] | None, new: Mapping[str, str] | None) -> Change:
    before, after = old or {}, new or {}
    kind: Kind = "Added" if old is None else "Removed" if new is None else "Changed"
    values = tuple(
        (name, before.get(name, ""), after.get(name, ""))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    )
    return Change(kind=kind, unit=unit, values=values)


def _list_units(definition: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Map each unit to the values of its parts, in words."""
    units = {"Title": {"": str(definition["title"])}}
    known = build_schema()["properties"]["settings"]["properties"]
    settings = definition.get("settings", {})
    for name in SETTINGS_IN_FILES:
        value = settings.get(name, known[name]["default"])
        if value != known[name]["default"]:
            units[_call_setting(name)] = {"": _write(value)}
    for question in definition["questions"]:
        units[_call_question(question)] = _list_values(question)
    for code, texts in definition.get("translations", {}).items():
        for text, words in texts.items():
            units[f"{name_language(code)}: {text}"] = {"": words}
    for plan in definition.get("planned_comparisons", ()):
        units[f"Planned comparison of {', '.join(plan)}"] = {"": ""}
    for release in definition.get("planned_releases", ()):
        asked = ", ".join(release["questions"])
        units[f"Planned {release['kind'].replace('_', ' ')} of {asked}"] = {
            _call(key): _write(value) for key, value in release.items() if key != "questions"
        }
    return units


def _call_setting(name: str) -> str:
    return SETTINGS[name].label if name in SETTINGS else _call(name)


def _call(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _call_question(question: Mapping[str, Any]) -> str:
    """Name a question. An information text has no name, so a changed text counts as a new one."""
    return f"Question {question['name']}" if "name" in question else f"Text: {question['text']}"


def _list_values(question: Mapping[str, Any]) -> dict[str, str]:
    needed = build_schema()["$defs"][question["type"]]["required"]
    is_scrambled = TYPES[question["type"]].is_scrambled
    return {
        _call(key): _write(value)
        for key, value in question.items()
        if (key in needed or value not in (None, False, "", []))
        and (key != "flips" or is_scrambled)
        and key != "name"
    }


def _write(value: Any) -> str:
    """Write a value for people. A list has one entry per line. A rule is written as in the file."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_write, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _find_moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Compare the order of the questions that both definitions have."""
    before, after = (list(map(_call_question, one["questions"])) for one in (old, new))
    first, second = _keep(before, after), _keep(after, before)
    if first != second:
        values = ("", "\n".join(first), "\n".join(second))
        yield Change(kind="Moved", unit="Order of the questions", values=(values,))


def _keep(names: Sequence[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name in known]
