"""Computes the tables in docs/methods on exact coverage, peeking (watching) and regression.

Coverage is exact and the simulations are seeded, so every run gives the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, expit, ndtri, xlog1py, xlogy

from privacy.associations.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.associations.tables import Variable, kronecker
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.coverage import FixedEndMethod, choose_fixed_end_method, exact_coverage
from privacy.shares.intervals import clopper_pearson
from privacy.shares.looks import repeated_level
from scripts.documentation.many_surveys import list_looks

GRID = np.linspace(0.0, 1.0, 1001)
EPSILONS = ((0.5, "0.5"), (1.0, "1"), (log(3), "ln 3"), (2.0, "2"), (4.0, "4"))
SYMBOLS = (2, 5)
TOTALS = (50, 200, 1000)
NAMES: dict[FixedEndMethod, str] = {
    "likelihood_ratio": "likelihood ratio",
    "clopper_pearson": "guaranteed",
}

SEED = 1978
RUNS = 4000
AT_ONCE = 250
PEOPLE = 5000
SHARES = (0.02, 0.2, 0.5)
BATCH = 50
EXPECTED = 1000


@dataclass(frozen=True, kw_only=True)
class Coverage:
    epsilon: str
    symbols: int
    total: int
    likelihood_ratio: float
    clopper_pearson: float
    chosen: FixedEndMethod

    @property
    def of_chosen(self) -> float:
        return float(getattr(self, self.chosen))


def compute_coverage() -> list[Coverage]:
    """Compute the least coverage over true shares 0, .001, …, 1, by binomial sums."""
    return [
        _cover(epsilon, label, symbols, total)
        for epsilon, label in EPSILONS
        for symbols in SYMBOLS
        for total in TOTALS
    ]


def _cover(epsilon: float, label: str, symbols: int, total: int) -> Coverage:
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
    c, d = mechanism.other_probability, mechanism.slope

    def least(method: FixedEndMethod) -> float:
        found = exact_coverage(
            shares=GRID,
            total=total,
            other_probability=c,
            slope=d,
            level=LEVEL,
            method=method,
        )
        return float(found.min())

    return Coverage(
        epsilon=label,
        symbols=symbols,
        total=total,
        likelihood_ratio=least("likelihood_ratio"),
        clopper_pearson=least("clopper_pearson"),
        chosen=choose_fixed_end_method(total=total, other_probability=c, slope=d, level=LEVEL),
    )


def write_coverage_table(rows: Sequence[Coverage]) -> str:
    lines = [
        "| ε | k | n | likelihood ratio | guaranteed | chosen | coverage of the chosen |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.epsilon} | {row.symbols} | {row.total:,} | {_floor(row.likelihood_ratio)} | "
        f"{_floor(row.clopper_pearson)} | {NAMES[row.chosen]} | {_floor(row.of_chosen)} |"
        for row in rows
    ]
    return "\n".join(lines)


def _floor(share: float) -> str:
    """Write four digits, rounded down so that coverage never looks better than it is."""
    return f".{int(share * 10_000):04d}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Watching:
    """The share of runs that have missed at some look, by number of people."""

    share: float
    wald: NDArray[np.float64]  # a look after every report, from the 50th
    batches: NDArray[np.float64]  # likelihood ratio, a look after every 50 reports, from the 100th
    looks: NDArray[np.float64]  # the interval at looks, if 1,000 people are expected


def simulate_watching(share: float) -> Watching:
    generator = np.random.default_rng(SEED + round(1000 * share))
    missed = {name: np.zeros(PEOPLE) for name in ("wald", "batches", "looks")}
    for _ in range(RUNS // AT_ONCE):
        for name, misses in _run(generator, share).items():
            missed[name] += np.logical_or.accumulate(misses, axis=1).sum(axis=0)
    return Watching(share=share, **{name: count / RUNS for name, count in missed.items()})


def _run(generator: np.random.Generator, share: float) -> dict[str, NDArray[np.bool_]]:
    """Return whether each run with two coins misses the truth at each look."""
    c, d = 0.25, 0.5
    truth = c + d * share
    n = np.arange(1, PEOPLE + 1)
    successes = (generator.random((AT_ONCE, PEOPLE)) < truth).cumsum(axis=1)
    reported = successes / n
    likelihood = xlogy(successes, truth) + xlog1py(n - successes, -truth)

    spread = np.sqrt(reported * (1 - reported) / n)
    wald = np.abs(reported - truth) > ndtri((1 + LEVEL) / 2) * spread
    wald[:, : BATCH - 1] = False

    best = np.clip(reported, c, c + d)
    most = xlogy(successes, best) + xlog1py(n - successes, -best)
    batches = 2 * (most - likelihood) > chdtri(1, 1 - LEVEL)
    batches[:, (n % BATCH != 0) | (n < 2 * BATCH)] = False

    looks = np.zeros_like(batches)
    totals = list_looks(BATCH, EXPECTED, last=PEOPLE)
    for place, total in enumerate(totals):
        times = [look / EXPECTED for look in totals[: place + 1]]
        found = clopper_pearson(
            successes=successes[:, total - 1],
            total=total,
            other_probability=c,
            slope=d,
            level=repeated_level(LEVEL, times=times),
        )
        looks[:, total - 1] = (found.low > share) | (found.high < share)
    return {"wald": wald, "batches": batches, "looks": looks}


def write_watching_table(runs: Sequence[Watching]) -> str:
    lines = [
        "| interval | looked at | share .02 | share .2 | share .5 |",
        "|---|---|---|---|---|",
    ]
    rows = (
        ("Wald", "after every report, 50 to 5,000", "wald", PEOPLE),
        ("likelihood ratio", "every batch of 50, 100 to 5,000", "batches", PEOPLE),
        ("likelihood ratio", "every batch of 50, 100 to 2,000", "batches", 2000),
        ("at looks, 1,000 people expected", "every look, 150 to 5,000", "looks", PEOPLE),
    )
    for name, looks, key, until in rows:
        figures = " | ".join(f"{getattr(run, key)[until - 1]:.3f}" for run in runs)
        lines.append(f"| {name} | {looks} | {figures} |")
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Regressed:
    """The coverage of the intervals of a regression's coefficients in simulated surveys."""

    predictors: int
    flips: int
    people: int
    runs: int
    covered: NDArray[np.float64]  # by coefficient, the intercept first
    adjusted: NDArray[np.float64]  # adjusted shares and differences that are covered
    spread: NDArray[np.float64]  # SD of the estimates over the mean standard error


def simulate_regression(*, predictors: int, flips: int, people: int, runs: int) -> Regressed:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    truth = np.concatenate([[-0.5], np.linspace(-0.8, 0.8, predictors)])
    cells = np.indices((2,) * predictors).reshape(predictors, -1).T
    masses = np.prod(np.where(cells == 1, 0.35, 0.65), axis=1)
    events = expit(truth[0] + cells @ truth[1:])
    shares = np.concatenate([masses * (1 - events), masses * events])
    channel = kronecker([mechanism.channel()] * (predictors + 1))
    generator = np.random.default_rng(SEED + predictors)
    adjusted_truth = _adjust(masses, cells, truth)
    found, errors, covered, adjusted = [], [], [], []
    for _ in range(runs):
        counts = generator.multinomial(people, channel @ shares)
        fit = fit_latent_logistic(
            counts=counts.reshape((2,) * (predictors + 1)),
            variables=[Variable.plain(mechanism)] * (predictors + 1),
        )
        found.append(fit.coefficients)
        errors.append(fit.standard_errors)
        covered.append((fit.low <= truth) & (truth <= fit.high))
        adjusted.append(_cover_adjusted(fit, adjusted_truth))
    return Regressed(
        predictors=predictors,
        flips=flips,
        people=people,
        runs=runs,
        covered=np.mean(covered, axis=0),
        adjusted=np.mean(adjusted, axis=0),
        spread=np.std(found, axis=0, ddof=1) / np.mean(errors, axis=0),
    )


def _adjust(
    masses: NDArray[np.float64], cells: NDArray[np.int64], truth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """List the share, the reference and the difference of each predictor."""
    rows = []
    for place in range(cells.shape[1]):
        changed = [np.where(np.arange(cells.shape[1]) == place, one, cells) for one in (1, 0)]
        share, reference = (masses @ expit(truth[0] + one @ truth[1:]) for one in changed)
        rows.append([share, reference, share - reference])
    return np.array(rows)


def _cover_adjusted(fit: LatentLogisticFit, truth: NDArray[np.float64]) -> NDArray[np.bool_]:
    found = [(one.share, one.reference, one.difference) for one in fit.adjusted]
    low, high = (
        np.array([[getattr(share, end) for share in row] for row in found])
        for end in ("low", "high")
    )
    covered: NDArray[np.bool_] = (low <= truth) & (truth <= high)
    return covered


def write_regression_table(rows: Sequence[Regressed]) -> str:
    lines = [
        (
            "| predictors | flips of 100 | reports | samples | odds ratios | "
            "least and greatest | adjusted shares and differences | SD/SE, least and greatest |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.predictors} | {row.flips} | {row.people:,} | {row.runs} | "
        f"{row.covered.mean():.3f} | {row.covered.min():.3f}, {row.covered.max():.3f} | "
        f"{row.adjusted.mean():.3f} | {row.spread.min():.2f}, {row.spread.max():.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


REGRESSIONS = (
    {"predictors": 3, "flips": 25, "people": 5_000, "runs": 400},
    {"predictors": 3, "flips": 12, "people": 2_000, "runs": 400},
    {"predictors": 5, "flips": 25, "people": 20_000, "runs": 100},
    {"predictors": 6, "flips": 25, "people": 50_000, "runs": 40},
)
