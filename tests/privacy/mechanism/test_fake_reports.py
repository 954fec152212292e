"""What fake reports do to an estimate: published formulas, properties, and the widened interval."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism import fake_reports
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

THREE = RandomizedResponse.from_flips(symbols=3, flips=25)

LN3 = log(3)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 49)
)


@pytest.mark.parametrize(
    ("epsilon", "weight"), [(0.5, 2.54), (1, 1.58), (LN3, 1.5), (2, 1.16), (3, 1.05)]
)
def test_the_weight_of_a_fake_yes(epsilon: float, weight: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    assert round(fake_reports.fake_weight(mechanism=mechanism), 2) == weight


def test_a_fake_weighs_two_with_three_symbols_at_ln_3() -> None:
    assert fake_reports.fake_weight(mechanism=THREE) == pytest.approx(2.0)


@pytest.mark.parametrize("epsilon", [0.5, 1, LN3, 2, 3])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_poisoning_with_two_symbols_follows_the_published_formulas(
    epsilon: float, share: float
) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    all_yes, all_no = (
        fake_reports.poisoning_shift(
            share=share, fake_share=0.1, mechanism=mechanism, target=target
        )
        for target in (True, False)
    )
    assert all_yes == pytest.approx(0.1 * (exp(epsilon) / (exp(epsilon) - 1) - share))
    assert all_no == pytest.approx(-0.1 * (1 / (exp(epsilon) - 1) + share))


@given(mechanisms, st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_the_poisoning_shift_agrees_with_the_estimator_at_expected_counts(
    mechanism: RandomizedResponse, share: float, fake_share: float, target: bool
) -> None:
    c, d = mechanism.other_probability, mechanism.slope
    reported = (1 - fake_share) * (c + d * share) + fake_share * target
    shift = fake_reports.poisoning_shift(
        share=share, fake_share=fake_share, mechanism=mechanism, target=target
    )
    assert (reported - c) / d == pytest.approx(share + shift, abs=1e-9)


@given(mechanisms, st.floats(0, 1), st.floats(0, 0.99), st.floats(0, 1), st.floats(0, 1))
def test_the_robustness_band_contains_the_truth_whatever_up_to_that_many_fakes_send(
    mechanism: RandomizedResponse, share: float, allowed: float, part: float, sent: float
) -> None:
    c, d = mechanism.other_probability, mechanism.slope
    fake_share = allowed * part
    reported = (1 - fake_share) * (c + d * share) + fake_share * sent
    estimate = (reported - c) / d
    band = fake_reports.robustness_band(
        low=estimate, high=estimate, fake_share=allowed, mechanism=mechanism
    )
    assert 0 <= band.low <= share + 1e-7
    assert share - 1e-7 <= band.high <= 1


@given(mechanisms, st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.9), st.floats(0, 0.09))
def test_more_fakes_widen_the_band_and_without_any_it_is_the_interval(
    mechanism: RandomizedResponse, one: float, other: float, fake_share: float, more: float
) -> None:
    low, high = sorted((one, other))
    none, some, many = (
        fake_reports.robustness_band(low=low, high=high, fake_share=fakes, mechanism=mechanism)
        for fakes in (0.0, fake_share, fake_share + more)
    )
    assert (none.low, none.high) == pytest.approx((low, high), abs=1e-9)
    assert many.low - 1e-9 <= some.low <= none.low + 1e-9
    assert none.high - 1e-9 <= some.high <= many.high + 1e-9


def test_the_band_of_a_real_estimate() -> None:
    # λ = .35: (.35 − .05)/.95 and .35/.95, by (λ − .25)/.5
    band = fake_reports.robustness_band(low=0.2, high=0.2, fake_share=0.05, mechanism=COINS)
    assert band.low == pytest.approx((0.30 / 0.95 - 0.25) / 0.5)
    assert band.high == pytest.approx((0.35 / 0.95 - 0.25) / 0.5)


def test_the_band_of_estimates_outside_the_unit_interval_is_clipped() -> None:
    band = fake_reports.robustness_band(low=-0.5, high=-0.5, fake_share=0.1, mechanism=COINS)
    assert (band.low, band.high) == (0, 0)
    band = fake_reports.robustness_band(low=1.5, high=1.5, fake_share=0.1, mechanism=COINS)
    assert (band.low, band.high) == (1, 1)


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
        (fake_reports.poisoning_shift, POISONING, "share", 1.01),
        (fake_reports.poisoning_shift, POISONING, "fake_share", -0.01),
        (fake_reports.robustness_band, BAND, "fake_share", 1.0),
        (fake_reports.robustness_band, BAND, "fake_share", -0.01),
        (fake_reports.robustness_band, BAND, "low", 0.3),
        (fake_reports.robustness_band, BAND, "low", -0.51),
        (fake_reports.robustness_band, BAND, "high", 1.51),
        (fake_reports.robustness_band, BAND, "high", float("nan")),
    ],
)
def test_errors_name_the_bad_argument(
    function: Callable[..., object], good: dict[str, object], argument: str, value: object
) -> None:
    function(**good)
    with pytest.raises(ValueError, match=argument):
        function(**{**good, argument: value})
