"""How many people a survey needs so that its sealed half confirms a true claim about a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from privacy.associations.claims import count_possible_claims
from privacy.associations.tables import Variable
from privacy.associations.two_questions import associate
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import simultaneous_level

SEED = 20261128
RUNS = 400
CONFIRMED = 0.9
CLAIMS = (1, 5, 10)
LARGEST = 200_000
STEP = 1.05  # between two numbers of people
GROUPS = 2  # of the same size
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
VARIABLES = (
    Variable(mechanism=COINS, categories=((0,), (1,)), answered=2),
    Variable(mechanism=None, categories=((0,), (1,)), answered=2),
)


@dataclass(frozen=True, kw_only=True)
class Design:
    """True shares in the group and among all others, and the line if a share is claimed."""

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
    """Simulate how often half of these people confirm the claim, as a part of all surveys."""
    generator = np.random.default_rng([SEED, people, claims])
    level = simultaneous_level(0.95, shares=count_possible_claims(claims, misses=1))
    sizes = np.array([people // 2 // GROUPS] * GROUPS)
    shares = np.array([design.others, design.share])
    reported = 0.25 + 0.5 * shares  # two coins
    confirmed = 0
    for _ in range(runs):
        yes = generator.binomial(sizes, reported)
        found = associate(
            counts=np.array([sizes - yes, yes]),
            variables=VARIABLES,
            event=1,
            first=1,
            second=0,
            level=level,
        )
        if design.line is None:
            confirmed += found.difference.low > 0
        else:
            confirmed += found.share_first.low > design.line
    return confirmed / runs


def find_people(is_enough: Callable[[int], bool]) -> int:
    """Find the first number of people, of those that grow by a twentieth, that is enough."""
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
    lines = ["| true shares | " + " | ".join(f"{one} claims" for one in CLAIMS) + " |"]
    lines[0] = lines[0].replace("| 1 claims", "| 1 claim")
    lines.append("|---|" + "---|" * len(CLAIMS))
    lines += [f"| {label} | " + " | ".join(f"{one:,}" for one in found) + " |" for label, found in rows]
    return "\n".join(lines)
