"""A share corrected for people who send a code without regard to the question."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from privacy.checks import (
    check_share,
    check_symbols,
    check_whole,
)
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class AttentionCorrection:
    """A share corrected for people who send a code without regard to the question.

    Attributes
    ----------
    attention : float
        Estimated share of attentive people, as a fraction; above 0, and it may exceed 1 by chance.
    share : float
        Estimated true share among the attentive, as a fraction; never clipped.
    standard_error : float
        Standard error of `share`; it includes the uncertainty of `attention`.
    """

    attention: float
    share: float
    standard_error: float


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
    """Correct a share for careless people, using a question whose true share is known.

    Parameters
    ----------
    successes, total : int
        Reports of the question: the number showing "yes", and the total, at least 1.
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
    Careless people are assumed to send either code with probability 1/2, for both questions:
    l = g (c + d p) + (1 - g) / 2. Hence g = (l' - 1/2) / (c + d p' - 1/2) from the anchor and
    p = ((l - (1 - g) / 2) / g - c) / d. The standard error comes from the delta method; for people
    who answered both, the covariance of the reports is (1 - g) (l - 1/2) (l' - 1/2) / g, if the two
    true answers of attentive people are independent. The anchor question spends its own epsilon.

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
    variance = _variance(
        reported=(reported, total),
        anchor=(anchor, anchor_total),
        attention=attention,
        d=d,
        expected=expected,
        shared_people=shared_people,
    )
    return AttentionCorrection(
        attention=attention, share=share, standard_error=sqrt(max(0.0, variance))
    )


def _variance(
    *,
    reported: tuple[float, int],
    anchor: tuple[float, int],
    attention: float,
    d: float,
    expected: float,
    shared_people: int,
) -> float:
    """The variance of the corrected share, by the delta method; each share comes with its total."""
    (share, total), (known, anchor_total) = reported, anchor
    by_report = 1 / (attention * d)
    by_anchor = -(share - 0.5) / (attention**2 * d * expected)
    # No covariance where chance puts attention above 1.
    shared = max(0.0, 1 - attention) * (share - 0.5) * expected
    return (
        by_report**2 * share * (1 - share) / total
        + by_anchor**2 * known * (1 - known) / anchor_total
        + 2 * by_report * by_anchor * shared * shared_people / (total * anchor_total)
    )
