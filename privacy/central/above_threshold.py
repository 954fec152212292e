"""An alert about a share, given at most once as reports arrive: the sparse vector technique.

A distance is compared with a threshold at every look. Noise on the threshold is drawn once, noise
on the distance is drawn for every look, and the first look whose noisy distance reaches the noisy
threshold ends the series. All looks together then cost as much privacy as one comparison, however
many looks there are.

Nothing here draws noise. The functions compute the count from which distances are measured, the
scales of the noise, and the probability of an alert.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, ndtr

from privacy.central.noise import (
    discrete_laplace_probability,
    discrete_laplace_tail,
    discrete_laplace_variance,
)
from privacy.checks import (
    Floats,
    check_level,
    check_positive,
    check_share,
    check_whole,
    check_whole_counts,
)

_PRIOR = 0.5  # parameter of the beta mixture
# Threshold noise beyond this many scales has a probability below 1e-15 and is left out.
_SCALES = 36
_HALVINGS = 54  # enough to narrow a range of 2**53 counts to one
_ROUNDING = 1e-12


def least_surpassing_count(people: ArrayLike, *, share: float, level: float) -> NDArray[np.int64]:
    """Find the least count that shows with confidence that a code exceeds a given share of reports.

    Parameters
    ----------
    people : array_like of int
        Numbers of reports n, at least 0.
    share : float
        Share of reports that show the code if the true share equals the alert's line, in (0, 1).
    level : float
        Level of the confidence sequence, in (0, 1).

    Returns
    -------
    ndarray of int64
        u(n), the least S with S > share n and W(S, n) >= 1 / (1 - level), or n + 1 if no S up to n
        is enough. The array has the shape of people.

    Raises
    ------
    ValueError
        If a number is negative or not whole, or share or level is out of range.

    Notes
    -----
    W is a beta mixture of the likelihood ratios against p = share,

        W(S, n) = B(S + 1/2, n - S + 1/2) / (B(1/2, 1/2) p**S (1 - p)**(n - S))

    If each report shows the code with probability p, W is a nonnegative martingale, so by Ville's
    inequality the probability that W ever reaches 1 / (1 - level) is at most 1 - level.

    u(n + 1) is u(n) or u(n) + 1, so adding or removing a report changes S - u(n) by at most one.
    Above p n, W grows with S. If one more report shows the code, W is multiplied by (S + 1/2) / (p
    (n + 1)), which is at least 1 for S >= u(n): hence u(n + 1) <= u(n) + 1. If it does not show the
    code, W is multiplied by (n - S + 1/2) / ((1 - p) (n + 1)), which is at most 1 for S > p (n +
    1): hence u(n + 1) >= u(n).

    References
    ----------
    Robbins, H. (1970), Annals of Mathematical Statistics 41(5), section 3.

    Examples
    --------
    With two coins and a true share of 20 %, 25 % + 20 % / 2 = 35 % of reports show a Yes.

    >>> least_surpassing_count([50, 100, 1000], share=0.35, level=0.95).tolist()
    [29, 52, 406]
    """
    n = np.asarray(check_whole_counts("people", people), dtype=np.float64)
    p = check_share("share", share, ends="()")
    need = -log1p(-check_level(level)) + betaln(_PRIOR, _PRIOR)
    # `low` is never enough and `high` is always enough.
    low, high = np.floor(n * p), n + 1
    for _ in range(_HALVINGS):
        middle = np.floor((low + high) / 2)
        others = np.maximum(n - middle, 0)
        wealth = betaln(_PRIOR + middle, _PRIOR + others) - middle * log(p) - others * log1p(-p)
        is_between = (middle > low) & (middle <= n)
        is_enough = is_between & (wealth >= need)
        high = np.where(is_enough, middle, high)
        low = np.where(is_between & ~is_enough, middle, low)
    return np.asarray(high, dtype=np.int64)


def above_threshold_scales(epsilon: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return the scales of the noise on the threshold and on every look.

    Parameters
    ----------
    epsilon : float or Fraction
        Privacy loss of the alert in nats, positive.

    Returns
    -------
    tuple of Fraction
        2 / epsilon and 4 / epsilon, for distances that one report changes by at most one.

    Raises
    ------
    ValueError
        If epsilon is not positive.

    References
    ----------
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy, algorithm 1
    and theorem 3.23.

    Examples
    --------
    >>> above_threshold_scales(Fraction(1, 2))
    (Fraction(4, 1), Fraction(8, 1))
    """
    check_positive("epsilon", epsilon)
    return 2 / Fraction(epsilon), 4 / Fraction(epsilon)


def first_alert_probabilities(
    distances: Sequence[int], *, threshold: int, epsilon: float | Fraction
) -> Floats:
    """Compute the probability of the alert at each look.

    Parameters
    ----------
    distances : sequence of int
        Distance at each look. There must be at least one look.
    threshold : int
        Threshold for the noisy distances, before noise is added to the threshold itself.
    epsilon : float or Fraction
        Privacy loss of the alert in nats, positive.

    Returns
    -------
    ndarray of float64
        Probability of the alert at each look, followed by the probability that no alert comes.

    Raises
    ------
    ValueError
        If there is no look, a number is not whole, or epsilon is not positive.

    Examples
    --------
    >>> found = first_alert_probabilities([90, 95, 98, 104, 110], threshold=100, epsilon=1)
    >>> found.round(9).tolist()
    [0.059843463, 0.177097044, 0.258858168, 0.379496715, 0.112441772, 0.012262837]
    """
    if len(distances) == 0:
        raise ValueError(f"distances must have at least one look, got {distances!r}")
    gaps = [threshold - check_whole("distances", distance) for distance in distances]
    check_whole("threshold", threshold)
    first, every = above_threshold_scales(epsilon)
    noise = _list_threshold_noise(first)
    waiting = discrete_laplace_probability(noise, scale=first)
    found = []
    for gap in gaps:
        alert = _tail_from(noise + gap, scale=every)
        found.append(float(waiting @ alert))
        waiting = waiting * (1 - alert)
    return np.array([*found, float(waiting.sum())])


def choose_alert_threshold(*, looks: int, epsilon: float | Fraction, level: float) -> int:
    """Choose the threshold that noise alone rarely reaches.

    Parameters
    ----------
    looks : int
        Largest number of looks, at least 1.
    epsilon : float or Fraction
        Privacy loss of the alert in nats, positive.
    level : float
        Probability that no look gives an alert if no distance is above -1, in (0, 1).

    Returns
    -------
    int
        The least threshold for which `level` holds.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> choose_alert_threshold(looks=366, epsilon=1, level=0.975)
    37
    """
    looks = check_whole("looks", looks, at_least=1)
    level = check_level(level)
    first, every = above_threshold_scales(epsilon)
    noise = _list_threshold_noise(first)
    chances = discrete_laplace_probability(noise, scale=first)

    def is_rare(threshold: int) -> bool:
        silent = (1 - _tail_from(noise + threshold + 1, scale=every)) ** looks
        return float(chances @ silent) >= level

    low, high = -1, ceil(_SCALES * (first + every))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_rare(middle) else (middle, high)
    return high


def noticed_share(
    *,
    people: int,
    other_probability: float,
    slope: float,
    line: float,
    level: float,
    threshold: int,
    epsilon: float | Fraction,
    chance: float,
) -> float:
    """Find the true share that gives an alert with a given chance at a single look.

    Parameters
    ----------
    people : int
        Number of reports at the look, at least 1.
    other_probability, slope : float
        c and d of the channel: a code is reported with probability c + d times the true share.
    line : float
        The alert's line, a true share in (0, 1).
    level : float
        Level of the confidence sequence, in (0, 1).
    threshold : int
        Threshold for the noisy distance; see `choose_alert_threshold`.
    epsilon : float or Fraction
        Privacy loss of the alert in nats, positive.
    chance : float
        Chance of an alert, in (0, 1).

    Returns
    -------
    float
        The share, rounded up to a tenth of a percent, or a number above 1 if no share has this
        chance. The number of reports with the code, plus noise, is treated as a normal variable.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> coins = dict(other_probability=0.25, slope=0.5)
    >>> found = noticed_share(
    ...     people=3000, line=0.2, level=0.975, threshold=37, epsilon=1, chance=0.9, **coins)
    >>> round(found, 3)
    0.319
    """
    n = check_whole("people", people, at_least=1)
    c = check_share("other_probability", other_probability)
    d = check_share("slope", slope, ends="(]")
    line = check_share("line", line, ends="()")
    chance = check_share("chance", chance, ends="()")
    threshold = check_whole("threshold", threshold)
    on_line = c + d * line
    need = int(least_surpassing_count(n, share=on_line, level=level)) + threshold
    noise = sum(discrete_laplace_variance(scale=one) for one in above_threshold_scales(epsilon))
    shares = np.arange(ceil(1000 * line - _ROUNDING), 1001) / 1000
    sent = c + d * shares
    reached = ndtr((n * sent - need) / np.sqrt(n * sent * (1 - sent) + noise))
    enough = np.flatnonzero(reached >= chance)
    return float(shares[enough[0]]) if len(enough) else 1.001


def _list_threshold_noise(scale: Fraction) -> NDArray[np.int64]:
    most = ceil(_SCALES * scale)
    return np.arange(-most, most + 1)


def _tail_from(least: NDArray[np.int64], *, scale: Fraction) -> Floats:
    """Return the probability that the noise is at least `least`."""
    tail = discrete_laplace_tail(np.where(least > 0, least, 1 - least), scale=scale) / 2
    return np.where(least > 0, tail, 1 - tail)
