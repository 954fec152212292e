"""Attacks on published figures, exact or with central noise.

Each attacker decides between two hypotheses that are equally likely beforehand, so a random guess
is right in half of all cases. A scale of 0 stands for exact publication.

Numpy draws the noise in `reconstruct`. That noise protects no one: it is used only to demonstrate,
on invented answers, what an attacker would find. The noise of releases is drawn only in
aggregator/releases/noise.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, tanh

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from privacy.checks import (
    Floats,
    check_not_negative,
    check_share,
    check_together,
    check_whole,
    check_whole_counts,
)

MOST_PEOPLE = 1000  # solving the equations for more people would take seconds
MOST_GROUPS = 10_000
MOST_RUNS = 1000
MOST_SYMBOLS = 2**20
LARGEST_SCALE = 1e12  # numpy's geometric numbers cannot exceed about 1e19


def success_bound(*, epsilon: float, delta: float = 0.0) -> float:
    """Find the best chance that any attacker has of telling which of two neighbours was published.

    Parameters
    ----------
    epsilon : float
        Loss of everything that is published, in nats, at least 0.
    delta : float, optional
        Delta of everything that is published, in [0, 1].

    Returns
    -------
    float
        (exp(epsilon) + delta) / (exp(epsilon) + 1), in [1/2, 1]. At epsilon = delta = 0, the result
        is one half, as for a random guess.

    Raises
    ------
    ValueError
        If epsilon is negative or not finite, or delta is not in [0, 1].

    Notes
    -----
    The attacker knows both neighbours, has unlimited computing power, and considers both equally
    likely. The bound is (1 + TV)/2 for the largest total variation distance that (epsilon, delta)
    allows.

    References
    ----------
    Kairouz, P., Oh, S. and Viswanath, P. (2015), The composition theorem for differential privacy,
    ICML, section 2: the region of the two kinds of error, here for equally likely hypotheses.

    Examples
    --------
    >>> round(success_bound(epsilon=0.5), 9)
    0.622459331
    """
    epsilon = check_not_negative("epsilon", epsilon)
    delta = check_share("delta", delta)
    # Divide both terms by exp(epsilon), so that a large epsilon cannot cause an overflow.
    return (1 + delta * exp(-epsilon)) / (1 + exp(-epsilon))


def differencing_success(*, scale: float, noisy_figures: int = 1) -> float:
    """Find how often subtracting two counts shows whether one person was counted.

    Parameters
    ----------
    scale : float
        Scale b of the discrete Laplace noise of each count, at least 0; 0 for exact counts.
    noisy_figures : int, optional
        1 if the attacker knows the exact count without the person, from whatever source; 2 if both
        counts were published with independent noise.

    Returns
    -------
    float
        (1 + TV)/2, where TV is the total variation distance between the noise and the noise plus
        one.

    Raises
    ------
    ValueError
        If scale is negative or not finite, or noisy_figures is neither 1 nor 2.

    Notes
    -----
    Neighbours differ by one report, which changes the count by one. The best attacker says
    "counted" if the difference is at least 1. One noise term and the difference of two are
    symmetric and log-concave, so TV is the probability that the term or difference is 0. With one
    noise term, this is P(Z >= 0) - P(Z >= 1) = tanh(1/(2b)): the attack reaches `success_bound` at
    epsilon = 1/b.

    References
    ----------
    Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012), Universally utility-maximizing privacy
    mechanisms, SIAM Journal on Computing 41(6): the geometric mechanism.

    Examples
    --------
    >>> round(differencing_success(scale=2), 9)
    0.622459331
    >>> round(differencing_success(scale=2, noisy_figures=2), 9)
    0.564902536
    >>> differencing_success(scale=0)
    1.0
    """
    scale = check_not_negative("scale", scale)
    noisy = check_whole("noisy_figures", noisy_figures, at_least=1, at_most=2)
    peak = _largest_probability(scale)
    if noisy == 2:
        # This is the sum of P(z)^2 over z, a geometric series with a^2 = exp(-2/b).
        peak = peak**2 / _largest_probability(scale / 2)
    return (1 + peak) / 2


def _largest_probability(scale: float) -> float:
    """Return P(Z = 0) = (1 - a)/(1 + a) for discrete Laplace noise, where a = exp(-1/b)."""
    return tanh(1 / (2 * scale)) if scale > 1e-300 else 1.0


def needle_log_ratio(
    *, published: Sequence[int] | NDArray[np.int64], others: Sequence[int], scale: float
) -> float:
    """Compute how strongly a published table suggests that one report is in it, given all others.

    Parameters
    ----------
    published : sequence of int, length s
        Published counts in the cells of the report's own codes, one for each of its symbols.
    others : sequence of int, length s
        True counts of the same cells without the report, not negative.
    scale : float
        Scale b of the discrete Laplace noise of each cell, at least 0; 0 for exact counts.

    Returns
    -------
    float
        Log of P(published | report in the table) / P(published | report not in it); positive values
        favour the first hypothesis. The result is infinite for exact counts.

    Raises
    ------
    ValueError
        If a published count is not whole, one of the others is not whole or is negative, the two
        lengths differ or are 0, scale is negative or not finite, or exact counts fit neither
        hypothesis.

    Notes
    -----
    Neighbours differ by one report, which changes s cells by one, so the table is s/b-DP. Other
    cells have the same distribution under both hypotheses.

    Examples
    --------
    >>> needle_log_ratio(published=[12, 7], others=[10, 8], scale=4)
    0.0
    >>> needle_log_ratio(published=[11, 9], others=[10, 8], scale=4)
    0.5
    >>> needle_log_ratio(published=[10, 8], others=[10, 8], scale=0)
    -inf
    """
    scale = check_not_negative("scale", scale)
    seen = check_whole_counts("published", published, at_least=-(2**53))
    known = check_whole_counts("others", others)
    check_together(published=seen, others=known)
    if seen.ndim != 1 or seen.shape != known.shape or seen.size == 0:
        raise ValueError(f"others must have one count for each published cell, got {others!r}")
    noise = (seen - known).astype(np.float64)
    if scale == 0:
        if (noise == 1).all():
            return inf
        if (noise == 0).all():
            return -inf
        raise ValueError(f"published must be others or one more at scale 0, got {published!r}")
    return float((np.abs(noise) - np.abs(noise - 1)).sum() / scale)


def needle_success(*, symbols: int, scale: float) -> float:
    """Find how often the likelihood ratio shows whether one report is in a published table.

    Parameters
    ----------
    symbols : int
        Number of the report's symbols that the table counts, at least 1.
    scale : float
        Scale b of the discrete Laplace noise of each cell, at least 0; 0 for an exact table.

    Returns
    -------
    float
        Probability that the more likely hypothesis is the true one; a tie is broken by a fair coin.

    Raises
    ------
    ValueError
        If symbols is less than 1, or scale is negative or not finite.

    Notes
    -----
    The attacker knows all other reports and this one. Each of the report's cells independently
    favours one of the hypotheses by 1/b; with probability exp(1/b)/(1 + exp(1/b)), it favours the
    true one. So the attack is a majority vote of s such cells, which reaches `success_bound` if
    s = 1. At b = s/epsilon, the attack is weaker with several symbols than with one.

    References
    ----------
    Neyman, J. and Pearson, E. S. (1933), On the problem of the most efficient tests of statistical
    hypotheses, Philosophical Transactions of the Royal Society A 231: no attack does better.

    Examples
    --------
    >>> round(needle_success(symbols=1, scale=2), 9)
    0.622459331
    >>> round(needle_success(symbols=10, scale=10), 9)
    0.561268112
    """
    symbols = check_whole("symbols", symbols, at_least=1, at_most=MOST_SYMBOLS)
    scale = check_not_negative("scale", scale)
    vote = (1 + _largest_probability(scale)) / 2
    half = symbols // 2
    more = float(bdtrc(half, symbols, vote))
    if symbols % 2:
        return more
    return (more + float(bdtrc(half - 1, symbols, vote))) / 2


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """What an attacker recovers from many counts about the same people."""

    right: float  # share of people whose bit was recovered, averaged over the runs
    people: int
    groups: int  # how many counts were published
    smallest: int  # people in the smallest group that was counted


def reconstruct(
    *,
    bits: Sequence[int],
    groups: int,
    smallest: int,
    scale: float,
    runs: int = 1,
    seed: int = 0,
) -> Reconstruction:
    """Recover one bit per person from counts over many groups of these people.

    Parameters
    ----------
    bits : sequence of int
        True bits, 0 or 1, of at least 2 and at most 1,000 people.
    groups : int
        Number of groups that are counted, from 1 to 10,000. Each group is drawn at random.
    smallest : int
        Least number of people in a group and outside it, at least 1 and at most half of all people.
        It stands for a rule that sets a minimum group size. Sizes are uniform within these limits.
    scale : float
        Scale b of the discrete Laplace noise of each count, 0 to 1e12; 0 for exact counts.
    runs : int, optional
        How many times noise is drawn for the same groups, from 1 to 1,000; one run is enough for
        exact counts.
    seed : int, optional
        Seed of the groups and of the noise, at least 0.

    Returns
    -------
    Reconstruction
        Share of bits recovered by rounding the least-squares solution, and numbers of people and
        groups.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Neighbours differ in one person's bit, which changes the count of each group with that person by
    one. So `groups` counts with b = groups/epsilon are epsilon-DP together, and no attacker is
    right about one bit more often than `success_bound` if both values are equally likely. Exact
    counts determine all bits once there are about as many groups as people, however large the
    smallest group is. Unless Laplace noise is small compared with sqrt(people), rounding fails.

    The noise here is only for demonstration: numpy's generator is not suitable for a release.

    References
    ----------
    Dinur, I. and Nissim, K. (2003), Revealing information while preserving privacy, PODS, theorem
    5: noise o(sqrt(n)) does not protect. Least squares instead of their linear program: Dwork, C.,
    McSherry, F. and Talwar, K. (2007), The price of privacy and the limits of LP decoding, STOC.

    Examples
    --------
    >>> people = [0, 1] * 50
    >>> reconstruct(bits=people, groups=200, smallest=50, scale=0).right
    1.0
    >>> reconstruct(bits=people, groups=200, smallest=50, scale=200, runs=10).right < 0.6
    True
    """
    people = len(bits)
    check_whole("bits", people, at_least=2, at_most=MOST_PEOPLE)
    truth = check_whole_counts("bits", bits, shape=(people,), at_most=1).astype(np.float64)
    groups = check_whole("groups", groups, at_least=1, at_most=MOST_GROUPS)
    smallest = check_whole("smallest", smallest, at_least=1, at_most=people // 2)
    scale = check_not_negative("scale", scale)
    if scale > LARGEST_SCALE:
        raise ValueError(f"scale must be at most {LARGEST_SCALE:g}, got {scale!r}")
    runs = check_whole("runs", runs, at_least=1, at_most=MOST_RUNS)
    generator = np.random.default_rng(check_whole("seed", seed, at_least=0))
    members = _draw_groups(people, groups, smallest, generator)
    counts = (members @ truth)[:, None] + _draw_noise(scale, (groups, runs), generator)
    solved = np.linalg.lstsq(members, counts, rcond=None)[0]
    return Reconstruction(
        right=float(((solved > 0.5) == truth[:, None]).mean()),
        people=people,
        groups=groups,
        smallest=int(members.sum(axis=1).min()),
    )


def _draw_groups(people: int, groups: int, smallest: int, generator: np.random.Generator) -> Floats:
    """Draw a random set of random size for each group, and return rows with a 1 for each member."""
    sizes = generator.integers(smallest, people - smallest + 1, size=groups)
    places = generator.random((groups, people)).argsort(axis=1)
    return (places < sizes[:, None]).astype(np.float64)


def _draw_noise(scale: float, shape: tuple[int, int], generator: np.random.Generator) -> Floats:
    """Draw discrete Laplace noise as a difference of two geometric numbers; it protects no one."""
    if scale == 0:
        return np.zeros(shape)
    stop = -np.expm1(-1 / scale)
    first, second = generator.geometric(stop, shape), generator.geometric(stop, shape)
    return (first - second).astype(np.float64)
