"""The mean of a number sent as one bit: expected reports, and an interval in its own unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.estimation import estimate_shares
from privacy.shares.intervals import METHODS
from privacy.shares.range_means import estimate_range_mean

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=3, max_size=4).filter(lambda people: people[1] > 0),
    st.integers(2, 45),
)
def test_the_mean_leaves_out_people_who_refuse_or_are_not_asked(
    people: list[int], flips: int
) -> None:
    # Latent symbols: 0, 1, refused, not asked.
    mechanism = RandomizedResponse.from_flips(symbols=len(people), flips=flips)
    truth = np.array(people) / sum(people)
    for fixed_end, method in (
        (True, "likelihood_ratio_conditional"),
        (False, "betting_sequence_share"),
    ):
        found = estimate_range_mean(
            counts=expected_reports(mechanism, truth, 10**15),
            mechanism=mechanism,
            minimum=-10,
            maximum=40,
            fixed_end=fixed_end,
        )
        mean = -10 + 50 * people[1] / (people[0] + people[1])
        assert found.mean == pytest.approx(mean, abs=1e-7)
        assert found.low - 1e-7 <= mean <= found.high + 1e-7
        assert (found.method, found.level, found.contradiction) == (method, 0.95, False)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 500), min_size=2, max_size=4).filter(any),
    st.floats(-100, 100),
    st.floats(0.1, 100),
    st.booleans(),
)
def test_the_interval_of_the_mean_is_that_of_the_share_in_the_unit_of_the_question(
    counts: list[int], minimum: float, width: float, fixed_end: bool
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=len(counts), flips=25)
    maximum = minimum + width
    arguments: dict[str, Any] = {"counts": counts, "mechanism": mechanism, "fixed_end": fixed_end}
    mean = estimate_range_mean(**arguments, minimum=minimum, maximum=maximum)
    share = estimate_range_mean(**arguments, minimum=0, maximum=1)
    assert minimum <= mean.low <= mean.high <= maximum
    ends = minimum + width * np.array([share.low, share.high])
    assert [mean.low, mean.high] == pytest.approx(ends, abs=1e-9)
    assert (mean.mean is None) == (share.mean is None) == (mean.standard_error is None)
    if share.mean is not None and share.standard_error is not None:
        assert mean.mean == pytest.approx(minimum + width * share.mean, rel=1e-6, abs=1e-6)
        assert mean.standard_error == pytest.approx(width * share.standard_error, rel=1e-6)


def test_rounding_does_not_push_the_interval_above_the_maximum() -> None:
    assert -19.9 + (22.8 - -19.9) > 22.8
    found = estimate_range_mean(
        counts=[10, 40], mechanism=COINS, minimum=-19.9, maximum=22.8, fixed_end=True
    )
    assert found.high == 22.8


@pytest.mark.parametrize(
    ("fixed_end", "method"), [(True, "likelihood_ratio"), (False, "confidence_sequence")]
)
def test_where_every_report_is_a_bit_the_interval_is_that_of_a_share(
    fixed_end: bool, method: Any
) -> None:
    found = estimate_range_mean(
        counts=[600, 400], mechanism=COINS, minimum=0, maximum=40, fixed_end=fixed_end
    )
    share = METHODS[method](successes=400, total=1000, other_probability=0.25, slope=0.5)
    error = estimate_shares(counts=[600, 400], mechanism=COINS).standard_errors[1]
    assert (found.method, found.level, found.contradiction) == (method, 0.95, False)
    values = [found.mean, found.standard_error, found.low, found.high]
    assert values == pytest.approx([12, 40 * error, 40 * share.low, 40 * share.high])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"maximum": 0.0}, "minimum must be below maximum, got 0 and 0.0"),
        ({"maximum": float("inf")}, "maximum must be a finite number, got inf"),
        ({"minimum": float("nan")}, "minimum must be a finite number, got nan"),
        ({"counts": [1, 2, 3]}, "counts must have 2 entries, got [1, 2, 3]"),
        ({"counts": [0, 0]}, "counts must hold at least one report, got none"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
    ],
)
def test_an_impossible_range_is_rejected(arguments: dict[str, Any], message: str) -> None:
    usual = {"counts": [5, 5], "mechanism": COINS, "minimum": 0, "maximum": 40, "fixed_end": True}
    with pytest.raises(ValueError) as refused:
        estimate_range_mean(**{**usual, **arguments})
    assert str(refused.value) == message
