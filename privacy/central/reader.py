"""What readers of a publication can learn about one answer that was scrambled on the device.

The server keeps the scrambled reports, so only the local epsilon limits what it can learn. A reader
sees only what is published: either a figure with noise, or the exact count after a survey closes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, log1p

import numpy as np
import scipy
from numpy.typing import NDArray

from privacy.checks import (
    check_not_negative,
    check_positive,
    check_share,
    check_symbols,
    check_whole,
)
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_delta
from privacy.mechanism.subsampling import subsampled_epsilon

# This factor covers the rounding of a handful of operations, so that a loss is never understated.
_SLACK = 1 + 1e-14
# Probability omitted at each end of a binomial. It is added to delta.
_TAIL = 1e-20
# Largest numbers of rows (possible answers of the others) and of probabilities in the table.
_ROWS = 1024
_CELLS = 2**21
# Longer convolutions use a Fourier transform. In comparisons with direct sums, the total error was
# below 1e-15; the larger allowance below is added to delta.
_DIRECT = 2**10
_FOURIER_ERROR = 1e-13
# This factor covers the rounding of binomial probabilities, which are known to about twelve digits.
_SUM_SLACK = 1 + 1e-10
# Width at which bisection stops, relative to the local epsilon.
_WIDTH = 1e-12


def reader_epsilon(*, mechanism: RandomizedResponse, epsilon: float) -> float:
    """Compute what a release with noise reveals about the answer behind a scrambled report.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The mechanism of the symbol, with any k.
    epsilon : float
        Loss in nats of everything released about this symbol when one report's code is
        **replaced**, at least 0 and finite. For a table with discrete Laplace noise of scale b,
        the loss is 2 / b, since a replaced code changes two cells.

    Returns
    -------
    float
        ln((t e + (k - 1) c) / (c e + t + (k - 2) c)) with e = exp(epsilon), rounded up; at most
        epsilon and at most the mechanism's epsilon.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite.

    Notes
    -----
    The likelihoods of one output given each possible code lie within a factor e of each other, and
    an answer mixes them with the weights in its column of the channel. The ratio of two such
    mixtures is largest where the code of one answer has likelihood e and all others have 1. Symbols
    are scrambled and released independently, so the results of several symbols add up.

    If the loss for a replaced code also has a delta, the result holds with delta' = delta (t - c r)
    <= d delta, where r = exp(result). Let P, Q and R_o be the probabilities of one event given the
    code of the first answer, of the second, and of each other answer. The event's probability given
    the first answer exceeds r times that given the second by (t - c r) P + (c - t r) Q + (1 - r) c
    sum of R_o. Q and R_o are at least exp(-epsilon) (P - delta); with these values, the terms with
    P cancel.

    References
    ----------
    Balle, B., Barthe, G., Gaboardi, M. and Geumlek, J. (2019), Privacy amplification by mixing
    and diffusion mechanisms, NeurIPS, theorem 1 (the general bound).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(reader_epsilon(mechanism=coins, epsilon=0.5), 9)
    0.246154088
    """
    epsilon = check_not_negative("epsilon", epsilon)
    if epsilon == 0:
        return 0.0
    # t + (k - 1) c = 1, so the ratio is (1 + t E) / (1 + c E) with E = exp(epsilon) - 1.
    ratio = mechanism.slope / mechanism.other_probability
    if epsilon < 700:
        growth = expm1(epsilon)
        ratio = mechanism.slope * growth / (1 + mechanism.other_probability * growth)
    return min(log1p(ratio) * _SLACK, epsilon, mechanism.epsilon)


def reader_epsilon_by_distance(*, distance: float, epsilon: float) -> float:
    """Bound what a release reveals about a person whose report is replaced by a similar one.

    Parameters
    ----------
    distance : float
        Largest total-variation distance between the reports of two people, in [0, 1]; for one
        scrambled symbol it is the mechanism's slope.
    epsilon : float
        Loss in nats of everything released when one report is replaced, at least 0 and finite.

    Returns
    -------
    float
        ln(1 + distance (exp(epsilon) - 1)), rounded up; at most epsilon. If the release also has a
        delta, the bound holds with the same delta.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Balle, B., Barthe, G., Gaboardi, M. and Geumlek, J. (2019), Privacy amplification by mixing
    and diffusion mechanisms, NeurIPS, theorem 1.

    Examples
    --------
    >>> round(reader_epsilon_by_distance(distance=0.5, epsilon=0.5), 9)
    0.280929804
    """
    distance = check_share("distance", distance)
    epsilon = check_not_negative("epsilon", epsilon)
    if distance == 0 or epsilon == 0:
        return 0.0
    return min(subsampled_epsilon(epsilon=epsilon, fraction=distance) * _SLACK, epsilon)


def exact_count_delta(*, mechanism: RandomizedResponse, people: int, epsilon: float) -> float:
    """Compute the delta at which an exact count hides one person's answer from its readers.

    Parameters
    ----------
    mechanism : RandomizedResponse
        A mechanism with k = 2. For more symbols, see `privacy.mechanism.shuffling.shuffle_delta`.
    people : int
        Number n of honest people whose reports are counted, at least 1, including the person in
        question.
    epsilon : float
        The epsilon at which delta is computed, at least 0 and finite.

    Returns
    -------
    float
        Delta in [0, 1], rounded up. It is 0 if epsilon is at least the local epsilon.

    Raises
    ------
    ValueError
        If the mechanism has more than two symbols, people is not a whole number, or a parameter
        is out of range.

    Notes
    -----
    The result holds for **readers who see the count alone**, published once after the close: no
    rows, no groups, no live updates. The count hides the answer, not participation, and n must be a
    published lower bound on the number of honest reports.

    If m of the others have the answer 1, their reports add Bin(m, t) + Bin(n - 1 - m, 1 - t) to the
    person's own bit. Delta is the largest, over all m and both directions, of the hockey-stick
    divergences between that sum for a bit that is 1 with probability t and for one that is 1 with
    probability 1 - t. With up to 2,048 people, every m is tried; with more, blocks of neighbouring
    m are bounded together, which raises epsilon by at most about .1 %, or .5 % with ten million
    people.

    The worst case is often, but not always, that all others agree (m = 0). With two coins, n =
    1,000 and delta = 1e-9, epsilon is .200571 for m = 0, but .200613 for m = 1.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(exact_count_delta(mechanism=coins, people=1000, epsilon=0.1), 9)
    4.9457e-05
    """
    check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
    people = check_whole("people", people, at_least=1)
    epsilon = check_not_negative("epsilon", epsilon)
    return _count_curve(mechanism, people)(epsilon)


def exact_count_epsilon(*, mechanism: RandomizedResponse, people: int, delta: float) -> float:
    """Compute the epsilon at which an exact count hides one person's answer from its readers.

    Parameters
    ----------
    mechanism : RandomizedResponse
        A mechanism with k = 2.
    people : int
        Number n of honest people whose reports are counted, at least 1.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        Epsilon in nats at that delta, rounded up, at most the local epsilon.

    Raises
    ------
    ValueError
        If the mechanism has more than two symbols, people is not a whole number, or a parameter
        is out of range.

    Notes
    -----
    The function bisects `exact_count_delta`, whose conditions apply. The total for m questions is
    m epsilon at m delta. A delta below 4e-20, or below 1e-13 with many people, gives the local
    epsilon. The search takes .2 s for a thousand people and 1.5 s for ten million.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(exact_count_epsilon(mechanism=coins, people=1000, delta=1e-6), 9)
    0.142057674
    """
    check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
    people = check_whole("people", people, at_least=1)
    delta = check_share("delta", delta, ends="()")
    curve = _count_curve(mechanism, people)
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


def strength_for_reader(*, people: int, epsilon: float, delta: float) -> float:
    """Find the weakest scrambling with which readers of shuffled reports learn at most epsilon.

    Parameters
    ----------
    people : int
        Number n of honest people whose reports are shuffled, at least 1.
    epsilon : float
        Epsilon that a reader may learn, in nats, positive and finite.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        The largest local epsilon of a mechanism with k = 2 whose shuffled reports give the reader
        at most epsilon; it is at least about epsilon.

    Raises
    ------
    ValueError
        If people is not a whole number, a parameter is out of range, or epsilon is too small for
        an integer threshold.

    Notes
    -----
    The function bisects the threshold with `privacy.mechanism.shuffling.shuffle_delta`, whose bound
    also holds for readers who see more than the count. `exact_count_delta` is smaller and would
    allow a larger result: 2.570063 instead of 2.302143 in the example. For the server, the local
    epsilon still applies.

    Examples
    --------
    >>> round(strength_for_reader(people=1000, epsilon=0.5, delta=1e-6), 6)
    2.302143
    """
    people = check_whole("people", people, at_least=1)
    epsilon = check_positive("epsilon", epsilon)
    delta = check_share("delta", delta, ends="()")
    low = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    above = SCALE
    while above - low.threshold > 1:
        middle = RandomizedResponse(symbols=2, threshold=(low.threshold + above) // 2)
        if shuffle_delta(mechanism=middle, people=people, epsilon=epsilon) <= delta:
            low = middle
        else:
            above = middle.threshold
    return low.epsilon


def _count_curve(mechanism: RandomizedResponse, people: int) -> Callable[[float], float]:
    """Return delta as a function of epsilon: the worst case over the others' true answers."""
    t, c = mechanism.keep_probability, mechanism.other_probability
    table, missing = _tabulate(people - 1, t, c)
    # The person's own bit is 1 or 0, and the other people's reports make up the rest of the count.
    with_one, with_none = table[:, :-1], table[:, 1:]

    def delta(epsilon: float) -> float:
        if epsilon >= mechanism.epsilon:
            return 0.0
        # Compute (t - c e) and (t e - c) so that they are accurate where e is close to one.
        growth = expm1(epsilon)
        gain, loss = mechanism.slope - c * growth, mechanism.slope + t * growth
        up = np.maximum(gain * with_one - loss * with_none, 0.0).sum(axis=1).max()
        down = np.maximum(gain * with_none - loss * with_one, 0.0).sum(axis=1).max()
        return min(float(max(up, down)) * _SUM_SLACK + missing, 1.0)

    return delta


def _tabulate(others: int, t: float, c: float) -> tuple[NDArray[np.float64], float]:
    """Tabulate the probabilities of the others' count (columns) for their possible answers (rows).

    A row stands for a block: from m to m + `skipped` of the others have the answer 1. The row
    leaves `skipped` people out, which can only raise delta, because adding an independent report to
    a count is post-processing. A row with more ones than zeros would mirror another row, with the
    two directions swapped.
    """
    width = 8 + min(others + 1, int(21 * (others * t * c) ** 0.5 + 92))
    rows = max(min(_ROWS, _CELLS // width), 1)
    skipped = others // (2 * rows)
    ones = np.arange(0, others // 2 + 1, skipped + 1)
    zeros = np.maximum(others - skipped - ones, 0)
    parts = [(ones, *_window(ones, t), t), (zeros, *_window(zeros, c), c)]
    rowed = [
        [
            scipy.stats.binom.pmf(np.arange(low, high + 1), count, rate)
            for count, low, high in zip(counts, lows, highs, strict=True)
        ]
        for counts, lows, highs, rate in parts
    ]
    counted = [_convolve(first, second) for first, second in zip(*rowed, strict=True)]
    longest = max(map(len, counted))
    table = np.zeros((len(counted), longest + 2))
    for row, chances in zip(table, counted, strict=True):
        row[1 : len(chances) + 1] = chances
    # Also return the probability outside the windows plus the error of Fourier transforms.
    return table, 4 * _TAIL + (_FOURIER_ERROR if longest > _DIRECT else 0.0)


def _convolve(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    length = len(first) + len(second) - 1
    if length <= _DIRECT:
        return np.convolve(first, second)
    size = 1 << length.bit_length()
    product = np.fft.rfft(first, size) * np.fft.rfft(second, size)
    return np.asarray(np.maximum(np.fft.irfft(product, size)[:length], 0.0))


def _window(counts: NDArray[np.int64], rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the ends beyond which each binomial has a probability of at most 1e-20."""
    binom = scipy.stats.binom
    low = np.maximum(binom.ppf(_TAIL, counts, rate), 0)
    # Use the mirror image, because the upper quantile cannot be found: 1 - 1e-20 is 1 as a float.
    high = counts - np.maximum(binom.ppf(_TAIL, counts, 1 - rate), 0)
    return low.astype(np.int64), high.astype(np.int64)
