"""How many people a survey needs for its sealed half to confirm a true claim about a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from privacy.associations.claims import count_possible_claims
from privacy.level import LEVEL
from privacy.shares.intervals import simultaneous_level

SEED = 20261128
RUNS = 20_000
CONFIRMED = 0.9
CLAIMS = (1, 5, 10)
LARGEST = 200_000
STEP = 1.02  # from one number of people to the next
GROUPS = 2  # of the same size
# With two coins, a quarter of the people whose answer is No report Yes.
FALSE_YES, KEPT = 0.25, 0.5
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Design:
    """True shares in the group and among all others, and the claimed line, if any."""

    label: str
    share: float
    others: float
    line: float | None = None


DESIGNS = (
    Design(label="30 % against 20 %", share=0.3, others=0.2),
    Design(label="40 % against 20 %", share=0.4, others=0.2),
    Design(label="30 %, claimed above 20 %", share=0.3, others=0.3, line=0.2),
    Design(label="40 %, claimed above 20 %", share=0.4, others=0.4, line=0.2),
)


def count_confirmed(design: Design, *, people: int, claims: int, runs: int = RUNS) -> float:
    """Return the share of simulated surveys in which half of these people confirm the claim."""
    generator = np.random.default_rng([SEED, people, claims])
    size = people // 2 // GROUPS
    shares = np.array([design.share, design.others])
    counts = generator.binomial(size, FALSE_YES + KEPT * shares, size=(runs, GROUPS))
    level = simultaneous_level(LEVEL, shares=count_possible_claims(claims, misses=1))
    return float(is_confirmed(counts, size=size, line=design.line, level=level).mean())


def is_confirmed(
    counts: NDArray[np.int64], *, size: int, line: float | None, level: float
) -> NDArray[np.bool_]:
    """Return whether a share's interval lies above the line, or a difference's interval above 0.

    The interval does if the likelihood ratio rejects the line, or equal shares. For each survey,
    `counts` has a row with the reports of Yes in two equal groups: the claim's and all others.
    """
    first, second = counts[:, 0], counts[:, 1]
    free = _estimate(first / size)
    if line is None:
        joint = _estimate((first + second) / (2 * size))
        other = _estimate(second / size)
        distance = _likelihood(first, size, free) - _likelihood(first, size, joint)
        distance += _likelihood(second, size, other) - _likelihood(second, size, joint)
        is_above = free > other
    else:
        reported = np.full(len(counts), FALSE_YES + KEPT * line)
        distance = _likelihood(first, size, free) - _likelihood(first, size, reported)
        is_above = free > reported
    rejected: NDArray[np.bool_] = 2 * distance > chi2.isf(1 - level, 1)
    return rejected & is_above


def _estimate(reported: Floats) -> Floats:
    return np.clip(reported, FALSE_YES, FALSE_YES + KEPT)


def _likelihood(counts: NDArray[np.int64], size: int, reported: Floats) -> Floats:
    yes = counts.astype(np.float64)
    likelihood: Floats = yes * np.log(reported) + (size - yes) * np.log1p(-reported)
    return likelihood


def find_people(is_enough: Callable[[int], bool]) -> int:
    """Find the first sufficient number of people, in steps of 2 %."""
    low, high = 0, int(np.log(LARGEST / 400) / np.log(STEP))
    while low < high:
        middle = (low + high) // 2
        if is_enough(_number(middle)):
            high = middle
        else:
            low = middle + 1
    return _number(low)


def _number(place: int) -> int:
    return round(400 * STEP**place / 100) * 100


def compute_rows(designs: Sequence[Design] = DESIGNS) -> list[tuple[str, list[int]]]:
    return [(one.label, [_find(one, claims) for claims in CLAIMS]) for one in designs]


def _find(design: Design, claims: int) -> int:
    return find_people(
        lambda people: count_confirmed(design, people=people, claims=claims) >= CONFIRMED
    )


def write_claims_table(rows: Sequence[tuple[str, Sequence[int]]]) -> str:
    heads = ["true share", *(f"claims: {one}" for one in CLAIMS)]
    cells = [[label, *(f"{one:,}" for one in found)] for label, found in rows]
    lines = [heads, ["---"] * len(heads), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
