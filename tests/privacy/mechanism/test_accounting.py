"""The ledger: what a survey costs in all, and the statements that may stand beside the sum."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, log, nan, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.mechanism import accounting
from privacy.mechanism.accounting import (
    Entry,
    advanced_composition,
    basic_epsilon,
    cumulative_epsilon,
    exact_composition,
    exact_delta,
    group_epsilon,
    statement_epsilon,
    subsampled_epsilon,
    zcdp_composition,
)
from privacy.mechanism.mechanisms import RandomizedResponse

# a with b and c behind it, d behind c; e alone; f with g behind it
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
    """Written another way: the smallest name of a block spreads until nothing changes."""
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


def delta_by_enumeration(epsilons: list[float], epsilon: float) -> float:
    """Every pattern of kept and flipped answers, under both hypotheses."""
    total = 0.0
    for signs in product((1, -1), repeat=len(epsilons)):
        chances = [1 / (1 + exp(-s * e)) for s, e in zip(signs, epsilons, strict=True)]
        others = [1 / (1 + exp(s * e)) for s, e in zip(signs, epsilons, strict=True)]
        total += max(0.0, float(np.prod(chances) - exp(epsilon) * np.prod(others)))
    return total


# --- the basic sum -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "total"),
    # blocks: a 1 + .5 + .25 + .125 = 1.875; e 1.5; f .75 + .0625 = .8125
    [(None, 4.1875), (3, 4.1875), (2, 3.375), (1, 1.875)],
)
def test_a_survey_costs_the_largest_sum_that_can_be_drawn(drawn: int | None, total: float) -> None:
    assert basic_epsilon(SURVEY, drawn) == nextafter(total, inf)


@pytest.mark.parametrize(
    ("name", "total"),
    [("a", 1.875), ("b", 0.5), ("c", 0.375), ("d", 0.125), ("e", 1.5), ("f", 0.8125)],
)
def test_a_statement_costs_its_question_and_every_dependant(name: str, total: float) -> None:
    assert statement_epsilon(SURVEY, name) == nextafter(total, inf)


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
    assert statement_epsilon(shuffled, "q0") == statement_epsilon(entries, "q0")


@given(ledgers())
def test_no_statement_costs_more_than_the_survey(entries: list[Entry]) -> None:
    for entry in entries:
        assert entry.epsilon <= statement_epsilon(entries, entry.name) <= basic_epsilon(entries)


@given(ledgers(), EPSILONS)
def test_one_question_more_costs_more(entries: list[Entry], epsilon: float) -> None:
    assert basic_epsilon([*entries, Entry(name="new", epsilon=epsilon)]) > basic_epsilon(entries)


def test_blocks_closer_than_a_float_are_told_apart() -> None:
    # 1 + 2**-53 rounds to 1, and only the exact sum knows that this block is the larger.
    tail = Entry(name="b", epsilon=2.0**-53, parents=("a",))
    entries = [Entry(name="a", epsilon=1.0), tail, Entry(name="c", epsilon=1.0)]
    assert Fraction(basic_epsilon(entries, 1)) >= 1 + Fraction(2.0**-53)


def test_a_question_behind_two_others_ties_them_into_one_block() -> None:
    both = Entry(name="c", epsilon=0.25, parents=("a", "b"))
    entries = [Entry(name="a", epsilon=1.0), Entry(name="b", epsilon=0.5), both]
    assert basic_epsilon(entries, 1) == nextafter(1.75, inf)
    assert statement_epsilon(entries, "a") == nextafter(1.25, inf)
    assert statement_epsilon(entries, "b") == nextafter(0.75, inf)
    with pytest.raises(ValueError, match="drawn must lie from 1 to 1, got 2"):
        basic_epsilon(entries, 2)


def test_a_long_chain_of_dependants_is_followed_to_its_end() -> None:
    chain = [Entry(name="0", epsilon=1.0)]
    chain += [Entry(name=str(i), epsilon=1.0, parents=(str(i - 1),)) for i in range(1, 1500)]
    assert statement_epsilon(chain, "0") == nextafter(1500.0, inf)


@given(st.lists(EPSILONS, min_size=1, max_size=20), st.integers(1, 100))
def test_waves_and_groups_add_up_and_round_up(per_wave: list[float], people: int) -> None:
    assert Fraction(cumulative_epsilon(per_wave)) >= sum(map(Fraction, per_wave))
    assert cumulative_epsilon(per_wave) == pytest.approx(sum(per_wave), rel=1e-12)
    assert Fraction(group_epsilon(per_wave[0], people)) >= Fraction(per_wave[0]) * people
    assert group_epsilon(per_wave[0], people) == pytest.approx(per_wave[0] * people, rel=1e-15)


# --- exact composition -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "count", "basic", "advanced", "zcdp", "exact"),
    [
        (0.5, 20, "10.000000", "18.241153", "14.253940", "9.986797870"),
        (log(3), 10, "10.986123", "40.234018", "24.296517", "10.986105129"),
    ],
)
def test_composition_has_its_published_values(
    epsilon: float, count: int, basic: str, advanced: str, zcdp: str, exact: str
) -> None:
    entries = [Entry(name=str(i), epsilon=epsilon) for i in range(count)]
    epsilons = [epsilon] * count
    assert f"{basic_epsilon(entries):.6f}" == basic
    bound = advanced_composition(epsilon=epsilon, count=count, delta=1e-6)
    assert f"{bound:.6f}" == advanced
    assert f"{zcdp_composition(epsilons=epsilons, delta=1e-6):.6f}" == zcdp
    assert f"{exact_composition(epsilons=epsilons, delta=1e-6):.9f}" == exact


@given(st.lists(st.floats(0.01, 3), min_size=1, max_size=7), st.floats(0, 6))
def test_mixed_epsilons_agree_with_enumerating_every_pattern(
    epsilons: list[float], epsilon: float
) -> None:
    expected = delta_by_enumeration(epsilons, epsilon)
    assert exact_delta(epsilons=epsilons, epsilon=epsilon) == pytest.approx(expected, abs=1e-11)


@given(st.floats(0.01, 2), st.integers(2, 12))
def test_mixed_agrees_with_binomial_where_epsilons_are_equal(epsilon: float, count: int) -> None:
    # A difference in the last digit keeps them from being merged.
    nearly = [epsilon, *[nextafter(epsilon, inf)] * (count - 1)]
    assert exact_composition(epsilons=nearly, delta=1e-6) == pytest.approx(
        exact_composition(epsilons=[epsilon] * count, delta=1e-6), rel=1e-9
    )


@given(st.lists(st.floats(0.05, 3), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_the_grid_is_close_and_never_below(epsilons: list[float]) -> None:
    exact = exact_composition(epsilons=epsilons, delta=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounting, "_LISTED", 1)
        gridded = exact_composition(epsilons=epsilons, delta=1e-6)
    assert exact - 1e-12 <= gridded <= exact + 1e-3


def test_a_hundred_different_epsilons_are_bounded_closely() -> None:
    epsilons = [0.1 + i / 99 for i in range(100)]
    bound = exact_composition(epsilons=epsilons, delta=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounting, "_GRID", 2**19)
        finer = exact_composition(epsilons=epsilons, delta=1e-6)
    assert finer <= bound <= finer + 1e-5
    assert bound < sum(epsilons) - 10
    # Between composing the smallest and the largest a hundred times.
    assert exact_composition(epsilons=[0.1] * 100, delta=1e-6) < bound
    assert bound < exact_composition(epsilons=[1.1] * 100, delta=1e-6)


@given(st.lists(EPSILONS, min_size=1, max_size=8), st.floats(1e-12, 0.5), st.randoms())
def test_exact_is_at_most_basic_whatever_the_order(
    epsilons: list[float], delta: float, random: Any
) -> None:
    exact = exact_composition(epsilons=epsilons, delta=delta)
    assert 0 <= exact <= cumulative_epsilon(epsilons)
    shuffled = random.sample(epsilons, len(epsilons))
    assert exact_composition(epsilons=shuffled, delta=delta) == exact


@given(st.lists(EPSILONS, min_size=1, max_size=8), st.floats(1e-12, 0.5))
def test_at_the_exact_epsilon_delta_is_met(epsilons: list[float], delta: float) -> None:
    exact = exact_composition(epsilons=epsilons, delta=delta)
    assert exact_delta(epsilons=epsilons, epsilon=exact) <= delta


@given(st.floats(0.01, 3), st.floats(1.01, 2), st.integers(1, 20), st.floats(1e-9, 0.1))
def test_more_epsilon_or_more_questions_never_cost_less(
    epsilon: float, factor: float, count: int, delta: float
) -> None:
    exact = exact_composition(epsilons=[epsilon] * count, delta=delta)
    more = exact_composition(epsilons=[epsilon * factor] * count, delta=delta)
    longer = exact_composition(epsilons=[epsilon] * (count + 1), delta=delta)
    assert exact <= more + 1e-9
    assert exact <= longer + 1e-9
    assert exact <= advanced_composition(epsilon=epsilon, count=count, delta=delta) + 1e-9
    assert exact <= zcdp_composition(epsilons=[epsilon] * count, delta=delta) + 1e-9


def test_advanced_beats_basic_only_from_224_questions_at_one_half() -> None:
    for count, better in ((223, False), (224, True)):
        bound = advanced_composition(epsilon=0.5, count=count, delta=1e-6)
        assert (bound < 0.5 * count) is better


def test_a_large_delta_needs_no_epsilon_and_the_sum_needs_no_delta() -> None:
    # Total variation of two coins: 3/4 - 1/4.
    assert exact_delta(epsilons=[log(3)], epsilon=0.0) == pytest.approx(0.5, rel=1e-10)
    assert exact_composition(epsilons=[log(3)], delta=0.51) == 0.0
    assert exact_delta(epsilons=[0.5, 0.25], epsilon=0.75 + 1e-12) == 0.0


# --- other people's software -------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 10, 40])
def test_exact_composition_lies_between_the_bounds_of_dp_accounting(count: int) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    def theirs(*, symbols: int, keep: float, pessimistic: bool) -> float:
        # Their parameter is the probability of a uniform draw, which may hit the truth.
        distribution = pld.from_randomized_response(
            (1 - keep) * symbols / (symbols - 1),
            symbols,
            value_discretization_interval=1e-4,
            pessimistic_estimate=pessimistic,
        )
        return float(distribution.self_compose(count).get_epsilon_for_delta(1e-6))

    ours = exact_composition(epsilons=[log(3)] * count, delta=1e-6)
    low = theirs(symbols=2, keep=0.75, pessimistic=False)
    high = theirs(symbols=2, keep=0.75, pessimistic=True)
    print(f"m={count} low={low} ours={ours} high={high}")
    assert low <= ours <= high <= low + 2.1e-4 * count
    # At three symbols and the same epsilon ours is an upper bound.
    assert theirs(symbols=3, keep=0.6, pessimistic=False) <= ours


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


# --- what is not claimed -----------------------------------------------------------------------


@given(EPSILONS, st.floats(0.001, 1))
def test_subsampling_never_costs_more(epsilon: float, fraction: float) -> None:
    sampled = subsampled_epsilon(epsilon=epsilon, fraction=fraction)
    assert sampled == pytest.approx(log(1 + fraction * (exp(epsilon) - 1)), rel=1e-9)
    assert 0 < sampled <= epsilon * (1 + 1e-12)


def test_very_large_epsilons_neither_overflow_nor_vanish() -> None:
    assert subsampled_epsilon(epsilon=800.0, fraction=0.5) == pytest.approx(800 - log(2))
    assert advanced_composition(epsilon=800.0, count=1, delta=0.1) == inf
    assert exact_composition(epsilons=[800.0, 1.0], delta=1e-6) == pytest.approx(801.0)


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, -1.0, inf, nan])
def test_an_epsilon_out_of_range_is_refused(epsilon: float) -> None:
    calls: list[tuple[str, Any]] = [
        ("epsilon of 'a'", lambda: Entry(name="a", epsilon=epsilon)),
        ("per_wave", lambda: cumulative_epsilon([1.0, epsilon])),
        ("epsilon", lambda: group_epsilon(epsilon, 2)),
        ("epsilons", lambda: exact_composition(epsilons=[1.0, epsilon], delta=0.1)),
        ("epsilons", lambda: exact_delta(epsilons=[epsilon], epsilon=1.0)),
        ("epsilon", lambda: advanced_composition(epsilon=epsilon, count=2, delta=0.1)),
        ("epsilons", lambda: zcdp_composition(epsilons=[epsilon], delta=0.1)),
        ("epsilon", lambda: subsampled_epsilon(epsilon=epsilon, fraction=0.5)),
    ]
    for argument, call in calls:
        with pytest.raises(ValueError, match=f"{argument} must be positive and finite, got "):
            call()


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, nan])
def test_a_delta_out_of_range_is_refused(delta: float) -> None:
    calls: list[Any] = [
        lambda: exact_composition(epsilons=[1.0], delta=delta),
        lambda: advanced_composition(epsilon=1.0, count=2, delta=delta),
        lambda: zcdp_composition(epsilons=[1.0], delta=delta),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\), got"):
            call()


def test_a_ledger_that_makes_no_sense_is_refused() -> None:
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
        ([a, *cycle], "parents must not form a circle, got '[xy]' behind"),
        (
            [Entry(name="b", epsilon=1.0, parents=("b",))],
            "parents must not form a circle, got 'b' behind",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            basic_epsilon(entries)
        with pytest.raises(ValueError, match=message):
            statement_epsilon(entries, "a")
    with pytest.raises(ValueError, match="name must be one of the entries, got 'z'"):
        statement_epsilon(SURVEY, "z")


@pytest.mark.parametrize("drawn", [0, -1, 4])
def test_drawing_what_is_not_there_is_refused(drawn: int) -> None:
    with pytest.raises(ValueError, match=f"drawn must lie from 1 to 3, got {drawn}"):
        basic_epsilon(SURVEY, drawn)


@pytest.mark.parametrize("value", [1.5, "2", True])
def test_only_integers_count(value: Any) -> None:
    with pytest.raises(ValueError, match="drawn must be a whole number"):
        basic_epsilon(SURVEY, value)
    with pytest.raises(ValueError, match="people must be a whole number"):
        group_epsilon(1.0, value)
    with pytest.raises(ValueError, match="count must be a whole number"):
        advanced_composition(epsilon=1.0, count=value, delta=0.1)


def test_other_values_out_of_range_are_refused() -> None:
    refused: list[tuple[str, Any]] = [
        ("people must be at least 1, got 0", lambda: group_epsilon(1.0, 0)),
        ("people times epsilon must be finite", lambda: group_epsilon(1e308, 10)),
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
