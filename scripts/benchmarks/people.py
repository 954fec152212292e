"""How many people a share needs for ±5 points, and a scale's mean for ±1.

All figures have a total ε of ln 3 (two coins, 25 flips of 100). Shares are 20 %, and their
intervals are computed from the expected counts of reports. The scale has nine items, each from 0 to
3, and a mean of 8.1 out of 27. Nothing is random, so every run gives the same figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from privacy.checks import Floats
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import (
    normal_quantile,
    one_report_spread,
    people_for_half_width,
    smallest_number,
    watched_level,
)
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import clopper_pearson
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share

FLIPS, SHARE, HALF_WIDTH = 25, 0.2, 0.05
REFUSING = 0.05  # share of the people asked
ANSWERING = 0.8  # at a gate
# A scale of nine items, such as PHQ-9, with the shares of each answer to an item.
ITEMS, HIGHEST, ITEM_MEAN, SCALE_HALF_WIDTH = 9, 3, 0.9, 1.0
ITEM_SHARES = np.array([0.45, 0.3, 0.15, 0.1])

Ends = tuple[float, float]
IntervalOf = Callable[[int], Ends]  # the interval expected from this many people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="changes nothing: a run is quick")
    parser.parse_args()
    needs = {
        "live_share": find_people(watch_share()),
        "live_conditional_3": find_people(watch_answer(asked=1.0, symbols=3)),
        "live_conditional_4": find_people(watch_answer(asked=0.3, symbols=4)),
        **{f"follow_up_{asked}": find_people(follow_up(asked / 100)) for asked in (10, 30, 60)},
        "item_behind_gate": find_people(item_behind_gate()),
        "score_nine_choices": people_for_mean(nine_choices()),
        "score_nine_numbers": people_for_mean(nine_numbers()),
        "score_total": people_for_mean(one_total()),
        "score_total_declinable": people_for_mean(declinable_total()),
        "score_cut_off": people_for_half_width(
            share=SHARE, half_width=HALF_WIDTH, mechanism=strength(2)
        ),
    }
    print(f"people for ±{HALF_WIDTH:.0%} at a share of {SHARE:.0%}, {FLIPS} flips of 100;")
    print(f"for ±{SCALE_HALF_WIDTH:.0f} of a total from 0 to {ITEMS * HIGHEST}")
    for name, people in needs.items():
        print(f"{name:<24}{people:>10,}")
    print(f"RESULT {json.dumps(needs)}")


def people_for_mean(variance: float) -> int:
    """Return how many people the mean of a scale needs, given the variance of one report."""
    z = float(normal_quantile(LEVEL))
    return smallest_number(lambda people: z * sqrt(variance / people) <= SCALE_HALF_WIDTH)


def weaker(symbols: int) -> RandomizedResponse:
    """Return a mechanism for one of nine items, so that all nine together have the same ε."""
    epsilon = strength(2).epsilon / ITEMS
    return RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)


def nine_choices() -> float:
    """Return the variance if each item is a choice; its mean follows from the estimated shares."""
    mechanism = weaker(len(ITEM_SHARES))
    reported = mechanism.channel() @ ITEM_SHARES
    points = np.arange(len(ITEM_SHARES))
    spread = reported @ points**2 - (reported @ points) ** 2
    return float(ITEMS * spread / mechanism.slope**2)


def nine_numbers() -> float:
    """Return the variance if each item is rounded at random to 0 or 3."""
    share = ITEM_MEAN / HIGHEST
    spread = HIGHEST * one_report_spread(share=share, mechanism=weaker(2))
    return float(ITEMS * spread**2)


def one_total() -> float:
    """Return the variance if the total is rounded at random to 0 or 27."""
    share = ITEM_MEAN / HIGHEST
    return float((ITEMS * HIGHEST * one_report_spread(share=share, mechanism=strength(2))) ** 2)


def declinable_total() -> float:
    """Return the variance of the rounded total with a code for declining, which no one does."""
    mechanism, share = strength(3), ITEM_MEAN / HIGHEST
    reported = mechanism.channel() @ [1 - share, share, 0]
    # The delta method for high / (low + high).
    weights = np.array([-share, 1 - share, 0])
    spread = reported @ weights**2 - (reported @ weights) ** 2
    return float((ITEMS * HIGHEST) ** 2 * spread / mechanism.slope**2)


def find_people(interval_of: IntervalOf) -> int:
    def is_enough(people: int) -> bool:
        low, high = interval_of(people)
        return (high - low) / 2 <= HALF_WIDTH

    return smallest_number(is_enough)


def strength(symbols: int) -> RandomizedResponse:
    return RandomizedResponse.from_flips(symbols=symbols, flips=FLIPS)


def expect_counts(people: int, reported: Floats) -> NDArray[np.int64]:
    """Return the whole counts nearest to the expected ones that add up to the number of people."""
    reached: NDArray[np.float64] = np.round(people * np.cumsum(reported))
    return np.diff(reached, prepend=0).astype(np.int64)


def watch_share() -> IntervalOf:
    """Return intervals of a yes/no question in an open survey with as many reports as planned."""
    coins = strength(2)

    def interval_of(people: int) -> Ends:
        _, yes = expect_counts(people, coins.channel() @ [1 - SHARE, SHARE])
        found = clopper_pearson(
            successes=yes,
            total=people,
            other_probability=coins.other_probability,
            slope=coins.slope,
            level=watched_level(LEVEL),
        )
        return float(found.low), float(found.high)

    return interval_of


def watch_answer(*, asked: float, symbols: int) -> IntervalOf:
    """Return intervals of the share of Yes among people who answered, from this question alone.

    The survey is open. The first three symbols are yes, no and "prefers not to say"; the fourth is
    "not asked".
    """
    mechanism = strength(symbols)
    answering = asked * (1 - REFUSING)
    truth = [answering * SHARE, answering * (1 - SHARE), asked * REFUSING, 1 - asked][:symbols]
    reported = mechanism.channel() @ truth

    def interval_of(people: int) -> Ends:
        found = likelihood_ratio_share(
            counts=expect_counts(people, reported).tolist(),
            mechanism=mechanism,
            symbol=0,
            among=[0, 1],
            level=watched_level(LEVEL),
        )
        return found.low, found.high

    return interval_of


def follow_up(asked: float) -> IntervalOf:
    """Return intervals of the share of Yes to a question asked after Yes, after a frozen end."""
    parent, child = strength(2).channel(), strength(3).channel()
    # Possible cases: asked and Yes, asked and No, not asked.
    channel = np.stack([np.kron(parent[:, i], child[:, j]) for i, j in ((0, 0), (0, 1), (1, 2))], 1)
    reported = channel @ [asked * SHARE, asked * (1 - SHARE), 1 - asked]

    return _share_first(reported, channel)


def item_behind_gate() -> IntervalOf:
    """Return intervals of a "select several" item among people who answered, after a frozen end."""
    gate = item = strength(2).channel()
    # Possible cases: answered and chose the item, answered without it, refused and so without it.
    channel = np.stack([np.kron(gate[:, i], item[:, j]) for i, j in ((0, 0), (0, 1), (1, 1))], 1)
    reported = channel @ [ANSWERING * SHARE, ANSWERING * (1 - SHARE), 1 - ANSWERING]

    return _share_first(reported, channel)


def _share_first(reported: Floats, channel: Floats) -> IntervalOf:
    """Return intervals of the share of the first true combination among the first two."""

    def interval_of(people: int) -> Ends:
        cells = JointCells(
            counts=expect_counts(people, reported),
            channel=channel,
            event=np.array([True, False, False]),
            counted=np.array([True, True, False]),
        )
        found = joint_share(cells=cells, level=LEVEL)
        return found.low, found.high

    return interval_of
