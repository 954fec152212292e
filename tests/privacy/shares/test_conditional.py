"""Shares among those who answered: exact sums, laws, figures, and what happens while watching."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, lgamma, log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import binom, chi2

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import (
    ConditionalShare,
    dirichlet_sequence_share,
    estimate_range_mean,
    fieller_share,
    likelihood_ratio_share,
)
from privacy.shares.estimation import estimate_shares
from privacy.shares.intervals import METHODS

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
REFUSAL = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)
LN3 = log(3)
X = float(chi2.ppf(0.95, df=1))
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


@st.composite
def likely_cases(draw: st.DrawFn) -> dict[str, Any]:
    """No code is reported less often than if it were nobody's true one."""
    case = draw(cases(most=300))
    mechanism = case["mechanism"]
    idle = draw(st.booleans())  # hardly anybody was asked
    extra = [
        count // (100 if idle and code in case["among"] else 1)
        for code, count in enumerate(case["counts"])
    ]
    least = ceil(mechanism.other_probability / mechanism.slope * sum(extra)) + 1
    return {**case, "counts": [least + count for count in extra]}


def three_cells(case: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reported shares of the symbol, the other answers, the rest; and the least they can be."""
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


def test_the_standard_error_is_the_spread_of_repeated_surveys() -> None:
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


def test_where_nobody_seems_to_have_answered_there_is_no_ratio() -> None:
    for counts in ([390, 395, 1215], [25, 28, 92], [1, 15, 34], [13, 3, 34]):
        found = fieller_share(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
        assert found.share is None
        assert found.standard_error is None
        assert found.among_share < 0
        assert (found.low, found.high) == (0, 1)


# Fieller's interval


def hull_of_kept(case: dict[str, Any], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Z squared at most x V, point by point, each from the definition."""
    reported, floors = three_cells(case)
    n = sum(case["counts"])
    scores = np.stack([1 - grid, -grid, 0 * grid])  # 1{j} - q 1{A} in the three cells
    z = (reported - floors) @ scores
    v = (reported @ scores**2 - (reported @ scores) ** 2) / n
    kept: NDArray[np.float64] = grid[z**2 <= X * v]
    return kept


@given(likely_cases())
def test_fieller_s_interval_is_the_hull_of_what_its_inequality_keeps(case: dict[str, Any]) -> None:
    reported, floors = three_cells(case)
    assert (reported >= floors).all()  # so the most likely shares are the reported ones
    found = fieller_share(**case)
    grid = np.linspace(0, 1, 2001)
    kept = hull_of_kept(case, grid)
    if len(kept) == 0:  # between two points of the grid
        assert found.high - found.low <= 1 / 2000
    elif found.share is not None:
        assert found.low <= kept[0] + 1e-12 <= found.low + 1 / 2000 + 2e-12
        assert found.high >= kept[-1] - 1e-12 >= found.high - 1 / 2000 - 2e-12


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ([44, 47, 109], 0, 1),  # everything is kept
        ([201, 227, 572], 0, 0.896469),  # everything but a piece
        ([227, 201, 572], 0.103531, 1),
    ],
)
def test_where_perhaps_nobody_was_asked_what_is_kept_lies_outside_of_the_roots(
    counts: list[int], low: float, high: float
) -> None:
    found = fieller_share(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
    n, answers = sum(counts), sum(counts[:2]) / sum(counts)
    assert 0 < answers - 0.4 < np.sqrt(X * answers * (1 - answers) / n)  # not significant
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-6)
    assert not found.contradiction


@cache
def fieller_by_cells(
    total: int, epsilon: float, k: int, answers: int, symbol: int, others: int
) -> ConditionalShare:
    """By the three cells that matter, their reports put on one code each."""
    counts = [
        symbol,
        others,
        *[0] * (answers - 2),
        total - symbol - others,
        *[0] * (k - answers - 1),
    ]
    return fieller_share(
        counts=counts,
        mechanism=RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon),
        symbol=0,
        among=range(answers),
    )


def exact_fieller(
    *, total: int, epsilon: float, k: int, answers: int, asked: float, truth: float
) -> tuple[float, float]:
    """Probability that the interval holds the truth, and that it reports a contradiction."""
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    c, d = mechanism.other_probability, mechanism.slope
    first = c + d * asked * truth
    second = (answers - 1) * c + d * asked * (1 - truth)
    held = contradicted = left_out = 0.0
    counts = np.arange(total + 1)
    for symbol, weight in enumerate(binom.pmf(counts, total, first)):
        rest = counts[: total - symbol + 1]
        weights = weight * binom.pmf(rest, total - symbol, second / (1 - first))
        likely = np.flatnonzero(weights > 1e-7)
        left_out += float(weight - weights[likely].sum())
        for others in likely.tolist():
            found = fieller_by_cells(total, epsilon, k, answers, symbol, others)
            held += weights[others] * (not miss(found, truth))
            contradicted += weights[others] * found.contradiction
    assert left_out < 1e-3
    return held, contradicted


@pytest.mark.parametrize(
    ("epsilon", "least"), [(0.5, 0.94), (LN3, 0.94), (2.0, 0.935), (4.0, 0.90)]
)
@pytest.mark.parametrize(("k", "answers"), [(3, 2), (6, 4)])
def test_fieller_s_interval_covers_at_two_hundred_reports(
    epsilon: float, least: float, k: int, answers: int
) -> None:
    fieller_by_cells.cache_clear()
    for asked in (0.3, 1.0):
        for truth in (0.0, 0.02, 0.1, 0.5, 1.0):
            held, contradicted = exact_fieller(
                total=200, epsilon=epsilon, k=k, answers=answers, asked=asked, truth=truth
            )
            print(f"{epsilon=:.2f} {k=} {asked=} {truth=}: {held:.4f} {contradicted:.4f}")
            assert held >= least
            assert contradicted <= 0.03


@pytest.mark.parametrize("total", [500, 2000])
@pytest.mark.parametrize(("k", "answers", "epsilon"), [(4, 2, LN3), (4, 3, 1.0), (10, 8, 2.0)])
def test_fieller_s_interval_covers_simulated_surveys(
    total: int, k: int, answers: int, epsilon: float
) -> None:
    runs, generator = 1500, np.random.default_rng([total, k])
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    for asked, truth in ((0.1, 0.3), (0.3, 0.05), (0.6, 0.5), (0.9, 0.95)):
        latent = np.zeros(k)
        latent[:answers] = asked * (1 - truth) / (answers - 1)
        latent[0], latent[answers:] = asked * truth, (1 - asked) / (k - answers)
        drawn = generator.multinomial(total, mechanism.channel() @ latent, size=runs)
        missed = sum(
            miss(
                fieller_share(
                    counts=counts.tolist(), mechanism=mechanism, symbol=0, among=range(answers)
                ),
                truth,
            )
            for counts in drawn
        )
        low, high = binom.ppf(5e-7, runs, 0.04), binom.isf(5e-7, runs, 0.07)
        print(f"{total=} {k=} {asked=} {truth=}: {runs=} {missed=} accepted={low:.0f}..{high:.0f}")
        assert low <= missed <= high


def test_an_empty_cell_is_no_contradiction_where_few_reports_are_swapped() -> None:
    hardly_any = RandomizedResponse.from_epsilon(symbols=3, epsilon=4)
    for counts, truth in (([50, 0, 0], 1.0), ([0, 50, 0], 0.0), ([0, 30, 20], 0.0)):
        for find in METHODS_OF_SHARES:
            found = find(counts=counts, mechanism=hardly_any, symbol=0, among=(0, 1))
            assert not miss(found, truth)
            assert 0 < found.high - found.low < 1


@pytest.mark.parametrize("find", [fieller_share, dirichlet_sequence_share])
@pytest.mark.parametrize(
    "counts",
    [
        [50, 1000, 950],  # 2.5 % of a code that is sent by at least 20 %
        [1500, 300, 200],  # 75 % of one that is sent by at most 60 %
        [100, 100, 1800],  # fewer answers than if nobody had answered
    ],
)
def test_what_the_mechanism_cannot_have_produced_is_a_contradiction(
    find: Find, counts: list[int]
) -> None:
    found = find(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
    assert found.contradiction
    assert 0 <= found.low == found.high <= 1


@pytest.mark.parametrize("truth", [0.2, 1 / 3])
def test_a_follow_up_asked_of_30_percent_is_known_to_16_points(truth: float) -> None:
    # k = 4: three answers and not asked; epsilon ln 3, 2,000 reports.
    latent = (0.3 * truth, 0.15 * (1 - truth), 0.15 * (1 - truth), 0.7)
    found = fieller_share(
        counts=expected_reports(FOUR, latent, 2000), mechanism=FOUR, symbol=0, among=(0, 1, 2)
    )
    assert round(100 * (found.high - found.low) / 2) == 16


# The sequence


def best_log_likelihood(case: dict[str, Any], ratio: float) -> float:
    """Over all shares of people who answered, by a general optimizer."""
    reported, floors = three_cells(case)
    n, d = sum(case["counts"]), case["mechanism"].slope
    directions = d * np.array([ratio, 1 - ratio, -1])

    def loss(asked: float) -> float:
        shares = floors + directions * asked + np.array([0, 0, d])
        return float(-n * (reported @ np.log(shares)))

    found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
    return -min(float(found.fun), loss(0.0), loss(1.0))


@given(cases(), st.sampled_from([0.5, 0.95, 0.999]))
def test_the_sequence_ends_where_the_mixture_is_as_many_times_as_likely(
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
    # The interval is the shadow of cells that are not rejected: it can only miss at a look at
    # which the true cells are. Ask it where the true cells come closest, in every fifth run.
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


def test_fieller_s_interval_does_not_hold_at_twenty_looks_but_the_sequence_does() -> None:
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


# Laws of all


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
def test_of_two_answers_the_other_one_s_interval_is_the_mirror_image(
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


# Numbers by one bit


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=3, max_size=4).filter(lambda people: people[1] > 0),
    st.integers(2, 45),
)
def test_the_mean_is_found_behind_refusals_and_people_not_asked(
    people: list[int], flips: int
) -> None:
    # Latent symbols: 0, 1, refused, not asked.
    mechanism = RandomizedResponse.from_flips(symbols=len(people), flips=flips)
    truth = np.array(people) / sum(people)
    for fixed_end, method in (
        (True, "likelihood_ratio_conditional"),
        (False, "dirichlet_sequence"),
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
def test_the_mean_s_interval_is_the_share_s_in_the_question_s_unit(
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


def test_rounding_does_not_carry_the_interval_above_the_maximum() -> None:
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


# Refusals


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
            "among must leave out a symbol, or the plain share is meant, got [0, 1, 2]",
        ),
        ({"symbol": 2}, "symbol must be one of [0, 1], got 2"),
        ({"level": 0.0}, "level must lie in (0, 1), got 0.0"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
    ],
)
def test_what_cannot_be_is_refused(find: Find, arguments: dict[str, Any], message: str) -> None:
    usual = {"counts": [5, 5, 5], "mechanism": REFUSAL, "symbol": 0, "among": [0, 1]}
    with pytest.raises(ValueError) as refused:
        find(**{**usual, **arguments})
    assert str(refused.value) == message


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
def test_a_range_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    usual = {"counts": [5, 5], "mechanism": COINS, "minimum": 0, "maximum": 40, "fixed_end": True}
    with pytest.raises(ValueError) as refused:
        estimate_range_mean(**{**usual, **arguments})
    assert str(refused.value) == message
