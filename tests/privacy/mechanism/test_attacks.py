"""What attackers learn and what fakes do: the published figures, laws, and simulation."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from privacy.mechanism import attacks
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
LN3 = log(3)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 49)
)


@st.composite
def mechanisms_and_shares(draw: st.DrawFn) -> tuple[RandomizedResponse, NDArray[np.float64]]:
    mechanism = draw(mechanisms)
    k = mechanism.symbols
    parts = draw(st.lists(st.integers(0, 1000), min_size=k, max_size=k).filter(any))
    return mechanism, np.array(parts) / sum(parts)


# Posterior


@pytest.mark.parametrize(
    ("flips", "percent"),
    [
        (33, (2, 18, 67)),
        (25, (3, 25, 75)),
        (20, (4, 31, 80)),
        (15, (5, 39, 85)),
        (12, (7, 45, 88)),
        (5, (16, 68, 95)),
    ],
)
def test_the_planner_s_table_of_true_yes_among_yes_codes(
    flips: int, percent: tuple[int, int, int]
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    found = [attacks.posterior(share=base, mechanism=mechanism) for base in (0.01, 0.1, 0.5)]
    assert tuple(round(100 * value) for value in found) == percent


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.5, 0.155), (1, 0.232), (LN3, 0.250), (2, 0.451), (3, 0.691)]
)
def test_the_posterior_by_epsilon(epsilon: float, expected: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    assert round(attacks.posterior(share=0.1, mechanism=mechanism), 3) == expected


@given(mechanisms_and_shares())
def test_one_symbol_s_posterior_is_its_entry_of_all_and_follows_bayes(
    case: tuple[RandomizedResponse, NDArray[np.float64]],
) -> None:
    mechanism, prior = case
    every = attacks.posterior(share=prior, mechanism=mechanism)
    joint = mechanism.channel() * prior  # [reported, true]
    assert every == pytest.approx(np.diag(joint) / joint.sum(axis=1))
    for share, value in zip(prior.tolist(), every, strict=True):
        assert attacks.posterior(share=share, mechanism=mechanism) == pytest.approx(value)


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 49))
def test_odds_of_two_answers_move_by_exactly_e_to_the_epsilon(share: float, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    after = attacks.posterior(share=share, mechanism=mechanism)
    moved = after / (1 - after) / (share / (1 - share))
    assert moved == pytest.approx(exp(mechanism.epsilon), rel=1e-6)


@given(st.floats(1e-6, 1 - 1e-6), mechanisms)
def test_odds_of_one_of_many_answers_move_by_at_most_e_to_the_epsilon(
    share: float, mechanism: RandomizedResponse
) -> None:
    after = attacks.posterior(share=share, mechanism=mechanism)
    assert after / (1 - after) <= exp(mechanism.epsilon) * share / (1 - share) * (1 + 1e-6)
    assert after >= share


# Guessing


@given(mechanisms)
def test_with_equal_shares_the_attacker_is_right_as_often_as_the_truth_is_kept(
    mechanism: RandomizedResponse,
) -> None:
    equal = np.full(mechanism.symbols, 1 / mechanism.symbols)
    success = attacks.attacker_success(shares=equal, mechanism=mechanism)
    assert success == pytest.approx(mechanism.keep_probability)


@given(mechanisms_and_shares())
def test_the_attacker_s_success_lies_between_knowing_nothing_and_the_epsilon_bound(
    case: tuple[RandomizedResponse, NDArray[np.float64]],
) -> None:
    mechanism, prior = case
    success = attacks.attacker_success(shares=prior, mechanism=mechanism)
    blind = prior.max()
    assert blind - 1e-12 <= success <= min(1, blind * exp(mechanism.epsilon)) + 1e-9
    by_hand = sum(
        max(prior[i] * mechanism.channel()[j, i] for i in range(mechanism.symbols))
        for j in range(mechanism.symbols)
    )
    assert success == pytest.approx(by_hand)


def test_a_simulated_attacker_succeeds_as_often() -> None:
    prior = np.array([0.5, 0.3, 0.2])
    people = 200_000
    generator = np.random.default_rng(5)
    truth = generator.choice(3, size=people, p=prior)
    kept = generator.random(people) < THREE.keep_probability
    codes = np.where(kept, truth, (truth + generator.integers(1, 3, people)) % 3)
    guesses = (THREE.channel() * prior).argmax(axis=1)[codes]
    success = attacks.attacker_success(shares=prior, mechanism=THREE)
    right = float((guesses == truth).mean())
    assert right == pytest.approx(success, abs=4.9 * sqrt(0.25 / people))


# Five reports: exactly 918/1024 = .896484, which the reference prints as .897.
@pytest.mark.parametrize(
    ("reports", "expected"), [(1, 0.75), (3, 0.844), (5, 0.896), (11, 0.966), (21, 0.994)]
)
def test_averaging_fresh_reports_finds_the_truth(reports: int, expected: float) -> None:
    assert round(attacks.majority_success(mechanism=COINS, reports=reports), 3) == expected


@given(st.integers(1, 200), st.integers(1, 49))
def test_an_even_report_adds_nothing_to_the_odd_number_before(half: int, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    odd, even, next_odd = (
        attacks.majority_success(mechanism=mechanism, reports=2 * half + extra)
        for extra in (-1, 0, 1)
    )
    assert even == pytest.approx(odd)
    assert next_odd >= odd * (1 - 1e-12)


# Fake reports


@pytest.mark.parametrize(
    ("epsilon", "weight"), [(0.5, 2.54), (1, 1.58), (LN3, 1.5), (2, 1.16), (3, 1.05)]
)
def test_the_weight_of_a_fake_yes(epsilon: float, weight: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    assert round(attacks.fake_weight(mechanism=mechanism), 2) == weight


def test_a_fake_weighs_two_with_three_symbols_at_ln_3() -> None:
    assert attacks.fake_weight(mechanism=THREE) == pytest.approx(2.0)


@pytest.mark.parametrize("epsilon", [0.5, 1, LN3, 2, 3])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_poisoning_with_two_symbols_follows_the_published_formulas(
    epsilon: float, share: float
) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    all_yes, all_no = (
        attacks.poisoning_shift(share=share, fake_share=0.1, mechanism=mechanism, target=target)
        for target in (True, False)
    )
    assert all_yes == pytest.approx(0.1 * (exp(epsilon) / (exp(epsilon) - 1) - share))
    assert all_no == pytest.approx(-0.1 * (1 / (exp(epsilon) - 1) + share))


@given(mechanisms, st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_the_poisoning_shift_is_what_the_estimator_does_with_expected_counts(
    mechanism: RandomizedResponse, share: float, fake_share: float, target: bool
) -> None:
    c, d = mechanism.other_probability, mechanism.slope
    reported = (1 - fake_share) * (c + d * share) + fake_share * target
    shift = attacks.poisoning_shift(
        share=share, fake_share=fake_share, mechanism=mechanism, target=target
    )
    assert (reported - c) / d == pytest.approx(share + shift, abs=1e-9)


@given(mechanisms, st.floats(0, 1), st.floats(0, 0.99), st.floats(0, 1), st.floats(0, 1))
def test_the_robustness_band_holds_the_truth_whatever_fewer_fakes_send(
    mechanism: RandomizedResponse, share: float, allowed: float, part: float, sent: float
) -> None:
    c, d = mechanism.other_probability, mechanism.slope
    fake_share = allowed * part
    reported = (1 - fake_share) * (c + d * share) + fake_share * sent
    estimate = (reported - c) / d
    band = attacks.robustness_band(
        low=estimate, high=estimate, fake_share=allowed, mechanism=mechanism
    )
    assert 0 <= band.low <= share + 1e-7
    assert share - 1e-7 <= band.high <= 1


@given(mechanisms, st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.9), st.floats(0, 0.09))
def test_more_fakes_widen_the_band_and_none_leave_the_interval(
    mechanism: RandomizedResponse, one: float, other: float, fake_share: float, more: float
) -> None:
    low, high = sorted((one, other))
    none, some, many = (
        attacks.robustness_band(low=low, high=high, fake_share=fakes, mechanism=mechanism)
        for fakes in (0.0, fake_share, fake_share + more)
    )
    assert (none.low, none.high) == pytest.approx((low, high), abs=1e-9)
    assert many.low - 1e-9 <= some.low <= none.low + 1e-9
    assert none.high - 1e-9 <= some.high <= many.high + 1e-9


def test_the_band_of_a_real_estimate() -> None:
    # λ = .35: (.35 − .05)/.95 and .35/.95, by (λ − .25)/.5
    band = attacks.robustness_band(low=0.2, high=0.2, fake_share=0.05, mechanism=COINS)
    assert band.low == pytest.approx((0.30 / 0.95 - 0.25) / 0.5)
    assert band.high == pytest.approx((0.35 / 0.95 - 0.25) / 0.5)


def test_the_band_of_estimates_outside_the_unit_interval_is_cut() -> None:
    band = attacks.robustness_band(low=-0.5, high=-0.5, fake_share=0.1, mechanism=COINS)
    assert (band.low, band.high) == (0, 0)
    band = attacks.robustness_band(low=1.5, high=1.5, fake_share=0.1, mechanism=COINS)
    assert (band.low, band.high) == (1, 1)


# Attention


@given(st.floats(0.1, 1), st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.9, 1.0]))
def test_expected_counts_return_attention_and_share(
    attention: float, share: float, anchor_share: float
) -> None:
    people = 10**12
    reported, anchor = (
        attention * (0.25 + 0.5 * p) + (1 - attention) / 2 for p in (share, anchor_share)
    )
    corrected = attacks.correct_for_attention(
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
def test_full_attention_leaves_the_estimate_as_it_is(successes: int) -> None:
    corrected = attacks.correct_for_attention(
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
def test_the_standard_error_of_the_attention_correction_is_the_spread_of_surveys(
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
        attacks.correct_for_attention(
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


def test_leaving_out_that_the_same_people_answered_both_is_cautious() -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=5)
    without, including = (
        attacks.correct_for_attention(
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


# Bad input

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
        ("posterior", {"share": 0.1, "mechanism": COINS}, "share", -0.01),
        ("posterior", {"share": 0.1, "mechanism": COINS}, "share", float("nan")),
        ("posterior", {"share": 0.1, "mechanism": COINS}, "share", [0.2, 0.3, 0.5]),
        ("posterior", {"share": 0.1, "mechanism": COINS}, "share", [0.2, 0.3]),
        ("posterior", {"share": 0.1, "mechanism": COINS}, "share", [1.2, -0.2]),
        ("attacker_success", {"shares": [0.5, 0.5], "mechanism": COINS}, "shares", [1.0]),
        ("attacker_success", {"shares": [0.5, 0.5], "mechanism": COINS}, "shares", [0.5, 0.6]),
        ("attacker_success", {"shares": [0.5, 0.5], "mechanism": COINS}, "shares", [1.5, -0.5]),
        ("majority_success", {"mechanism": COINS, "reports": 3}, "reports", 0),
        ("majority_success", {"mechanism": COINS, "reports": 3}, "mechanism", THREE),
        ("poisoning_shift", POISONING, "share", 1.01),
        ("poisoning_shift", POISONING, "fake_share", -0.01),
        ("robustness_band", BAND, "fake_share", 1.0),
        ("robustness_band", BAND, "fake_share", -0.01),
        ("robustness_band", BAND, "low", 0.3),
        ("robustness_band", BAND, "low", -0.51),
        ("robustness_band", BAND, "high", 1.51),
        ("robustness_band", BAND, "high", float("nan")),
        ("correct_for_attention", ATTENTION, "mechanism", THREE),
        ("correct_for_attention", ATTENTION, "successes", 1001),
        ("correct_for_attention", ATTENTION, "successes", -1),
        ("correct_for_attention", ATTENTION, "total", 0),
        ("correct_for_attention", ATTENTION, "anchor_successes", 1001),
        ("correct_for_attention", ATTENTION, "anchor_successes", 500),
        ("correct_for_attention", ATTENTION, "anchor_successes", 700),
        ("correct_for_attention", ATTENTION, "anchor_total", 0),
        ("correct_for_attention", ATTENTION, "anchor_share", 0.5),
        ("correct_for_attention", ATTENTION, "anchor_share", 1.01),
        ("correct_for_attention", ATTENTION, "shared_people", -1),
        ("correct_for_attention", ATTENTION, "shared_people", 1001),
    ],
)
def test_bad_input_is_refused_by_name(
    function: str, good: dict[str, object], argument: str, value: object
) -> None:
    call = getattr(attacks, function)
    call(**good)
    with pytest.raises(ValueError, match=argument):
        call(**{**good, argument: value})
