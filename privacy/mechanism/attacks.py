"""What an attacker who sees a report can learn about the answer behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from privacy.checks import (
    check_distribution,
    check_share,
)
from privacy.mechanism.mechanisms import RandomizedResponse


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
    """Find the probability that a reported symbol is the true one.

    Parameters
    ----------
    share : float, or sequence of float of length k
        The attacker's prior belief: the probability of one symbol, or of each of the k symbols.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float, or ndarray of float64 of shape (k,)
        p t / (c + d p): probability that a person's true symbol is this one, given that the report
        shows it.

    Raises
    ------
    ValueError
        If a share is out of range, or a sequence does not hold k shares that sum to one.

    Notes
    -----
    Prior odds of any true symbol against any other change by a factor of at most exp(epsilon).

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
    """Find how often the best guess at a person's true symbol is right, given the reported code.

    Parameters
    ----------
    shares : sequence of float, length k
        True shares, which the attacker knows.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        Sum over reported symbols j of the maximum over true symbols i of p_i P(j | i): t for equal
        shares, and never less than the largest share.

    Raises
    ------
    ValueError
        If shares does not hold k shares that sum to one.

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
