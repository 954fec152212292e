"""Branching rules: their logic, compared with plain Python and with exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.manifest.rules import Asked, Rule, TooComplex, holds, leaves, outcomes, rename

NAMES = ("a", "b", "c", "d_1", "d_2")
CODES = {"a": 2, "b": 3, "c": 4, "d_1": 2, "d_2": 2}
Codes = Mapping[str, int | None]


def conditions(names: Sequence[str] = NAMES) -> st.SearchStrategy[Rule]:
    def about(name: str) -> st.SearchStrategy[Rule]:
        codes = st.sets(st.integers(0, CODES[name] - 1), min_size=1).map(sorted)
        return codes.map(lambda chosen: {"name": name, "is": chosen})

    return st.sampled_from(names).flatmap(about)


def all_rules(names: Sequence[str] = NAMES) -> st.SearchStrategy[Rule]:
    return st.recursive(
        conditions(names),
        lambda parts: st.one_of(
            st.lists(parts, min_size=1, max_size=3).map(lambda some: {"all": some}),
            st.lists(parts, min_size=1, max_size=3).map(lambda some: {"any": some}),
            parts.map(lambda one: {"not": one}),
        ),
        max_leaves=6,
    )


ANSWERS = st.fixed_dictionaries(
    {}, optional={name: st.none() | st.integers(0, k - 1) for name, k in CODES.items()}
)


def as_python(rule: Rule) -> str:
    """Write the rule as a Python expression, for an independent evaluator."""
    if "all" in rule:
        return f"({' and '.join(map(as_python, rule['all']))})"
    if "any" in rule:
        return f"({' or '.join(map(as_python, rule['any']))})"
    if "not" in rule:
        return f"(not {as_python(rule['not'])})"
    return f"(codes.get({rule['name']!r}) in {rule['is']!r})"


@given(all_rules(), ANSWERS)
def test_a_rule_holds_exactly_if_the_python_expression_is_true(rule: Rule, codes: Codes) -> None:
    assert holds(rule, codes) == eval(as_python(rule), {"codes": codes})


@pytest.mark.parametrize("code", [None, "missing"])
def test_a_missing_answer_matches_no_code(code: str | None) -> None:
    codes: dict[str, Any] = {} if code == "missing" else {"a": None}
    assert not holds({"name": "a", "is": [0, 1]}, codes)
    assert holds({"not": {"name": "a", "is": [0, 1]}}, codes)


@given(all_rules())
def test_renaming_back_and_forth_changes_nothing(rule: Rule) -> None:
    there = rename(rule, lambda name: f"x{name}")
    assert {leaf["name"] for leaf in leaves(there)} == {f"x{leaf['name']}" for leaf in leaves(rule)}
    assert rename(there, lambda name: name[1:]) == rule


@given(all_rules(), ANSWERS)
def test_a_renamed_rule_means_the_same(rule: Rule, codes: Codes) -> None:
    renamed = {f"x{name}": code for name, code in codes.items()}
    assert holds(rename(rule, lambda name: f"x{name}"), renamed) == holds(rule, codes)


def test_an_unknown_name_is_not_renamed_silently() -> None:
    with pytest.raises(KeyError):
        rename(
            {"all": [{"name": "a", "is": [1]}, {"name": "z", "is": [1]}]}, {"a": "q1"}.__getitem__
        )


def every_answer(questions: Sequence[Asked]) -> Iterator[dict[str, int | None]]:
    """Yield all possible sets of answers, without shortcuts."""
    if not questions:
        yield {}
        return
    *before, last = questions
    for codes in every_answer(before):
        nothing: dict[str, int | None] = dict.fromkeys(last.symbols)
        if last.rule is not None and not holds(last.rule, codes):
            yield {**codes, **nothing}
            continue
        if last.may_refuse:
            yield {**codes, **nothing}
        for chosen in product(*(range(k) for k in last.symbols.values())):
            if last.at_most is None or sum(chosen) <= last.at_most:
                yield {**codes, **dict(zip(last.symbols, chosen, strict=True))}


@st.composite
def drafts(draw: st.DrawFn) -> list[Asked]:
    """Draw four questions, the fourth a "select several", with rules over earlier questions."""
    symbols = ({"a": 2}, {"b": 3}, {"c": 4}, {"d_1": 2, "d_2": 2, "d_3": 2})
    before: tuple[tuple[str, ...], ...] = ((), ("a",), ("a", "b"), ("a", "b", "c"))
    return [
        Asked(
            name=next(iter(codes)),
            symbols=codes,
            rule=draw(st.none() | all_rules(names)) if names else None,
            may_refuse=draw(st.booleans()),
            at_most=draw(st.none() | st.integers(1, 2)) if len(codes) > 1 else None,
        )
        for codes, names in zip(symbols, before, strict=True)
    ]


@given(all_rules(), drafts())
def test_possible_outcomes_are_those_found_by_trying_everything(
    rule: Rule, earlier: list[Asked]
) -> None:
    found = {holds(rule, codes) for codes in every_answer(earlier)}
    assert outcomes(rule, earlier=earlier) == (True in found, False in found)


def test_a_limit_makes_two_choices_impossible() -> None:
    several = Asked(name="d", symbols={"d_1": 2, "d_2": 2}, at_most=1)
    both: Rule = {"all": [{"name": "d_1", "is": [1]}, {"name": "d_2", "is": [1]}]}
    assert outcomes(both, earlier=[several]) == (False, True)


def test_a_rule_over_everything_is_settled_quickly() -> None:
    earlier = [Asked(name=f"q{n}", symbols={f"q{n}": 64}) for n in range(99)]
    rule: Rule = {"any": [{"name": f"q{n}", "is": list(range(32))} for n in range(99)]}
    assert outcomes(rule, earlier=earlier) == (True, True)


def test_a_rule_that_takes_too_long_to_check_is_given_up() -> None:
    earlier = [Asked(name=f"q{n}", symbols={f"q{n}": 2}) for n in range(30)]
    last = [{"name": "q29", "is": [code]} for code in (0, 1)]
    # Nothing is decided before the last answer, and then the rule never holds.
    parts = [{"any": [{"name": f"q{n}", "is": [1]}, last[1]]} for n in range(29)]
    with pytest.raises(TooComplex):
        outcomes({"all": [*parts, *last]}, earlier=earlier)


def test_a_limit_that_rules_out_nearly_everything_is_given_up_too() -> None:
    items = {f"d_{n}": 2 for n in range(20)}
    earlier = [Asked(name="d", symbols=items, at_most=1)]
    never: Rule = {"all": [{"name": name, "is": [1]} for name in items]}
    with pytest.raises(TooComplex):
        outcomes(never, earlier=earlier)
