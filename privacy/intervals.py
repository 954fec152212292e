"""Intervals for one true share, as named methods on one result.

Each symbol by itself is binomial: a report shows it with probability l = c + d p, where p is
its true share. Both methods work on the count S of such reports among n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, log1p
from typing import Literal

from scipy.special import betaln
from scipy.stats import chi2

from privacy.mechanisms import RandomizedResponse

Method = Literal["likelihood_ratio", "confidence_sequence"]
_PRIOR = 0.5  # of the beta mixture: Beta(1/2, 1/2)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A set of plausible true shares.

    Attributes
    ----------
    low, high : float
        Ends of the interval, 0 <= low <= high <= 1, as fractions.
    level : float
        Confidence level, in (0, 1).
    method : str
        "likelihood_ratio": holds once, if the end of the survey did not depend on the data.
        "confidence_sequence": holds at every look at once.
    contradiction : bool
        True if no true share in [0, 1] agrees with the reports: then something other than the
        stated mechanism produced them, and low = high is merely the nearest share.
    """

    low: float
    high: float
    level: float
    method: Method
    contradiction: bool = False


def likelihood_ratio_interval(
    *, successes: int, total: int, mechanism: RandomizedResponse, level: float = 0.95
) -> Interval:
    """Find the shares in [0, 1] that a likelihood-ratio test does not reject.

    Parameters
    ----------
    successes : int
        Reports S showing the symbol, 0 <= S <= total.
    total : int
        Reports n, at least 0.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Never empty and, for n >= 1, never of zero width; [0, 1] for n = 0.

    Raises
    ------
    ValueError
        If successes, total or level is out of range.

    Notes
    -----
    Keeps p if 2 (L(p*) - L(p)) <= the level's quantile of chi-square with one degree of
    freedom, L(p) = S ln l + (n - S) ln(1 - l), l = c + d p, p* the maximum over [0, 1].
    Valid for one look at data whose amount was fixed beforehand. Least coverage of a 95 %
    interval at two coins over true shares 0, .001, ..., .5: .935 (n = 50), .941 (n = 200).

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).

    Examples
    --------
    >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    >>> interval = likelihood_ratio_interval(successes=400, total=1000, mechanism=coins)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2398, 0.3612)
    """
    _check(successes=successes, total=total, level=level)
    if total == 0:
        return Interval(low=0.0, high=1.0, level=level, method="likelihood_ratio")
    best = _closest_share(successes, total, mechanism)
    best_l = _reported(best, mechanism)
    limit = float(chi2.ppf(level, df=1))

    def keeps(share: float) -> bool:
        reported = _reported(share, mechanism)
        # Differences of logarithms by log1p: sums of them would cancel for large n.
        drop = 0.0
        if successes:
            drop += successes * log1p((best_l - reported) / reported)
        if successes < total:
            drop += (total - successes) * log1p((reported - best_l) / (1 - reported))
        return 2 * drop <= limit

    low, high = _search(keeps, inside=best)
    return Interval(low=low, high=high, level=level, method="likelihood_ratio")


def confidence_sequence(
    *, successes: int, total: int, mechanism: RandomizedResponse, level: float = 0.95
) -> Interval:
    """Find the shares in [0, 1] that no look so far, nor this one, has ruled out.

    Parameters
    ----------
    successes : int
        Reports S showing the symbol, 0 <= S <= total.
    total : int
        Reports n, at least 0.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        [0, 1] for n = 0. If nothing in [0, 1] survives, `contradiction` is True.

    Raises
    ------
    ValueError
        If successes, total or level is out of range.

    Notes
    -----
    Rejects p if ln B(a + S, a + n - S) - ln B(a, a) - S ln l - (n - S) ln(1 - l) >= ln(1 / (1 -
    level)), with a = 1/2 and l = c + d p: a beta mixture of likelihood ratios is a
    nonnegative martingale under p, so by Ville's inequality the true share is ever rejected
    with probability at most 1 - level, however often one looks. Depends on (S, n) only, not on
    the order of reports. Not valid with weights.

    References
    ----------
    Robbins, H. (1970), Annals of Mathematical Statistics 41(5), section 3.
    Waudby-Smith, I., Wu, Z. S. and Ramdas, A. (2022), arXiv:2202.08728, section 4 (the same
    idea for locally private means).

    Examples
    --------
    >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    >>> interval = confidence_sequence(successes=400, total=1000, mechanism=coins)
    >>> round(interval.low, 6), round(interval.high, 6)
    (0.18893, 0.414617)
    """
    _check(successes=successes, total=total, level=level)
    mixture = float(betaln(_PRIOR + successes, _PRIOR + total - successes) - betaln(_PRIOR, _PRIOR))
    limit = -log1p(-level)  # ln(1 / (1 - level))

    def keeps(share: float) -> bool:
        reported = _reported(share, mechanism)
        likelihood = 0.0
        if successes:
            likelihood += successes * log(reported)
        if successes < total:
            likelihood += (total - successes) * log1p(-reported)
        return mixture - likelihood < limit

    # The likelihood is highest here: if even this share is rejected, all are.
    best = _closest_share(successes, total, mechanism) if total else 0.0
    if not keeps(best):
        return Interval(
            low=best, high=best, level=level, method="confidence_sequence", contradiction=True
        )
    low, high = _search(keeps, inside=best)
    return Interval(low=low, high=high, level=level, method="confidence_sequence")


def _reported(share: float, mechanism: RandomizedResponse) -> float:
    """l = c + d p, for p in [0, 1]; strictly between 0 and 1 because T is."""
    return mechanism.other_probability + mechanism.slope * share


def _closest_share(successes: int, total: int, mechanism: RandomizedResponse) -> float:
    """Return the maximum-likelihood share in [0, 1]."""
    share = (successes / total - mechanism.other_probability) / mechanism.slope
    return min(1.0, max(0.0, share))


def _search(keeps: Callable[[float], bool], *, inside: float) -> tuple[float, float]:
    """Find the ends of the interval around a kept share; the kept set is an interval."""
    low = 0.0 if keeps(0.0) else _bisect(keeps, kept=inside, dropped=0.0)
    high = 1.0 if keeps(1.0) else _bisect(keeps, kept=inside, dropped=1.0)
    return low, high


def _bisect(keeps: Callable[[float], bool], *, kept: float, dropped: float) -> float:
    """Narrow down to neighbouring floats and return the outer one, so nothing kept is cut off."""
    while True:
        middle = (kept + dropped) / 2
        if middle in (kept, dropped):
            return dropped
        if keeps(middle):
            kept = middle
        else:
            dropped = middle


def _check(*, successes: int, total: int, level: float) -> None:
    if not 0 <= successes <= total:
        raise ValueError(f"successes must lie from 0 to total = {total!r}, got {successes!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level!r}")
