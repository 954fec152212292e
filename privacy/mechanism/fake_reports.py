"""How far fake reports can move an estimate, and an interval that allows for them."""

from __future__ import annotations

from dataclasses import dataclass

from privacy.checks import (
    check_number,
    check_share,
)
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class Band:
    """The shares among honest people that agree with the reports, whatever the fake ones show.

    Attributes
    ----------
    low, high : float
        Ends of the band, 0 <= low <= high <= 1, as fractions.
    """

    low: float
    high: float


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
        The question's mechanism, which fake reports do not follow.
    target : bool
        True if every fake report shows the symbol, False if none does.

    Returns
    -------
    float
        Expected estimate minus the true share: f ((1 - c) / d - p) or -f (c / d + p).

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
    """Find the weight of one fake report; a fake answer to a direct question has weight 1.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        (1 - c) / d: what one report showing the symbol adds to n times its estimated share. For
        two symbols this is exp(epsilon) / (exp(epsilon) - 1).

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
        Ends of an interval for the share, or the unclipped estimate given as both ends, as
        fractions. They may lie outside [0, 1] as far as estimates can.
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
    # For a count of 0 or n, rounding may put the share just outside [0, 1].
    if not -1e-9 <= c + d * low <= c + d * high <= 1 + 1e-9:
        raise ValueError(
            f"low and high must be possible estimates with low <= high, got {low!r} and {high!r}"
        )
    honest_low = (c + d * low - fake_share) / (1 - fake_share)
    honest_high = (c + d * high) / (1 - fake_share)
    return Band(low=_cut((honest_low - c) / d), high=_cut((honest_high - c) / d))


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))
