"""The load that `scripts.load.command` sends, its timing, and the counts of replies."""

from __future__ import annotations

import base64
import os
import random
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# A report counts as late if its process sent it more than this long after it was due.
LATE_SECONDS = 0.005
QUANTILES = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}


@dataclass(frozen=True, kw_only=True)
class Plan:
    urls: tuple[str, ...]
    path: str = "/api/reports"
    connections: int = 16
    seconds: float = 5.0
    warm_up: float = 0.0  # a part of `seconds` that is not measured
    rate: float | None = None  # reports per second; None for a closed loop
    manifest: str = ""
    questions: int = 10
    bodies: tuple[bytes, ...] = ()
    addresses: int = 10_000
    timeout: float = 10.0
    seed: int = 1


@dataclass
class Tally:
    """Results in a form that can be added up across processes."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    acknowledged: list[bytes] = field(default_factory=list)
    measured: int = 0  # acknowledged between the warm-up and the end
    latencies: array[float] = field(default_factory=lambda: array("d"))
    lags: array[float] = field(default_factory=lambda: array("d"))
    cpu_seconds: float = 0.0

    def add(self, other: Tally) -> None:
        self.sent += other.sent
        self.statuses += other.statuses
        self.failures += other.failures
        self.acknowledged += other.acknowledged
        self.measured += other.measured
        self.latencies += other.latencies
        self.lags += other.lags
        self.cpu_seconds += other.cpu_seconds

    def describe(self, *, seconds: float) -> dict[str, Any]:
        """Summarize the results; `seconds` is the measured time, without the warm-up."""
        refused = sum(n for status, n in self.statuses.items() if not 200 <= status < 300)
        return {
            "sent": self.sent,
            "acknowledged": len(self.acknowledged),
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "errors": refused + sum(self.failures.values()),
            "failures": dict(self.failures),
            "per_s": round(self.measured / seconds, 1),
            **_milliseconds(self.latencies),
            "late": sum(1 for lag in self.lags if lag > LATE_SECONDS),
            "lag_ms": _milliseconds(self.lags),
            "generator_cpu_seconds": round(self.cpu_seconds, 2),
        }


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that is at least as large as this share of all values."""
    return ordered[max(0, -(-len(ordered) * round(share * 1000) // 1000) - 1)]


def _milliseconds(seconds: Sequence[float]) -> dict[str, float | None]:
    ordered = sorted(seconds)
    return {
        name: round(1000 * quantile(ordered, share), 2) if ordered else None
        for name, share in QUANTILES.items()
    }


def arrivals(*, rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Draw the times of the events of a Poisson process, from 0 to `seconds`."""
    draw = random.Random(seed).expovariate  # noqa: S311
    moment = draw(rate)
    while moment < seconds:
        yield moment
        moment += draw(rate)


def make_bodies(plan: Plan) -> Iterator[bytes]:
    symbols = bytes.maketrans(bytes(range(256)), b"AB" * 128)
    template = b'{"format":1,"manifest":"%s","id":"%%s","symbols":"%%s"}' % plan.manifest.encode()
    while True:
        name = base64.urlsafe_b64encode(os.urandom(32))[:43]
        yield template % (name, os.urandom(plan.questions).translate(symbols))


def make_heads(plan: Plan, *, netloc: str, length: int) -> list[bytes]:
    """Make request heads as a proxy forwards them, for many client addresses in random order."""
    numbers = random.Random(plan.seed).sample(range(2**24), plan.addresses)  # noqa: S311
    return [
        (
            f"POST {plan.path} HTTP/1.1\r\nHost: {netloc}\r\n"
            f"X-Forwarded-For: 10.{n >> 16}.{n >> 8 & 255}.{n & 255}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ).encode()
        for n in numbers
    ]


def split(plan: Plan, processes: int) -> list[Plan]:
    """Divide the load into equal shares."""
    return [
        replace(
            plan,
            connections=len(range(number, plan.connections, processes)),
            bodies=plan.bodies[number::processes],
            rate=None if plan.rate is None else plan.rate / processes,
            seed=plan.seed + number,
        )
        for number in range(processes)
    ]
