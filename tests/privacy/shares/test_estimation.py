"""The estimator inverts the channel exactly, and its standard errors are right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.estimation import estimate_marginal_shares, fit_joint_shares
from tests.support.sampling.estimates import estimate_alone, fit_alone

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


@st.composite
def mechanisms_and_counts(draw: st.DrawFn) -> tuple[RandomizedResponse, list[int]]:
    k = draw(st.integers(2, 12))
    flips = draw(st.integers(1, 45))
    counts = draw(st.lists(st.integers(0, 10**6), min_size=k, max_size=k).filter(any))
    return RandomizedResponse.from_flips(symbols=k, flips=flips), counts


def test_400_of_1000_codes_with_two_coins_mean_30_percent() -> None:
    # The estimate is 2·400/1000 − 1/2 = .3, its error √(.4·.6/1000)/.5 = .0309838667697.
    estimates = estimate_alone(counts=[600, 400], mechanism=COINS)
    assert estimates.shares[1] == pytest.approx(0.3, abs=1e-14)
    assert estimates.standard_errors[1] == pytest.approx(0.0309838667697, abs=1e-13)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_the_estimate_with_two_coins_is_twice_the_raw_share_minus_a_half(yes: int, no: int) -> None:
    n = yes + no
    share = estimate_alone(counts=[no, yes], mechanism=COINS).shares[1]
    assert share == pytest.approx(2 * yes / n - 0.5, abs=1e-12)


@given(st.integers(2, 12), st.data())
def test_exact_expected_counts_return_the_truth(k: int, data: st.DataObject) -> None:
    # With 10**12 people, rounding hardly changes the expected counts.
    denominator = 16 * (k - 1)
    kept = data.draw(st.integers(denominator // k + 1, denominator - 1))
    mechanism = RandomizedResponse(symbols=k, threshold=-(-SCALE * kept // denominator))
    people = data.draw(st.lists(st.integers(0, 50), min_size=k, max_size=k).filter(any))
    truth = np.array(people) / sum(people)
    expected = mechanism.channel() @ truth * 10**12
    counts = [round(count) for count in expected]
    shares = estimate_alone(counts=counts, mechanism=mechanism).shares
    assert shares == pytest.approx(truth, abs=1e-9 + 2 * k / (mechanism.slope * 10**12))


@given(mechanisms_and_counts())
def test_shares_sum_to_one(case: tuple[RandomizedResponse, list[int]]) -> None:
    mechanism, counts = case
    found = estimate_alone(counts=counts, mechanism=mechanism).shares
    assert found.sum() == pytest.approx(1, abs=1e-9)
    assert fit_alone(counts=counts, mechanism=mechanism).sum() == pytest.approx(1, abs=1e-9)


@given(mechanisms_and_counts(), st.randoms())
def test_relabelling_the_options_relabels_the_estimates(case, random) -> None:  # type: ignore[no-untyped-def]
    mechanism, counts = case
    order = list(range(len(counts)))
    random.shuffle(order)
    other = [counts[i] for i in order]
    before = estimate_alone(counts=counts, mechanism=mechanism).shares
    after = estimate_alone(counts=other, mechanism=mechanism).shares
    assert after == pytest.approx(before[order], abs=1e-12)
    joint = fit_alone(counts=counts, mechanism=mechanism)
    assert fit_alone(counts=other, mechanism=mechanism) == pytest.approx(joint[order], abs=1e-9)


def fit_by_em(counts: list[int], mechanism: RandomizedResponse) -> NDArray[np.float64]:
    channel = mechanism.channel()
    reported = np.array(counts) / sum(counts)
    shares = np.full(len(counts), 1 / len(counts))
    for _ in range(20_000):
        shares = shares * (channel.T @ (reported / (channel @ shares)))
    return shares


@pytest.mark.parametrize(
    ("flips", "counts"),
    [
        (25, [600, 400]),
        (25, [900, 100]),  # the second estimate is −.3
        (25, [500, 300, 200]),
        (25, [800, 150, 50]),  # two cells end at their floor
        (10, [700, 20, 30, 250]),
        (40, [10, 200, 210, 220, 360]),
    ],
)
def test_the_joint_fit_equals_the_limit_of_em(flips: int, counts: list[int]) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=len(counts), flips=flips)
    fitted = fit_alone(counts=counts, mechanism=mechanism)
    assert fitted.min() >= 0
    assert fitted == pytest.approx(fit_by_em(counts, mechanism), abs=1e-4)


def test_estimates_may_leave_the_unit_interval() -> None:
    estimates = estimate_alone(counts=[90, 10], mechanism=COINS)
    assert estimates.shares[1] == pytest.approx(-0.3, abs=1e-12)
    # The standard error comes from the raw share: √(.1·.9/100)/.5.
    assert estimates.standard_errors[1] == pytest.approx(0.06, abs=1e-12)


def test_1400_codes_carry_as_much_information_as_about_246_direct_answers() -> None:
    # With a true share of 20 %, 35 % report yes.
    estimates = estimate_alone(counts=[910, 490], mechanism=COINS)
    assert estimates.shares[1] == pytest.approx(0.2, abs=1e-12)
    assert round(estimates.effective_sample_sizes[1]) == 246


def test_at_the_boundary_the_effective_sample_size_is_zero() -> None:
    assert estimate_alone(counts=[90, 10], mechanism=COINS).effective_sample_sizes[1] == 0


@pytest.mark.parametrize(("k", "flips"), [(2, 25), (5, 25), (3, 8)])
def test_standard_errors_equal_the_spread_of_replicates(k: int, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    truth = np.arange(1, k + 1) / (k * (k + 1) / 2)
    generator = np.random.default_rng(1965)
    counts = generator.multinomial(500, mechanism.channel() @ truth, size=20_000)
    found = estimate_marginal_shares(
        successes=counts,
        total=500,
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
    )
    ratio = found.shares.std(axis=0) / found.standard_errors.mean(axis=0)
    print(f"n=500 k={k} flips={flips}: replicate SD / SE {ratio}")
    assert (np.abs(ratio - 1) < 0.1).all()
    # The estimates are unbiased, so their mean is within five standard errors of the truth.
    bias = np.abs(found.shares.mean(axis=0) - truth)
    assert (bias < 5 * found.standard_errors.mean(axis=0) / np.sqrt(20_000)).all()


def test_many_questions_at_once_give_the_same_as_one_by_one() -> None:
    mechanism = RandomizedResponse.from_flips(symbols=4, flips=20)
    counts = np.random.default_rng(3).integers(0, 60, size=(30, 4))
    joint = fit_joint_shares(
        counts=counts,
        other_probability=np.full(30, mechanism.other_probability),
        slope=np.full(30, mechanism.slope),
    )
    for cells, shares in zip(counts, joint, strict=True):
        alone = fit_alone(counts=cells.tolist(), mechanism=mechanism)
        assert shares == pytest.approx(list(alone), abs=1e-15)


@pytest.mark.parametrize(
    ("successes", "total", "message"),
    [([1], 0, "total"), ([-1], 5, "successes"), ([6], 5, "successes"), ([float("nan")], 5, "succ")],
)
def test_impossible_marginal_counts_are_rejected(
    successes: list[float], total: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_marginal_shares(
            successes=successes, total=total, other_probability=0.25, slope=0.5
        )
