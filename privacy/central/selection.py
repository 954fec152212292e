"""The choice of one of several options by score: probabilities and accuracy of the result.

Nothing here makes a choice. Scores are whole numbers or fractions, so that
rounding never decides between two options.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log, log1p
from numbers import Integral, Rational

import numpy as np

from privacy.checks import Floats, check_level, check_positive, check_whole

_NEVER = 746  # exp(-x) is 0 as a float from here on


def selection_rate(
    *, epsilon: int | Fraction, sensitivity: int | Fraction = 1, monotone: bool = False
) -> Fraction:
    """Find the rate at which a choice by scores costs epsilon.

    Parameters
    ----------
    epsilon : int or Fraction
        Privacy loss in nats if one report is added or removed, positive.
    sensitivity : int or Fraction, optional
        Largest change of any score when one report is added or removed, positive.
    monotone : bool, optional
        Whether one report changes all scores in the same direction, as with counts.

    Returns
    -------
    Fraction
        epsilon / sensitivity if monotone, otherwise epsilon / (2 sensitivity). A library that adds
        noise to the scores takes the scale 1 / rate.

    Raises
    ------
    ValueError
        If epsilon or sensitivity is not positive, or is neither whole nor a fraction.

    References
    ----------
    McKenna, R. and Sheldon, D. (2020), Permute-and-flip: a new mechanism for differentially
    private selection, NeurIPS, section 3.
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy,
    Foundations and Trends in Theoretical Computer Science 9(3-4), theorem 3.10 (the exponential
    mechanism).

    Examples
    --------
    >>> selection_rate(epsilon=Fraction(1, 2), sensitivity=Fraction(9, 7))
    Fraction(7, 36)
    >>> selection_rate(epsilon=Fraction(1, 2), monotone=True)
    Fraction(1, 2)
    """
    loss = _check_positive_fraction("epsilon", epsilon)
    change = _check_positive_fraction("sensitivity", sensitivity)
    return loss / change if monotone else loss / (2 * change)


def permute_and_flip_probabilities(
    scores: Sequence[int] | Sequence[Fraction], *, rate: float | Fraction
) -> Floats:
    """Compute how likely permute-and-flip is to choose each option.

    Parameters
    ----------
    scores : sequence of int or Fraction
        Score of each option; the highest is the best. There must be at least one option.
    rate : float or Fraction
        Rate, positive; see `selection_rate`.

    Returns
    -------
    ndarray of float64
        Probabilities in the order of the scores; they sum to one.

    Raises
    ------
    ValueError
        If there are no scores, a score is neither whole nor a fraction, or the rate is not
        positive.

    Notes
    -----
    The options are taken in random order. Each is chosen with probability q = exp(-rate (best -
    score)); otherwise, the next option is tried. If each option draws its place in the order
    uniformly from [0, 1], option i comes before place x and would be chosen there with
    probability x q_i, so

        P(j) = q_j times the integral over x from 0 to 1 of the product over i != j of (1 - x q_i).

    The integrand is a polynomial, which Gauss-Legendre quadrature integrates exactly, with positive
    terms only. The choice has the same distribution as the option whose score plus exponential
    noise of scale 1 / rate is highest.

    References
    ----------
    McKenna, R. and Sheldon, D. (2020), Permute-and-flip, NeurIPS, algorithm 1 and appendix A.
    Ding, Z. et al. (2021), The permute-and-flip mechanism is identical to report-noisy-max with
    exponential noise, arXiv:2105.07260.

    Examples
    --------
    >>> permute_and_flip_probabilities([52, 50, 45, 40], rate=0.5).round(9).tolist()
    [0.803747238, 0.181938536, 0.013237012, 0.001077215]
    """
    chances = np.array([exp(-gap) for gap in _gaps(scores, rate)])
    nodes, weights = np.polynomial.legendre.leggauss((len(chances) + 1) // 2)
    places, weights = (nodes + 1) / 2, weights / 2
    passed = 1 - np.multiply.outer(places, chances)  # [place, option]
    found = [
        chance * float(weights @ np.delete(passed, option, axis=1).prod(axis=1))
        for option, chance in enumerate(chances.tolist())
    ]
    return np.array(found)


def exponential_mechanism_probabilities(
    scores: Sequence[int] | Sequence[Fraction], *, rate: float | Fraction
) -> Floats:
    """Compute how likely the exponential mechanism is to choose each option.

    Parameters
    ----------
    scores : sequence of int or Fraction
        Score of each option; the highest is the best. There must be at least one option.
    rate : float or Fraction
        Rate, positive; see `selection_rate`.

    Returns
    -------
    ndarray of float64
        Probabilities proportional to exp(rate score), in the order of the scores; they sum to one.

    Raises
    ------
    ValueError
        If there are no scores, a score is neither whole nor a fraction, or the rate is not
        positive.

    Notes
    -----
    Permute-and-flip at the same rate costs the same epsilon and never has a larger expected gap to
    the best score.

    References
    ----------
    McSherry, F. and Talwar, K. (2007), Mechanism design via differential privacy, FOCS, theorem 6.

    Examples
    --------
    >>> exponential_mechanism_probabilities([52, 50, 45, 40], rate=0.5).round(9).tolist()
    [0.714002369, 0.262666793, 0.021561003, 0.001769835]
    """
    weights = np.array([exp(-gap) for gap in _gaps(scores, rate)])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def selection_bound(
    *,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    candidates: int,
    level: float,
    monotone: bool = False,
) -> float:
    """Bound how far the score of the chosen option lies below the best score.

    Parameters
    ----------
    sensitivity : float or Fraction
        Largest change of any score when one report is added or removed, positive.
    epsilon : float or Fraction
        Privacy loss in nats, positive.
    candidates : int
        Number of options, at least 1.
    level : float
        Confidence level, in (0, 1).
    monotone : bool, optional
        Whether one report changes all scores in the same direction.

    Returns
    -------
    float
        (2 sensitivity / epsilon) (ln candidates + tau) where exp(-tau) = 1 - level, or half of this
        bound if monotone. The gap exceeds this bound with probability at most 1 - level.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The bound holds for the exponential mechanism and for permute-and-flip, whatever the scores are.

    References
    ----------
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy,
    theorem 3.11.
    McKenna, R. and Sheldon, D. (2020), Permute-and-flip, NeurIPS (the gap is never larger).

    Examples
    --------
    >>> bound = selection_bound(sensitivity=9 / 7, epsilon=0.5, candidates=5, level=1 - exp(-3))
    >>> round(bound, 9)
    23.705680693
    """
    sensitivity = check_positive("sensitivity", sensitivity)
    epsilon = check_positive("epsilon", epsilon)
    candidates = check_whole("candidates", candidates, at_least=1)
    tau = -log1p(-check_level(level))
    return (1 if monotone else 2) * sensitivity / epsilon * (log(candidates) + tau)


def _gaps(scores: Sequence[int] | Sequence[Fraction], rate: float | Fraction) -> list[float]:
    """Return each score's distance below the best one, times the rate; exact up to one rounding."""
    check_positive("rate", rate)
    exact = [_check_fraction("scores", score) for score in scores]
    if not exact:
        raise ValueError(f"scores must hold at least one score, got {scores!r}")
    best, per_point = max(exact), Fraction(rate)
    return [float(min(per_point * (best - score), Fraction(_NEVER))) for score in exact]


def _check_positive_fraction(name: str, value: object) -> Fraction:
    number = _check_fraction(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return number


def _check_fraction(name: str, value: object) -> Fraction:
    """Reject floats, which would make the choice depend on their rounding."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise ValueError(f"{name} must be whole or a fraction, got {value!r}")
    # Use plain integers, because numpy's integers would overflow.
    return Fraction(int(value)) if isinstance(value, Integral) else Fraction(value)
