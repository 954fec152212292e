"""What a reader learns: known values, every vertex in the proof, and small releases in full."""

from __future__ import annotations

from itertools import product
from math import atanh, exp, inf, log, prod, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from privacy.central.calibration import discrete_gaussian_delta
from privacy.central.noise import discrete_gaussian_probability, discrete_laplace_probability
from privacy.central.reader import (
    exact_count_delta,
    exact_count_epsilon,
    reader_epsilon,
    reader_epsilon_by_distance,
    strength_for_reader,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_delta, shuffle_epsilon

Floats = NDArray[np.float64]
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


def channel(symbols: int, epsilon: float) -> RandomizedResponse:
    return RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (COINS, ".049968770 .124513621 .246154088 .470614920 .801983163"),
        (channel(3, log(3)), ".040375549 .102108316 .206760342 .413118538 .752342127"),
        (channel(5, 1), ".026139507 .067374884 .140898624 .300077827 .608439312"),
        (channel(16, 2), ".029434322 .076994030 .165437799 .375272720 .883122882"),
    ],
    ids=["k=2", "k=3", "k=5", "k=16"],
)
def test_the_loss_of_readers_has_known_values(mechanism: RandomizedResponse, expected: str) -> None:
    for epsilon, printed in zip((0.1, 0.25, 0.5, 1, 2), expected.split(), strict=True):
        found = reader_epsilon(mechanism=mechanism, epsilon=epsilon)
        # An integer threshold may scramble slightly more than the row's epsilon.
        assert 0 <= float(printed) - found + 5e-10 < 1.5e-9


def test_ten_questions_in_one_table_have_a_known_loss() -> None:
    # b = 10 for ten symbols at epsilon 1; a replaced code changes two cells.
    one = reader_epsilon(mechanism=COINS, epsilon=2 / 10)
    assert f"{one:.9f}" == "0.099750624"
    assert f"{10 * one:.9f}" == "0.997506239"
    assert f"{10 * COINS.epsilon:.9f}" == "10.986122887"


@given(st.floats(0.01, 5), st.floats(0.001, 20))
def test_two_symbols_follow_the_hyperbolic_formula(local: float, epsilon: float) -> None:
    mechanism = channel(2, local)
    expected = 2 * atanh(tanh(mechanism.epsilon / 2) * tanh(epsilon / 2))
    found = reader_epsilon(mechanism=mechanism, epsilon=epsilon)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("symbols", [2, 3, 4])
@pytest.mark.parametrize("local", [0.3, log(3), 2.5])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_no_likelihoods_within_the_factor_reveal_more(
    symbols: int, local: float, epsilon: float
) -> None:
    mechanism = channel(symbols, local)
    columns = mechanism.channel().T
    largest = 0.0
    # The ratio of two mixtures is quasiconvex, so it is largest at a vertex of the box of
    # likelihoods.
    for vertex in product((1.0, exp(epsilon)), repeat=symbols):
        mixed = columns @ np.array(vertex)
        largest = max(largest, float(np.log(mixed.max() / mixed.min())))
    found = reader_epsilon(mechanism=mechanism, epsilon=epsilon)
    assert found == pytest.approx(largest, rel=1e-9)
    assert found >= largest - 1e-15


def test_likelihoods_inside_the_box_reveal_no_more() -> None:
    random = np.random.default_rng(3)
    mechanism, epsilon = channel(4, 1.5), 0.8
    likelihoods = np.exp(random.uniform(0, epsilon, (20_000, 4)))
    mixed = likelihoods @ mechanism.channel()
    worst = np.log(mixed.max(axis=1) / mixed.min(axis=1)).max()
    assert worst <= reader_epsilon(mechanism=mechanism, epsilon=epsilon)


@pytest.mark.parametrize("symbols", [2, 3])
def test_a_small_release_loses_what_the_formula_says(symbols: int) -> None:
    """List all outcomes of a table with Laplace noise, for both true answers of one person."""
    scale = 2.5
    mechanism = channel(symbols, log(3))
    reach = range(-9, 11)
    cell = {
        (seen, count): float(discrete_laplace_probability(seen - count, scale=scale))
        for seen in reach
        for count in (0, 1)
    }
    # The reports of the others shift all outcomes equally, so these reports are left out.
    outcomes = list(product(reach, repeat=symbols))
    given_report = np.array([
        [prod(cell[seen, int(j == code)] for j, seen in enumerate(outcome)) for outcome in outcomes]
        for code in range(symbols)
    ])  # fmt: skip
    given_answer = mechanism.channel().T @ given_report
    replaced = np.abs(np.log(given_report[0] / given_report[1])).max()
    assert replaced == pytest.approx(2 / scale, rel=1e-9)
    worst = np.abs(np.log(given_answer[0] / given_answer[1])).max()
    expected = reader_epsilon(mechanism=mechanism, epsilon=2 / scale)
    assert worst <= expected
    # With two symbols, the bound is reached where one cell is at least 1 and the other at most 0.
    if symbols == 2:
        assert worst == pytest.approx(expected, rel=1e-9)


@given(st.integers(2, 64), st.floats(0.01, 6), st.floats(0, 1e4))
def test_readers_never_learn_more_than_either_loss_allows(
    symbols: int, local: float, epsilon: float
) -> None:
    mechanism = channel(symbols, local)
    found = reader_epsilon(mechanism=mechanism, epsilon=epsilon)
    assert 0 <= found <= min(epsilon, mechanism.epsilon)
    bound = reader_epsilon_by_distance(distance=mechanism.slope, epsilon=epsilon)
    assert found <= bound * (1 + 1e-12)


def test_a_hopeless_release_reveals_what_the_server_has() -> None:
    for epsilon in (700.0, 709.0, 1e6, 1e300):
        assert reader_epsilon(mechanism=COINS, epsilon=epsilon) == pytest.approx(log(3), rel=1e-12)
    assert reader_epsilon(mechanism=COINS, epsilon=0) == 0.0
    assert reader_epsilon(mechanism=COINS, epsilon=1e-12) == pytest.approx(5e-13, rel=1e-9)
    assert 0 < reader_epsilon(mechanism=COINS, epsilon=1e-310) <= 1e-310
    assert reader_epsilon_by_distance(distance=0.5, epsilon=1e6) == pytest.approx(1e6 + log(0.5))
    assert reader_epsilon_by_distance(distance=0, epsilon=1e6) == 0.0
    assert reader_epsilon_by_distance(distance=1, epsilon=3) == 3.0


@pytest.mark.parametrize("symbols", [2, 3])
@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.2])
def test_a_release_with_a_delta_keeps_the_formula(symbols: int, epsilon: float) -> None:
    """List the outcomes of a small table with Gaussian noise that are likely enough to matter."""
    variance, reach = 2.0, 7 if symbols == 3 else 12
    mechanism = channel(symbols, 1.5)
    one = discrete_gaussian_probability(np.arange(-reach, reach + 2), variance=variance)
    shifted = np.append(0, one[:-1])
    tables = []
    for code in range(symbols):
        table = np.ones(1)
        for cell in range(symbols):
            table = np.multiply.outer(table, shifted if cell == code else one)
        tables.append(table.ravel())
    delta = discrete_gaussian_delta(variance=variance, squared_sensitivity=2, epsilon=epsilon)
    assert hockey_stick(tables[0], tables[1], epsilon) == pytest.approx(delta, rel=1e-3)
    answers = mechanism.channel().T @ np.array(tables)
    found = reader_epsilon(mechanism=mechanism, epsilon=epsilon)
    left = mechanism.keep_probability - mechanism.other_probability * exp(found)
    assert hockey_stick(answers[0], answers[1], found) <= delta * left * (1 + 1e-9)
    assert left <= mechanism.slope


def test_the_general_bound_is_met_by_the_worst_channel() -> None:
    # The two answers lead to different reports with a chance of only .4; a release reveals a report
    # at epsilon .7.
    epsilon, distance = 0.7, 0.4
    shows = np.array([exp(epsilon), 1.0])
    answers = np.array([[1 - distance, distance], [1.0, 0.0]])
    mixed = answers @ shows[::-1]
    found = reader_epsilon_by_distance(distance=distance, epsilon=epsilon)
    assert found == pytest.approx(float(np.log(mixed[0] / mixed[1])), rel=1e-12)


# Exact counts at the close.


@pytest.mark.parametrize(
    ("people", "delta", "expected"),
    [
        (100, 1e-6, "0.550065527"), (100, 1e-9, "0.770561516"), (200, 1e-6, "0.360265349"),
        (500, 1e-6, "0.210529724"), (1000, 1e-6, "0.142057674"),
        # If all others agree, the values are .200571217 and .096491437; if one differs, the loss is
        # larger.
        (1000, 1e-9, "0.200613330"), (2000, 1e-6, "0.096523752"),
    ],
)  # fmt: skip
def test_an_exact_count_has_known_losses(people: int, delta: float, expected: str) -> None:
    found = exact_count_epsilon(mechanism=COINS, people=people, delta=delta)
    assert f"{found:.9f}" == expected


def list_count(mechanism: RandomizedResponse, truths: tuple[int, ...]) -> Floats:
    """Return the probabilities of every count, by listing every pattern of reports."""
    t = mechanism.keep_probability
    chances = np.zeros(len(truths) + 1)
    for reports in product((0, 1), repeat=len(truths)):
        parts = [t if a == b else 1 - t for a, b in zip(truths, reports, strict=True)]
        chances[sum(reports)] += np.prod(parts)
    return chances


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - exp(epsilon) * second, 0).sum())


@pytest.mark.parametrize("people", [1, 2, 3, 6])
@pytest.mark.parametrize("local", [0.4, log(3), 2.5])
def test_an_exact_count_agrees_with_listing_every_pattern(people: int, local: float) -> None:
    mechanism = channel(2, local)
    for epsilon in np.linspace(0, local * 0.99, 7):
        worst = 0.0
        for ones in range(people):
            others = (1,) * ones + (0,) * (people - 1 - ones)
            yes, no = (list_count(mechanism, (own, *others)) for own in (1, 0))
            delta = max(hockey_stick(yes, no, epsilon), hockey_stick(no, yes, epsilon))
            worst = max(worst, delta)
        found = exact_count_delta(mechanism=mechanism, people=people, epsilon=float(epsilon))
        assert found == pytest.approx(worst, rel=1e-8, abs=1e-18)
        assert found >= worst - 1e-15


def binomial_delta(mechanism: RandomizedResponse, others: tuple[int, int], epsilon: float) -> float:
    """Compute delta for a crowd in which these numbers of others have the answers 1 and 0."""
    t, (ones, zeros) = mechanism.keep_probability, others
    true = binom.pmf(np.arange(ones + 1), ones, t)
    false = binom.pmf(np.arange(zeros + 1), zeros, 1 - t)
    count = np.convolve(true, false)
    yes, no = np.convolve(count, [1 - t, t]), np.convolve(count, [t, 1 - t])
    return max(hockey_stick(yes, no, epsilon), hockey_stick(no, yes, epsilon))


@pytest.mark.parametrize(("people", "local"), [(30, log(3)), (60, 2.0), (200, log(3))])
def test_the_bound_holds_whatever_the_others_answer(people: int, local: float) -> None:
    mechanism = channel(2, local)
    for epsilon in (0.0, 0.1, 0.4, 0.8):
        found = exact_count_delta(mechanism=mechanism, people=people, epsilon=epsilon)
        deltas = [
            binomial_delta(mechanism, (ones, people - 1 - ones), epsilon) for ones in range(people)
        ]
        assert found == pytest.approx(max(deltas), rel=1e-8)
        assert found >= max(deltas)


def test_others_who_all_agree_are_not_always_the_worst_case() -> None:
    epsilon = 0.200571217
    agreeing = binomial_delta(COINS, (0, 999), epsilon)
    one = binomial_delta(COINS, (1, 998), epsilon)
    assert f"{agreeing * 1e9:.6f}" == "1.000000"
    assert f"{one * 1e9:.3f}" == "1.006"
    assert exact_count_delta(mechanism=COINS, people=1000, epsilon=epsilon) >= one


@pytest.mark.parametrize("people", [2500, 20_000])
def test_blocks_of_answers_bound_every_answer_closely(people: int) -> None:
    found = exact_count_epsilon(mechanism=COINS, people=people, delta=1e-6)
    epsilons = (found, found * (1 - 1.5e-3))
    worst = [
        max(binomial_delta(COINS, (m, people - 1 - m), e) for m in (0, 1, 2, 3, 5, people // 2))
        for e in epsilons
    ]
    assert worst[0] <= 1e-6 < worst[1]


def test_the_count_alone_reveals_less_than_shuffled_reports() -> None:
    for people in (1, 10, 1000):
        exact = exact_count_epsilon(mechanism=COINS, people=people, delta=1e-6)
        assert exact <= shuffle_epsilon(mechanism=COINS, people=people, delta=1e-6) + 1e-9
        delta = exact_count_delta(mechanism=COINS, people=people, epsilon=exact)
        assert delta <= 1e-6


def test_a_count_of_one_person_reveals_the_report() -> None:
    assert exact_count_epsilon(mechanism=COINS, people=1, delta=1e-9) == pytest.approx(log(3))
    assert exact_count_delta(mechanism=COINS, people=1, epsilon=0.0) == pytest.approx(0.5)
    assert exact_count_delta(mechanism=COINS, people=1, epsilon=log(3) + 1e-9) == 0.0
    assert exact_count_epsilon(mechanism=COINS, people=50, delta=0.9) == 0.0
    assert exact_count_epsilon(mechanism=COINS, people=50, delta=1e-30) == COINS.epsilon


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(st.floats(0.1, 3), st.integers(1, 3000), st.floats(1e-9, 0.01))
def test_the_epsilon_of_a_count_keeps_its_delta(local: float, people: int, delta: float) -> None:
    mechanism = channel(2, local)
    found = exact_count_epsilon(mechanism=mechanism, people=people, delta=delta)
    assert 0 <= found <= mechanism.epsilon
    assert exact_count_delta(mechanism=mechanism, people=people, epsilon=found) <= delta
    if 1e-6 < found < mechanism.epsilon * (1 - 1e-6):
        less = exact_count_delta(mechanism=mechanism, people=people, epsilon=found * (1 - 1e-6))
        assert less > delta


@pytest.mark.long
def test_ten_million_people_are_counted_too() -> None:
    found = exact_count_epsilon(mechanism=COINS, people=10**7, delta=1e-6)
    fewer = exact_count_epsilon(mechanism=COINS, people=10**5, delta=1e-6)
    # The loss falls slightly faster than one over the square root of the number of people.
    assert fewer / 10 * 0.7 < found < fewer / 10


@pytest.mark.parametrize(
    ("people", "expected"), [(500, "1.812243"), (1000, "2.302143"), (5000, "3.680107")]
)
def test_shuffling_allows_a_known_strength(people: int, expected: str) -> None:
    found = strength_for_reader(people=people, epsilon=0.5, delta=1e-6)
    assert f"{found:.6f}" == expected
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=found)
    assert shuffle_delta(mechanism=mechanism, people=people, epsilon=0.5) <= 1e-6
    more = RandomizedResponse.from_epsilon(symbols=2, epsilon=found + 1e-5)
    assert shuffle_delta(mechanism=more, people=people, epsilon=0.5) > 1e-6
    # The count alone would allow a larger epsilon, because its delta is exact.
    assert exact_count_delta(mechanism=more, people=people, epsilon=0.5) < 1e-6


def test_few_people_hide_nobody() -> None:
    found = strength_for_reader(people=1, epsilon=0.5, delta=1e-6)
    assert found == pytest.approx(0.5, abs=1e-5)
    almost = strength_for_reader(people=2, epsilon=0.5, delta=0.5)
    assert 0.5 < almost < inf
