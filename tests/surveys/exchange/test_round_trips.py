"""Drafts exported to XLSForm or REDCap can be read back as far as the formats allow."""

from __future__ import annotations

import csv
import io
import random
import warnings
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest
from openpyxl import load_workbook
from pyxform.xls2xform import convert

from surveys.definition.checking import check_definition
from surveys.downloads import FORMULA_STARTS
from surveys.exchange.reading.questions import TYPES_IN_GRIDS
from surveys.exchange.writing.redcap import write_dictionary
from surveys.exchange.writing.rows import build_rows
from surveys.exchange.writing.xlsform import write_xlsform
from tests.support.exported_scores import list_questions
from tests.support.questionnaires import read

HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "-2",
    "مرحبا \u200fعالم",
    '<img src=x onerror="alert(1)">',
    "${ever}",
    "[ever]",
    "a | b, c",
    "’quoted’ “text”",
    "not in XML: \ufffe\uffff",
)


def make_definition(seed: int) -> dict[str, Any]:
    """Make a draft that both formats can express; none of its answers looks like Murmur's own."""
    chance = random.Random(seed)
    questions: list[dict[str, Any]] = []
    for at in range(chance.randint(1, 12)):
        letter = "abcdefghijkl"[at]
        kind = chance.choice(
            [
                "yes_no",
                "choice",
                "several",
                "scale",
                "number",
                "follow_up",
                "information",
                "declared",
            ]
        )
        one: dict[str, Any] = {"type": kind, "text": f"Text {letter} (of {seed})?"}
        if kind != "information":
            one["name"] = f"item_{letter}"
        if chance.random() < 0.3 and kind != "information":
            one["source_name"] = f"ITEM_{letter.upper()}"
        if kind not in ("information", "declared"):
            one["flips"] = chance.choice([10, 15, 25, 30])
            earlier = [q for q in questions if q["type"] not in ("information", "declared")]
            if earlier and chance.random() < 0.2:
                one["same_fact"] = chance.choice(earlier)["name"]
        if kind in ("choice", "several", "declared"):
            count = chance.randint(3, 6)
            one["options"] = [f"Option {letter}{number}" for number in range(count)]
            if kind == "several" and chance.random() < 0.5:
                one["limit"] = chance.randint(1, count - 1)
        if kind == "scale":
            low = chance.choice([0, 1, -2])
            one |= {"minimum": low, "maximum": low + chance.randint(2, 10)}
            if chance.random() < 0.7:
                one |= {"low_label": f"Least {letter}", "high_label": f"Most {letter}"}
        if kind == "number":
            one |= {"minimum": chance.choice([0, -5]), "maximum": chance.randint(2, 300)}
            if chance.random() < 0.5:
                one["unit"] = chance.choice(["hours a day", "kg_m2", "a %5F_b %"])
        if kind == "follow_up":
            one["follow_up"] = f"And then {letter}?"
        if kind != "information" and chance.random() < 0.3:
            one["refusal"] = True
        if kind != "declared" and chance.random() < 0.5:
            rule = make_rule(chance, questions)
            if rule:
                one["rule"] = rule
        questions.append(one)
        if kind in TYPES_IN_GRIDS and chance.random() < 0.4:
            twin = {"name": f"item_{letter}_2", "text": f"And text {letter}?", "together": True}
            questions.append({name: one[name] for name in one if name != "source_name"} | twin)
    return {
        "format": "murmur-definition",
        "version": 1,
        "title": f"Draft {seed}",
        "settings": {},
        "questions": questions,
    }


def make_rule(chance: random.Random, questions: list[dict[str, Any]]) -> dict[str, Any] | None:
    leaves: list[dict[str, Any]] = []
    for question in questions:
        name, kind = question.get("name"), question["type"]
        if kind in ("yes_no", "choice", "declared"):
            leaves.append({"name": name, "is": [chance.randrange(2)]})
        if kind == "choice":
            leaves.append({"name": name, "is": [0, 2]})
        if kind == "several":
            leaves.append({"name": f"{name}_2", "is": [1]})
        if kind == "scale" and question["maximum"] - question["minimum"] < 7:
            leaves.append({"name": name, "is": [1, 2]})
        if kind == "follow_up":
            leaves.append({"name": name, "is": chance.choice([[0], [1], [2], [1, 2]])})
    if not leaves:
        return None
    first = chance.choice(leaves)
    if chance.random() < 0.3:
        return {"not": first}
    other = chance.choice(leaves)
    if (
        other["name"].rpartition("_")[0] != first["name"].rpartition("_")[0]
        and chance.random() < 0.5
    ):
        return {chance.choice(["all", "any"]): [first, other]}
    return first


def list_valid(first: int, number: int) -> Iterator[dict[str, Any]]:
    """Yield definitions whose rules can hold; the others could not be drafts."""
    made = (make_definition(seed) for seed in count(first))
    return islice((one for one in made if not check_definition(one).problems), number)


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.long)])
def test_drafts_come_back_from_both_formats(first: int) -> None:
    for definition in list_valid(first, 25):
        workbook = read(write_xlsform(definition, form_id="abc"))
        assert list_questions(workbook.definition) == list_questions(definition)
        dictionary = read(write_dictionary(definition))
        for question in definition["questions"]:
            question.pop("source_name", "")  # a dictionary has names in lower case
        assert list_questions(dictionary.definition) == list_questions(definition)


def test_marks_without_effect_make_no_rows() -> None:
    """The marks are on numbers, and on a question after a follow-up that has the same answers."""
    marked = {"flips": 25, "together": True}
    then = {"type": "follow_up", "name": "a", "text": "A?", "follow_up": "And?", "flips": 25}
    others = {"b": {"type": "yes_no"}, "c": {"type": "number"}, "d": {"type": "number"}}
    ends = {"minimum": 0, "maximum": 9}
    questions = [
        {"name": name, "text": "?", **marked, **ends, **one} for name, one in others.items()
    ]
    rows = build_rows({"questions": [then, *questions]}).rows
    assert [row.grid for row in rows] == [""] * 5


def test_translations_title_and_agreement_come_back_from_an_xlsform() -> None:
    definition = make_definition(1) | {
        "settings": {"language": "de", "consent": "Ich mache mit.\n\nFreiwillig."},
        "questions": [
            {"type": "choice", "name": "a", "text": "Was?", "options": ["Eins", "Zwei", "Drei"]}
            | {"flips": 25},
            {"type": "yes_no", "name": "b", "text": "Ja?", "flips": 25},
        ],
        "translations": {
            "en": {"Was?": "What?", "Eins": "One", "Ich mache mit.\n\nFreiwillig.": "I join."},
            "zh-hans": {"Was?": "什么？"},
            "ar": {"Eins": "واحد"},
        },
    }
    found = read(write_xlsform(definition, form_id="abc")).definition
    for key in ("title", "settings", "translations"):
        assert found[key] == definition[key]


def test_pyxform_accepts_the_workbooks_without_a_warning(tmp_path: Any) -> None:
    path = tmp_path / "form.xlsx"
    for definition in list_valid(0, 8):
        definition |= {"translations": {"de": {definition["questions"][0]["text"]: "Ein Text"}}}
        path.write_bytes(write_xlsform(definition, form_id="abc"))
        told: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about that package
            convert(str(path), warnings=told)
        assert told == []


@pytest.mark.parametrize("text", [*HOSTILE, "\uff1d1", "a;=1"])
def test_markup_and_formulas_stay_texts(text: str) -> None:
    question = {"type": "choice", "name": "a", "text": f"{text}?", "options": [text, "b", "c"]}
    definition = make_definition(0) | {"title": text, "questions": [question | {"flips": 25}]}
    book = load_workbook(io.BytesIO(write_xlsform(definition, form_id="abc")))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert all(cell.value is None for cell in cells if cell.data_type == "n")
    rows = csv.reader(io.StringIO(write_dictionary(definition).decode("utf-8-sig"), newline=""))
    parts = [part for row in rows for cell in row for part in cell.split(";")]
    assert not any(part.startswith(FORMULA_STARTS) for part in parts)
