"""What an attacker can learn from reports, and what fake or careless reports do to estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from privacy.checks import (
    check_distribution,
    check_number,
    check_share,
    check_symbols,
    check_whole,
)
from privacy.distributions import binomial
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class Band:
    """The shares of honest people that agree with the reports, whatever the fakes sent.

    Attributes
    ----------
    low, high : float
        Ends of the band, 0 <= low <= high <= 1, as fractions.
    """

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class AttentionCorrection:
    """A share corrected for people who send a code without regard to the question.

    Attributes
    ----------
    attention : float
        Estimated share of attentive people, as a fraction; above 0, by chance above 1.
    share : float
        Estimated true share among the attentive, as a fraction; never clipped.
    standard_error : float
        Of `share`, including that of `attention`.
    """

    attention: float
    share: float
    standard_error: float


@overload
def posterior(*, share: float, mechanism: RandomizedResponse) -> float: ...
@overload
def posterior(
    *, share: Sequence[float] | NDArray[np.float64], mechanism: RandomizedResponse
) -> NDArray[np.float64]: ...
def posterior(
    *,
    share: float | Sequence[float] | NDArray[np.float64],
    mechanism: RandomizedResponse,
) -> float | NDArray[np.float64]:
    """Find how probably a reported symbol is the true one.

    Parameters
    ----------
    share : float, or sequence of float of length k
        What the attacker believes beforehand: the probability of one symbol, or of all k.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float, or ndarray of float64 of shape (k,)
        p t / (c + d p): probability that a person's truth is this symbol, given that the code
        shows it.

    Raises
    ------
    ValueError
        If a share is out of range, or several are not k shares that sum to one.

    Notes
    -----
    Prior odds of any truth against any other move by a factor of at most exp(epsilon).

    References
    ----------
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy,
    Foundations and Trends in Theoretical Computer Science 9(3-4), section 3.2.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(posterior(share=0.1, mechanism=coins), 12)
    0.25
    >>> posterior(share=[0.9, 0.1], mechanism=coins).round(3).tolist()
    [0.964, 0.25]
    """
    if np.ndim(share) == 0:
        one = check_share("share", cast(float, share))
        reported = mechanism.other_probability + mechanism.slope * one
        return one * mechanism.keep_probability / reported
    prior = check_distribution("share", share, symbols=mechanism.symbols)
    return prior * mechanism.keep_probability / (mechanism.channel() @ prior)


def attacker_success(
    *, shares: Sequence[float] | NDArray[np.float64], mechanism: RandomizedResponse
) -> float:
    """Find how often the best guess at a person's truth is right, given the code.

    Parameters
    ----------
    shares : sequence of float, length k
        True shares, which the attacker knows.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        Sum over reports j of max over truths i of p_i P(j | i): t for equal shares, and never
        less than the largest share.

    Raises
    ------
    ValueError
        If shares are not k shares that sum to one.

    References
    ----------
    Alvim, M. S. et al. (2020), The science of quantitative information flow, Springer (posterior
    Bayes vulnerability).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> attacker_success(shares=[0.5, 0.5], mechanism=coins)
    0.75
    >>> attacker_success(shares=[0.9, 0.1], mechanism=coins)
    0.9
    """
    prior = check_distribution("shares", shares, symbols=mechanism.symbols)
    return float((mechanism.channel() * prior).max(axis=1).sum())


def majority_success(*, mechanism: RandomizedResponse, reports: int) -> float:
    """Find how often the majority of fresh reports by one person would be the truth.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The question's mechanism, with two symbols.
    reports : int
        Independently randomized reports of the same truth, at least 1.

    Returns
    -------
    float
        Probability that more than half show the truth; a tie is broken by a fair coin.

    Raises
    ------
    ValueError
        If reports is less than 1 or the mechanism has more than two symbols.

    Notes
    -----
    This is why an answer is randomized once and a retry repeats the same code.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(majority_success(mechanism=coins, reports=3), 3)
    0.844
    """
    check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
    reports = check_whole("reports", reports, at_least=1)
    right = binomial()(reports, mechanism.keep_probability)
    tie = right.pmf(reports // 2) / 2 if reports % 2 == 0 else 0.0
    return float(right.sf(reports // 2) + tie)


def poisoning_shift(
    *, share: float, fake_share: float, mechanism: RandomizedResponse, target: bool
) -> float:
    """Find how far fake reports move the estimate of a share.

    Parameters
    ----------
    share : float
        The true share among honest people, in [0, 1].
    fake_share : float
        Share of all reports that are fake, in [0, 1].
    mechanism : RandomizedResponse
        The question's mechanism, which the fakes do not follow.
    target : bool
        True if every fake report shows the symbol, False if none does.

    Returns
    -------
    float
        Expected estimate less the true share: f ((1 - c) / d - p) or -f (c / d + p).

    Raises
    ------
    ValueError
        If a share is out of range.

    References
    ----------
    Cheu, A., Smith, A. and Ullman, J. (2021), Manipulation attacks in local differential
    privacy, IEEE S&P.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(poisoning_shift(share=0.2, fake_share=0.1, mechanism=coins, target=True), 12)
    0.13
    """
    share = check_share("share", share)
    fake_share = check_share("fake_share", fake_share)
    sent = 1.0 if target else 0.0
    return fake_share * ((sent - mechanism.other_probability) / mechanism.slope - share)


def fake_weight(*, mechanism: RandomizedResponse) -> float:
    """Find how much one fake report weighs, against 1 for a fake answer to a direct question.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        (1 - c) / d: what one report showing the symbol adds to n times its estimated share. For
        two symbols exp(epsilon) / (exp(epsilon) - 1).

    References
    ----------
    Cheu, A., Smith, A. and Ullman, J. (2021), Manipulation attacks in local differential
    privacy, IEEE S&P.

    Examples
    --------
    >>> fake_weight(mechanism=RandomizedResponse.from_flips(symbols=2, flips=25))
    1.5
    """
    return (1 - mechanism.other_probability) / mechanism.slope


def robustness_band(
    *, low: float, high: float, fake_share: float, mechanism: RandomizedResponse
) -> Band:
    """Widen an interval, or an estimate, to allow for a share of fake reports.

    Parameters
    ----------
    low, high : float
        Ends of an interval for the share, or twice the unclipped estimate, as fractions. They
        may leave [0, 1] as far as estimates can.
    fake_share : float
        Share of all reports that may be fake, whatever they show, in [0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    Band
        With reported shares l = c + d p: from (l - f) / (1 - f) at the low end to l / (1 - f)
        at the high end, mapped back to true shares and cut to [0, 1].

    Raises
    ------
    ValueError
        If the ends are in the wrong order or correspond to no count of reports, or fake_share
        is out of range.

    References
    ----------
    Horowitz, J. L. and Manski, C. F. (1995), Identification and robustness with contaminated
    and corrupted data, Econometrica 63(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> band = robustness_band(low=0.2, high=0.2, fake_share=0.05, mechanism=coins)
    >>> round(band.low, 3), round(band.high, 3)
    (0.132, 0.237)
    """
    low, high = check_number("low", low), check_number("high", high)
    fake_share = check_share("fake_share", fake_share, ends="[)")
    c, d = mechanism.other_probability, mechanism.slope
    # A count of 0 or n may come back a few last bits outside [0, 1].
    if not -1e-9 <= c + d * low <= c + d * high <= 1 + 1e-9:
        raise ValueError(
            f"low and high must be possible estimates with low <= high, got {low!r} and {high!r}"
        )
    honest_low = (c + d * low - fake_share) / (1 - fake_share)
    honest_high = (c + d * high) / (1 - fake_share)
    return Band(low=_cut((honest_low - c) / d), high=_cut((honest_high - c) / d))


def correct_for_attention(
    *,
    successes: int,
    total: int,
    anchor_successes: int,
    anchor_total: int,
    anchor_share: float,
    mechanism: RandomizedResponse,
    shared_people: int = 0,
) -> AttentionCorrection:
    """Correct a share for careless people, by a question whose answer is known.

    Parameters
    ----------
    successes, total : int
        Reports of the question: those showing "yes", and all, at least 1.
    anchor_successes, anchor_total : int
        The same for the anchor question.
    anchor_share : float
        Known share of "yes" to the anchor question, in [0, 1], not 1/2.
    mechanism : RandomizedResponse
        The mechanism of both questions, with two symbols.
    shared_people : int, optional
        How many people answered both questions. Their carelessness shows in both, which makes
        the share more precise; 0 leaves this out.

    Returns
    -------
    AttentionCorrection
        Attention, corrected share, and its standard error.

    Raises
    ------
    ValueError
        If a number is out of range, or the anchor shows no attention at all: then nothing can
        be learned about the share.

    Notes
    -----
    Careless people are taken to send either code with probability 1/2, on both questions:
    l = g (c + d p) + (1 - g) / 2. Hence g = (l' - 1/2) / (c + d p' - 1/2) from the anchor and p =
    ((l - (1 - g) / 2) / g - c) / d. Standard error by the delta method; for people who answered
    both, the covariance of the reports is (1 - g) (l - 1/2) (l' - 1/2) / g, if attentive
    people's two truths are independent. The anchor question spends its own epsilon.

    References
    ----------
    Atsusaka, Y. and Stevenson, R. T. (2023), A bias-corrected estimator for the crosswise model
    with inattentive respondents, Political Analysis 31(1).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> corrected = correct_for_attention(
    ...     successes=380, total=1000, anchor_successes=300, anchor_total=1000,
    ...     anchor_share=0.0, mechanism=coins)
    >>> round(corrected.attention, 6), round(corrected.share, 6)
    (0.8, 0.2)
    >>> round(corrected.standard_error, 4)
    0.0441
    """
    check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
    total = check_whole("total", total, at_least=1)
    successes = check_whole("successes", successes, at_least=0, at_most=total)
    anchor_total = check_whole("anchor_total", anchor_total, at_least=1)
    anchor_successes = check_whole(
        "anchor_successes", anchor_successes, at_least=0, at_most=anchor_total
    )
    anchor_share = check_share("anchor_share", anchor_share)
    both = min(total, anchor_total)
    shared_people = check_whole("shared_people", shared_people, at_least=0, at_most=both)
    c, d = mechanism.other_probability, mechanism.slope
    expected = c + d * anchor_share - 0.5
    if abs(expected) < 1e-9:
        raise ValueError(f"anchor_share must not be 1/2, got {anchor_share!r}")
    reported, anchor = successes / total, anchor_successes / anchor_total
    attention = (anchor - 0.5) / expected
    if attention <= 0:
        raise ValueError(f"anchor_successes must show some attention, got {anchor_successes!r}")
    share = ((reported - 0.5) / attention + 0.5 - c) / d
    by_report = 1 / (attention * d)
    by_anchor = -(reported - 0.5) / (attention**2 * d * expected)
    # No covariance where chance puts attention above 1.
    shared = max(0.0, 1 - attention) * (reported - 0.5) * expected
    variance = (
        by_report**2 * reported * (1 - reported) / total
        + by_anchor**2 * anchor * (1 - anchor) / anchor_total
        + 2 * by_report * by_anchor * shared * shared_people / (total * anchor_total)
    )
    return AttentionCorrection(
        attention=attention, share=share, standard_error=sqrt(max(0.0, variance))
    )


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))
