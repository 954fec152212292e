"""Chooses who is killed next, in a seeded order in which no two recoveries can be confused."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

WEIGHTS = {"web": 10, "worker": 10, "beat": 6, "broker": 16, "limiter": 8, "postgres": 22}
SEALING = ("worker", "beat", "broker")  # the next batch shows that work goes on
STARTS_SLOWLY = ("web", "worker", "beat")
MAX_STARTING = 2
TOGETHER = 0.2  # share of the kills of workers and beats that take all copies at once
LOOK_AHEAD = 10


def kind_of(name: str) -> str:
    return name.partition("-")[0]


@dataclass(kw_only=True)
class Victims:
    """Draws from all parts; the weights are of each copy."""

    names: Sequence[str]
    seed: int
    _waiting: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._drawn = self._draw()

    def choose(self, *, recovering: Set[str], starting: Set[str]) -> list[str]:
        """Take the next victim that may die now; None if none may.

        `recovering` are those whose work does not go on yet. `starting` are those that are not
        back themselves, although their twins may do the work.
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
                return False  # the next batch could be the recovery of either
            if any(kind_of(other) == kind for other in starting):
                return False  # the twin that is left does all the work
        slow = [other for other in starting if kind_of(other) in STARTS_SLOWLY]
        return kind not in STARTS_SLOWLY or len(slow) < MAX_STARTING
