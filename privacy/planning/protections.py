"""The standard error of a share without protection, and with three kinds of protection.

In all four cases, the same people answer one question honestly, and their number is public. The
loss epsilon is about one person's answer, that is, about surveys in which the same people take part
and one of them has a different true answer. Every result assumes that the end of the survey was
fixed in advance. Shares and standard errors are fractions, not percentage points.
"""

from __future__ import annotations

from enum import StrEnum
from math import exp, expm1, log, sqrt

from privacy.central.reader import strength_for_reader
from privacy.checks import (
    MOST_REPORTS,
    check_positive,
    check_share,
    check_whole,
)
from privacy.mechanism.mechanisms import MAX_SYMBOLS, RandomizedResponse
from privacy.mechanism.shuffling import shuffle_delta
from privacy.planning.precision import round_up_people, smallest_number

# More people than this would allow even weaker scrambling of shuffled reports. With this number,
# scrambling already hides almost nothing. Larger surveys use the bound for this number, which is
# conservative.
_MOST_SHUFFLED = 2**20
# Whole thresholds out of 2**32 can realize every epsilon between these two bounds.
_STRONGEST, _WEAKEST = 1e-7, 22.0


class Protection(StrEnum):
    """Where a question is protected, which determines who must be trusted with the true answer.

    `NONE`: nowhere; the server and every reader see the exact count. `CENTRAL`: the server holds
    the true answers and adds noise to the counts that it publishes. `SHUFFLED`: devices scramble
    lightly, and the server mixes the reports before anyone reads their counts. `LOCAL`: devices
    scramble at full strength, and no one needs to be trusted.
    """

    NONE = "none"
    CENTRAL = "central"
    SHUFFLED = "shuffled"
    LOCAL = "local"


def protected_standard_error(
    *,
    protection: Protection,
    share: float,
    people: int,
    epsilon: float,
    answers: int = 2,
    delta: float = 1e-6,
) -> float:
    """Find the standard error of one share under one of the four protections.

    Parameters
    ----------
    protection : Protection
        Where the question is protected.
    share : float
        The true share p of one of the answers, in [0, 1].
    people : int
        Number n of people who answer, at least 1.
    epsilon : float
        Privacy loss of one answer towards anyone who is not trusted, in nats; finite and at least
        1e-7, and at most 22 for shuffled reports. Without protection, epsilon has no effect.
    answers : int, optional
        Number of answers k, from 2 to 64; 2 for shuffled reports.
    delta : float, optional
        Delta of shuffled reports, in (0, 1). The other protections have no delta.

    Returns
    -------
    float
        The standard error. For `CENTRAL`, it is sqrt(p (1 - p) / n + 2 (D / epsilon)**2 / n**2),
        with D = 1 for two answers and 2 for more; for `NONE`, the second term is missing. For
        `LOCAL`, it is sqrt(l (1 - l) / n) / d with l = c + d p, where the channel has exactly
        epsilon. For `SHUFFLED`, the formula is the same, with the larger epsilon that shuffling
        allows.

    Raises
    ------
    ValueError
        If a number is out of range, or shuffled reports have more than two answers.

    Notes
    -----
    Neighbouring data sets differ in one person's true answer, which moves one count up and another
    down. With two answers, one count determines both, because n is public, so the L1 sensitivity D
    is 1. With more answers, all k counts get noise, and D is 2. Laplace noise of scale
    b = D / epsilon has variance 2 b**2; the variance of the discrete noise that Murmur draws is
    smaller by up to 1/6. The estimate divides by the public n, so only the noise of the answer's
    own count matters.

    For two answers, the local variance is p (1 - p) / n + e / ((e - 1)**2 n) with
    e = exp(epsilon): at ln 3 the second term is 3 / (4 n).

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006), Calibrating noise to sensitivity in
    private data analysis, TCC, proposition 1 (central).
    Kairouz, P., Bonawitz, K. and Ramage, D. (2016), Discrete distribution estimation under
    local privacy, ICML, equation (4) (local).
    Balle, B., Bell, J., Gascon, A. and Nissim, K. (2019), The privacy blanket of the shuffle
    model, CRYPTO (shuffled).

    Examples
    --------
    >>> from math import log
    >>> for each in Protection:
    ...     error = protected_standard_error(
    ...         protection=each, share=0.2, people=1000, epsilon=log(3)
    ...     )
    ...     print(each, f"{error:.4f}")
    none 0.0126
    central 0.0127
    shuffled 0.0140
    local 0.0302
    """
    protection = _check_protection(protection)
    return sqrt(
        _variance(
            protection,
            share=check_share("share", share),
            people=check_whole("people", people, at_least=1, at_most=MOST_REPORTS),
            epsilon=_check_epsilon(protection, epsilon),
            answers=_check_answers(protection, answers),
            delta=check_share("delta", delta, ends="()"),
        )
    )


def people_for_protected_standard_error(
    *,
    protection: Protection,
    share: float,
    standard_error: float,
    epsilon: float,
    answers: int = 2,
    delta: float = 1e-6,
) -> int:
    """Find how many people must answer for a desired standard error under one protection.

    Parameters
    ----------
    protection : Protection
        Where the question is protected.
    share : float
        The true share of one of the answers, in [0, 1].
    standard_error : float
        Desired standard error, in (0, 1).
    epsilon : float
        Privacy loss of one answer towards anyone who is not trusted, in nats; finite and at least
        1e-7, and at most 22 for shuffled reports. Without protection, epsilon has no effect.
    answers : int, optional
        Number of answers k, from 2 to 64; 2 for shuffled reports.
    delta : float, optional
        Delta of shuffled reports, in (0, 1). The other protections have no delta.

    Returns
    -------
    int
        The smallest number of people for which `protected_standard_error` is at most the desired
        one, or 2**53 if more are needed.

    Raises
    ------
    ValueError
        If a number is out of range, or shuffled reports have more than two answers.

    Notes
    -----
    In all four cases, the standard error falls as the number of people grows. For shuffled reports,
    more people also allow weaker scrambling.

    Examples
    --------
    >>> from math import log
    >>> for each in (Protection.NONE, Protection.CENTRAL, Protection.LOCAL):
    ...     print(people_for_protected_standard_error(
    ...         protection=each, share=0.2, standard_error=0.02, epsilon=log(3)
    ...     ))
    400
    411
    2275
    """
    protection = _check_protection(protection)
    share = check_share("share", share)
    wanted = check_share("standard_error", standard_error, ends="()") ** 2
    epsilon = _check_epsilon(protection, epsilon)
    answers = _check_answers(protection, answers)
    delta = check_share("delta", delta, ends="()")

    def variance(people: int) -> float:
        return _variance(
            protection, share=share, people=people, epsilon=epsilon, answers=answers, delta=delta
        )

    if protection in {Protection.NONE, Protection.LOCAL}:
        # Both variances are exactly proportional to 1 / n.
        return min(MOST_REPORTS, round_up_people(variance(1) / wanted))
    if protection is Protection.SHUFFLED:
        return smallest_number(
            lambda people: (
                people >= MOST_REPORTS
                or _shuffling_reaches(
                    wanted, share=share, people=people, epsilon=epsilon, delta=delta
                )
            )
        )
    return smallest_number(
        # A rounding error in the last bits must not require one more person.
        lambda people: people >= MOST_REPORTS or variance(people) <= wanted * (1 + 1e-12)
    )


def _variance(
    protection: Protection,
    *,
    share: float,
    people: int,
    epsilon: float,
    answers: int,
    delta: float,
) -> float:
    if protection is Protection.LOCAL:
        return _scrambled_variance(share, epsilon, answers) / people
    if protection is Protection.SHUFFLED:
        allowed = strength_for_reader(
            people=min(people, _MOST_SHUFFLED), epsilon=epsilon, delta=delta
        )
        return _scrambled_variance(share, allowed, answers) / people
    sampling = share * (1 - share) / people
    if protection is Protection.NONE:
        return sampling
    # One person's answer changes two counts; with two answers, publishing one count is enough.
    scale = (1 if answers == 2 else 2) / epsilon / people
    return sampling + 2 * scale * scale


def _shuffling_reaches(
    wanted: float, *, share: float, people: int, epsilon: float, delta: float
) -> bool:
    """Return whether readers learn at most epsilon from reports with the desired variance.

    This check computes one bound for each number of people. Computing the variance would require a
    bound for each step of a bisection.
    """
    scrambling = wanted * people - share * (1 - share)
    if scrambling <= 0:
        return False
    # Solve the quadratic r / (1 - r)**2 = scrambling for r = exp(-epsilon), without cancellation.
    ratio = 2 * scrambling / (2 * scrambling + 1 + sqrt(4 * scrambling + 1))
    needed = -log(ratio)
    if needed <= epsilon:
        return True  # even without shuffling
    if needed > _WEAKEST:
        return False
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=needed)
    shuffled = min(people, _MOST_SHUFFLED)
    return shuffle_delta(mechanism=mechanism, people=shuffled, epsilon=epsilon) <= delta


def _scrambled_variance(share: float, epsilon: float, answers: int) -> float:
    """Compute the variance of an estimated share from one scrambled report: l (1 - l) / d**2."""
    # Start from exp(-epsilon), so that neither a large nor a small epsilon loses precision.
    ratio = exp(-epsilon)
    keep = 1 / (1 + (answers - 1) * ratio)
    other, slope = ratio * keep, -expm1(-epsilon) * keep
    reported = other + slope * share
    rest = (answers - 1) * other + slope * (1 - share)  # 1 - l, without cancellation
    return reported * rest / (slope * slope)


def _check_protection(protection: Protection) -> Protection:
    if protection not in tuple(Protection):
        raise ValueError(f"protection must be one of {', '.join(Protection)}, got {protection!r}")
    return Protection(protection)


def _check_epsilon(protection: Protection, epsilon: float) -> float:
    epsilon = check_positive("epsilon", epsilon)
    if epsilon < _STRONGEST or (protection is Protection.SHUFFLED and epsilon > _WEAKEST):
        raise ValueError(
            f"epsilon must be at least {_STRONGEST}, and at most {_WEAKEST} for shuffled reports, "
            f"got {epsilon!r}"
        )
    return epsilon


def _check_answers(protection: Protection, answers: int) -> int:
    answers = check_whole("answers", answers, at_least=2, at_most=MAX_SYMBOLS)
    if protection is Protection.SHUFFLED and answers != 2:
        raise ValueError(f"answers must be 2 for shuffled reports, got {answers!r}")
    return answers
