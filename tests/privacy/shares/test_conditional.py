"""Shares among those who answered: exact sums, properties, and the sequence while watching."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import dirichlet_sequence_share, likelihood_ratio_share
from privacy.shares.conditional_cells import ConditionalShare
from privacy.shares.fieller import fieller_share

REFUSAL = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)
Find = Callable[..., ConditionalShare]
METHODS_OF_SHARES = (fieller_share, likelihood_ratio_share, dirichlet_sequence_share)
every_method = pytest.mark.parametrize("find", METHODS_OF_SHARES)


@st.composite
def cases(draw: st.DrawFn, *, most: int = 5000) -> dict[str, Any]:
    k = draw(st.integers(3, 8))
    flips = draw(st.integers(2, 45))
    among = draw(st.permutations(range(k)))[: draw(st.integers(2, k - 1))]
    return {
        "mechanism": RandomizedResponse.from_flips(symbols=k, flips=flips),
        "counts": draw(st.lists(st.integers(0, most), min_size=k, max_size=k).filter(any)),
        "among": among,
        "symbol": draw(st.sampled_from(among)),
    }


def three_cells(case: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reported shares of the symbol, the other answers and the rest, and their lower limits."""
    counts = np.array(case["counts"]) / sum(case["counts"])
    k, among, c = len(counts), list(case["among"]), case["mechanism"].other_probability
    symbol, answers = counts[case["symbol"]], counts[among].sum()
    floors = c * np.array([1, len(among) - 1, k - len(among)])
    return np.array([symbol, answers - symbol, 1 - answers]), floors


def miss(found: ConditionalShare, truth: float) -> bool:
    return found.contradiction or not found.low <= truth <= found.high


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


# Estimates


@pytest.mark.slow
@settings(deadline=None)
@given(cases(most=50))
def test_exact_expected_counts_return_the_true_share_among_answers(case: dict[str, Any]) -> None:
    people = np.array(case["counts"])
    answers = people[list(case["among"])].sum()
    assume(answers > 0)
    reports = expected_reports(case["mechanism"], people / people.sum(), 10**15)
    for find in METHODS_OF_SHARES:
        found = find(**{**case, "counts": reports})
        assert found.share == pytest.approx(people[case["symbol"]] / answers, abs=1e-9)
        assert found.among_share == pytest.approx(answers / people.sum(), abs=1e-9)
        truth = people[case["symbol"]] / answers
        assert found.low - 1e-9 <= truth <= found.high + 1e-9


@pytest.mark.slow
def test_the_standard_error_matches_the_spread_of_repeated_surveys() -> None:
    for truth in ((0.2, 0.4, 0.1, 0.3), (0.02, 0.5, 0.4, 0.08), (0.5, 0.0, 0.0, 0.5)):
        question: dict[str, Any] = {"mechanism": FOUR, "symbol": 0, "among": (0, 1, 2)}
        drawn = np.random.default_rng(1954).multinomial(
            4000, FOUR.channel() @ np.array(truth), size=4000
        )
        shares = [fieller_share(counts=counts.tolist(), **question).share for counts in drawn]
        expected = fieller_share(counts=expected_reports(FOUR, truth, 4000), **question)
        assert expected.standard_error is not None
        spread = np.std(np.array(shares, dtype=np.float64))
        print(f"replicates {spread:.5f} formula {expected.standard_error:.5f}")
        assert spread == pytest.approx(expected.standard_error, rel=0.1)


def test_without_a_positive_share_of_answers_there_is_no_ratio() -> None:
    for counts in ([390, 395, 1215], [25, 28, 92], [1, 15, 34], [13, 3, 34]):
        found = fieller_share(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
        assert found.share is None
        assert found.standard_error is None
        assert found.among_share < 0
        assert (found.low, found.high) == (0, 1)


# The sequence


def best_log_likelihood(case: dict[str, Any], ratio: float) -> float:
    """Use a general-purpose optimizer to maximize over the share of people who answered."""
    reported, floors = three_cells(case)
    n, d = sum(case["counts"]), case["mechanism"].slope
    directions = d * np.array([ratio, 1 - ratio, -1])

    def loss(asked: float) -> float:
        shares = floors + directions * asked + np.array([0, 0, d])
        return float(-n * (reported @ np.log(shares)))

    found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    return -min(float(found.fun), loss(0.0), loss(1.0))


@given(cases(), st.sampled_from([0.5, 0.95, 0.999]))
def test_at_the_ends_of_the_sequence_the_mixture_reaches_the_limit_of_the_level(
    case: dict[str, Any], level: float
) -> None:
    found = dirichlet_sequence_share(**case, level=level)
    cells = three_cells(case)[0] * sum(case["counts"])
    mixture = sum(lgamma(cell + 0.5) for cell in cells) - lgamma(sum(cells) + 1.5)
    limit = mixture - 3 * lgamma(0.5) + lgamma(1.5) + log(1 - level)
    for end, open_end in ((found.low, 0.0), (found.high, 1.0)):
        excess = best_log_likelihood(case, end) - limit
        if found.contradiction:
            assert excess < 1e-6
        elif end == open_end:
            assert excess > -1e-6
        else:
            assert excess == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("mechanism", "latent", "truth"),
    [(REFUSAL, (0.1, 0.4, 0.5), 0.2), (FOUR, (0.27, 0.02, 0.01, 0.7), 0.9)],
)
def test_watched_after_every_report_the_sequence_still_holds(
    mechanism: RandomizedResponse, latent: tuple[float, ...], truth: float
) -> None:
    runs, people = 1000, 1000
    answers = len(latent) - 1
    question: dict[str, Any] = {"mechanism": mechanism, "symbol": 0, "among": range(answers)}
    reported = mechanism.channel() @ np.array(latent)
    cells = np.array([reported[0], reported[1:answers].sum(), reported[-1]])
    generator = np.random.default_rng(1970)
    drawn = generator.choice(3, p=cells / cells.sum(), size=(runs, people))
    counts = np.stack([(drawn == cell).cumsum(axis=1) for cell in range(3)])
    evidence = gammaln(counts + 0.5).sum(axis=0) - gammaln(counts.sum(axis=0) + 1.5)
    evidence -= 3 * gammaln(0.5) - gammaln(1.5) + np.tensordot(np.log(cells), counts, axes=1)
    rejected = evidence >= np.log(20)
    # The interval is the projection of all cells that are not rejected, so it can miss only at a
    # look at which the true cells are rejected. In every fifth run, compute it at the look at which
    # the true cells come closest to being rejected.
    for run in range(0, runs, 5):
        look = int(evidence[run].argmax())
        symbol, others, rest = counts[:, run, look].tolist()
        found = dirichlet_sequence_share(
            counts=[symbol, others, *[0] * (answers - 2), rest], **question
        )
        assert rejected[run, look] or not miss(found, truth)
    k = int(rejected.any(axis=1).sum())
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={k} expected at most {0.05 * runs}, accepted up to {limit}")
    assert k <= limit


def test_over_twenty_looks_fieller_s_interval_fails_but_the_sequence_holds() -> None:
    runs, truth = 200, 2 / 7
    latent = FOUR.channel() @ np.array([0.2, 0.3, 0.2, 0.3])
    surveys = np.random.default_rng(20).multinomial(100, latent, size=(runs, 20)).cumsum(axis=1)
    missed = {fieller_share: 0, dirichlet_sequence_share: 0}
    question: dict[str, Any] = {"mechanism": FOUR, "symbol": 0, "among": (0, 1, 2)}
    for survey in surveys.tolist():
        wrong = [look for look in survey if miss(fieller_share(counts=look, **question), truth)]
        missed[fieller_share] += bool(wrong)
        missed[dirichlet_sequence_share] += any(
            miss(dirichlet_sequence_share(counts=look, **question), truth) for look in wrong
        )
    fieller, sequence = missed.values()
    print(f"n={runs} fieller={fieller} sequence={sequence}")
    assert fieller > binom.isf(1e-6, runs, 0.05) >= sequence


# Properties of all methods


@pytest.mark.slow
@every_method
@settings(deadline=None)
@given(case=cases(), random=st.randoms())
def test_relabelling_the_codes_changes_nothing(
    find: Find, case: dict[str, Any], random: Any
) -> None:
    before = find(**case)
    order = list(range(len(case["counts"])))
    random.shuffle(order)
    after = find(
        counts=[case["counts"][code] for code in order],
        mechanism=case["mechanism"],
        symbol=order.index(case["symbol"]),
        among=[order.index(code) for code in case["among"]],
    )
    assert after == before


@every_method
@settings(deadline=None)
@given(case=cases())
def test_with_two_answers_the_interval_of_one_mirrors_that_of_the_other(
    find: Find, case: dict[str, Any]
) -> None:
    first, second = case["among"][:2]
    case = {**case, "among": (first, second)}
    one, other = (find(**{**case, "symbol": symbol}) for symbol in (first, second))
    assert [other.low, other.high] == pytest.approx([1 - one.high, 1 - one.low], abs=1e-6)
    assert other.contradiction == one.contradiction
    if one.share is not None and one.among_share > 1e-6:
        assert other.share == pytest.approx(1 - one.share, rel=1e-6, abs=1e-6)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-6)


@pytest.mark.slow
@every_method
@settings(deadline=None)
@given(case=cases())
def test_a_higher_level_gives_a_wider_interval(find: Find, case: dict[str, Any]) -> None:
    narrow, wide = find(**case, level=0.8), find(**case, level=0.99)
    assert (narrow.level, wide.level) == (0.8, 0.99)
    if not wide.contradiction and not narrow.contradiction:
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12
    assert narrow.contradiction or not wide.contradiction


# Bad input


@every_method
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [1, 2]}, "counts must have 3 entries, got [1, 2]"),
        ({"counts": [1, 2, -1]}, "counts must be whole and not negative, got [1, 2, -1]"),
        ({"counts": [0, 0, 0]}, "counts must hold at least one report, got none"),
        ({"among": [0]}, "among must name at least two of 3 symbols, got [0]"),
        ({"among": [0, 0]}, "among must name at least two of 3 symbols, got [0, 0]"),
        ({"among": [0, 3]}, "among must name at least two of 3 symbols, got [0, 3]"),
        (
            {"among": [0, 1, 2]},
            "among must leave out at least one symbol, got [0, 1, 2]",
        ),
        ({"symbol": 2}, "symbol must be one of [0, 1], got 2"),
        ({"level": 0.0}, "level must lie in (0, 1), got 0.0"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
    ],
)
def test_impossible_arguments_are_rejected(
    find: Find, arguments: dict[str, Any], message: str
) -> None:
    usual = {"counts": [5, 5, 5], "mechanism": REFUSAL, "symbol": 0, "among": [0, 1]}
    with pytest.raises(ValueError) as refused:
        find(**{**usual, **arguments})
    assert str(refused.value) == message
