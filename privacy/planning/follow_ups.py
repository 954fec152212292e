"""How precisely shares will be known among those who are asked a follow-up question.

Every result assumes a fixed end: a date or a number of people was fixed beforehand and kept. Shares
and standard errors are fractions, not percentage points.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from privacy.checks import check_share, check_symbols, check_whole
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerer_precision import one_report_conditional_spread


def nested_follow_up_standard_error(
    *,
    share: float,
    asked: float,
    people: int,
    mechanism: RandomizedResponse,
    refusing: float | None = None,
) -> float:
    """Find the standard error of a share among those asked, from the follow-up's code alone.

    Parameters
    ----------
    share : float
        The true share among those who were asked and answered, in [0, 1].
    asked : float
        Share of people who are asked, in (0, 1].
    people : int
        Reports n of everybody, asked or not, at least 1.
    mechanism : RandomizedResponse
        The follow-up's mechanism; "not asked", and "prefer not to say" if offered, are among
        its symbols.
    refusing : float, optional
        Share of those asked who prefer not to say, in [0, 1); None if that is not offered.

    Returns
    -------
    float
        Standard error of the ratio of the symbol's share to that of all who were asked and
        answered.

    Raises
    ------
    ValueError
        If a number is out of range or the mechanism has too few symbols.

    Notes
    -----
    Uses the delta method, which agrees with Fieller's interval when the denominator is known
    precisely. Assumes a fixed end and the normal approximation; a watched survey needs the
    Dirichlet mixture instead, which is wider.

    References
    ----------
    Fieller, E. C. (1954), Some problems in interval estimation, JRSS B 16(2).

    Examples
    --------
    >>> follow_up = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> round(nested_follow_up_standard_error(
    ...     share=0.2, asked=0.3, people=2000, mechanism=follow_up), 3)
    0.07
    """
    share = check_share("share", share)
    asked = check_share("asked", asked, ends="(]")
    people = check_whole("people", people, at_least=1)
    outside = 1 if refusing is None else 2
    silent = 0.0 if refusing is None else check_share("refusing", refusing, ends="[)")
    check_symbols("mechanism", mechanism.symbols, at_least=outside + 2)
    covered = asked * (1 - silent)
    return one_report_conditional_spread(
        share=share, covered=covered, mechanism=mechanism, outside=outside
    ) / sqrt(people)


def joint_follow_up_standard_error(
    *,
    share: float,
    asked: float,
    people: int,
    parent: RandomizedResponse,
    mechanism: RandomizedResponse,
) -> float:
    """Find the standard error of a share among those asked, from parent and follow-up together.

    Parameters
    ----------
    share : float
        The true share of "yes" to the follow-up among those asked, in [0, 1].
    asked : float
        Share of people who say "yes" to the parent and are asked, in (0, 1].
    people : int
        Reports n of everybody, at least 1.
    parent : RandomizedResponse
        The parent's mechanism, with two symbols.
    mechanism : RandomizedResponse
        The follow-up's mechanism, with the three symbols not asked, no, yes. Both epsilons
        are spent.

    Returns
    -------
    float
        Standard error of the joint maximum-likelihood estimate.

    Raises
    ------
    ValueError
        If a number is out of range or a mechanism has the wrong number of symbols.

    Notes
    -----
    Computed from the inverse of Fisher's information about the three truths (no; yes and no; yes
    and yes). Assumes a fixed end and the normal approximation.

    Examples
    --------
    >>> parent = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> follow_up = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> round(joint_follow_up_standard_error(
    ...     share=0.2, asked=0.3, people=2000, parent=parent, mechanism=follow_up), 4)
    0.0585
    """
    share = check_share("share", share)
    asked = check_share("asked", asked, ends="(]")
    people = check_whole("people", people, at_least=1)
    check_symbols("parent", parent.symbols, at_least=2, at_most=2)
    check_symbols("mechanism", mechanism.symbols, at_least=3, at_most=3)
    first, second = parent.channel(), mechanism.channel()
    truths = ((0, 0), (1, 1), (1, 2))
    channel = np.array([np.kron(first[:, i], second[:, j]) for i, j in truths]).T
    reported = channel @ np.array([1 - asked, asked * (1 - share), asked * share])
    # The first share is one minus the other two.
    slopes = channel[:, 1:] - channel[:, :1]
    information = (slopes.T / reported) @ slopes
    gradient = np.array([-share, 1 - share]) / asked
    return sqrt(float(gradient @ np.linalg.solve(information, gradient)) / people)


def packed_follow_up_standard_error(
    *, share: float, asked: float, people: int, mechanism: RandomizedResponse
) -> float:
    """Find the standard error of a share among those asked, if one symbol packs both answers.

    Parameters
    ----------
    share : float
        The true share of "yes" to the follow-up among those asked, in [0, 1].
    asked : float
        Share of people who say "yes" to the parent and are asked, in (0, 1].
    people : int
        Reports n of everybody, at least 1.
    mechanism : RandomizedResponse
        One mechanism for the three symbols no, yes-no, yes-yes. Its epsilon is the whole cost:
        compare it with parent and follow-up at the same total cost.

    Returns
    -------
    float
        Standard error of the share of yes-yes among yes-no and yes-yes.

    Raises
    ------
    ValueError
        If a number is out of range or the mechanism does not have three symbols.

    Notes
    -----
    Uses the delta method, which agrees with Fieller's interval when the denominator is known
    precisely. Assumes a fixed end and the normal approximation.

    References
    ----------
    Fieller, E. C. (1954), Some problems in interval estimation, JRSS B 16(2).

    Examples
    --------
    >>> packed = RandomizedResponse.from_flips(symbols=3, flips=10)
    >>> round(packed_follow_up_standard_error(
    ...     share=0.2, asked=0.3, people=2000, mechanism=packed), 3)
    0.031
    """
    check_symbols("mechanism", mechanism.symbols, at_least=3, at_most=3)
    return nested_follow_up_standard_error(
        share=share, asked=asked, people=people, mechanism=mechanism
    )
