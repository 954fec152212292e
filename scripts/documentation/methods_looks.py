"""Computes tables for docs/methods on open surveys: missed truths and contradicted questions.

For a single count, the sums over all paths are exact; ratios are simulated with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.special import bdtr, bdtrc
from scipy.stats import binom

from privacy.checks import Floats
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.alarms import find_contradictions
from privacy.shares.joint.fallback import joint_share_covers, relaxed_likelihood_covers
from privacy.shares.looks import critical_values, repeated_level
from scripts.documentation.many_surveys import joint_statistic, list_looks, relaxed_keeps
from scripts.documentation.methods_ratios import (
    ASKED,
    EPSILONS,
    SEED,
    any_of,
    list_shapes,
    weigh,
)
from scripts.documentation.ratio_designs import (
    Design,
    follow_up,
    gated_item,
    refusable,
    scale_follow_up,
)

SMALLEST = 50
EXPECTED = (150, 300, 1000, 3000)
RUNS, AGAIN, WORST = 4000, 20_000, 3  # the worst states are simulated again with more surveys
SYMBOLS = (2, 3, 5, 16)
SHARES = (0.0, 0.02, 0.2, 0.5, 1.0)
SHARES_SIMULATED = (0.0, 0.2, 0.5, 1.0)
CONTRADICTED_SYMBOLS = (2, 3, 5, 16, 64)
TOTALS = (25, 50, 100, 200, 500, 1000)
_FEW = 300  # with this many steps, a convolution by Fourier transforms is faster
# Surveys whose distance from the truth is below this part of the critical value are not evaluated.
_FAR = 0.6

Counts = NDArray[np.int64]
Missed = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class EverMissed:
    """The greatest share of surveys that ever miss, for each number of people expected."""

    name: str
    missed: Sequence[float]


def write_watched_table(rows: Sequence[EverMissed]) -> str:
    heads = " | ".join(f"E = {expected:,}" for expected in EXPECTED)
    lines = [f"| figure | {heads} |", "|---|" + "---|" * len(EXPECTED)]
    lines += [f"| {row.name} | {' | '.join(map(_ceil, row.missed))} |" for row in rows]
    return "\n".join(lines)


def write_contradiction_table(rows: Sequence[Contradicted]) -> str:
    lines = ["| k | after a frozen end | at looks |", "|---|---|---|"]
    lines += [f"| {row.symbols} | {_ceil(row.fixed)} | {_ceil(row.watched)} |" for row in rows]
    return "\n".join(lines)


def _ceil(part: float) -> str:
    """Write three digits, rounded up so that errors never look rarer than they are."""
    return f".{ceil(part * 1000 - 1e-9):03d}"


def compute_ever_missed(people: Sequence[int] = EXPECTED) -> EverMissed:
    return EverMissed(
        name="share",
        missed=[
            max(
                ever(reported, expected=expected, level=LEVEL, misses=partial(_misses, reported))
                for reported in list_reported()
            )
            for expected in people
        ],
    )


def list_reported() -> list[float]:
    """List the reported shares of codes for a range of true shares."""
    found = []
    for (epsilon, _), symbols, share in product(EPSILONS, SYMBOLS, SHARES):
        mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
        found.append(mechanism.other_probability + mechanism.slope * share)
    return sorted({round(reported, 12) for reported in found})


def _misses(reported: float, counts: Counts, total: int, level: float) -> Missed:
    """Return whether the Clopper-Pearson interval of each count misses the reported share."""
    tail = (1 - level) / 2
    below = np.where(counts < total, bdtr(np.minimum(counts, total - 1.0), total, reported), 1.0)
    above = np.where(counts > 0, bdtrc(np.maximum(counts - 1.0, 0), total, reported), 1.0)
    missed: Missed = (below < tail) | (above < tail)
    return missed


def ever(
    reported: float,
    *,
    expected: int,
    level: float,
    misses: Callable[[Counts, int, float], Missed],
) -> float:
    """Sum the probabilities of all paths of counts that miss at some look, up to 2 E reports."""
    looks = list_looks(SMALLEST, expected, last=2 * expected)
    alive, missed, before = np.ones(1), 0.0, 0
    for place, total in enumerate(looks):
        step = binom.pmf(np.arange(total - before + 1), total - before, reported)
        if min(len(alive), len(step)) < _FEW:
            alive = np.convolve(alive, step)
        else:
            alive = np.maximum(fftconvolve(alive, step), 0.0)
        before = total
        times = [look / expected for look in looks[: place + 1]]
        gone = misses(np.arange(total + 1), total, repeated_level(level, times=times))
        missed += float(alive[gone].sum())
        alive = np.where(gone, 0.0, alive)
    return missed


@dataclass(frozen=True, kw_only=True, eq=False)
class Watched:
    """One true state, and whether intervals from its reports contain its ratio."""

    reported: Floats
    numerator: Floats
    denominator: Floats
    ratio: float
    keeps: Callable[[Floats, float], Missed]  # takes counts and the limit of the statistic
    covers: Callable[[int], bool]  # with fewer reports, the level is higher


def simulate_ever_missed(people: Sequence[int] = EXPECTED) -> list[EverMissed]:
    return [
        EverMissed(
            name=name,
            missed=[_simulate_worst(list(cases()), expected, seed=place) for expected in people],
        )
        for place, (name, cases) in enumerate(RATIOS.items())
    ]


def _simulate_worst(cases: Sequence[Watched], expected: int, *, seed: int) -> float:
    """Return the greatest share of misses among the worst states, from new simulated surveys.

    The first simulation is not reused, because the largest of many simulated shares is too large by
    chance.
    """
    parts = [simulate_looks(case, expected=expected, seed=[seed, 0], runs=RUNS) for case in cases]
    worst = np.argsort(parts)[-WORST:]
    return max(
        simulate_looks(cases[place], expected=expected, seed=[seed, 1], runs=AGAIN)
        for place in worst.tolist()
    )


def simulate_looks(case: Watched, *, expected: int, seed: Sequence[int], runs: int) -> float:
    """Return the share of simulated surveys that ever miss the true ratio, up to 2 E reports."""
    generator = np.random.default_rng([SEED, 100, *seed, expected])
    looks = list_looks(SMALLEST, expected, last=2 * expected)
    values = critical_values([look / expected for look in looks])
    counts, missed = np.zeros((runs, len(case.reported))), np.zeros(runs, dtype=bool)
    residuals = case.numerator - case.ratio * case.denominator
    spread = float(np.sqrt(case.reported @ residuals**2))
    for new, total, value in zip(np.diff(looks, prepend=0), looks, values, strict=True):
        counts += generator.multinomial(new, case.reported, size=runs)
        if not case.covers(total):
            continue
        far = np.abs(counts @ residuals) > _FAR * value * spread * np.sqrt(total)
        tried = np.flatnonzero(far & ~missed)
        if len(tried):
            missed[tried] = ~case.keeps(counts[tried], value**2)
    return float(missed.mean())


def watch_shares(make: Callable[..., Design], **kind: int) -> Iterator[Watched]:
    for (epsilon, _), asked, share in product(EPSILONS, ASKED, SHARES_SIMULATED):
        design = make(epsilon=epsilon, **kind)
        others = design.channel.shape[1] - 2
        rest = [(1 - asked) / others] * others
        numerator, denominator = weigh(
            design, numerator=[1, 0, *[0.0] * others], denominator=[1, 1, *[0.0] * others]
        )

        def keeps(
            counts: Floats, limit: float, channel: Floats = design.channel, share: float = share
        ) -> Missed:
            kept: Missed = joint_statistic(counts, channel, share) <= limit
            return kept

        yield Watched(
            reported=design.report([asked * share, asked * (1 - share), *rest]),
            numerator=numerator,
            denominator=denominator,
            ratio=share,
            keeps=keeps,
            covers=partial(joint_covers, epsilon),
        )


def watch_means(points: int) -> Iterator[Watched]:
    places = np.linspace(0.0, 1.0, points)
    for (epsilon, _), asked, shape in product(EPSILONS, ASKED, list_shapes(points)):
        design = scale_follow_up(points=points, epsilon=epsilon)
        numerator, denominator = weigh(
            design, numerator=[*places, 0.0], denominator=[*[1.0] * points, 0.0]
        )
        mean = float(shape @ places)

        def keeps(
            counts: Floats,
            limit: float,
            weights: tuple[Floats, Floats] = (numerator, denominator),
            mean: float = mean,
        ) -> Missed:
            return relaxed_keeps(counts, *weights, ratio=mean, limit=limit)

        yield Watched(
            reported=design.report([*(asked * shape), 1 - asked]),
            numerator=numerator,
            denominator=denominator,
            ratio=mean,
            keeps=keeps,
            covers=partial(mean_covers, epsilon),
        )


def joint_covers(epsilon: float, total: int) -> bool:
    return joint_share_covers(total=total, mechanisms=[any_of(epsilon)])


def mean_covers(epsilon: float, total: int) -> bool:
    return relaxed_likelihood_covers(total=total, mechanisms=[any_of(epsilon)], at_looks=True)


RATIOS: dict[str, Callable[[], Iterator[Watched]]] = {
    "share among those who answered": partial(watch_shares, refusable, answers=2),
    "follow-up, with its parent": partial(watch_shares, follow_up, answers=5),
    "item behind a gate": partial(watch_shares, gated_item),
    "mean behind a rule": partial(watch_means, 5),
}


@dataclass(frozen=True, kw_only=True)
class Contradicted:
    """The largest chance that an honest question is contradicted, summed over its codes."""

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
    """Add up the chances that each code is contradicted, if everyone has the same answer.

    The code of this answer may be too frequent, and the other codes too rare.
    """
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


def _contradict_ever(mechanism: RandomizedResponse, reported: float, level: float) -> float:
    def contradicts(counts: Counts, total: int, now: float) -> Missed:
        return find_contradictions(
            successes=counts,
            total=total,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=now,
        )

    return ever(reported, expected=1000, level=level, misses=contradicts)
