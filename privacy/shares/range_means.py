"""The mean of a number in a range, which each browser rounds at random to one bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privacy.checks import check_level, check_number
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import (
    ConditionalShare,
    betting_sequence_share,
    likelihood_ratio_share,
)
from privacy.shares.coverage import choose_method
from privacy.shares.estimation import estimate_shares
from privacy.shares.intervals import find_by
from privacy.shares.ratio_cells import conditional_cells


@dataclass(frozen=True, kw_only=True)
class RangeMean:
    """The mean of a number in a range or of a rating scale, in the question's unit.

    Attributes
    ----------
    mean, standard_error : float or None
        Unbiased and unclipped; None where it appears that nobody answered.
    low, high : float
        Ends of the interval, within the range.
    level : float
        Confidence level.
    method : str
        For a number sent as one bit, the method of the interval for the share of ones among bits:
        as in `privacy.shares.intervals` where every report is a bit, otherwise as in
        `ConditionalShare`. For a scale sent as codes, see `privacy.shares.scales`.
    contradiction : bool
        True if no mean in the range agrees with the reports.
    """

    mean: float | None
    standard_error: float | None
    low: float
    high: float
    level: float
    method: str
    contradiction: bool


def estimate_range_mean(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    minimum: float,
    maximum: float,
    fixed_end: bool,
    level: float = 0.95,
    concentration: float | None = None,
) -> RangeMean:
    """Estimate the mean of a number that each browser rounded at random to one bit.

    Parameters
    ----------
    counts : sequence of int, length k
        Reports showing each symbol: 0 is the bit zero, 1 the bit one, further symbols mean
        refused or not asked.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    minimum, maximum : float
        Ends of the range, in the question's unit, minimum < maximum.
    fixed_end : bool
        Whether the survey ended at its frozen end. If so, the interval is for a single look;
        otherwise it is valid at every look.
    level : float, optional
        Confidence level, in (0, 1).
    concentration : float or None, optional
        For the interval that is valid at every look: as for
        `privacy.shares.bets.betting_sequence`.

    Returns
    -------
    RangeMean
        minimum + (maximum - minimum) q, where q is the share of ones among ones and zeros.

    Raises
    ------
    ValueError
        As for `likelihood_ratio_share`, or if the range is empty or not finite, or concentration
        is out of range.

    Notes
    -----
    The bit is one with probability (x - minimum) / (maximum - minimum), so the expected q
    corresponds to the mean of x. The bit reveals nothing else about x: neither spread nor median.
    If every report is a bit, q is an ordinary share (`privacy.shares.coverage.choose_method`);
    otherwise its interval is that of `likelihood_ratio_share` at a fixed end and of
    `betting_sequence_share` before it.

    References
    ----------
    Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately,
    NeurIPS, equation (1) (one-bit mean).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> found = estimate_range_mean(
    ...     counts=[600, 400], mechanism=coins, minimum=0, maximum=40, fixed_end=True
    ... )
    >>> round(found.mean, 6), round(found.standard_error, 3)
    (12.0, 1.239)
    """
    check_number("minimum", minimum)
    check_number("maximum", maximum)
    if not minimum < maximum:
        raise ValueError(f"minimum must be below maximum, got {minimum!r} and {maximum!r}")
    level = check_level(level)
    if mechanism.symbols == 2:
        found = _share_of_all(
            counts=counts,
            mechanism=mechanism,
            fixed_end=fixed_end,
            level=level,
            concentration=concentration,
        )
    elif fixed_end:
        found = likelihood_ratio_share(
            counts=counts, mechanism=mechanism, symbol=1, among=(0, 1), level=level
        )
    else:
        cells = conditional_cells(counts=counts, mechanism=mechanism, event=[1], among=(0, 1))
        found = betting_sequence_share(cells=cells, level=level, concentration=concentration)
    width = maximum - minimum
    return RangeMean(
        mean=None if found.share is None else minimum + width * found.share,
        standard_error=None if found.standard_error is None else width * found.standard_error,
        # Rounding errors may push the end just above the maximum.
        low=min(minimum + width * found.low, maximum),
        high=min(minimum + width * found.high, maximum),
        level=level,
        method=found.method,
        contradiction=found.contradiction,
    )


def _share_of_all(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    fixed_end: bool,
    level: float,
    concentration: float | None,
) -> ConditionalShare:
    """Estimate the share of ones where every report is an answer."""
    estimates = estimate_shares(counts=counts, mechanism=mechanism)
    channel = {"other_probability": mechanism.other_probability, "slope": mechanism.slope}
    method = choose_method(total=estimates.total, level=level, fixed_end=fixed_end, **channel)
    find = find_by(method, concentration=concentration)
    found = find(successes=counts[1], total=estimates.total, level=level, **channel)
    return ConditionalShare(
        share=float(estimates.shares[1]),
        standard_error=float(estimates.standard_errors[1]),
        among_share=1.0,
        low=float(found.low),
        high=float(found.high),
        level=level,
        method=method,
        contradiction=bool(found.contradiction),
    )
