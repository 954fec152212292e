"""The interval that allows for fake reports contains the truth, whatever the fakes say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism import fake_reports
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 49)
)


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


BAND: dict[str, Any] = {"low": 0.1, "high": 0.2, "fake_share": 0.1, "mechanism": COINS}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("fake_share", 1.0),
        ("fake_share", -0.01),
        ("low", 0.3),
        ("low", -0.51),
        ("high", 1.51),
        ("high", float("nan")),
    ],
)
def test_errors_name_the_bad_argument(argument: str, value: object) -> None:
    fake_reports.robustness_band(**BAND)
    with pytest.raises(ValueError, match=argument):
        fake_reports.robustness_band(**{**BAND, argument: value})
