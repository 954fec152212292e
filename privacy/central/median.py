"""Scores for choosing the median of a scale: 0 at a median, and lower farther away from it.

All scores are fractions or whole numbers. For a draw, they are multiplied by a factor and rounded
to whole numbers, because noise samplers accept nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import floor
from numbers import Integral, Rational

from privacy.checks import check_whole

# Scores for a draw are in thousandths of a report.
FACTOR = 1000


def median_scores(
    counts: Sequence[int], *, other_probability: int | Fraction, others: int = 0
) -> list[Fraction]:
    """Score each point of a scale by how far it is from being the median of the true answers.

    Parameters
    ----------
    counts : sequence of int
        Number of reports that show each point, from the lowest point to the highest. There must be
        at least two points.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points; 0 if answers are not scrambled.
    others : int, optional
        Number of reports with one of the question's other codes, such as "Prefer not to say".

    Returns
    -------
    list of Fraction
        The score of point j, counted from 0, is u_j = -max(0, |D_j| - (N_j - c n)), where D_j =
        N_below - N_above - (2 j - a + 1) c n, with a points and n reports, including `others`.

    Raises
    ------
    ValueError
        If there are fewer than two points, a count is not whole, or c is out of range.

    Notes
    -----
    Each of the n reports shows any given point other than the true answer with probability c,
    whether the true answer is a different point or a refusal. With the channel's slope d, the
    expected value of N_j - c n is therefore d times the number of people who answered j. The
    expected value of D_j is d times the number below j, minus d times the number above j. Point j
    is a median if at most half of the people are below it and at most half are above it, that is,
    if |below - above| is at most the number at j: then u_j is 0.

    Otherwise, each person who changes their answer from the larger side to j lowers |below - above|
    by one and raises the number at j by one. A score of -g therefore corresponds to g / (2 d)
    people, rounded up, who would have to answer differently to make j a median. Fewer people
    never suffice, because no changed answer narrows the gap between the two numbers by more than
    two.

    At least one point has the score 0 unless the estimated number of people who chose a point,
    rather than refusing, is negative (sum(counts) < a c n). This happens only if nearly all people
    refuse.

    Examples
    --------
    >>> scores = median_scores((15, 20, 25, 25, 15), other_probability=Fraction(1, 7))
    >>> [str(score) for score in scores]
    ['-190/7', '-110/7', '0', '-40/7', '-190/7']
    """
    reports = [check_whole("counts", count, at_least=0) for count in counts]
    points = check_whole("the number of counts", len(reports), at_least=2)
    c = _check_other_probability(other_probability, points)
    total = sum(reports) + check_whole("others", others, at_least=0)
    # All numbers below are in units of 1 / c.denominator, so that they are whole.
    unit, expected = c.denominator, c.numerator * total
    up_to = list(accumulate(reports))
    scores = []
    for j, (count, below_and_at) in enumerate(zip(reports, up_to, strict=True)):
        below, above = below_and_at - count, up_to[-1] - below_and_at
        imbalance = (below - above) * unit - (2 * j - points + 1) * expected
        scores.append(Fraction(-max(0, abs(imbalance) - (count * unit - expected)), unit))
    return scores


def median_sensitivity(points: int, *, other_probability: int | Fraction) -> Fraction:
    """Find the most that one added or removed report can change any of `median_scores`.

    Parameters
    ----------
    points : int
        Number of points a, at least 2.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points.

    Returns
    -------
    Fraction
        1 + (a - 2) c.

    Raises
    ------
    ValueError
        If there are fewer than two points or c is out of range.

    Notes
    -----
    |D_j| - (N_j - c n) is the larger of D_j - N_j + c n and -D_j - N_j + c n. A report of a point
    below j changes the first by 1 - (2 j - a) c, one of a point above j by -1 - (2 j - a) c, one of
    j itself by -1 - (2 j - a) c, and one of another code by -(2 j - a) c. The largest of these
    changes is 1 + (a - 2) c: at j = 1 by a report of the lowest point (0), and at the highest point
    by a report of that point. The second expression is the first one for the reversed scale.
    Neither the larger of two numbers nor max(0, ...) changes by more than its arguments. One report
    may raise some scores and lower others.

    Examples
    --------
    >>> median_sensitivity(5, other_probability=Fraction(1, 7))
    Fraction(10, 7)
    """
    points = check_whole("points", points, at_least=2)
    return 1 + (points - 2) * _check_other_probability(other_probability, points)


def scaled_scores(
    counts: Sequence[int],
    *,
    other_probability: int | Fraction,
    others: int = 0,
    factor: int = FACTOR,
) -> list[int]:
    """Multiply `median_scores` by a factor and round the results to whole numbers.

    Parameters
    ----------
    counts : sequence of int
        See `median_scores`.
    other_probability : int or Fraction
        See `median_scores`.
    others : int, optional
        See `median_scores`.
    factor : int, optional
        Factor, at least 1. It must not depend on the reports.

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
    [-27143, -15714, 0, -5714, -27143]
    """
    factor = check_whole("factor", factor, at_least=1)
    exact = median_scores(counts, other_probability=other_probability, others=others)
    return [round(factor * score) for score in exact]


def scaled_sensitivity(
    points: int, *, other_probability: int | Fraction, factor: int = FACTOR
) -> int:
    """Find the most that one added or removed report can change any of `scaled_scores`.

    Parameters
    ----------
    points : int
        Number of points a, at least 2.
    other_probability : int or Fraction
        The channel's c, with 0 <= c < 1 / points.
    factor : int, optional
        See `scaled_scores`.

    Returns
    -------
    int
        The factor times `median_sensitivity` if no score needs rounding, because the factor is
        a multiple of c's denominator. Otherwise, that product rounded down, plus 1: rounding
        increases the difference between two scores by at most 1, and rounded scores differ by a
        whole number.

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
    1429
    >>> scaled_sensitivity(5, other_probability=0)
    1000
    """
    factor = check_whole("factor", factor, at_least=1)
    exact = factor * median_sensitivity(points, other_probability=other_probability)
    is_whole = factor % Fraction(other_probability).denominator == 0
    return int(exact) if is_whole else floor(exact) + 1


def _check_other_probability(value: object, points: int) -> Fraction:
    """Reject floats, because sums of floats have a larger sensitivity than their terms suggest."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise ValueError(f"other_probability must be 0 or a fraction, got {value!r}")
    c = Fraction(int(value)) if isinstance(value, Integral) else Fraction(value)
    if not 0 <= c < Fraction(1, points):
        raise ValueError(f"other_probability must lie in [0, 1/{points}), got {value!r}")
    return c
