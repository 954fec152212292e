"""Scores that choose the typical point of a scale, which divides the answers most evenly.

All scores are fractions or whole numbers. For drawing, they are multiplied and rounded to whole
numbers, because noise samplers accept nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import floor
from numbers import Integral, Rational

from privacy.checks import check_whole

# Scores are drawn in thousandths of a report.
FACTOR = 1000


def typical_scores(
    counts: Sequence[int], *, other_probability: int | Fraction, others: int = 0
) -> list[Fraction]:
    """Score each point of a scale by how evenly the true answers lie on both sides of it.

    Parameters
    ----------
    counts : sequence of int
        Number of reports of each point, from the lowest to the highest; at least two points.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points; 0 if answers are not scrambled.
    others : int, optional
        Number of reports of the question's other codes, such as "Prefer not to say".

    Returns
    -------
    list of Fraction
        Point j has u_j = -|N_below - N_above - (2 j - a + 1) c n| with a points and n reports,
        others included. At most 0.

    Raises
    ------
    ValueError
        If there are fewer than two points, a count is not whole, or c is out of range.

    Notes
    -----
    Each of the n reports shows a point that is not the truth with probability c, whether its truth
    is another point or a refusal. Below j lie j such points and above it a - 1 - j. So the expected
    difference is (2 j - a + 1) c n, plus the channel's slope d times the difference of the true
    counts. After subtracting the first part, the best point is the one for which the numbers of
    people below and above it differ least: a gap of d in the scores corresponds to one person. That
    need not be the median: if 40 chose the lowest of three points and 60 the highest, the one
    between them is the best.

    Examples
    --------
    >>> scores = typical_scores((15, 20, 25, 25, 15), other_probability=Fraction(1, 7))
    >>> [str(score) for score in scores]
    ['-195/7', '-150/7', '-5', '-115/7', '-195/7']
    """
    reports = [check_whole("counts", count, at_least=0) for count in counts]
    points = check_whole("the number of counts", len(reports), at_least=2)
    c = _check_other_probability(other_probability, points)
    total = sum(reports) + check_whole("others", others, at_least=0)
    up_to = list(accumulate(reports))
    return [
        -abs((below - count) - (up_to[-1] - below) - (2 * j - points + 1) * c * total)
        for j, (count, below) in enumerate(zip(reports, up_to, strict=True))
    ]


def typical_sensitivity(points: int, *, other_probability: int | Fraction) -> Fraction:
    """Find the largest change of any of `typical_scores` by one added or removed report.

    Parameters
    ----------
    points : int
        Number of points a, at least 2.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points.

    Returns
    -------
    Fraction
        1 + (a - 3) c.

    Raises
    ------
    ValueError
        If there are fewer than two points or c is out of range.

    Notes
    -----
    A report of point i moves the difference at point j by sign(j - i) - (2 j - a + 1) c, which is
    largest for i = 0 and j = 1. A report of the point itself, or of another code, moves it by at
    most (a - 1) c, which is less because c < 1/2. The scores may move in different directions.

    Examples
    --------
    >>> typical_sensitivity(5, other_probability=Fraction(1, 7))
    Fraction(9, 7)
    """
    points = check_whole("points", points, at_least=2)
    return 1 + (points - 3) * _check_other_probability(other_probability, points)


def scaled_scores(
    counts: Sequence[int],
    *,
    other_probability: int | Fraction,
    others: int = 0,
    factor: int = FACTOR,
) -> list[int]:
    """Multiply `typical_scores` by a factor and round them to whole numbers.

    Parameters
    ----------
    counts : sequence of int
        As for `typical_scores`.
    other_probability : int or Fraction
        As for `typical_scores`.
    others : int, optional
        As for `typical_scores`.
    factor : int, optional
        At least 1. It must not depend on the reports.

    Returns
    -------
    list of int
        The scores; their sensitivity is `scaled_sensitivity`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> scaled_scores((15, 20, 25, 25, 15), other_probability=Fraction(1, 7))
    [-27857, -21429, -5000, -16429, -27857]
    """
    factor = check_whole("factor", factor, at_least=1)
    exact = typical_scores(counts, other_probability=other_probability, others=others)
    return [round(factor * score) for score in exact]


def scaled_sensitivity(
    points: int, *, other_probability: int | Fraction, factor: int = FACTOR
) -> int:
    """Find the largest change of any of `scaled_scores` by one added or removed report.

    Parameters
    ----------
    points : int
        Number of points a, at least 2.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points.
    factor : int, optional
        As for `scaled_scores`.

    Returns
    -------
    int
        The factor times `typical_sensitivity` if no score needs rounding, because the factor is
        a multiple of c's denominator. Otherwise that rounded down, plus 1: rounding moves two
        scores apart by at most 1, and whole numbers differ by a whole number.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Casacuberta, S., Shoemate, M., Vadhan, S. and Wagaman, C. (2022), Widespread underestimation of
    sensitivity in differentially private libraries and how to fix it, CCS (why not floats).

    Examples
    --------
    >>> scaled_sensitivity(5, other_probability=Fraction(1, 7))
    1286
    >>> scaled_sensitivity(5, other_probability=0)
    1000
    """
    factor = check_whole("factor", factor, at_least=1)
    exact = factor * typical_sensitivity(points, other_probability=other_probability)
    is_whole = factor % Fraction(other_probability).denominator == 0
    return int(exact) if is_whole else floor(exact) + 1


def _check_other_probability(value: object, points: int) -> Fraction:
    """Refuse floats: sums of them have a larger sensitivity than their terms suggest."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise ValueError(f"other_probability must be 0 or a fraction, got {value!r}")
    c = Fraction(int(value)) if isinstance(value, Integral) else Fraction(value)
    if not 0 <= c < Fraction(1, points):
        raise ValueError(f"other_probability must lie in [0, 1/{points}), got {value!r}")
    return c
