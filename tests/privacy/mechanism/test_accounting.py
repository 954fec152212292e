"""The ledger: what a survey costs in total, and what its statements cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, log, nan, nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.accounting import (
    Entry,
    basic_epsilon,
    cumulative_epsilon,
    find_telling,
    pick_largest,
    statement_epsilons,
)
from privacy.mechanism.composition_with_delta import (
    advanced_composition,
    exact_composition,
    exact_delta,
    zcdp_composition,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.subsampling import subsampled_epsilon

# b and c depend on a, and d on c; e stands alone; g depends on f
SURVEY = (
    Entry(name="d", epsilon=0.125, parents=("c",)),
    Entry(name="a", epsilon=1.0),
    Entry(name="b", epsilon=0.5, parents=("a",)),
    Entry(name="c", epsilon=0.25, parents=("a",)),
    Entry(name="e", epsilon=1.5),
    Entry(name="f", epsilon=0.75),
    Entry(name="g", epsilon=0.0625, parents=("f",)),
)
EPSILONS = st.floats(0.01, 5)


@st.composite
def ledgers(draw: st.DrawFn) -> list[Entry]:
    epsilons = draw(st.lists(EPSILONS, min_size=1, max_size=8))
    parents = [
        draw(st.sets(st.integers(0, i - 1), max_size=2)) if i else set()
        for i in range(len(epsilons))
    ]
    entries = [
        Entry(
            name=f"q{i}", epsilon=epsilon, parents=tuple(f"q{parent}" for parent in sorted(chosen))
        )
        for i, (epsilon, chosen) in enumerate(zip(epsilons, parents, strict=True))
    ]
    return draw(st.permutations(entries))


def block_sums(entries: list[Entry]) -> list[Fraction]:
    """Add up blocks in a different way: the smallest name in a block spreads to all its entries."""
    block = {entry.name: entry.name for entry in entries}
    for _ in entries:
        for entry in entries:
            tied = {entry.name, *entry.parents}
            least = min(block[name] for name in tied)
            block |= dict.fromkeys(tied, least)
    return [
        sum((Fraction(entry.epsilon) for entry in entries if block[entry.name] == name), Fraction())
        for name in set(block.values())
    ]


@pytest.mark.parametrize(
    ("drawn", "total"),
    # The blocks sum to 1.875 for a (1 + .5 + .25 + .125), 1.5 for e, and .8125 for f (.75 + .0625).
    [(None, 4.1875), (3, 4.1875), (2, 3.375), (1, 1.875)],
)
def test_a_survey_costs_the_largest_sum_that_can_be_drawn(drawn: int | None, total: float) -> None:
    assert basic_epsilon(SURVEY, drawn) == nextafter(total, inf)


@pytest.mark.parametrize(
    ("name", "total"),
    [("a", 1.875), ("b", 0.5), ("c", 0.375), ("d", 0.125), ("e", 1.5), ("f", 0.8125)],
)
def test_a_statement_costs_its_question_and_every_dependant(name: str, total: float) -> None:
    assert statement_epsilons(SURVEY)[name] == nextafter(total, inf)


@given(ledgers(), st.data())
def test_the_sum_is_that_of_the_worst_set_and_never_too_small(
    entries: list[Entry], data: st.DataObject
) -> None:
    sums = block_sums(entries)
    drawn = data.draw(st.integers(1, len(sums)))
    worst = max(sum(chosen) for chosen in combinations(sums, drawn))
    epsilon = basic_epsilon(entries, drawn)
    assert worst <= Fraction(epsilon)
    assert epsilon == pytest.approx(float(worst), rel=1e-15)


@given(ledgers())
def test_drawing_more_blocks_never_costs_less(entries: list[Entry]) -> None:
    costs = [basic_epsilon(entries, drawn) for drawn in range(1, len(block_sums(entries)) + 1)]
    assert costs == sorted(costs)
    assert costs[-1] == basic_epsilon(entries)


@given(ledgers(), st.randoms())
def test_the_order_of_the_ledger_does_not_matter(entries: list[Entry], random: Any) -> None:
    shuffled = random.sample(entries, len(entries))
    assert basic_epsilon(shuffled) == basic_epsilon(entries)
    assert statement_epsilons(shuffled)["q0"] == statement_epsilons(entries)["q0"]


@given(ledgers())
def test_no_statement_costs_more_than_the_survey(entries: list[Entry]) -> None:
    told = statement_epsilons(entries)
    for entry in entries:
        assert entry.epsilon <= told[entry.name] <= basic_epsilon(entries)


@given(ledgers(), EPSILONS)
def test_one_more_question_costs_more(entries: list[Entry], epsilon: float) -> None:
    assert basic_epsilon([*entries, Entry(name="new", epsilon=epsilon)]) > basic_epsilon(entries)


def test_blocks_closer_than_a_float_are_distinguished() -> None:
    # 1 + 2**-53 rounds to 1, so only the exact sum shows that this block is the larger one.
    tail = Entry(name="b", epsilon=2.0**-53, parents=("a",))
    entries = [Entry(name="a", epsilon=1.0), tail, Entry(name="c", epsilon=1.0)]
    assert Fraction(basic_epsilon(entries, 1)) >= 1 + Fraction(2.0**-53)


def test_a_question_behind_two_others_ties_them_into_one_block() -> None:
    both = Entry(name="c", epsilon=0.25, parents=("a", "b"))
    entries = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5), both]
    assert basic_epsilon(entries, 1) == nextafter(1.75, inf)
    assert statement_epsilons(entries)["a"] == nextafter(1.25, inf)
    assert statement_epsilons(entries)["b"] == nextafter(0.75, inf)
    with pytest.raises(ValueError, match="drawn must be from 1 to 1, got 2"):
        basic_epsilon(entries, 2)


def test_a_long_chain_of_dependants_is_followed_to_its_end() -> None:
    chain = [Entry(name="0", epsilon=1.0)]
    chain += [Entry(name=str(i), epsilon=1.0, parents=(str(i - 1),)) for i in range(1, 1500)]
    assert statement_epsilons(chain)["0"] == nextafter(1500.0, inf)


@given(st.lists(EPSILONS, min_size=1, max_size=20))
def test_waves_add_up_and_round_up(per_wave: list[float]) -> None:
    assert Fraction(cumulative_epsilon(per_wave)) >= sum(map(Fraction, per_wave))
    assert cumulative_epsilon(per_wave) == pytest.approx(sum(per_wave), rel=1e-12)


@pytest.mark.parametrize("flips", [5, 25, 40])
@pytest.mark.parametrize("symbols", [2, 3, 10, 64])
def test_opendp_states_the_same_epsilon_for_our_mechanism(symbols: int, flips: int) -> None:
    from opendp import prelude as opendp

    opendp.enable_features("contrib")
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    keep = mechanism.keep_probability
    theirs = [opendp.m.make_randomized_response(list(range(symbols)), prob=keep).map(1)]  # type: ignore[no-untyped-call]
    if symbols == 2:
        theirs.append(opendp.m.make_randomized_response_bool(prob=keep).map(1))  # type: ignore[no-untyped-call]
    for epsilon in theirs:
        assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-13)


def test_very_large_epsilons_neither_overflow_nor_vanish() -> None:
    assert subsampled_epsilon(epsilon=800.0, fraction=0.5) == pytest.approx(800 - log(2))
    assert advanced_composition(epsilon=800.0, count=1, delta=0.1) == inf
    assert exact_composition(epsilons=[800.0, 1.0], delta=1e-6) == pytest.approx(801.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, inf, nan])
def test_an_epsilon_out_of_range_is_rejected(epsilon: float) -> None:
    calls: list[tuple[str, Any]] = [
        ("epsilon of 'a'", lambda: Entry(name="a", epsilon=epsilon)),
        ("per_wave", lambda: cumulative_epsilon([1.0, epsilon])),
        ("epsilons", lambda: exact_composition(epsilons=[1.0, epsilon], delta=0.1)),
        ("epsilons", lambda: exact_delta(epsilons=[epsilon], epsilon=1.0)),
        ("epsilon", lambda: advanced_composition(epsilon=epsilon, count=2, delta=0.1)),
        ("epsilons", lambda: zcdp_composition(epsilons=[epsilon], delta=0.1)),
        ("epsilon", lambda: subsampled_epsilon(epsilon=epsilon, fraction=0.5)),
    ]
    for argument, call in calls:
        with pytest.raises(ValueError, match=f"{argument} must be positive and finite, got "):
            call()


def test_an_invalid_ledger_is_rejected() -> None:
    a = Entry(name="a", epsilon=1.0)
    foreign: Any = {"name": "b", "epsilon": 1.0}
    cycle = [Entry(name=n, epsilon=1.0, parents=(p,)) for n, p in (("x", "y"), ("y", "x"))]
    for entries, message in (
        ([], "entries must hold at least one question"),
        ([a, foreign], "entries must be of type Entry, got {'name': 'b'"),
        ([a, a], "entries must have different names, got 'a' twice"),
        (
            [Entry(name="b", epsilon=1.0, parents=("c",))],
            "parents must be among the entries, got 'c'",
        ),
        ([a, *cycle], "parents must not form a cycle, got '[xy]' behind"),
        (
            [Entry(name="b", epsilon=1.0, parents=("b",))],
            "parents must not form a cycle, got 'b' behind",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            basic_epsilon(entries)
        with pytest.raises(ValueError, match=message):
            find_telling(entries)


@pytest.mark.parametrize("drawn", [0, -1, 4])
def test_drawing_more_or_fewer_blocks_than_exist_is_rejected(drawn: int) -> None:
    with pytest.raises(ValueError, match=f"drawn must be from 1 to 3, got {drawn}"):
        basic_epsilon(SURVEY, drawn)


def test_fewer_than_one_block_cannot_be_picked() -> None:
    with pytest.raises(ValueError, match="drawn must be at least 1, got 0"):
        pick_largest({"a": 1.0}, [["a"]], 0)


@pytest.mark.parametrize("value", [1.5, "2", True])
def test_only_integers_are_accepted(value: Any) -> None:
    with pytest.raises(ValueError, match="drawn must be a whole number"):
        basic_epsilon(SURVEY, value)
    with pytest.raises(ValueError, match="count must be a whole number"):
        advanced_composition(epsilon=1.0, count=value, delta=0.1)


def test_other_values_out_of_range_are_rejected() -> None:
    refused: list[tuple[str, Any]] = [
        ("per_wave must hold at least one epsilon", lambda: cumulative_epsilon([])),
        ("per_wave must have a finite sum", lambda: cumulative_epsilon([1e308, 1e308])),
        ("epsilons must hold", lambda: exact_composition(epsilons=[], delta=0.1)),
        ("epsilon must be at least 0", lambda: exact_delta(epsilons=[1.0], epsilon=-0.1)),
        ("epsilon must be at least 0", lambda: exact_delta(epsilons=[1.0], epsilon=nan)),
        ("fraction must lie in", lambda: subsampled_epsilon(epsilon=1.0, fraction=0.0)),
        ("fraction must lie in", lambda: subsampled_epsilon(epsilon=1.0, fraction=1.1)),
    ]
    for message, call in refused:
        with pytest.raises(ValueError, match=message):
            call()


FACTS = [
    Entry(name="a", epsilon=1.0),
    Entry(name="b", epsilon=0.5, parents=("a",)),
    Entry(name="c", epsilon=0.25, same_fact="a"),
    Entry(name="d", epsilon=2.0, parents=("c",)),
    Entry(name="e", epsilon=4.0),
    Entry(name="f", epsilon=8.0, same_fact="b"),
]


@pytest.mark.parametrize(
    ("name", "total"),
    [("a", 11.75), ("c", 11.75), ("b", 8.5), ("f", 8.5), ("d", 2.0), ("e", 4.0)],
)
def test_questions_about_one_fact_count_as_one_statement(name: str, total: float) -> None:
    assert statement_epsilons(FACTS)[name] == nextafter(total, inf)
    assert statement_epsilons(FACTS[::-1])[name] == nextafter(total, inf)


def test_the_same_fact_does_not_change_the_total() -> None:
    apart = [Entry(name=one.name, epsilon=one.epsilon, parents=one.parents) for one in FACTS]
    assert basic_epsilon(FACTS) == basic_epsilon(apart) == nextafter(15.75, inf)
    assert basic_epsilon(FACTS, drawn=1) == basic_epsilon(apart, drawn=1)


@pytest.mark.parametrize(("drawn", "total"), [(1, 8.0), (2, 10.25), (3, 11.75), (4, 11.75)])
def test_a_statement_counts_the_blocks_that_one_person_can_be_drawn(
    drawn: int, total: float
) -> None:
    # Three blocks reveal something about a: a and b (1.5), c and d (2.25), and f (8).
    assert statement_epsilons(FACTS, drawn=drawn)["a"] == nextafter(total, inf)
    assert statement_epsilons(FACTS, drawn=drawn)["a"] <= basic_epsilon(FACTS, drawn=drawn)


def test_a_same_fact_that_is_not_in_the_ledger_is_refused() -> None:
    with pytest.raises(ValueError, match="same_fact must be among the entries, got 'z'"):
        statement_epsilons([Entry(name="a", epsilon=1.0, same_fact="z")])["a"]
    with pytest.raises(ValueError, match="drawn must be"):
        statement_epsilons(FACTS, drawn=5)["a"]
