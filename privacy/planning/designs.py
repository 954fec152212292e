"""Comparisons of a randomized question with a direct one, and of two ways to ask a question."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1

import numpy as np

from privacy.checks import (
    check_distribution,
    check_positive,
    check_share,
    check_whole,
)
from privacy.mechanism.mechanisms import MAX_SYMBOLS, RandomizedResponse
from privacy.planning.precision import one_report_spread


def design_effect(*, share: float, mechanism: RandomizedResponse) -> float:
    """Find how many times as many people a randomized question needs as a direct one.

    Parameters
    ----------
    share : float
        The true share, in (0, 1): at 0 and 1 a direct question is exact.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        l (1 - l) / (d**2 p (1 - p)). For k = 2 symbols, where an answer is kept with probability t,
        it is 1 + t (1 - t) / ((2 t - 1)**2 p (1 - p)).

    Raises
    ------
    ValueError
        If share is out of range.

    Notes
    -----
    The result is a ratio of variances and assumes that the survey's end was fixed in advance.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive
    answer bias, JASA 60(309) (k = 2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(design_effect(share=0.2, mechanism=coins), 4)
    5.6875
    """
    share = check_share("share", share, ends="()")
    return one_report_spread(share=share, mechanism=mechanism) ** 2 / (share * (1 - share))


def mean_variance_ratio(*, shares: Sequence[float], mechanism: RandomizedResponse) -> float:
    """Compare two ways to learn the mean of a rating scale, at the same epsilon.

    Parameters
    ----------
    shares : sequence of float, length k
        Expected true shares of the values 0, 1, ..., k - 1.
    mechanism : RandomizedResponse
        The mechanism that would report the value itself, as one of k symbols.

    Returns
    -------
    float
        Variance of the mean from k symbols divided by its variance from one bit. If the result is
        above 1, the bit is better, but it gives only the mean.

    Raises
    ------
    ValueError
        If `shares` does not hold k shares that sum to one.

    Notes
    -----
    The bit is 1 with probability x / (k - 1) for value x, then passes through binary randomized
    response with the same epsilon. The result is a ratio of variances and assumes that the survey's
    end was fixed in advance.

    References
    ----------
    Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately, NeurIPS
    (one-bit mean).

    Examples
    --------
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> round(mean_variance_ratio(shares=[0.05, 0.2, 0.5, 0.2, 0.05], mechanism=five), 1)
    1.3
    """
    truth = check_distribution("shares", shares, symbols=mechanism.symbols)
    values = np.arange(mechanism.symbols)
    reported = mechanism.channel() @ truth
    many = (reported @ values**2 - (reported @ values) ** 2) / mechanism.slope**2
    top = mechanism.symbols - 1
    bit = RandomizedResponse.from_epsilon(symbols=2, epsilon=mechanism.epsilon)
    mean = min(1.0, float(truth @ values) / top)
    return float(many / (top * one_report_spread(share=mean, mechanism=bit)) ** 2)


def subset_selection_ratio(*, symbols: int, epsilon: float, share: float) -> float:
    """Compare the number of people needed with the number for the best known mechanism.

    Parameters
    ----------
    symbols : int
        Number of symbols k, at least 2.
    epsilon : float
        Privacy loss epsilon in nats, positive and finite.
    share : float
        The true share of one answer, in (0, 1).

    Returns
    -------
    float
        How many times as many people k-ary randomized response needs as subset selection, for the
        same precision at the same epsilon. The result is at least 1; it is 1 for k = 2 and, at a
        large epsilon, also for more symbols.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Subset selection reports w of the k symbols. With z = w exp(epsilon) + k - w, the true one is
    among these w with probability p = w exp(epsilon) / z, and any other one with probability
    q = w ((w - 1) exp(epsilon) + k - w) / ((k - 1) z). The variance of a share is
    l (1 - l) / (p - q)**2 for one report, with l = q + (p - q) share. The best w is used; w = 1 is
    k-ary randomized response. The result is a ratio of variances and assumes that the survey's end
    was fixed in advance.

    References
    ----------
    Ye, M. and Barg, A. (2018), Optimal schemes for discrete distribution estimation under locally
    differential privacy, IEEE Transactions on Information Theory 64(8), arXiv:1702.00610 (subset
    selection).

    Examples
    --------
    >>> [round(subset_selection_ratio(symbols=k, epsilon=1.0986, share=0.2), 2) for k in (6, 7, 16)]
    [1.05, 1.16, 2.03]
    """
    symbols = check_whole("symbols", symbols, at_least=2, at_most=MAX_SYMBOLS)
    epsilon = check_positive("epsilon", epsilon)
    share = check_share("share", share, ends="()")
    sent = np.arange(1, symbols)
    # All terms are divided by exp(epsilon), which may be too large for a float.
    rest = (symbols - sent) * exp(-epsilon)
    other = sent * (sent - 1 + rest) / ((symbols - 1) * (sent + rest))
    # Leave out of p - q the factor 1 - exp(-epsilon), which is the same for all w and may be tiny.
    slope = sent * (symbols - sent) / ((symbols - 1) * (sent + rest))
    reported = other - expm1(-epsilon) * slope * share
    variances = reported * (1 - reported) / slope**2
    return float(variances[0] / variances.min())
