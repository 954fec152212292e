"""Rules for when likelihood intervals need a higher level to cover the true value often enough.

Likelihood intervals are too short where hardly any answer is swapped, because reports are then as
discrete as a direct count of a few people. The rules depend only on the design and the number of
reports, never on what the reports say.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, prod

from privacy.checks import MOST_REPORTS, check_level, check_whole
from privacy.mechanism.mechanisms import RandomizedResponse

# Expected number of reports in which one given code must be swapped for another.
_SWAPPED_FOR_SHARES = 3.0
_SWAPPED_FOR_MEANS, _SWAPPED_FOR_MEANS_AT_LOOKS = 8.0, 20.0
# Below 5 flips of 100, the expected number of reports in which all codes are swapped must also be
# at least _SWAPPED_TOGETHER.
_FEW_FLIPS = 0.05
_SWAPPED_TOGETHER = 0.15
_CAUTIOUS = 0.2  # fraction of the allowed error that the cautious level allows
_CLOSE = 1e-6  # thresholds of a mechanism are whole numbers, so 5 flips are only nearly .05


def joint_share_covers(*, total: int, mechanisms: Sequence[RandomizedResponse]) -> bool:
    """Return whether the likelihood interval of a share among some people covers it often enough.

    Parameters
    ----------
    total : int
        Number of reports n, at least 0. Where a declared question decides who is asked, count only
        the reports whose declared answer can lead to the question.
    mechanisms : sequence of RandomizedResponse
        The mechanisms of the randomized codes that are used, at least one.

    Returns
    -------
    bool
        True if n s >= 3 for the smallest s = 1 / (e^epsilon + 1) of the mechanisms (.25 at 25 flips
        of 100) and, if that s is below .05, n times the product of all s is at least .15.

    Raises
    ------
    ValueError
        If total is out of range or there is no mechanism.

    Notes
    -----
    The second condition matters where few people are asked: sometimes, all codes of a person who
    was not asked must look as if the person had been asked. At the limits, 95 % intervals of a
    question alone (`privacy.shares.conditional.likelihood_ratio_share`) contain the true share with
    a probability of .94, by exact sums. For a question with its parent or two parents
    (`privacy.shares.joint.likelihood.joint_share`), the coverage in simulated surveys is .934 or
    more with 5 or more flips, and about .93 with fewer flips. Beyond the limits, coverage falls to
    .91 for a question alone at 5 flips and 10 reports, and to .90 for a question with its parent at
    1 flip and 1,000 reports, 4 of which come from people who were asked.

    Examples
    --------
    >>> parent, child = (RandomizedResponse.from_flips(symbols=k, flips=5) for k in (2, 3))
    >>> [joint_share_covers(total=n, mechanisms=[parent, child]) for n in (59, 60)]
    [False, True]
    """
    return _enough_are_swapped(total, mechanisms, at_least=_SWAPPED_FOR_SHARES)


def relaxed_likelihood_covers(
    *, total: int, mechanisms: Sequence[RandomizedResponse], at_looks: bool
) -> bool:
    """Return whether the likelihood interval of a mean among some people covers it often enough.

    Parameters
    ----------
    total, mechanisms
        As for `joint_share_covers`.
    at_looks : bool
        Whether the interval has the level of a look (`privacy.shares.looks.repeated_level`).

    Returns
    -------
    bool
        As for `joint_share_covers`, but n s must be at least 8, or at least 20 at looks.

    Raises
    ------
    ValueError
        As for `joint_share_covers`.

    Notes
    -----
    Coverage is lowest where everyone chooses the middle of three points. By exact sums, 95 %
    intervals then cover the mean with a probability of .928 at 5 flips and 100 reports, and of .941
    at 160 reports. In simulated surveys, the interval then misses the true mean at one look or more
    with a probability of up to .057 if the first look is at n s = 8, and of up to .055 if it is at
    n s = 20 or later.

    Examples
    --------
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> for at_looks, n in ((False, 31), (False, 32), (True, 79), (True, 80)):
    ...     relaxed_likelihood_covers(total=n, mechanisms=[five], at_looks=at_looks)
    False
    True
    False
    True
    """
    needed = _SWAPPED_FOR_MEANS_AT_LOOKS if at_looks else _SWAPPED_FOR_MEANS
    return _enough_are_swapped(total, mechanisms, at_least=needed)


def cautious_level(level: float) -> float:
    """Find the level at which a likelihood interval covers often enough if few answers are swapped.

    Parameters
    ----------
    level : float
        The confidence level that is wanted, in (0, 1).

    Returns
    -------
    float
        1 - (1 - level) / 5.

    Raises
    ------
    ValueError
        If level is out of range.

    Notes
    -----
    The following coverage was found in simulated surveys below the limits of the rules above, with
    1 to 12 flips of 100, 30 to 300 reports and 5 to 100 % asked. At the level .99, it is .977 or
    more for shares among some people, and .98 or more for means. At the level .95, it is .89.

    Examples
    --------
    >>> round(cautious_level(.95), 6)
    0.99
    """
    return 1 - _CAUTIOUS * (1 - check_level(level))


def _enough_are_swapped(
    total: int, mechanisms: Sequence[RandomizedResponse], *, at_least: float
) -> bool:
    total = check_whole("total", total, at_least=0, at_most=MOST_REPORTS)
    if not mechanisms:
        raise ValueError(f"mechanisms must hold at least one, got {mechanisms!r}")
    swapped = [1 / (exp(mechanism.epsilon) + 1) for mechanism in mechanisms]
    least, room = min(swapped), 1 - _CLOSE
    if total * least < at_least * room:
        return False
    return least >= _FEW_FLIPS * room or total * prod(swapped) >= _SWAPPED_TOGETHER * room
