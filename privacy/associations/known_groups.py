"""Comparison and pooling of known groups whose mechanisms differ, such as browser and coins.

For groups that are answers to a question, see `privacy.associations.two_questions`; for groups of
a breakdown, `privacy.associations.interval_difference`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, log1p, sqrt

from scipy.special import chdtrc, chdtri, ndtri

from privacy.associations.significance import NO_VARIATION, SignificanceTest, homogeneity_test
from privacy.checks import check_level, check_whole
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse

_HALVINGS = 60


@dataclass(frozen=True, kw_only=True)
class GroupDifference:
    """The share of a symbol in the first group minus that in the second.

    Attributes
    ----------
    difference : float
        Difference between the unbiased shares; it may lie outside [-1, 1].
    standard_error : float
    low, high : float
        Ends of the interval, in [-1, 1].
    level : float
    method : str
        "newcombe" where both groups have the same channel, otherwise "profile_likelihood".
    contradiction : bool
        True if no difference in [-1, 1] agrees with the reports.
    test : SignificanceTest
        Test of equal shares.
    """

    difference: float
    standard_error: float
    low: float
    high: float
    level: float
    method: str
    contradiction: bool
    test: SignificanceTest


def compare_groups(
    *,
    successes: Sequence[int],
    totals: Sequence[int],
    mechanisms: Sequence[RandomizedResponse],
    level: float = LEVEL,
) -> GroupDifference:
    """Compare the share of a symbol in two groups whose members are known.

    Parameters
    ----------
    successes, totals : sequence of two int
        For each group, the number of reports showing the symbol and the total number of reports.
    mechanisms : sequence of two RandomizedResponse
        The mechanism that produced the reports of each group.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    GroupDifference
        The first share minus the second.

    Raises
    ------
    ValueError
        If the number of groups is not two, a group is empty, a count is out of range or not whole,
        or level is out of range.

    Notes
    -----
    If both groups have the same channel, the interval is Newcombe's hybrid of two Wilson intervals
    for the difference between the reported shares, divided by d. The lowest coverage of 95 %
    intervals at n = 50 in each group, over all pairs of shares on a grid of .02, is .939 with two
    coins and .902 at epsilon = 4. If the channels differ, the interval contains the differences
    that a likelihood-ratio test does not reject, with the second share as a nuisance parameter.
    Both intervals are valid for one look at the data, with the amount of data fixed in advance.

    References
    ----------
    Newcombe, R. G. (1998), Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17(8), method 10.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> found = compare_groups(successes=[240, 200], totals=[500, 500], mechanisms=[coins, coins])
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3)
    (0.16, 0.037, 0.281)
    """
    level = check_level(level)
    groups = _check(successes, totals, mechanisms)
    if len(groups) != 2:
        raise ValueError(f"totals must hold two groups, got {list(totals)!r}")
    first, second = groups
    common = {
        "difference": first.share - second.share,
        "standard_error": sqrt(first.variance + second.variance),
        "level": level,
    }
    if mechanisms[0] == mechanisms[1]:
        low, high = _newcombe(first, second, level)
        return GroupDifference(
            **common,
            low=min(1.0, max(-1.0, low)),
            high=min(1.0, max(-1.0, high)),
            method="newcombe",
            contradiction=high < -1 or low > 1,
            test=_test_same_channel(first, second),
        )
    low, high, at_zero = _profile(first, second, level)
    return GroupDifference(
        **common,
        low=low,
        high=high,
        method="profile_likelihood",
        contradiction=False,
        test=_likelihood_ratio_test(at_zero, freedom=1),
    )


@dataclass(frozen=True, kw_only=True)
class PooledShare:
    """One share estimated from reports that went through several channels.

    Attributes
    ----------
    share : float
        Most likely common share, in [0, 1].
    low, high : float
        Ends of the likelihood-ratio interval of `share`.
    level : float
    shares : tuple of float
        Unbiased share of each stratum, unclipped.
    standard_errors : tuple of float
        Standard errors of `shares`.
    heterogeneity : SignificanceTest
        Test of equal shares in all strata. If it rejects, show the strata instead of pooling them.
    """

    share: float
    low: float
    high: float
    level: float
    shares: tuple[float, ...]
    standard_errors: tuple[float, ...]
    heterogeneity: SignificanceTest


def pool_strata(
    *,
    successes: Sequence[int],
    totals: Sequence[int],
    mechanisms: Sequence[RandomizedResponse],
    level: float = LEVEL,
) -> PooledShare:
    """Estimate one share from strata whose reports went through different channels.

    Parameters
    ----------
    successes, totals : sequence of int
        For each of at least two strata, the number of reports showing the symbol and the total
        number of reports.
    mechanisms : sequence of RandomizedResponse
        The mechanism that produced the reports of each stratum.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    PooledShare
        The result is meaningful only if all strata have the same share, so pool only by explicit
        choice.

    Raises
    ------
    ValueError
        If there are fewer than two strata, a stratum is empty, a count is out of range or not
        whole, or level is out of range.

    Notes
    -----
    The share p maximizes sum_h S_h ln(c_h + d_h p) + (n_h - S_h) ln(1 - c_h - d_h p), which is
    concave in p.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> light = RandomizedResponse.from_flips(symbols=2, flips=5)
    >>> found = pool_strata(successes=[360, 120], totals=[1000, 500], mechanisms=[coins, light])
    >>> round(found.share, 4), round(found.low, 3), round(found.high, 3)
    (0.2141, 0.181, 0.249)
    """
    level = check_level(level)
    strata = _check(successes, totals, mechanisms)
    if len(strata) < 2:
        raise ValueError(f"totals must hold at least two strata, got {list(totals)!r}")

    def log_likelihood(share: float) -> float:
        return sum(stratum.log_likelihood(share) for stratum in strata)

    best = _maximize(lambda share: sum(stratum.score(share) for stratum in strata), 0.0, 1.0)
    most = log_likelihood(best)
    limit = float(chdtri(1, 1 - level))

    def keeps(share: float) -> bool:
        return 2 * (most - log_likelihood(share)) <= limit

    apart = sum(stratum.log_likelihood(stratum.closest) for stratum in strata)
    return PooledShare(
        share=best,
        low=_search(keeps, inside=best, end=0.0),
        high=_search(keeps, inside=best, end=1.0),
        level=level,
        shares=tuple(stratum.share for stratum in strata),
        standard_errors=tuple(sqrt(stratum.variance) for stratum in strata),
        heterogeneity=_likelihood_ratio_test(2 * (apart - most), freedom=len(strata) - 1),
    )


@dataclass(frozen=True, kw_only=True)
class _Group:
    successes: int
    total: int
    c: float
    d: float

    @property
    def reported(self) -> float:
        return self.successes / self.total

    @property
    def share(self) -> float:
        return (self.reported - self.c) / self.d

    @property
    def closest(self) -> float:
        return min(1.0, max(0.0, self.share))

    @property
    def variance(self) -> float:
        return self.reported * (1 - self.reported) / self.total / self.d**2

    def log_likelihood(self, share: float) -> float:
        l = self.c + self.d * share  # noqa: E741
        return self.successes * log(l) + (self.total - self.successes) * log1p(-l)

    def score(self, share: float) -> float:
        l = self.c + self.d * share  # noqa: E741
        return self.d * (self.successes / l - (self.total - self.successes) / (1 - l))


def _check(
    successes: Sequence[int], totals: Sequence[int], mechanisms: Sequence[RandomizedResponse]
) -> list[_Group]:
    if not len(successes) == len(totals) == len(mechanisms):
        raise ValueError(
            "successes, totals and mechanisms must have the same length, got "
            f"{len(successes)}, {len(totals)} and {len(mechanisms)}"
        )
    groups = []
    for count, reports, mechanism in zip(successes, totals, mechanisms, strict=True):
        total = check_whole("totals", reports, at_least=1)
        groups.append(
            _Group(
                successes=check_whole("successes", count, at_least=0, at_most=total),
                total=total,
                c=mechanism.other_probability,
                d=mechanism.slope,
            )
        )
    return groups


def _newcombe(first: _Group, second: _Group, level: float) -> tuple[float, float]:
    (low_1, high_1), (low_2, high_2) = (_wilson(group, level) for group in (first, second))
    apart = first.reported - second.reported
    # Method 10 adds the squared distances of the ends from their estimates.
    below = sqrt((first.reported - low_1) ** 2 + (high_2 - second.reported) ** 2)
    above = sqrt((high_1 - first.reported) ** 2 + (second.reported - low_2) ** 2)
    return (apart - below) / first.d, (apart + above) / first.d


def _wilson(group: _Group, level: float) -> tuple[float, float]:
    z = float(ndtri((1 + level) / 2))
    n, l = group.total, group.reported  # noqa: E741
    middle = (l + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * sqrt(l * (1 - l) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - reach, middle + reach


def _profile(first: _Group, second: _Group, level: float) -> tuple[float, float, float]:
    """Return the ends of the interval and the likelihood-ratio statistic for no difference."""
    most = first.log_likelihood(first.closest) + second.log_likelihood(second.closest)

    def statistic(difference: float) -> float:
        share = _maximize(
            lambda share: first.score(share + difference) + second.score(share),
            max(0.0, -difference),
            min(1.0, 1.0 - difference),
        )
        best = first.log_likelihood(share + difference) + second.log_likelihood(share)
        return 2 * (most - best)

    limit = float(chdtri(1, 1 - level))

    def keeps(difference: float) -> bool:
        return statistic(difference) <= limit

    inside = first.closest - second.closest
    low = _search(keeps, inside=inside, end=-1.0)
    return low, _search(keeps, inside=inside, end=1.0), statistic(0.0)


def _test_same_channel(first: _Group, second: _Group) -> SignificanceTest:
    counts = [[group.successes, group.total - group.successes] for group in (first, second)]
    if not any(row[0] for row in counts) or not any(row[1] for row in counts):
        # All reports show the same code, which is no evidence against equal shares.
        return NO_VARIATION
    return homogeneity_test(counts=counts)


def _likelihood_ratio_test(statistic: float, *, freedom: int) -> SignificanceTest:
    statistic = max(0.0, statistic)
    return SignificanceTest(
        method="likelihood_ratio",
        statistic=statistic,
        degrees_of_freedom=freedom,
        p_value=float(chdtrc(freedom, statistic)),
    )


def _maximize(score: Callable[[float], float], low: float, high: float) -> float:
    """Find where the derivative of a concave function changes sign within [low, high]."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if score(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _search(keeps: Callable[[float], bool], *, inside: float, end: float) -> float:
    """Find the furthest value from `inside` towards `end` that is not rejected."""
    if keeps(end):
        return end
    kept, dropped = inside, end
    for _ in range(_HALVINGS):
        middle = (kept + dropped) / 2
        if keeps(middle):
            kept = middle
        else:
            dropped = middle
    return dropped
