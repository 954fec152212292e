"""The precision of shares when many questions share one privacy budget.

Every result assumes a fixed end: a date or a number of people was fixed beforehand and kept. Shares
and standard errors are fractions, not percentage points.
"""

from __future__ import annotations

from math import sqrt

from privacy.checks import check_share, check_whole
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import one_report_spread


def full_standard_error(*, share: float, people: int, mechanism: RandomizedResponse) -> float:
    """Find the standard error when every question is asked at full strength.

    Parameters
    ----------
    share : float
        The true share, in [0, 1].
    people : int
        Number of reports n, at least 1.
    mechanism : RandomizedResponse
        The mechanism of every question; q questions together cost q times its epsilon.

    Returns
    -------
    float
        sqrt(l (1 - l) / n) / d.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The result assumes that the survey's end was fixed in advance. It is a standard error, not an
    interval.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(full_standard_error(share=0.2, people=10_000, mechanism=coins), 4)
    0.0095
    """
    share = check_share("share", share)
    people = check_whole("people", people, at_least=1)
    return one_report_spread(share=share, mechanism=mechanism) / sqrt(people)


def split_standard_error(
    *, share: float, people: int, questions: int, mechanism: RandomizedResponse
) -> float:
    """Find the standard error when everyone answers every question within one budget.

    Parameters
    ----------
    share : float
        The true share, in [0, 1].
    people : int
        Number of people who answer, at least 1.
    questions : int
        Number of questions q, at least 1.
    mechanism : RandomizedResponse
        The mechanism that a single question would have: its epsilon is the whole budget.

    Returns
    -------
    float
        Standard error for one question if each question gets a q-th of the epsilon.

    Raises
    ------
    ValueError
        If a number is out of range, or a q-th of the epsilon is too small to be realized.

    Notes
    -----
    The result assumes that the survey's end was fixed in advance. It is a standard error, not an
    interval.

    References
    ----------
    Arcolezi, H. H., Couchot, J.-F., Al Bouna, B. and Xiao, X. (2021), Random sampling plus fake
    data, CIKM ("Spl").

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(split_standard_error(
    ...     share=0.2, people=10_000, questions=10, mechanism=coins), 4)
    0.0911
    """
    return subset_standard_error(
        share=share, people=people, questions=questions, drawn=questions, mechanism=mechanism
    )


def subset_standard_error(
    *, share: float, people: int, questions: int, drawn: int = 1, mechanism: RandomizedResponse
) -> float:
    """Find the standard error when everyone answers a few questions, drawn on the device.

    Parameters
    ----------
    share : float
        The true share, in [0, 1].
    people : int
        Number of people who answer, at least 1.
    questions : int
        Number of questions q, at least 1.
    drawn : int, optional
        Number m of questions that each person answers, from 1 to q.
    mechanism : RandomizedResponse
        The mechanism that a single question would have: its epsilon is the whole budget.

    Returns
    -------
    float
        Standard error for one question if the expected n m / q people answer it, at an m-th of
        the epsilon.

    Raises
    ------
    ValueError
        If a number is out of range, or an m-th of the epsilon is too small to be realized.

    Notes
    -----
    The result assumes that the survey's end was fixed in advance. It is a standard error, not an
    interval.

    References
    ----------
    Arcolezi, H. H., Couchot, J.-F., Al Bouna, B. and Xiao, X. (2021), Random sampling plus fake
    data, CIKM ("Smp").

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(subset_standard_error(
    ...     share=0.2, people=10_000, questions=10, mechanism=coins), 4)
    0.0302
    """
    share = check_share("share", share)
    people = check_whole("people", people, at_least=1)
    answered = question_fraction(drawn=drawn, questions=questions)
    weaker = mechanism
    if drawn > 1:
        weaker = RandomizedResponse.from_epsilon(
            symbols=mechanism.symbols, epsilon=mechanism.epsilon / drawn
        )
    return one_report_spread(share=share, mechanism=weaker) / sqrt(people * answered)


def question_fraction(*, drawn: int, questions: int) -> float:
    """Find the fraction of people who answer a given question.

    Parameters
    ----------
    drawn : int
        Number m of questions that each person answers, from 1 to q.
    questions : int
        Number of questions q, at least 1.

    Returns
    -------
    float
        m / q. In `privacy.planning.precision` and `privacy.planning.power`, the number of people is
        the number who answered the question.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The fraction is exact in expectation, for every kind of interval and every stopping rule.

    Examples
    --------
    >>> question_fraction(drawn=2, questions=8)
    0.25
    """
    questions = check_whole("questions", questions, at_least=1)
    drawn = check_whole("drawn", drawn, at_least=1, at_most=questions)
    return drawn / questions


def pair_fraction(*, drawn: int, questions: int) -> float:
    """Find the fraction of people who answer both of two given questions.

    Parameters
    ----------
    drawn : int
        Number m of questions that each person answers, from 1 to q.
    questions : int
        Number of questions q, at least 2.

    Returns
    -------
    float
        m (m - 1) / (q (q - 1)), which is 0 for m = 1, when no two questions can be compared.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The fraction is exact in expectation, for every kind of interval and every stopping rule.

    Examples
    --------
    >>> pair_fraction(drawn=3, questions=6)
    0.2
    """
    questions = check_whole("questions", questions, at_least=2)
    question_fraction(drawn=drawn, questions=questions)
    return drawn * (drawn - 1) / (questions * (questions - 1))
