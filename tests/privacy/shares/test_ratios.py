"""The ratio of a share to one that includes it: coverage, properties and standard error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.estimation import estimate_marginal_shares
from privacy.shares.intervals import clopper_pearson, confidence_sequence
from privacy.shares.ratios import nested_ratio, ratio_of_shares

ITEM = RandomizedResponse.from_flips(symbols=2, flips=25)
GATE = RandomizedResponse.from_flips(symbols=3, flips=25)
fractions = st.floats(0, 1)


def channel(mechanism: RandomizedResponse) -> dict[str, Any]:
    return {"other_probability": mechanism.other_probability, "slope": mechanism.slope}


def draw_surveys(
    generator: np.random.Generator, *, chosen: float, answered: float, shape: tuple[int, ...]
) -> tuple[Any, Any]:
    """Draw each person's reports of the item and of the gate's "answered"."""
    truth = generator.random(shape)
    items = generator.random(shape) < ITEM.other_probability + ITEM.slope * (truth < chosen)
    gates = generator.random(shape) < GATE.other_probability + GATE.slope * (truth < answered)
    return items, gates


@given(fractions, fractions, fractions, fractions, fractions, fractions)
def test_if_both_intervals_hold_so_does_that_of_the_ratio(
    part: float, whole: float, a: float, b: float, x: float, y: float
) -> None:
    part, whole = sorted((part, whole))
    ends = (a * part, part + b * (1 - part)), (x * whole, 1 - y * (1 - whole))
    low, high = ratio_of_shares(part=ends[0], whole=ends[1])
    assert 0 <= low <= high <= 1
    if whole > 0:
        assert low - 1e-12 <= part / whole <= high + 1e-12


def test_where_nobody_may_have_answered_the_interval_is_0_to_1() -> None:
    assert ratio_of_shares(part=(0.2, 0.3), whole=(0.0, 0.1)) == (0, 1)
    assert ratio_of_shares(part=(0.0, 0.0), whole=(0.0, 0.0)) == (0, 1)
    assert ratio_of_shares(part=(0.4, 0.5), whole=(0.1, 0.2)) == (1, 1)
    assert ratio_of_shares(part=(0.0, 0.1), whole=(0.5, 1.0)) == (0, 0.2)


@pytest.mark.parametrize(("chosen", "answered"), [(0.1, 0.3), (0.5, 0.6), (0.0, 0.9), (0.4, 0.4)])
def test_the_interval_covers_at_least_as_often_as_its_level(chosen: float, answered: float) -> None:
    runs, people = 1000, 800
    items, gates = draw_surveys(
        np.random.default_rng(1961), chosen=chosen, answered=answered, shape=(runs, people)
    )
    part = clopper_pearson(successes=items.sum(axis=1), total=people, level=0.975, **channel(ITEM))
    whole = clopper_pearson(successes=gates.sum(axis=1), total=people, level=0.975, **channel(GATE))
    missed = 0
    for a, b, x, y in zip(part.low, part.high, whole.low, whole.high, strict=True):
        low, high = ratio_of_shares(part=(a, b), whole=(x, y))
        missed += not low <= chosen / answered <= high
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"{chosen=} {answered=} {runs=} {missed=} accepted up to {limit}")
    assert missed <= limit


def test_the_interval_holds_at_every_look_if_those_of_both_shares_do() -> None:
    runs, people, chosen, answered = 1000, 1000, 0.2, 0.5
    items, gates = draw_surveys(
        np.random.default_rng(1970), chosen=chosen, answered=answered, shape=(runs, people)
    )
    looks = np.arange(20, people + 1, 20)
    part, whole = (
        confidence_sequence(
            successes=seen.cumsum(axis=1)[:, looks - 1], total=looks, level=0.975, **channel(which)
        )
        for seen, which in ((items, ITEM), (gates, GATE))
    )
    missed = 0
    for run in range(runs):
        found = [
            ratio_of_shares(part=(a, b), whole=(x, y))
            for a, b, x, y in zip(
                part.low[run], part.high[run], whole.low[run], whole.high[run], strict=True
            )
        ]
        missed += not all(low <= chosen / answered <= high for low, high in found)
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"{runs=} {missed=} accepted up to {limit}")
    assert missed <= limit


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "answered"), [(0.1, 0.4), (0.5, 0.6), (0.4, 0.95)])
def test_the_standard_error_matches_the_spread_of_repeated_surveys(
    chosen: float, answered: float
) -> None:
    runs, people = 2000, 4000
    items, gates = draw_surveys(
        np.random.default_rng(1981), chosen=chosen, answered=answered, shape=(runs, people)
    )
    parts, wholes = (
        estimate_marginal_shares(successes=seen.sum(axis=1), total=people, **channel(which)).shares
        for seen, which in ((items, ITEM), (gates, GATE))
    )
    errors = [
        float(
            estimate_marginal_shares(
                successes=round(people * (which.other_probability + which.slope * share)),
                total=people,
                **channel(which),
            ).standard_errors
        )
        for share, which in ((chosen, ITEM), (answered, GATE))
    ]
    found = nested_ratio(
        part=chosen, whole=answered, part_error=errors[0], whole_error=errors[1], total=people
    )
    assert found is not None
    ratio, error = found
    spread = float(np.std(parts / wholes))
    print(f"replicates {spread:.5f} formula {error:.5f}")
    assert ratio == pytest.approx(chosen / answered)
    assert spread == pytest.approx(error, rel=0.1)


def test_without_noise_the_standard_error_is_that_of_a_share_among_those_who_answered() -> None:
    n, chosen, answered = 1000, 0.3, 0.6
    found = nested_ratio(
        part=chosen,
        whole=answered,
        part_error=(chosen * (1 - chosen) / n) ** 0.5,
        whole_error=(answered * (1 - answered) / n) ** 0.5,
        total=n,
    )
    assert found is not None
    assert found[1] == pytest.approx((0.5 * 0.5 / (n * answered)) ** 0.5)


@given(st.floats(-1, 2), st.integers(-1000, 2000).map(lambda n: n / 1000), fractions, fractions)
def test_an_empty_whole_has_no_ratio_and_errors_are_never_negative(
    part: float, whole: float, part_error: float, whole_error: float
) -> None:
    found = nested_ratio(
        part=part, whole=whole, part_error=part_error, whole_error=whole_error, total=100
    )
    assert (found is None) == (whole <= 0)
    assert found is None or found[1] >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": (0.3, 0.2)}, "part must be a low and a high end, got (0.3, 0.2)"),
        ({"part": (-0.1, 0.2)}, "part end must lie in [0, 1], got -0.1"),
        ({"whole": (0.5, 1.1)}, "whole end must lie in [0, 1], got 1.1"),
    ],
)
def test_impossible_ends_are_rejected(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as refused:
        ratio_of_shares(**{"part": (0.1, 0.2), "whole": (0.5, 0.6), **arguments})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": float("nan")}, "part must be a finite number, got nan"),
        ({"whole_error": -1.0}, "whole_error must be at least 0 and finite, got -1.0"),
        ({"total": 0}, "total must be at least 1, got 0"),
    ],
)
def test_impossible_estimates_are_rejected(arguments: dict[str, Any], message: str) -> None:
    usual = {"part": 0.2, "whole": 0.8, "part_error": 0.1, "whole_error": 0.1, "total": 10}
    with pytest.raises(ValueError) as refused:
        nested_ratio(**{**usual, **arguments})
    assert str(refused.value) == message
