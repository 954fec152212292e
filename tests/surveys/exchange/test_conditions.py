"""Conditions, bounds and sums in XLSForm and REDCap."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.exchange.reading.conditions import (
    NotReadable,
    read_bounds,
    read_closed_list,
    read_condition,
    read_limit,
)
from surveys.exchange.reading.sums import read_formula, read_sum

YES = ["is", "a", "yes"]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("${a} = 'yes'", YES),
        ("'yes' = ${a}", YES),
        ("${ a } = “yes”", YES),
        ("[a] = 1", ["is", "a", "1"]),
        ("[a] = -1", ["is", "a", "-1"]),
        ("[a] <> '1'", ["not", ["is", "a", "1"]]),
        ("[a(3)] = '1'", ["has", "a", "3"]),
        ("[a(3)] = '0'", ["not", ["has", "a", "3"]]),
        ("selected(${a}, 'yes')", ["has", "a", "yes"]),
        ("not(${a} != 'yes')", ["not", ["not", YES]]),
        ("${a}='yes' OR ${a}='yes' and ${a}='yes'", ["any", YES, ["all", YES, YES]]),
        ("(${a}='yes' or ${a}='yes') and ${a}='yes'", ["all", ["any", YES, YES], YES]),
    ],
)
def test_conditions_are_read(text: str, condition: list[Any]) -> None:
    assert read_condition(text) == condition


@pytest.mark.parametrize(
    "text",
    [
        *("${a} > 3", "${a} = ''", "${a}", "${a} = ${b}", "today() = '1'", "[event][a] = '1'"),
        *("${a} = 'yes' and", "(${a} = 'yes'", "${a} = 'yes')", "selected(${a})", "[a(1)] = '2'"),
        *("not(" * 50 + "${a} = 'x'" + ")" * 50, " or ".join(["${a} = 'x'"] * 200), "", "é"),
    ],
)
def test_other_conditions_are_refused_with_a_reason(text: str) -> None:
    with pytest.raises(NotReadable, match=r"^[A-Z“].*\.$"):
        read_condition(text)


@given(st.text(alphabet="${}[]()'\"=!<>+-*,. andornotifselected0123ab", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for function in (read_condition, read_formula):
        with suppress(NotReadable):
            function(text)
    read_bounds(text)
    read_limit(text)
    read_closed_list(text)


def test_constraints_are_read() -> None:
    assert read_bounds(". >= 0 and . <= 30") == (0, 30)
    assert read_bounds("(.>0) and (. < 31)") == (1, 30)
    assert read_bounds(". >= 18") == (18, None)
    assert read_bounds(". >= 0 and . <= ${b}") is None
    assert read_limit("count-selected(.) <= 3") == read_limit("count-selected( . )<4") == 3
    assert read_limit("count-selected(.) >= 3") is None
    assert read_closed_list(". = 'a' or .=\"b\"") == ["a", "b"]
    assert read_closed_list("regex(., '^(red|blue)$')") == ["red", "blue"]
    assert read_closed_list("regex(., '[a-z]+')") == read_closed_list(". = 'a'") == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("${a} + ${b}", [("a", 1), ("b", 1)]),
        ("sum([a], [b]) - 2 * [c]", [("a", 1), ("b", 1), ("c", -2)]),
        ("-(${a} - ${b}) + 3", [("a", -1), ("b", 1), ("", 3)]),
        ("coalesce(${a}, 0) + number(${b})", [("a", 1), ("b", 1)]),
    ],
)
def test_sums_are_read(text: str, terms: list[tuple[str, float]]) -> None:
    assert [(term["name"], term["weight"]) for term in read_sum(text)] == terms


def test_counts_of_answers_are_sums() -> None:
    assert read_sum("if(${a} = 'yes', 1, 0) + [b(2)]") == [
        {"name": "a", "weight": 1.0, "counts": {"yes": 1.0}, "otherwise": 0.0},
        {"name": "b", "weight": 1.0, "counts": {"2": 1.0}, "otherwise": 0.0},
    ]
