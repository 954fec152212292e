"""Columns and codes of reports.csv match what people were asked; no code is ambiguous."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from aggregator.background.levels import Level, Levels
from aggregator.exports.report_codes import CodeKind, ReportColumn, list_columns
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.manifests import make_manifest

AFTER_YES = {"name": "q1", "is": [1]}
MISSING = {"refusal": True, "rule": AFTER_YES}


def make_question(name: str, type_: QuestionType, **content: Any) -> ManifestQuestion:
    return with_strength(ManifestQuestion(name=name, type=type_, text="?", **content), flips=25)


def list_options(*texts: str, first: int = 0) -> tuple[Option, ...]:
    return tuple(Option(code=code, text=text) for code, text in enumerate(texts, first))


def make_scale(minimum: int, maximum: int, **content: Any) -> ManifestQuestion:
    points = list_options(*map(str, range(minimum, maximum + 1)))
    ends = {"minimum": minimum, "maximum": maximum, "options": points}
    return make_question("q2", QuestionType.SCALE, **ends, **content)


def read_column(question: ManifestQuestion, *, place: int = 0) -> ReportColumn:
    """Return the column of a question that follows a yes/no question."""
    first = make_question("q1", QuestionType.YES_NO, options=YES_NO)
    return list_columns(make_manifest(first, question))[1 + place]


def codes_of(column: ReportColumn) -> dict[int, int | None]:
    """Map each code as sent to the code in the file."""
    return {sent: code.written for code in column.codes for sent in code.sent}


def test_a_scale_carries_its_points_as_asked() -> None:
    column = read_column(make_scale(1, 5, low_label="Never", high_label="Always", **MISSING))
    assert column.name == "q2_randomized"
    assert codes_of(column) == {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: -97, 6: -98}
    assert [code.label for code in column.codes][:5] == ["1 (Never)", "2", "3", "4", "5 (Always)"]
    assert codes_of(read_column(make_scale(-3, 3))) == {code: code - 3 for code in range(7)}


def test_options_of_a_choice_count_from_1_as_in_rules() -> None:
    options = list_options("I", "Somebody else", "Nobody")
    column = read_column(make_question("q2", QuestionType.CHOICE, options=options, **MISSING))
    assert codes_of(column) == {0: 1, 1: 2, 2: 3, 3: -97, 4: -98}
    assert [code.label for code in column.codes][:3] == ["I", "Somebody else", "Nobody"]


@pytest.mark.parametrize(
    ("type_", "options", "codes"),
    [
        (QuestionType.YES_NO, YES_NO, {1: 1, 0: 0, 2: -97, 3: -98}),
        (QuestionType.FOLLOW_UP, FOLLOW_UP, {0: 0, 1: 1, 2: 2, 3: -97, 4: -98}),
    ],
)
def test_yes_and_no_keep_their_codes(
    type_: QuestionType, options: tuple[Option, ...], codes: dict[int, int]
) -> None:
    column = read_column(make_question("q2", type_, options=options, **MISSING))
    assert (column.name, codes_of(column)) == ("q2_randomized", codes)


def test_a_number_says_whether_it_was_rounded_up() -> None:
    ends = {"minimum": -300, "maximum": 500, "unit": "euros"}
    column = read_column(make_question("q2", QuestionType.NUMBER, **ends, **MISSING))
    assert column.name == "q2_rounded_up_randomized"
    assert codes_of(column) == {1: 1, 0: 0, 2: -97, 3: -98}
    assert [code.label for code in column.codes][:2] == [
        "Rounded up to 500 euros", "Rounded down to -300 euros",
    ]  # fmt: skip
    long_scale = replace(make_scale(0, 10), options=())
    assert read_column(long_scale).name == "q2_rounded_up_randomized"
    assert codes_of(read_column(long_scale)) == {1: 1, 0: 0}


def test_items_are_0_and_1_and_their_gate_says_who_answered() -> None:
    items = list_options("A", "B", first=1)
    question = make_question("q2", QuestionType.SEVERAL, options=items, **MISSING)
    gate, *parts = (read_column(question, place=place) for place in range(3))
    assert (gate.name, codes_of(gate)) == ("q2_gate_randomized", {0: 1, 1: -97, 2: -98})
    assert [part.name for part in parts] == ["q2_1_randomized", "q2_2_randomized"]
    assert [codes_of(part) for part in parts] == [{1: 1, 0: 0}] * 2
    without = make_question("q2", QuestionType.SEVERAL, options=items)
    assert [read_column(without, place=place).name for place in range(2)] == [
        "q2_1_randomized", "q2_2_randomized",
    ]  # fmt: skip


def test_the_column_of_a_declared_group_does_not_say_randomized() -> None:
    groups = list_options("Ward", "Office")
    column = read_column(make_question("q2", QuestionType.DECLARED, options=groups))
    assert column.name == "q2"
    kinds = {code.written: code.kind for code in column.codes}
    assert kinds == {1: CodeKind.ANSWER, 2: CodeKind.ANSWER}
    may_refuse = make_question("q2", QuestionType.DECLARED, options=groups, refusal=True)
    assert codes_of(read_column(may_refuse)) == {0: 1, 1: 2, 2: -97}


def make_ward_manifest(*, drawn: int | None = None) -> Manifest:
    questions = [make_question(f"q{n}", QuestionType.YES_NO, options=YES_NO) for n in (1, 2)]
    options = list_options("Ward", "Office", "Kitchen", "Shop")
    group = make_question("q3", QuestionType.DECLARED, options=options, refusal=True)
    return make_manifest(*questions, group, drawn=drawn)


@pytest.mark.parametrize(
    ("levels", "hidden", "cells"),
    [
        (((0,), (1,), (2,), (3,), (4,)), (), [(1, "Ward"), (2, "Office"), (3, "Kitchen"),
                                              (4, "Shop"), (-97, "Prefer not to say")]),
        (((0,), (1, 2), (3, 4)), (3, 4), [(1, "Ward"), (2, "Office or Kitchen"), (-99, "")]),
        (((0, 3), (1, 2, 4)), (2, 4), [(1, "Ward or Shop"), (-99, "")]),
        (((0, 1, 2), (3, 4)), (), [(1, "Ward or Office or Kitchen"),
                                   (4, "Shop or Prefer not to say")]),
    ],
)  # fmt: skip
def test_a_background_question_has_a_code_for_each_level(
    levels: tuple[Level, ...], hidden: tuple[int, ...], cells: list[tuple[int, str]]
) -> None:
    own = Levels(question="q3", levels=levels, hidden=frozenset(hidden))
    column = list_columns(make_ward_manifest(), (own,))[2]
    assert [(code.written, code.label) for code in column.codes] == cells
    assert sorted(code.sent for code in column.codes) == sorted(levels)
    kinds = {code.written: code.kind for code in column.codes}
    assert (kinds.get(-99) == CodeKind.NOT_SHOWN) == bool(hidden)


def test_a_question_outside_of_the_background_has_no_column() -> None:
    names = [column.name for column in list_columns(make_ward_manifest(), ())]
    assert names == ["q1_randomized", "q2_randomized"]


def test_an_empty_cell_means_only_that_the_question_was_not_drawn() -> None:
    manifest = make_ward_manifest(drawn=1)
    first, second, declared = list_columns(manifest)
    for column in (first, second):
        assert codes_of(column) == {1: 1, 0: 0, NOT_DRAWN: None}
        assert column.codes[-1].kind == CodeKind.NOT_DRAWN
    assert None not in codes_of(declared).values()
    # A block's own file contains only people who were asked the block, and only its columns.
    for block, name in enumerate(("q1_randomized", "q2_randomized")):
        [column] = list_columns(manifest, (), block=block)
        assert (column.name, codes_of(column)) == (name, {1: 1, 0: 0})
    for column in list_columns(make_ward_manifest()):
        assert None not in codes_of(column).values()


@pytest.mark.parametrize(
    ("minimum", "declined", "not_asked"),
    [(-89, -97, -98), (-90, -997, -998), (-99, -997, -998), (-991, -9997, -9998)],
)
def test_old_scales_that_reach_the_reserved_codes_have_lower_ones(
    minimum: int, declined: int, not_asked: int
) -> None:
    column = read_column(make_scale(minimum, minimum + 4, **MISSING))
    points = [minimum + place for place in range(5)]
    assert list(codes_of(column).values()) == [*points, declined, not_asked]


def test_no_two_codes_of_a_column_are_the_same() -> None:
    for minimum in range(-120, 3):
        for length in range(1, 7):
            codes = codes_of(read_column(make_scale(minimum, minimum + length, **MISSING)))
            assert len(set(codes.values())) == len(codes) == length + 3
