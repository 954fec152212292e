"""The precision of a share among those who answer, and the number of people needed.

Some people prefer not to say or are not asked; they also send a code. Every result assumes a rule
for ending the survey, as in `privacy.planning.precision`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from privacy.checks import (
    MOST_REPORTS,
    Floats,
    check_numbers,
    check_share,
    check_symbols,
    check_whole,
)
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import normal_quantile, round_up_people
from privacy.shares.joint.weights import efficient_weights

_SAME = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class ExpectedReports:
    """The reports expected for a question, from which a share among some people is estimated.

    Attributes
    ----------
    channel : ndarray of float64, shape (reported, true)
        Probability of each reported combination of codes given each true one that can occur.
    truth : ndarray of float64, shape (true,)
        Expected shares of people; they sum to one.
    event, counted : ndarray of float64, shape (true,)
        1 for the true answers whose share is wanted (`event`), or among which this share is taken
        (`counted`); otherwise 0. For a mean, `event` may also hold values between 0 and 1.
    """

    channel: Floats
    truth: Floats
    event: Floats
    counted: Floats

    @property
    def share(self) -> float:
        """The expected share among those who answer."""
        return float(self.event @ self.truth / (self.counted @ self.truth))

    @property
    def reported(self) -> Floats:
        """The expected share of each reported combination."""
        return self.channel @ self.truth


def expect_answers(
    *,
    share: float,
    mechanism: RandomizedResponse,
    asked: float | None = None,
    refusing: float | None = None,
    parent: ArrayLike | None = None,
    answers: int | None = None,
) -> ExpectedReports:
    """Describe the reports of a question that not everyone answers.

    Parameters
    ----------
    share : float
        The expected true share among those who answer, in [0, 1].
    mechanism : RandomizedResponse
        The question's mechanism. Its symbols include "not asked" and "prefer not to say" where
        these exist, and at least two answers.
    asked : float or None, optional
        Share of people who are asked, in (0, 1]; None if there is no code for "not asked".
    refusing : float or None, optional
        Share of those asked who prefer not to say, in [0, 1); None if this answer is not offered.
    parent : array_like of float, shape (reported, 2), optional
        Channel of the codes that decide who is asked: the probability of each reported class, first
        for people who are not asked, then for people who are. If None, these codes are ignored.
    answers : int or None, optional
        Number of codes that are answers, at least 2. The others mean "prefer not to say", except
        for one code for "not asked". If None, each of these two meanings has one code where it
        is possible, and all other codes are answers.

    Returns
    -------
    ExpectedReports
        The reports expected for the question, combined with those for the parent.

    Raises
    ------
    ValueError
        If a number is out of range, the mechanism has too few symbols, the parent's channel does
        not hold probabilities, or there is a parent although everyone is asked.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> reports = expect_answers(share=0.2, asked=0.3, mechanism=three)
    >>> np.round(reports.reported, 3).tolist()
    [0.224, 0.296, 0.48]
    """
    people = _People.of(share=share, asked=asked, refusing=refusing)
    may_refuse, has_rule = refusing is not None, asked is not None
    check_symbols("mechanism", mechanism.symbols, at_least=may_refuse + has_rule + 2)
    most = mechanism.symbols - may_refuse - has_rule
    if answers is None:
        answers = most
    check_whole("answers", answers, at_least=2 if may_refuse else most, at_most=most)
    refused = mechanism.symbols - answers - has_rule
    sizes = np.array([1, answers - 1, *[refused] * may_refuse, *[1] * has_rule], dtype=np.float64)
    # All codes of one kind form one class of reports.
    kinds = np.outer(sizes * mechanism.other_probability, np.ones(len(sizes)))
    kinds += mechanism.slope * np.eye(len(sizes))
    return people.report(own=kinds.T, parent=parent)


def expect_item(
    *,
    share: float,
    mechanism: RandomizedResponse,
    gate: RandomizedResponse,
    asked: float | None = None,
    refusing: float | None = None,
    parent: ArrayLike | None = None,
) -> ExpectedReports:
    """Describe the reports of a "select several" item that not everyone answers.

    Parameters
    ----------
    share, asked, refusing, parent
        As for `expect_answers`.
    mechanism : RandomizedResponse
        The mechanism of the item, with two symbols.
    gate : RandomizedResponse
        The mechanism of the code that says whether the question was answered. It has at least two
        symbols: "answered", and one for each possible reason for no answer.

    Returns
    -------
    ExpectedReports
        The reports expected for item and gate, combined with those for the parent.

    Raises
    ------
    ValueError
        As for `expect_answers`, or if a mechanism has the wrong number of symbols.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> reports = expect_item(share=0.2, refusing=0.05, mechanism=coins, gate=coins)
    >>> round(one_report_ratio_spread(reports=reports), 3)
    1.013
    """
    people = _People.of(share=share, asked=asked, refusing=refusing)
    check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
    extra = (refusing is not None) + (asked is not None)
    check_symbols("gate", gate.symbols, at_least=extra + 1, at_most=extra + 1)
    opened, item = gate.channel(), mechanism.channel()
    # People who did not answer chose no item.
    own = [np.kron(opened[:, code], item[:, 0]) for code in range(1, extra + 1)]
    own[:0] = [np.kron(opened[:, 0], item[:, chosen]) for chosen in (1, 0)]
    return people.report(own=np.array(own), parent=parent)


@dataclass(frozen=True, kw_only=True)
class _People:
    """Shares of people by true answer: the answer of interest, another answer, none, not asked."""

    shares: tuple[float, ...]
    has_rule: bool

    @classmethod
    def of(cls, *, share: float, asked: float | None, refusing: float | None) -> _People:
        share = check_share("share", share)
        among = 1.0 if asked is None else check_share("asked", asked, ends="(]")
        silent = 0.0 if refusing is None else check_share("refusing", refusing, ends="[)")
        answering = among * (1 - silent)
        shares = [answering * share, answering * (1 - share)]
        shares += [] if refusing is None else [among * silent]
        shares += [] if asked is None else [1 - among]
        return cls(shares=tuple(shares), has_rule=asked is not None)

    def report(self, *, own: Floats, parent: ArrayLike | None) -> ExpectedReports:
        """Describe the people's reports; `own` has a row for each of the shares."""
        number = np.arange(len(self.shares))
        asked = number < len(self.shares) - self.has_rule
        if parent is not None:
            if not self.has_rule:
                raise ValueError(f"parent must be None where all are asked, got {parent!r}")
            deciding = _check_parent(parent).T[asked.astype(np.intp)]
            own = np.array([np.kron(*each) for each in zip(deciding, own, strict=True)])
        return ExpectedReports(
            channel=own.T,
            truth=np.array(self.shares),
            event=(number < 1).astype(np.float64),
            counted=(number < 2).astype(np.float64),
        )


def _check_parent(parent: ArrayLike) -> Floats:
    channel = check_numbers("parent", parent, at_least=0.0)
    if channel.ndim != 2 or channel.shape[1] != 2 or (abs(channel.sum(axis=0) - 1) > 1e-9).any():
        raise ValueError(f"parent must have 2 columns that sum to one, got {parent!r}")
    return channel


def assume_share(
    *,
    channel: ArrayLike,
    numerator: ArrayLike,
    denominator: ArrayLike,
    counted: float,
    share: float,
) -> ExpectedReports:
    """Describe the reports expected at an assumed share, to judge a design, not its results.

    Parameters
    ----------
    channel : array_like of float, shape (reported, true)
        As for `ExpectedReports`.
    numerator, denominator : array_like of float, shape (true,)
        What each true answer adds to the numerator of the ratio, from 0 to 1, and to its
        denominator, 0 or 1.
    counted : float
        Share of people who are counted, in (0, 1].
    share : float
        The assumed ratio, in [0, 1].

    Returns
    -------
    ExpectedReports
        The reports if all people counted are at one of the two ends: a fraction `share` of them
        have true answers with numerator 1, and the rest have true answers with numerator 0. True
        answers of the same kind are equally frequent.

    Raises
    ------
    ValueError
        If a number is out of range, or the arrays have no entry for some of the people who are
        assumed.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> reports = assume_share(channel=three.channel(), numerator=[1, 0, 0],
    ...     denominator=[1, 1, 0], counted=0.95, share=0.2)
    >>> round(reports.share, 6), np.round(reports.truth, 2).tolist()
    (0.2, [0.19, 0.76, 0.05])
    """
    event, among = check_numbers("numerator", numerator), check_numbers("denominator", denominator)
    counted = check_share("counted", counted, ends="(]")
    share = check_share("share", share)
    truth = np.zeros(len(among))
    for kind, people in (
        ((among == 1) & (event == 1), counted * share),
        ((among == 1) & (event == 0), counted * (1 - share)),
        (among == 0, 1 - counted),
    ):
        if kind.any():
            truth[kind] = people / kind.sum()
        elif people > _SAME:
            raise ValueError(f"numerator must be 0, and 1, of some who are counted, got {event!r}")
    return ExpectedReports(
        channel=check_numbers("channel", channel, at_least=0.0),
        truth=truth,
        event=event,
        counted=among,
    )


def one_report_ratio_spread(*, reports: ExpectedReports) -> float:
    """Find the standard error of a share among those who answer, from one report.

    Parameters
    ----------
    reports : ExpectedReports
        What people are expected to report.

    Returns
    -------
    float
        The standard error from one report. Divided by sqrt(n), it is the standard error from the
        reports of all n people who take part.

    Notes
    -----
    The result is the standard deviation of A - q B, with the weights A and B that have the least
    variance at the expected true shares, divided by the share of people who answer. It equals the
    standard error of the most likely share and, for a question's own code alone, the standard error
    by the delta method. It assumes that the survey's end was fixed in advance, and the normal
    approximation.

    Examples
    --------
    Three codes with 30 % of people asked, without and with the parent's code, as in
    docs/methods/other-kinds.md:

    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> alone = expect_answers(share=0.2, asked=0.3, mechanism=three)
    >>> jointly = expect_answers(share=0.2, asked=0.3, mechanism=three, parent=coins.channel())
    >>> [round(one_report_ratio_spread(reports=each) / sqrt(2000), 4) for each in (alone, jointly)]
    [0.0699, 0.0585]
    """
    numerator, denominator = efficient_weights(
        channel=reports.channel,
        numerator=reports.event,
        denominator=reports.counted,
        reported=reports.reported,
    )
    residuals = numerator - reports.share * denominator
    variance = float(reports.reported @ residuals**2)
    return sqrt(max(variance, 0.0)) / float(reports.counted @ reports.truth)


def ratio_half_width(*, reports: ExpectedReports, people: int, level: float = LEVEL) -> float:
    """Find the half-width that the interval of a share among those who answer will have.

    Parameters
    ----------
    reports : ExpectedReports
        What people are expected to report.
    people : int
        Number of people taking part, at least 1.
    level : float, optional
        Level of the interval, in (0, 1). For a watched survey, use the result of
        `privacy.planning.precision.watched_level`.

    Returns
    -------
    float
        z times the standard error.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The result uses the normal approximation and is not clipped to [0, 1].

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> reports = expect_answers(share=0.2, refusing=0.05, mechanism=three)
    >>> round(ratio_half_width(reports=reports, people=1941), 3)
    0.05
    """
    people = check_whole("people", people, at_least=1, at_most=MOST_REPORTS)
    return normal_quantile(level) * one_report_ratio_spread(reports=reports) / sqrt(people)


def people_for_ratio_half_width(
    *, reports: ExpectedReports, half_width: float, level: float = LEVEL
) -> int:
    """Find how many people must take part when some will not answer.

    Parameters
    ----------
    reports : ExpectedReports
        What people are expected to report.
    half_width : float
        Desired half-width of the interval of the share among those who answer, in (0, 1).
    level : float, optional
        As for `ratio_half_width`.

    Returns
    -------
    int
        Number of people who take part, including those who will not answer; rounded up.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    As for `ratio_half_width`.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> reports = expect_answers(share=0.2, refusing=0.05, mechanism=three)
    >>> people_for_ratio_half_width(reports=reports, half_width=0.05)
    1941
    >>> from privacy.planning.precision import watched_level
    >>> people_for_ratio_half_width(reports=reports, half_width=0.05, level=watched_level())
    2604
    """
    half_width = check_share("half_width", half_width, ends="()")
    spread = one_report_ratio_spread(reports=reports)
    return round_up_people((normal_quantile(level) * spread / half_width) ** 2)
