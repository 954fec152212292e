"""An interval that allows for a share of fake reports."""

from __future__ import annotations

from dataclasses import dataclass

from privacy.checks import check_number, check_share
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class Band:
    """The shares among honest people that fit the reports, whatever the fake reports show.

    Attributes
    ----------
    low, high : float
        Ends of the band, 0 <= low <= high <= 1, as fractions.
    """

    low: float
    high: float


def robustness_band(
    *, low: float, high: float, fake_share: float, mechanism: RandomizedResponse
) -> Band:
    """Widen an interval, or an estimate, to allow for a share of fake reports.

    Parameters
    ----------
    low, high : float
        Ends of an interval for the share, as fractions; to widen an estimate, give its unclipped
        value as both ends. The ends may lie outside [0, 1] as far as estimates can.
    fake_share : float
        Share of all reports that may be fake, whatever they show, in [0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    Band
        The band from (l - f) / (1 - f) at the low end to l / (1 - f) at the high end, mapped back
        to true shares and clipped to [0, 1]. Here, l = c + d p is the reported share at each end,
        and f is fake_share.

    Raises
    ------
    ValueError
        If the ends are in the wrong order or cannot be estimates from any count of reports, or
        fake_share is out of range.

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
    # For a count of 0 or n, rounding may put the reported share just outside [0, 1].
    if not -1e-9 <= c + d * low <= c + d * high <= 1 + 1e-9:
        raise ValueError(
            f"low and high must be possible estimates with low <= high, got {low!r} and {high!r}"
        )
    honest_low = (c + d * low - fake_share) / (1 - fake_share)
    honest_high = (c + d * high) / (1 - fake_share)
    return Band(low=_cut((honest_low - c) / d), high=_cut((honest_high - c) / d))


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))
