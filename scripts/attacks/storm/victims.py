"""Chooses what to kill next, in a seeded order that never confuses two recoveries."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

WEIGHTS = {
    "web": 10,
    "worker": 10,
    "leisure": 4,
    "beat": 6,
    "broker": 16,
    "limiter": 8,
    "postgres": 22,
}
SEALING = ("worker", "beat", "broker")  # the next batch shows that work has resumed
STARTS_SLOWLY = ("web", "worker", "leisure", "beat")
MAX_STARTING = 2
TOGETHER = 0.2  # the share of worker and beat kills that hit all copies at once
LOOK_AHEAD = 10


def kind_of(name: str) -> str:
    return name.partition("-")[0]


@dataclass(kw_only=True)
class Victims:
    """Draws from all parts; each copy has its own weight."""

    names: Sequence[str]
    seed: int
    _waiting: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._drawn = self._draw()

    def choose(self, *, recovering: Set[str], starting: Set[str]) -> list[str]:
        """Choose the next victims that may die now.

        `recovering` lists the parts whose work has not resumed yet. `starting` lists the parts that
        are not running again yet, although twins may do their work.
        """
        while len(self._waiting) < LOOK_AHEAD:
            self._waiting.append(next(self._drawn))
        for position, victims in enumerate(self._waiting):
            if all(self._may_die(name, recovering, starting) for name in victims):
                return self._waiting.pop(position)
        return []

    def _draw(self) -> Iterator[list[str]]:
        generator = random.Random(self.seed)
        while True:
            [name] = generator.choices(self.names, [WEIGHTS[kind_of(n)] for n in self.names])
            copies = [other for other in self.names if kind_of(other) == kind_of(name)]
            together = kind_of(name) in ("worker", "beat") and generator.random() < TOGETHER
            yield copies if together else [name]

    @staticmethod
    def _may_die(name: str, recovering: Set[str], starting: Set[str]) -> bool:
        kind = kind_of(name)
        if name in recovering | starting:
            return False
        if kind in SEALING:
            if any(kind_of(other) in SEALING for other in recovering):
                return False  # the next batch could show the recovery of either
            if any(kind_of(other) == kind for other in starting):
                return False  # the remaining twin does all the work
        slow = [other for other in starting if kind_of(other) in STARTS_SLOWLY]
        return kind not in STARTS_SLOWLY or len(slow) < MAX_STARTING
