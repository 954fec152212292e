"""The correction for careless people: by hand, at full attention, and in simulated surveys."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from privacy.mechanism import inattention
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

THREE = RandomizedResponse.from_flips(symbols=3, flips=25)


@given(st.floats(0.1, 1), st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.9, 1.0]))
def test_expected_counts_return_attention_and_share(
    attention: float, share: float, anchor_share: float
) -> None:
    people = 10**12
    reported, anchor = (
        attention * (0.25 + 0.5 * p) + (1 - attention) / 2 for p in (share, anchor_share)
    )
    corrected = inattention.correct_for_attention(
        successes=round(people * reported),
        total=people,
        anchor_successes=round(people * anchor),
        anchor_total=people,
        anchor_share=anchor_share,
        mechanism=COINS,
    )
    assert corrected.attention == pytest.approx(attention, abs=1e-8)
    assert corrected.share == pytest.approx(share, abs=1e-8)


@given(st.integers(0, 1000))
def test_full_attention_leaves_the_estimate_unchanged(successes: int) -> None:
    corrected = inattention.correct_for_attention(
        successes=successes,
        total=1000,
        anchor_successes=250,
        anchor_total=1000,
        anchor_share=0.0,
        mechanism=COINS,
    )
    assert corrected.attention == 1
    assert corrected.share == pytest.approx(2 * successes / 1000 - 0.5)


@pytest.mark.parametrize("same_people", [False, True])
@pytest.mark.parametrize(
    ("flips", "attention", "share", "anchor_share"),
    [(25, 0.8, 0.2, 0.0), (5, 0.7, 0.05, 0.0), (5, 0.7, 0.9, 0.1), (12, 0.95, 0.5, 1.0)],
)
def test_the_standard_error_of_the_attention_correction_matches_simulated_surveys(
    flips: int, attention: float, share: float, anchor_share: float, same_people: bool
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    surveys, people = 4000, 5000
    generator = np.random.default_rng(17)
    attentive = generator.binomial(people, attention, surveys)
    others = attentive if same_people else generator.binomial(people, attention, surveys)

    def count(attentive: NDArray[np.int64], truth: float) -> NDArray[np.int64]:
        reported = mechanism.other_probability + mechanism.slope * truth
        careless = generator.binomial(people - attentive, 0.5)
        counts: NDArray[np.int64] = generator.binomial(attentive, reported) + careless
        return counts

    corrected = [
        inattention.correct_for_attention(
            successes=int(successes),
            total=people,
            anchor_successes=int(anchor),
            anchor_total=people,
            anchor_share=anchor_share,
            mechanism=mechanism,
            shared_people=people if same_people else 0,
        )
        for successes, anchor in zip(
            count(attentive, share), count(others, anchor_share), strict=True
        )
    ]
    estimates = np.array([result.share for result in corrected])
    errors = np.array([result.standard_error for result in corrected])
    assert errors.mean() / estimates.std() == pytest.approx(1, abs=0.1)
    assert estimates.mean() == pytest.approx(share, abs=6 * errors.mean() / sqrt(surveys) + 0.002)
    covered = float((np.abs(estimates - share) <= norm.ppf(0.975) * errors).mean())
    assert covered == pytest.approx(0.95, abs=0.02)


def test_ignoring_that_the_same_people_answered_both_is_conservative() -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=5)
    without, including = (
        inattention.correct_for_attention(
            successes=217,
            total=1000,
            anchor_successes=185,
            anchor_total=1000,
            anchor_share=0.0,
            mechanism=mechanism,
            shared_people=shared,
        )
        for shared in (0, 1000)
    )
    assert without.share == including.share
    assert without.standard_error > including.standard_error


ATTENTION: dict[str, object] = {
    "successes": 380,
    "total": 1000,
    "anchor_successes": 300,
    "anchor_total": 1000,
    "anchor_share": 0.0,
    "mechanism": COINS,
}

POISONING: dict[str, object] = {
    "share": 0.2, "fake_share": 0.1, "mechanism": COINS, "target": True,
}  # fmt: skip

BAND: dict[str, object] = {"low": 0.1, "high": 0.2, "fake_share": 0.1, "mechanism": COINS}


@pytest.mark.parametrize(
    ("function", "good", "argument", "value"),
    [
        (inattention.correct_for_attention, ATTENTION, "mechanism", THREE),
        (inattention.correct_for_attention, ATTENTION, "successes", 1001),
        (inattention.correct_for_attention, ATTENTION, "successes", -1),
        (inattention.correct_for_attention, ATTENTION, "total", 0),
        (inattention.correct_for_attention, ATTENTION, "anchor_successes", 1001),
        (inattention.correct_for_attention, ATTENTION, "anchor_successes", 500),
        (inattention.correct_for_attention, ATTENTION, "anchor_successes", 700),
        (inattention.correct_for_attention, ATTENTION, "anchor_total", 0),
        (inattention.correct_for_attention, ATTENTION, "anchor_share", 0.5),
        (inattention.correct_for_attention, ATTENTION, "anchor_share", 1.01),
        (inattention.correct_for_attention, ATTENTION, "shared_people", -1),
        (inattention.correct_for_attention, ATTENTION, "shared_people", 1001),
    ],
)
def test_errors_name_the_bad_argument(
    function: Callable[..., object], good: dict[str, object], argument: str, value: object
) -> None:
    function(**good)
    with pytest.raises(ValueError, match=argument):
        function(**{**good, argument: value})
