"""Composition with a delta: known values, enumeration, and bounds from other software."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log, nan, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.mechanism import composition_with_delta
from privacy.mechanism.accounting import (
    Entry,
    basic_epsilon,
    cumulative_epsilon,
)
from privacy.mechanism.composition_with_delta import (
    advanced_composition,
    exact_composition,
    exact_delta,
    zcdp_composition,
)

EPSILONS = st.floats(0.01, 5)


def delta_by_enumeration(epsilons: list[float], epsilon: float) -> float:
    """Add up every pattern of kept and flipped answers, under both hypotheses."""
    total = 0.0
    for signs in product((1, -1), repeat=len(epsilons)):
        chances = [1 / (1 + exp(-s * e)) for s, e in zip(signs, epsilons, strict=True)]
        others = [1 / (1 + exp(s * e)) for s, e in zip(signs, epsilons, strict=True)]
        total += max(0.0, float(np.prod(chances) - exp(epsilon) * np.prod(others)))
    return total


@pytest.mark.parametrize(
    ("epsilon", "count", "basic", "advanced", "zcdp", "exact"),
    [
        (0.5, 20, "10.000000", "18.241153", "14.253940", "9.986797870"),
        (log(3), 10, "10.986123", "40.234018", "24.296517", "10.986105129"),
    ],
)
def test_composition_gives_known_values(
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
    # A difference in the last digit prevents equal epsilons from being merged.
    nearly = [epsilon, *[nextafter(epsilon, inf)] * (count - 1)]
    assert exact_composition(epsilons=nearly, delta=1e-6) == pytest.approx(
        exact_composition(epsilons=[epsilon] * count, delta=1e-6), rel=1e-9
    )


@given(st.lists(st.floats(0.05, 3), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_the_grid_gives_a_close_upper_bound(epsilons: list[float]) -> None:
    exact = exact_composition(epsilons=epsilons, delta=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition_with_delta, "_LISTED", 1)
        gridded = exact_composition(epsilons=epsilons, delta=1e-6)
    assert exact - 1e-12 <= gridded <= exact + 1e-3


def test_a_hundred_different_epsilons_are_bounded_closely() -> None:
    epsilons = [0.1 + i / 99 for i in range(100)]
    bound = exact_composition(epsilons=epsilons, delta=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition_with_delta, "_GRID", 2**19)
        finer = exact_composition(epsilons=epsilons, delta=1e-6)
    assert finer <= bound <= finer + 1e-5
    assert bound < sum(epsilons) - 10
    # Composing the smallest epsilon a hundred times gives less, and composing the largest gives
    # more.
    assert exact_composition(epsilons=[0.1] * 100, delta=1e-6) < bound
    assert bound < exact_composition(epsilons=[1.1] * 100, delta=1e-6)


@given(st.lists(EPSILONS, min_size=1, max_size=8), st.floats(1e-12, 0.5), st.randoms())
def test_exact_is_at_most_basic_in_any_order(
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
    # The total variation of two coins is 3/4 - 1/4.
    assert exact_delta(epsilons=[log(3)], epsilon=0.0) == pytest.approx(0.5, rel=1e-10)
    assert exact_composition(epsilons=[log(3)], delta=0.51) == 0.0
    assert exact_delta(epsilons=[0.5, 0.25], epsilon=0.75 + 1e-12) == 0.0


@pytest.mark.parametrize("count", [1, 10, 40])
def test_exact_composition_lies_between_the_bounds_of_dp_accounting(count: int) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    def theirs(*, symbols: int, keep: float, pessimistic: bool) -> float:
        # That library takes the probability of a uniform draw, which can also be the true symbol.
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
    # With three symbols and the same epsilon, our value is an upper bound.
    assert theirs(symbols=3, keep=0.6, pessimistic=False) <= ours


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, nan])
def test_a_delta_out_of_range_is_rejected(delta: float) -> None:
    calls: list[Any] = [
        lambda: exact_composition(epsilons=[1.0], delta=delta),
        lambda: advanced_composition(epsilon=1.0, count=2, delta=delta),
        lambda: zcdp_composition(epsilons=[1.0], delta=delta),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\), got"):
            call()
