"""Computes the table in docs/methods on the coverage of the figures that are shown.

A figure is shown if its design and the estimated number of people who answer make it precise
enough. Because this number is estimated, the table checks that the intervals of shown figures cover
as well as those of all figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import log, sqrt

import numpy as np

from aggregator.results.reliability import Reliability, rate
from privacy.checks import Floats
from privacy.level import Z_95
from privacy.planning.answerers import assume_share, one_report_ratio_spread
from scripts.documentation.many_surveys import joint_statistic, maximize
from scripts.documentation.methods_ratios import LIMIT, RUNS, SEED
from scripts.documentation.ratio_designs import Design, follow_up
from surveys.planning.figures import COMPARED_AT

EPSILON, ANSWERS = log(3), 2
TOTALS, ASKED, SHARES = (200, 1000, 5000), (0.1, 0.3, 1.0), (0.03, 0.05, 0.08, 0.2, 0.5)
_HALVINGS = 14


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How many surveys show a figure, and how many of these intervals contain the truth."""

    total: int
    asked: float
    share: float
    rated: Counter[Reliability]
    covered: Counter[Reliability]

    def part(self, *ratings: Reliability) -> float:
        return sum(self.rated[rating] for rating in ratings) / sum(self.rated.values())

    def coverage(self, *ratings: Reliability) -> float | None:
        number = sum(self.rated[rating] for rating in ratings)
        if not number:
            return None
        return sum(self.covered[rating] for rating in ratings) / number


def compute_shown() -> Iterator[Shown]:
    generator = np.random.default_rng([SEED, 200])
    design = follow_up(answers=ANSWERS, epsilon=EPSILON)
    for total, asked, share in product(TOTALS, ASKED, SHARES):
        yield _rate_surveys(generator, design, total=total, asked=asked, share=share)


def write_shown_table(rows: Iterable[Shown]) -> str:
    lines = [
        "| n | asked | share | shown | coverage of these | publishable | coverage of these |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        figures = []
        for ratings in (SHOWN, PUBLISHABLE):
            coverage = row.coverage(*ratings)
            enough = coverage is not None and row.part(*ratings) >= FEWEST
            figures += [f"{row.part(*ratings):.1%}", f"{coverage:.3f}" if enough else "–"]
        lines.append(
            f"| {row.total:,} | {row.asked:.0%} | {row.share:.0%} | {' | '.join(figures)} |"
        )
    return "\n".join(lines)


SHOWN = (Reliability.PUBLISHABLE, Reliability.CAUTION)
PUBLISHABLE = (Reliability.PUBLISHABLE,)
FEWEST = 0.025  # of the surveys, that is, 100; fewer would say little about coverage


def _rate_surveys(
    generator: np.random.Generator, design: Design, *, total: int, asked: float, share: float
) -> Shown:
    reported = design.report([asked * share, asked * (1 - share), 1 - asked])
    drawn = generator.multinomial(total, reported, size=RUNS)
    different, numbers = np.unique(drawn, axis=0, return_counts=True)
    counts = different.astype(np.float64)
    _, shares = maximize(counts, design.channel)
    counted = shares[:, :2].sum(axis=1)
    lows, highs = find_intervals(counts, design, shares[:, 0] / counted)
    rated: Counter[Reliability] = Counter()
    covered: Counter[Reliability] = Counter()
    for among, low, high, number in zip(counted, lows, highs, numbers.tolist(), strict=True):
        rating = rate(find_design_error(design, float(among)) / sqrt(total), Z_95)
        rated[rating] += number
        covered[rating] += number * (low <= share <= high)
    return Shown(total=total, asked=asked, share=share, rated=rated, covered=covered)


def find_design_error(design: Design, counted: float) -> float:
    """Return the standard error of one report at the share where designs are compared."""
    reports = assume_share(
        channel=design.channel,
        numerator=[1, 0, 0],
        denominator=[1, 1, 0],
        counted=min(counted, 1.0),
        share=COMPARED_AT,
    )
    return one_report_ratio_spread(reports=reports)


def find_intervals(counts: Floats, design: Design, inside: Floats) -> tuple[Floats, Floats]:
    """Bisect towards both ends of the likelihood interval; return the outer sides."""

    def find(end: float) -> Floats:
        kept, dropped = inside.copy(), np.full(len(counts), end)
        whole = joint_statistic(counts, design.channel, dropped) <= LIMIT
        for _ in range(_HALVINGS):
            middle = (kept + dropped) / 2
            holds = joint_statistic(counts, design.channel, middle) <= LIMIT
            kept, dropped = np.where(holds, middle, kept), np.where(holds, dropped, middle)
        return np.where(whole, end, dropped)

    return find(0.0), find(1.0)
