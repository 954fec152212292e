"""How many people a share needs for ±5 points, by today's methods and by the former ones.

Everything at two coins (25 flips of 100) and a true share of 20 %, from the interval at the
expected counts of reports. Nothing is random, so every run gives the same figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import smallest_number
from privacy.shares.bets import betting_sequence
from privacy.shares.concentration import choose_concentration
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import confidence_sequence
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.ratio_cells import conditional_cells
from scripts.benchmarks._former import dirichlet_interval, quotient_interval

FLIPS, SHARE, HALF_WIDTH, LEVEL = 25, 0.2, 0.05, 0.95
REFUSING = 0.05  # of those who are asked
ANSWERING = 0.8  # at a gate

Ends = tuple[float, float]
IntervalOf = Callable[[int], Ends]  # the interval that so many people are expected to give


@dataclass(frozen=True, kw_only=True)
class Need:
    """The people who are needed for one figure."""

    former: int
    now: int

    @property
    def ratio(self) -> float:
        return round(self.now / self.former, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the same: it takes two seconds")
    parser.parse_args()
    needs = {
        "live_share": compare(former=watch_share(centred=False), now=watch_share(centred=True)),
        "live_conditional_3": compare_watched_answer(asked=1.0, symbols=3),
        "live_conditional_4": compare_watched_answer(asked=0.3, symbols=4),
        **{f"follow_up_{asked}": compare_follow_up(asked / 100) for asked in (10, 30, 60)},
        "item_behind_gate": compare_item(),
    }
    print(f"people for ±{HALF_WIDTH:.0%} at a share of {SHARE:.0%}, {FLIPS} flips of 100")
    print(f"{'':<24}{'former':>10}{'now':>10}{'ratio':>8}")
    for name, need in needs.items():
        print(f"{name:<24}{need.former:>10,}{need.now:>10,}{need.ratio:>8.3f}")
    print_result(needs)


def print_result(needs: dict[str, Need]) -> None:
    conditional = [needs[f"live_conditional_{symbols}"].ratio for symbols in (3, 4)]
    result = {
        "live_share": needs["live_share"].now,
        "live_share_former": needs["live_share"].former,
        "live_conditional_ratio": max(conditional),
        "live_conditional_3_ratio": conditional[0],
        "live_conditional_4_ratio": conditional[1],
        "follow_up_10_ratio": needs["follow_up_10"].ratio,
        "follow_up_30_ratio": needs["follow_up_30"].ratio,
        "follow_up_60_ratio": needs["follow_up_60"].ratio,
        "item_behind_gate_ratio": needs["item_behind_gate"].ratio,
    }
    print(f"RESULT {json.dumps(result)}")


def compare(*, former: IntervalOf, now: IntervalOf) -> Need:
    return Need(former=find_people(former), now=find_people(now))


def find_people(interval_of: IntervalOf) -> int:
    def is_enough(people: int) -> bool:
        low, high = interval_of(people)
        return (high - low) / 2 <= HALF_WIDTH

    return smallest_number(is_enough)


def strength(symbols: int) -> RandomizedResponse:
    return RandomizedResponse.from_flips(symbols=symbols, flips=FLIPS)


def expect_counts(people: int, reported: Floats) -> NDArray[np.int64]:
    """Whole counts of reports that add up to the people, nearest to the expected ones."""
    reached: NDArray[np.float64] = np.round(people * np.cumsum(reported))
    return np.diff(reached, prepend=0).astype(np.int64)


def watch_share(*, centred: bool) -> IntervalOf:
    """A yes/no question in an open survey that has as many reports as it was planned for."""
    coins = strength(2)

    def interval_of(people: int) -> Ends:
        _, yes = expect_counts(people, coins.channel() @ [1 - SHARE, SHARE])
        found = confidence_sequence(
            successes=yes,
            total=people,
            other_probability=coins.other_probability,
            slope=coins.slope,
            level=LEVEL,
            concentration=choose_concentration(people) if centred else None,
        )
        return float(found.low), float(found.high)

    return interval_of


def compare_watched_answer(*, asked: float, symbols: int) -> Need:
    """Yes among those who were asked and answered, in an open survey, from the question alone.

    Three symbols: yes, no, prefers not to say. Four: not asked as well.
    """
    mechanism = strength(symbols)
    answering = asked * (1 - REFUSING)
    truth = [answering * SHARE, answering * (1 - SHARE), asked * REFUSING, 1 - asked][:symbols]
    reported = mechanism.channel() @ truth

    def former(people: int) -> Ends:
        yes, no, *others = expect_counts(people, reported).tolist()
        return dirichlet_interval(
            cells=(yes, no, sum(others)), answers=2, mechanism=mechanism, level=LEVEL
        )

    def now(people: int) -> Ends:
        cells = conditional_cells(
            counts=expect_counts(people, reported).tolist(),
            mechanism=mechanism,
            event=[0],
            among=[0, 1],
        )
        found = betting_sequence(
            cells=cells, level=LEVEL, concentration=choose_concentration(people)
        )
        return found.low, found.high

    return compare(former=former, now=now)


def compare_follow_up(asked: float) -> Need:
    """Yes to a question that is asked if the parent is Yes, after a frozen end."""
    mechanism = strength(3)
    parent, child = strength(2).channel(), mechanism.channel()
    # What can occur: asked and Yes, asked and No, not asked.
    channel = np.stack([np.kron(parent[:, i], child[:, j]) for i, j in ((0, 0), (0, 1), (1, 2))], 1)
    reported = channel @ [asked * SHARE, asked * (1 - SHARE), 1 - asked]

    def former(people: int) -> Ends:
        counts = expect_counts(people, reported).reshape(2, 3).sum(axis=0)
        found = likelihood_ratio_share(
            counts=counts.tolist(), mechanism=mechanism, symbol=0, among=[0, 1], level=LEVEL
        )
        return found.low, found.high

    def now(people: int) -> Ends:
        return _share_first(expect_counts(people, reported), channel)

    return compare(former=former, now=now)


def compare_item() -> Need:
    """An item of "select several" among those who answered, after a frozen end."""
    coins = strength(2)
    gate = item = coins.channel()
    # What can occur: answered and chose it, answered and did not, refused and so did not.
    channel = np.stack([np.kron(gate[:, i], item[:, j]) for i, j in ((0, 0), (0, 1), (1, 1))], 1)
    reported = channel @ [ANSWERING * SHARE, ANSWERING * (1 - SHARE), 1 - ANSWERING]

    def former(people: int) -> Ends:
        counts = expect_counts(people, reported).reshape(2, 2)
        return quotient_interval(
            item=(int(counts[:, 0].sum()), coins),
            gate=(int(counts[0].sum()), coins),
            total=people,
            level=LEVEL,
        )

    def now(people: int) -> Ends:
        return _share_first(expect_counts(people, reported), channel)

    return compare(former=former, now=now)


def _share_first(counts: NDArray[np.int64], channel: Floats) -> Ends:
    """The share of the first true combination among the first two."""
    cells = JointCells(
        counts=counts,
        channel=channel,
        event=np.array([True, False, False]),
        counted=np.array([True, True, False]),
    )
    found = joint_share(cells=cells, level=LEVEL)
    return found.low, found.high
