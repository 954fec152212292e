"""The ratio of two nested shares: people who chose an item, among all who answered."""

from __future__ import annotations

from math import sqrt

from privacy.checks import check_not_negative, check_number, check_share, check_whole


def ratio_of_shares(
    *, part: tuple[float, float], whole: tuple[float, float]
) -> tuple[float, float]:
    """Combine the intervals of two shares into one for their ratio.

    Parameters
    ----------
    part, whole : tuple of float
        Low and high end, in [0, 1], of the intervals of two true shares of the same people; the
        part is at most the whole. For an interval of the ratio at level 1 - alpha each needs the
        level 1 - alpha / 2.

    Returns
    -------
    low, high : float
        low = part_low / whole_high, high = part_high / whole_low, both cut to [0, 1]; all of [0, 1]
        where whole_low is 0, because then it is plausible that nobody is counted.

    Raises
    ------
    ValueError
        If an end is not a fraction, or a low end lies above its high end.

    Notes
    -----
    If both intervals hold, so does this one, however the reports of the two shares depend on each
    other. So it misses with probability at most alpha by Bonferroni's inequality, and it holds at
    every look if both intervals do. It is conservative: with normal errors s and t of part and
    whole, it extends about 2.24 (s + q t) / whole to either side, where q is the ratio. An interval
    that used their dependence would extend 1.96 times the error of `nested_ratio`.

    References
    ----------
    Dunn, O. J. (1961), Multiple comparisons among means, JASA 56(293), section 3 (Bonferroni's
    inequality).

    Examples
    --------
    10 to 20 % of all people chose the item, and 80 to 90 % answered:

    >>> low, high = ratio_of_shares(part=(.1, .2), whole=(.8, .9))
    >>> round(low, 4), round(high, 4)
    (0.1111, 0.25)
    >>> ratio_of_shares(part=(.1, .2), whole=(0, .3))
    (0.0, 1.0)
    """
    part_low, part_high = _check_ends("part", part)
    whole_low, whole_high = _check_ends("whole", whole)
    if whole_low == 0:
        return 0.0, 1.0
    # Where the part seems to exceed the whole, the nearest possible ratio is 1.
    return min(1.0, part_low / whole_high), min(1.0, part_high / whole_low)


def nested_ratio(
    *, part: float, whole: float, part_error: float, whole_error: float, total: int
) -> tuple[float, float] | None:
    """Divide the estimate of a share by that of another share that contains it.

    Parameters
    ----------
    part, whole : float
        Unbiased, unclipped estimates from the same reports: the share of people who chose an
        item, and the share who answered, which includes all who chose it.
    part_error, whole_error : float
        Their standard errors, at least 0.
    total : int
        Number of reports n, at least 1.

    Returns
    -------
    ratio, standard_error : tuple of float, or None
        None where `whole` is not positive: then there is no ratio.

    Raises
    ------
    ValueError
        If a number is not finite or out of range.

    Notes
    -----
    The delta method: the variance of part - q whole, q the ratio, over whole squared. The two
    symbols are randomized independently, so their estimates covary only as the true answers do, by
    part (1 - whole) / n because the one contains the other; both are cut to their possible range.

    Examples
    --------
    >>> ratio, error = nested_ratio(
    ...     part=.2, whole=.8, part_error=.03, whole_error=.03, total=1000
    ... )
    >>> round(ratio, 4), round(error, 4)
    (0.25, 0.0382)
    """
    check_number("part", part)
    check_number("whole", whole)
    check_not_negative("part_error", part_error)
    check_not_negative("whole_error", whole_error)
    check_whole("total", total, at_least=1)
    if whole <= 0:
        return None
    ratio = part / whole
    possible = min(whole, 1.0)
    covariance = min(max(part, 0.0), possible) * (1 - possible) / total
    variance = part_error**2 + (ratio * whole_error) ** 2 - 2 * ratio * covariance
    return ratio, sqrt(max(variance, 0.0)) / whole


def _check_ends(name: str, ends: tuple[float, float]) -> tuple[float, float]:
    low, high = (check_share(f"{name} end", end) for end in ends)
    if not low <= high:
        raise ValueError(f"{name} must be a low and a high end, got {ends!r}")
    return low, high
