"""The tables of docs/methods about open surveys: what is ever missed, what ever contradicts.

One count allows exact sums over all paths; ratios are simulated with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import binom

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.alarms import find_contradictions
from privacy.shares.concentration import split_stake
from scripts.documentation.many_surveys import list_looks, log_wealth
from scripts.documentation.methods_ratios import ASKED, EPSILONS, SEED, list_shapes, weigh
from scripts.documentation.ratio_designs import (
    Design,
    follow_up,
    gated_item,
    refusable,
    scale_follow_up,
)

LEVEL, SMALLEST = 0.95, 50
LAST, LAST_SIMULATED = 10_000, 2_000
RUNS = 4000
CONCENTRATIONS = (None, 40, 150, 400)
SYMBOLS = (2, 3, 5, 16)
SHARES = (0.0, 0.02, 0.2, 0.5, 1.0)
SHARES_SIMULATED = (0.0, 0.2, 0.5, 1.0)
SIMULATED = (150,)  # where nothing is known of the people who will come
CONTRADICTED_SYMBOLS = (2, 3, 5, 16, 64)
TOTALS = (25, 50, 100, 200, 500, 1000)
_FEW = 300  # from so many steps on, a convolution by Fourier transforms is faster

Stakes = tuple[tuple[float, float | None], ...]


@dataclass(frozen=True, kw_only=True)
class EverMissed:
    """The greatest part of surveys that ever miss, for each concentration."""

    name: str
    looks: str
    missed: Sequence[float]


def list_stakes(concentration: float | None) -> Stakes:
    return ((1.0, None),) if concentration is None else split_stake(concentration)


def write_watched_table(shares: Sequence[EverMissed], ratios: Sequence[EverMissed]) -> str:
    heads = ["Beta(½, ½)" if number is None else f"κ = {number}" for number in CONCENTRATIONS]
    lines = [f"| figure | looked at | {' | '.join(heads)} |", "|---|---|---|---|---|---|"]
    for row in shares:
        lines.append(f"| {row.name} | {row.looks} | {' | '.join(map(_ceil, row.missed))} |")
    for row in ratios:
        missed = dict(zip(SIMULATED, row.missed, strict=True))
        figures = [_ceil(missed[number]) if number in missed else "" for number in CONCENTRATIONS]
        lines.append(f"| {row.name} | {row.looks} | {' | '.join(figures)} |")
    return "\n".join(lines)


def write_contradiction_table(rows: Sequence[Contradicted]) -> str:
    lines = ["| k | after a frozen end | while watching |", "|---|---|---|"]
    lines += [f"| {row.symbols} | {_ceil(row.fixed)} | {_ceil(row.watched)} |" for row in rows]
    return "\n".join(lines)


def _ceil(part: float) -> str:
    """Write three digits, rounded up, so that errors never look rarer than they are."""
    return f".{ceil(part * 1000 - 1e-9):03d}"


# --- one share, exactly ---------------------------------------------------------------------------


def compute_ever_missed() -> list[EverMissed]:
    return [
        EverMissed(
            name="share",
            looks=description,
            missed=[
                max(
                    ever(reported, looks=looks, stakes=list_stakes(concentration), limit=log(20))
                    for reported in list_reported()
                )
                for concentration in CONCENTRATIONS
            ],
        )
        for description, looks in (
            ("at looks, to 10,000 reports", list_looks(SMALLEST, LAST)),
            ("every batch of 50, to 5,000", np.arange(50, 5001, 50)),
            ("every report, to 1,000", np.arange(1, 1001)),
        )
    ]


def list_reported() -> list[float]:
    """The reported shares of codes with all sorts of true shares."""
    found = []
    for (epsilon, _), symbols, share in product(EPSILONS, SYMBOLS, SHARES):
        mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
        found.append(mechanism.other_probability + mechanism.slope * share)
    return sorted({round(reported, 12) for reported in found})


def ever(reported: float, *, looks: NDArray[np.int64], stakes: Stakes, limit: float) -> float:
    """Sum the probability of all paths of counts whose sequence ever rejects this share."""
    alive, rejected, before = np.ones(1), 0.0, 0
    for total in looks.tolist():
        step = binom.pmf(np.arange(total - before + 1), total - before, reported)
        if min(len(alive), len(step)) < _FEW:
            alive = np.convolve(alive, step)
        else:
            alive = np.maximum(fftconvolve(alive, step), 0.0)
        before = total
        gone = log_mixture(np.arange(total + 1.0), total, reported, stakes) >= limit
        rejected += float(alive[gone].sum())
        alive = np.where(gone, 0.0, alive)
    return rejected


def log_mixture(
    successes: NDArray[Any], total: NDArray[Any] | int, reported: float, stakes: Stakes
) -> Floats:
    """The logarithm of the mixed likelihood ratio against a reported share."""
    misses = total - successes
    parts = []
    for part, concentration in stakes:
        a = 0.5 if concentration is None else concentration * reported
        b = 0.5 if concentration is None else concentration * (1 - reported)
        parts.append(log(part) + betaln(a + successes, b + misses) - betaln(a, b))
    fixed = xlogy(successes, reported) + xlog1py(misses, -reported)
    mixture: Floats = np.logaddexp.reduce(parts) - fixed
    return mixture


# --- ratios, simulated ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Watched:
    """One true state of affairs, with the weights of reports that the bets use."""

    reported: Floats
    numerator: Floats
    denominator: Floats
    ratio: float


def simulate_ever_missed() -> list[EverMissed]:
    return [
        EverMissed(
            name=name,
            looks="at looks, to 2,000 reports",
            missed=[
                max(
                    simulate_bets(case, stakes=list_stakes(concentration), seed=place)
                    for case in cases()
                )
                for concentration in SIMULATED
            ],
        )
        for place, (name, cases) in enumerate(BETS.items())
    ]


def simulate_bets(case: Watched, *, stakes: Stakes, seed: int) -> float:
    """The part of simulated surveys whose bets ever reject the true ratio."""
    generator = np.random.default_rng([SEED, 100 + seed])
    looks = list_looks(SMALLEST, LAST_SIMULATED)
    steps = [
        generator.multinomial(new, case.reported, size=RUNS)
        for new in np.diff(looks, prepend=0).tolist()
    ]
    counts = np.stack(steps, axis=1).cumsum(axis=1).astype(np.float64)
    wealth = log_wealth(counts, case.numerator, case.denominator, ratio=case.ratio, stakes=stakes)
    return float((wealth >= -log(1 - LEVEL)).any(axis=1).mean())


def watch_shares(make: Callable[..., Design], **kind: int) -> Iterator[Watched]:
    for (epsilon, _), asked, share in product(EPSILONS, ASKED, SHARES_SIMULATED):
        design = make(epsilon=epsilon, **kind)
        others = design.channel.shape[1] - 2
        rest = [(1 - asked) / others] * others
        yield _watch(design, [asked * share, asked * (1 - share), *rest], share, [1, 0])


def watch_means(points: int) -> Iterator[Watched]:
    places = np.linspace(0.0, 1.0, points)
    for (epsilon, _), asked, shape in product(EPSILONS, ASKED, list_shapes(points)):
        design = scale_follow_up(points=points, epsilon=epsilon)
        yield _watch(design, [*(asked * shape), 1 - asked], float(shape @ places), places)


def _watch(
    design: Design, truth: Sequence[float], ratio: float, values: Sequence[float] | Floats
) -> Watched:
    others = design.channel.shape[1] - len(values)
    numerator, denominator = weigh(
        design,
        numerator=[*values, *[0.0] * others],
        denominator=[*[1.0] * len(values), *[0.0] * others],
    )
    return Watched(
        reported=design.report(truth), numerator=numerator, denominator=denominator, ratio=ratio
    )


BETS: dict[str, Callable[[], Iterator[Watched]]] = {
    "share among those who answered": partial(watch_shares, refusable, answers=2),
    "follow-up, with its parent": partial(watch_shares, follow_up, answers=5),
    "item behind a gate": partial(watch_shares, gated_item),
    "mean behind a rule": partial(watch_means, 5),
}


# --- contradictions -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Contradicted:
    """The greatest part of honest questions in contradiction, summed over their codes."""

    symbols: int
    fixed: float
    watched: float


def compute_contradictions() -> list[Contradicted]:
    return [
        Contradicted(
            symbols=symbols,
            fixed=max(
                _add_codes(symbols, epsilon, partial(_contradict_once, total=total))
                for (epsilon, _), total in product(EPSILONS, TOTALS)
            ),
            watched=max(_add_codes(symbols, epsilon, _contradict_ever) for epsilon, _ in EPSILONS),
        )
        for symbols in CONTRADICTED_SYMBOLS
    ]


def _add_codes(
    symbols: int, epsilon: float, contradict: Callable[[RandomizedResponse, float, float], float]
) -> float:
    """Everybody has one answer: its code may be too frequent, and all others too rare."""
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
    codes = 1 if symbols == 2 else symbols
    level = 1 - (1 - LEVEL) / codes
    low = mechanism.other_probability
    only = contradict(mechanism, low + mechanism.slope, level)
    return only if symbols == 2 else only + (symbols - 1) * contradict(mechanism, low, level)


def _contradict_once(
    mechanism: RandomizedResponse, reported: float, level: float, *, total: int
) -> float:
    counts = np.arange(total + 1)
    found = find_contradictions(
        successes=counts,
        total=total,
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
        level=level,
    )
    return float(binom.pmf(counts, total, reported)[found].sum())


def _contradict_ever(_: RandomizedResponse, reported: float, level: float) -> float:
    # All shares are rejected only if the true one is, which is at an end of the possible ones.
    return ever(
        reported,
        looks=list_looks(SMALLEST, LAST),
        stakes=list_stakes(150),
        limit=-log(1 - level),
    )
