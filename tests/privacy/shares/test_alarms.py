"""Codes that the design could hardly produce: known values, and exact chances of false alarms.

A question contradicts its design if any of its codes does. Each code is tested at
1 - .05 / (codes), so at most 5 of 100 questions contradict it by chance. If everybody has the same
answer, most codes are at their limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, multinomial, poisson

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.alarms import find_contradictions
from privacy.shares.intervals import clopper_pearson, simultaneous_level
from privacy.shares.looks import repeated_level

Floats = NDArray[np.float64]
COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}
EPSILONS = (0.5, log(3), 2.0)
SYMBOLS = (2, 3, 5, 16, 64)
TOTALS = (25, 50, 100, 200, 1000)


def channel(symbols: int, epsilon: float) -> dict[str, float]:
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
    return {"other_probability": mechanism.other_probability, "slope": mechanism.slope}


def level_of_code(symbols: int, level: float = 0.95) -> float:
    """Return the level of each code; two codes count as one, because each determines the other."""
    return simultaneous_level(level, shares=1 if symbols == 2 else symbols)


def list_truths(symbols: int) -> list[Floats]:
    """Return shares for people who all give one answer, or are spread evenly over three or all."""
    truths = []
    for people in sorted({1, min(3, symbols), symbols}):
        truth = np.zeros(symbols)
        truth[:people] = 1 / people
        truths.append(truth)
    return truths


TEN = [look / 10 for look in range(1, 11)]

# Known values


def test_silent_fakes_raise_the_alarm_at_a_look_almost_as_soon() -> None:
    """Of 1,000 reports, 214 with Yes contradict after a fixed end, and 210 at the tenth look."""
    counts = np.arange(500)
    most = [
        int(
            np.flatnonzero(find_contradictions(successes=counts, total=1000, level=level, **COINS))[
                -1
            ]
        )
        for level in (0.99, repeated_level(0.99, times=TEN))
    ]
    assert most == [214, 210]
    # These shares of fakes that always send the other code are enough if a quarter of the real
    # reports are Yes.
    assert [1 - count / 250 for count in most] == pytest.approx([0.144, 0.16])


@pytest.mark.parametrize("total", [1, 10, 200])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_every_count_agrees_with_plain_sums_of_the_tails(total: int, level: float) -> None:
    counts = np.arange(total + 1)
    for symbols in SYMBOLS:
        c, d = channel(symbols, 1.0).values()
        rare = np.cumsum(binom.pmf(counts, total, c))
        frequent = np.cumsum(binom.pmf(counts, total, c + d)[::-1])[::-1]
        expected = (rare <= (1 - level) / 2) | (frequent <= (1 - level) / 2)
        found = find_contradictions(
            successes=counts, total=total, other_probability=c, slope=d, level=level
        )
        assert found.tolist() == expected.tolist()


def test_without_reports_nothing_is_contradicted() -> None:
    assert not find_contradictions(successes=0, total=0, level=0.01, **COINS)


# Exact chances of false alarms with honest data


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_chance_contradicts_a_code_at_most_as_often_as_stated(symbols: int) -> None:
    shares = np.array([0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 1])
    for epsilon in EPSILONS:
        c, d = channel(symbols, epsilon).values()
        for total in TOTALS:
            for level in (0.95, level_of_code(symbols, 0.99)):
                counts = np.arange(total + 1)
                found = find_contradictions(
                    successes=counts, total=total, other_probability=c, slope=d, level=level
                )
                weights = binom.pmf(counts, total, c + d * shares[:, None])
                assert weights[:, found].sum(axis=1).max() <= 1 - level


def chance_of_any(found: Sequence[NDArray[np.bool_]], reported: Floats, total: int) -> float:
    """Compute the exact chance that any code contradicts, for multinomial counts.

    Independent Poisson counts with these means are multinomial, given their sum.
    """
    counts = np.arange(total + 1)
    none: Floats = np.ones(1)
    for one, share in zip(found, reported, strict=True):
        none = np.convolve(none, np.where(one, 0.0, poisson.pmf(counts, total * share)))
        none = none[: total + 1]
    return float(1 - none[total] / poisson.pmf(total, total))


def test_the_chance_of_any_code_agrees_with_a_sum_over_all_tables() -> None:
    reported, total = np.array([0.6, 0.3, 0.1]), 12
    found = [np.arange(total + 1) < least for least in (5, 2, 1)]
    expected = sum(
        multinomial.pmf([first, second, total - first - second], total, reported)
        for first in range(total + 1)
        for second in range(total + 1 - first)
        if found[0][first] or found[1][second] or found[2][total - first - second]
    )
    assert chance_of_any(found, reported, total) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_after_a_fixed_end_chance_contradicts_at_most_5_of_100_questions(symbols: int) -> None:
    most = 0.0
    for epsilon in EPSILONS:
        c, d = channel(symbols, epsilon).values()
        for total in TOTALS:
            counts = np.arange(total + 1)
            given: dict[str, Any] = {
                "successes": counts,
                "total": total,
                "other_probability": c,
                "slope": d,
                "level": level_of_code(symbols),
            }
            found = find_contradictions(**given)
            # The guaranteed interval is empty only for counts that are found to contradict.
            assert (found >= clopper_pearson(**given).contradiction).all()
            for truth in list_truths(symbols):
                chance = chance_of_any([found] * symbols, c + d * truth, total)
                most = max(most, chance)
                assert chance <= 0.05
    print(f"k={symbols}: at most {most:.4f}")


def chances_at_any_look(looks: Sequence[int], level: float, given: dict[str, Any]) -> Floats:
    """Compute the exact chances that a true share of 0, or of 1, is contradicted at any look."""
    c, d = given["other_probability"], given["slope"]
    reported = np.array([[c], [c + d]])
    likely, ever, before = [np.ones(1)] * 2, np.zeros(2), 0
    for look in looks:
        new = binom.pmf(np.arange(look - before + 1), look - before, reported)
        likely = [np.convolve(*each) for each in zip(likely, new, strict=True)]
        counts = np.arange(look + 1)
        outside = counts[(counts < c * look) | (counts > (c + d) * look)]
        now = repeated_level(level, times=[n / looks[-1] for n in looks if n <= look])
        found = find_contradictions(successes=outside, total=look, level=now, **given)
        stopped = outside[found]
        ever += [each[stopped].sum() for each in likely]
        for each in likely:
            each[stopped] = 0
        before = look
    return ever


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_while_watched_chance_contradicts_at_most_5_of_100_questions(symbols: int) -> None:
    """The sum over all codes bounds the chance for any of them, whatever the true shares are.

    The more people have an answer, the more reports show it. A code is therefore most often too
    rare if nobody has the answer, and most often too frequent if everybody has it.
    """
    most, codes = 0.0, 1 if symbols == 2 else symbols
    for epsilon in EPSILONS:
        level, given = level_of_code(symbols), channel(symbols, epsilon)
        chances = chances_at_any_look(range(50, 1001, 50), level, given)
        most = max(most, codes * float(chances.sum()))
    print(f"k={symbols}: at most {most:.4f}")
    assert most <= 0.05


@pytest.mark.parametrize("symbols", [3, 16, 64])
def test_while_watched_whole_questions_contradict_as_seldom(symbols: int) -> None:
    runs, looks = 1000, range(50, 1001, 50)
    given, level = channel(symbols, log(3)), level_of_code(symbols)
    reported = given["other_probability"] + given["slope"] * list_truths(symbols)[0]
    batches = np.random.default_rng(64).multinomial(50, reported, size=(runs, len(looks)))
    ever = np.zeros(runs, dtype=bool)
    for look, counts in zip(looks, batches.cumsum(axis=1).swapaxes(0, 1), strict=True):
        now = repeated_level(level, times=[n / 1000 for n in looks if n <= look])
        found = find_contradictions(successes=np.arange(look + 1), total=look, level=now, **given)
        ever |= found[counts].any(axis=1)
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={ever.sum()} expected at most {0.05 * runs}, accepted up to {limit}")
    assert ever.sum() <= limit
