"""The privacy that shuffling one question's reports would add: a calculation, not a promise.

Every function here computes the privacy that sealing would add for one question. Its result is
valid only under the conditions listed in `shuffle_delta`. If a condition fails, only the local
epsilon holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import expm1, log, log1p, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import betainc

from privacy.checks import check_not_negative, check_share, check_whole
from privacy.mechanism.mechanisms import RandomizedResponse

# Probability omitted at each end of the sums. It is added to delta, so the result stays an
# upper bound.
_TAIL = 1e-20
# Size of the table of counts for k > 2; larger only where the minimum of 24 columns requires it.
_CELLS = 2**16
# This factor covers the cancellation in differences of binomial tails: about 5 sqrt(n) units in
# the last place of a tail known to twelve digits.
_SLACK = 1 + 1e-8
# Width at which bisection stops, relative to the local epsilon.
_WIDTH = 1e-10


def shuffle_delta(*, mechanism: RandomizedResponse, people: int, epsilon: float) -> float:
    """Bound the delta of one question's reports once they are shuffled.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The mechanism of the question, with any k.
    people : int
        Number n of honest people who answer, at least 1, including the person in question.
    epsilon : float
        The epsilon at which delta is bounded, at least 0 and finite.

    Returns
    -------
    float
        Upper bound on delta, in [0, 1]. It is 0 if epsilon is at least the local epsilon.

    Raises
    ------
    ValueError
        If people is not a whole number, or people or epsilon is out of range.

    Notes
    -----
    **A calculation, not a promise of Murmur.** It is valid only if

    - an observer sees whole shuffled batches and nothing else: no live updates, times,
      sequential ids or order of arrival, and no raw report. Murmur's server does see raw
      reports, so its users are promised the local epsilon alone;
    - rows are not joined across questions: m linked reports act as one randomizer with m epsilon;
    - n counts honest people and is a published lower bound. Fake reports hide no one;
    - the reports of different people are drawn independently.

    Method: with probability k c, each of the other people sends a symbol drawn uniformly (the
    blanket), otherwise a symbol that the attacker is assumed to know. Among the blanket's reports,
    including the person's own, let a be the number that show the person's symbol, b the number that
    show the alternative, and o the number of all others. The bound is 1 / n times the expectation
    of ((t - c e) a + (c - t e) b + c (1 - e) o)+ / c with e = exp(epsilon), where a, b ~ c and o ~
    (k - 2) c are cells of one multinomial of n.

    For k = 2 there is no o, and the bound compares (A + D, C - A + 1 - D) with (A + 1 - D, C - A +
    D), where C ~ Bin(n - 1, 2 c), A ~ Bin(C, 1/2) and D ~ Bern(t). For k > 2 the corresponding
    comparison of a and b without o is **not** a bound: o reveals whether the person is in a + b.
    With k = 3, t = 0.6, n = 3 and epsilon = 1, it gives 0.0023; the true delta is 0.0203.

    In the computation, s = a + b runs over a window that leaves out a probability below 3e-20,
    which is added to the bound. For k > 2 and many people, o is divided among some points of its
    range so that its mean is preserved. The term is convex in o, so the division can only raise the
    bound; in trials, the resulting epsilon rose by less than 1e-6 of its value.

    References
    ----------
    Balle, B., Bell, J., Gascon, A. and Nissim, K. (2019), The privacy blanket of the shuffle
    model, CRYPTO, section 5.
    Feldman, V., McMillan, A. and Talwar, K. (2021), Hiding among the clones, FOCS (k = 2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(shuffle_delta(mechanism=coins, people=1000, epsilon=0.1), 6)
    0.000208
    """
    people = check_whole("people", people, at_least=1)
    epsilon = check_not_negative("epsilon", epsilon)
    if epsilon >= mechanism.epsilon:
        return 0.0
    return _delta_curve(mechanism, people)(epsilon)


def shuffle_epsilon(*, mechanism: RandomizedResponse, people: int, delta: float) -> float:
    """Bound the epsilon of one question's reports once they are shuffled.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The mechanism of the question, with any k.
    people : int
        Number n of honest people who answer, at least 1, including the person in question.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        Upper bound on epsilon in nats at that delta, at most the local epsilon.

    Raises
    ------
    ValueError
        If people is not a whole number, or people or delta is out of range.

    Notes
    -----
    **A calculation, not a promise of Murmur**: the conditions of `shuffle_delta` apply, and if one
    fails, only the local epsilon holds. The function bisects `shuffle_delta` to 1e-10 of the local
    epsilon and returns the upper end. A delta below 3e-20 gives the local epsilon.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(shuffle_epsilon(mechanism=coins, people=1000, delta=1e-6), 6)
    0.168283
    """
    people = check_whole("people", people, at_least=1)
    delta = check_share("delta", delta, ends="()")
    curve = _delta_curve(mechanism, people)
    if curve(0.0) <= delta:
        return 0.0
    low, high = 0.0, mechanism.epsilon
    while high - low > _WIDTH * mechanism.epsilon:
        middle = (low + high) / 2
        if curve(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def shuffle_epsilon_closed_form(
    *, mechanism: RandomizedResponse, people: int, delta: float
) -> float:
    """Bound the epsilon of shuffled reports by a closed formula, which is several times looser.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The mechanism of the question, with any k; only its epsilon matters.
    people : int
        Number n of honest people who answer, at least 1, including the person in question.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        ln(1 + (e - 1) / (e + 1) (8 sqrt(e ln(4 / delta) / n) + 8 e / n)), e = exp(epsilon).

    Raises
    ------
    ValueError
        If people is not a whole number, people or delta is out of range, or the mechanism's
        epsilon exceeds ln(n / (16 ln(2 / delta))): the formula does not hold there.

    Notes
    -----
    **A calculation, not a promise of Murmur**: the conditions of `shuffle_delta` apply. Close to
    the limit, the formula may exceed the local epsilon, which then applies instead.

    References
    ----------
    Feldman, V., McMillan, A. and Talwar, K. (2021), Hiding among the clones, FOCS, theorem 3.1.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(shuffle_epsilon_closed_form(mechanism=coins, people=10_000, delta=1e-6), 6)
    0.240061
    """
    people = check_whole("people", people, at_least=1)
    delta = check_share("delta", delta, ends="()")
    epsilon = mechanism.epsilon
    limit = log(people / (16 * log(2 / delta)))
    if not epsilon <= limit:
        raise ValueError(
            f"mechanism must have an epsilon of at most {limit:.6g} with {people} people, "
            f"got {epsilon!r}"
        )
    odds = expm1(epsilon) + 1
    spread = 8 * sqrt(odds * log(4 / delta) / people) + 8 * odds / people
    return log1p((odds - 1) / (odds + 1) * spread)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Counts:
    """The multinomial of the blanket, as a table of s = a + b (rows) and points of o (columns).

    `weights` are joint probabilities and sum to at most one; `missing` bounds the probability,
    under the person's true symbol, of every s outside the table.
    """

    informative: NDArray[np.int64]
    others: NDArray[np.int64]
    weights: NDArray[np.float64]
    missing: float


def _delta_curve(mechanism: RandomizedResponse, people: int) -> Callable[[float], float]:
    """Return delta as a function of epsilon, for epsilon from 0 to the local epsilon."""
    c, d = mechanism.other_probability, mechanism.slope
    table = _tabulate(symbols=mechanism.symbols, c=c, people=people)

    def delta(epsilon: float) -> float:
        if epsilon >= mechanism.epsilon:
            return 0.0
        # Divide the three cells of the sum by c. Compute t / c - 1 and exp(epsilon) - 1 directly,
        # so that they are accurate where they are small.
        gain, growth = d / c, expm1(epsilon)
        inside = _expected_excess(
            table.informative[:, None],
            slope=gain * (2 + growth),
            offset=table.informative[:, None] * -(gain * (1 + growth) + growth)
            - growth * table.others[None, :],
        )
        bound = float((table.weights * inside).sum()) / people * _SLACK + table.missing
        return min(bound, 1.0)

    return delta


def _tabulate(*, symbols: int, c: float, people: int) -> _Counts:
    # C of the n - 1 others show one of the two symbols; s is C or C + 1. A window for s that
    # is one count wider than the window for C therefore leaves out no more probability, under
    # either hypothesis, than the window for C.
    binom = scipy.stats.binom
    others = binom(people - 1, 2 * c)
    low = int(others.ppf(_TAIL))
    # Use the mirror image, because the upper quantile cannot be found: 1 - 1e-20 is 1 as a float.
    high = people - 1 - int(binom.ppf(_TAIL, people - 1, 1 - 2 * c))
    missing = float(others.cdf(low - 1) + others.sf(high)) + _TAIL
    informative = np.arange(low, min(high + 1, people) + 1)
    weights = binom.pmf(informative, people, 2 * c)
    points, shares = np.zeros(1, dtype=np.int64), np.ones((len(informative), 1))
    if symbols > 2:
        # Given s, the other n - s people show a third symbol from the blanket at this rate.
        rate = (symbols - 2) * c / (1 - 2 * c)
        points = _points(people=people, rate=(symbols - 2) * c, rows=len(informative))
        shares = _shares_at(points, trials=people - informative[:, None], rate=rate)
    return _Counts(
        informative=informative,
        others=points,
        weights=weights[:, None] * shares,
        missing=missing,
    )


def _points(*, people: int, rate: float, rows: int) -> NDArray[np.int64]:
    """Choose values of o for the computation, from 0 to n, densely where the count is likely."""
    binom = scipy.stats.binom
    low = int(binom.ppf(1e-9, people, rate))
    high = people - int(binom.ppf(1e-9, people, 1 - rate))
    dense = np.linspace(low, high, min(high - low + 1, max(24, _CELLS // rows)))
    return np.unique(np.concatenate([[0], dense.astype(np.int64), [people]]))


def _shares_at(
    points: NDArray[np.int64], *, trials: NDArray[np.int64], rate: float
) -> NDArray[np.float64]:
    """Split the probability of each value of o ~ Bin(trials, rate) between the points around it.

    The mean stays the same. The excess is convex in o, so such a split can only raise its
    expectation.
    """
    binom = scipy.stats.binom
    below = binom.cdf(points[:-1] - 1, trials, rate)
    mass = np.diff(below, axis=1, append=1.0)
    # o P(o) = trials rate P(one trial fewer gives o - 1)
    lower = binom.cdf(points[:-1] - 2, np.maximum(trials - 1, 0), rate)
    moment = trials * rate * np.diff(lower, axis=1, append=1.0)
    beyond = (moment - points[:-1] * mass) / np.diff(points)
    beyond = np.clip(beyond, 0.0, mass)
    shares = np.zeros((len(trials), len(points)), dtype=np.float64)
    shares[:, :-1] += mass - beyond
    shares[:, 1:] += beyond
    return shares


def _expected_excess(
    counts: NDArray[np.int64], *, slope: float, offset: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the expectation of (slope a + offset)+, where a ~ Bin(s, 1/2) and s is a row's count.

    With m the smallest a that makes the term positive, B ~ Bin(s, 1/2) and B' ~ Bin(s - 1, 1/2),
    the expectation is slope s/2 P(B' >= m - 1) + offset P(B >= m), and
    P(B' >= m - 1) = P(B >= m) + P(B' = m - 1) / 2. Along a row, m rises slowly, so each tail is
    computed once.
    """
    least = np.maximum(np.floor(-offset / slope).astype(np.int64) + 1, 0)
    fresh = np.ones(least.shape, dtype=bool)
    fresh[:, 1:] = np.diff(least, axis=1) != 0
    s, m = np.broadcast_to(counts, least.shape)[fresh], least[fresh]
    position = np.cumsum(fresh.ravel()).reshape(fresh.shape) - 1
    tails = _upper_tail(m, s)
    first = slope * s / 2 * (tails + scipy.stats.binom.pmf(m - 1, np.maximum(s - 1, 0), 0.5) / 2)
    excess: NDArray[np.float64] = np.maximum(first[position] + offset * tails[position], 0.0)
    return excess


def _upper_tail(least: NDArray[np.int64], trials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute P(Bin(trials, 1/2) >= least), or 0 where Hoeffding's bound is below exp(-200)."""
    excess = 2.0 * least - trials
    inside = (least >= 1) & (least <= trials) & (excess * np.abs(excess) <= 400.0 * trials)
    tails = np.where(least <= 0, 1.0, 0.0)
    tails[inside] = betainc(least[inside], (trials - least + 1)[inside], 0.5)
    return tails
