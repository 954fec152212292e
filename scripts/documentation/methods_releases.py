"""How many people a leader, a median and a key driver need to be right in 9 of 10 surveys.

The runs are seeded. The planner reads the output (surveys.planning.release_table).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from privacy.central.median import median_sensitivity
from privacy.central.selection import selection_rate
from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import HUNDREDTHS
from surveys.manifest.releases import ReleaseKind
from surveys.manifest.strength import OFFERED_FLIPS, TWO_COINS
from surveys.planning.release_table import (
    AGREEING_SHARES,
    LEADER_SHARES,
    MEDIAN_SHARES,
    RIGHT,
    list_release_lines,
    round_up,
)
from surveys.releasing.noise import KEY_DRIVER_DRAWS
from surveys.releasing.words import KINDS

SEED, RUNS, AT_ONCE = 1978, 100_000, 10_000
FLIPS = range(1, 50)  # accepted by the planner
People = Mapping[str, Mapping[int, int]]  # by kind of release, then by flips of 100


def compute_people() -> People:
    return {kind.value: {flips: find_people(kind, flips) for flips in FLIPS} for kind in _RIGHT}


def find_people(kind: ReleaseKind, flips: int, *, runs: int = RUNS) -> int:
    """Find the smallest sufficient number of people, rounded up to two digits."""
    people = 2
    while simulate_right(kind, flips, people, runs=runs) < RIGHT:
        people *= 2
    enough, too_few = people, people // 2
    while enough - too_few > max(1, enough // 400):
        people = (enough + too_few) // 2
        if simulate_right(kind, flips, people, runs=runs) < RIGHT:
            too_few = people
        else:
            enough = people
    return round_up(enough)


def simulate_right(kind: ReleaseKind, flips: int, people: int, *, runs: int = RUNS) -> float:
    """Return the share of simulated surveys in which the release names the true answer."""
    generator = np.random.default_rng([SEED, flips, people])
    parts = [
        _RIGHT[kind](generator, flips, people, min(AT_ONCE, runs)) for _ in range(0, runs, AT_ONCE)
    ]
    return float(np.mean(parts))


def _name_leader(generator: np.random.Generator, flips: int, people: int, runs: int) -> float:
    counts, _ = _report(generator, LEADER_SHARES, flips, people, runs)
    rate = selection_rate(epsilon=_usual(ReleaseKind.LEADER), monotone=True)
    return _choose(generator, counts, rate, LEADER_SHARES.index(max(LEADER_SHARES)))


def _name_median(generator: np.random.Generator, flips: int, people: int, runs: int) -> float:
    counts, mechanism = _report(generator, MEDIAN_SHARES, flips, people, runs)
    c = mechanism.other_probability
    rate = selection_rate(
        epsilon=_usual(ReleaseKind.MEDIAN),
        sensitivity=median_sensitivity(len(MEDIAN_SHARES), other_probability=Fraction(c)),
    )
    middle = int(np.searchsorted(np.cumsum(MEDIAN_SHARES), 0.5))
    return _choose(generator, score_points(counts, c), rate, middle)


def _name_key_driver(generator: np.random.Generator, flips: int, people: int, runs: int) -> float:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    t, c = 1 - mechanism.other_probability, mechanism.other_probability
    shares = np.array(AGREEING_SHARES)
    # Two equal answers give equal codes if both are kept or both are changed.
    kept = generator.binomial(people, t, size=(runs, 1))
    agreeing = generator.binomial(kept, shares * t + (1 - shares) * c, size=(runs, len(shares)))
    agreeing += generator.binomial(
        people - kept, shares * c + (1 - shares) * t, size=(runs, len(shares))
    )
    yes = generator.binomial(people, 0.5, size=(runs, 1))
    moves = np.hstack([2 * agreeing - people, mechanism.slope * (2 * yes - people)]) / 2
    rate = selection_rate(epsilon=_usual(ReleaseKind.KEY_DRIVER) / KEY_DRIVER_DRAWS, monotone=True)
    return _choose(generator, np.hstack([moves, -moves]), rate, int(shares.argmax()))


_RIGHT: Mapping[ReleaseKind, Callable[[np.random.Generator, int, int, int], float]] = {
    ReleaseKind.LEADER: _name_leader,
    ReleaseKind.MEDIAN: _name_median,
    ReleaseKind.KEY_DRIVER: _name_key_driver,
}


def score_points(counts: Floats, other_probability: float) -> Floats:
    """Score the points of many surveys at once, one per row, like `median_scores`."""
    points = counts.shape[1]
    total = counts.sum(axis=1, keepdims=True)
    below = np.cumsum(counts, axis=1) - counts
    above = total - below - counts
    expected = (2 * np.arange(points) - points + 1) * other_probability * total
    away = np.abs(below - above - expected) - (counts - other_probability * total)
    return np.asarray(-np.maximum(away, 0.0), dtype=np.float64)


def _report(
    generator: np.random.Generator,
    shares: tuple[float, ...],
    flips: int,
    people: int,
    runs: int,
) -> tuple[Floats, RandomizedResponse]:
    """Draw people at random, and scramble their answers."""
    mechanism = RandomizedResponse.from_flips(symbols=len(shares), flips=flips)
    reported = mechanism.channel() @ np.array(shares)
    return generator.multinomial(people, reported, size=runs).astype(np.float64), mechanism


def _choose(generator: np.random.Generator, scores: Floats, rate: Fraction, truth: int) -> float:
    """Return the share of permute-and-flip draws that give the truth.

    The highest score plus exponential noise has the distribution of such a draw.
    """
    noisy = scores + generator.exponential(1 / float(rate), size=scores.shape)
    return float(np.mean(noisy.argmax(axis=1) == truth))


def _usual(kind: ReleaseKind) -> Fraction:
    return Fraction(KINDS[kind].usual_hundredths, HUNDREDTHS)


def write_release_table(people: People) -> str:
    kinds = [line.kind.value for line in list_release_lines(TWO_COINS)]
    lines = [f"| flips of 100 | {' | '.join(kinds)} |", "|---" * (1 + len(kinds)) + "|"]
    for flips in sorted(OFFERED_FLIPS, reverse=True):
        computed = {line.kind.value: line.people for line in list_release_lines(flips)}
        simulated = {kind: people[kind][flips] for kind in people}
        found = (computed | simulated).values()
        lines.append(f"| {flips} | {' | '.join(f'{one:,}' for one in found)} |")
    return "\n".join(lines)


def write_people(people: People) -> str:
    return json.dumps(people) + "\n"
