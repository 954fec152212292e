"""The privacy that a secret random sample of people would add, which Murmur does not claim."""

from __future__ import annotations

from math import exp, expm1, log, log1p

from privacy.checks import (
    check_positive,
    check_share,
)


def subsampled_epsilon(*, epsilon: float, fraction: float) -> float:
    """Compute epsilon when only a secret random fraction of the people is asked.

    Parameters
    ----------
    epsilon : float
        Epsilon for the people who are asked, in nats, positive and finite.
    fraction : float
        Fraction q of the people that is asked, in (0, 1].

    Returns
    -------
    float
        ln(1 + q (exp(epsilon) - 1)).

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    This holds only if the sample stays secret, even from the server. Murmur's server sees who
    reports and which blocks were drawn, so Murmur does not claim this gain.

    References
    ----------
    Balle, B., Barthe, G. and Gaboardi, M. (2018), Privacy amplification by subsampling,
    NeurIPS, theorem 9.

    Examples
    --------
    >>> round(subsampled_epsilon(epsilon=1.0, fraction=0.1), 6)
    0.158565
    """
    epsilon = check_positive("epsilon", epsilon)
    fraction = check_share("fraction", fraction, ends="(]")
    return _scaled_odds(epsilon, factor=fraction)


def _scaled_odds(epsilon: float, *, factor: float) -> float:
    """Compute ln(1 + factor (exp(epsilon) - 1)), even where exp(epsilon) would overflow."""
    if epsilon < 700:
        return log1p(factor * expm1(epsilon))
    return epsilon + log(factor + (1 - factor) * exp(-epsilon))
