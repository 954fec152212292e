"""Which answer best predicts another, from scrambled reports: scores and estimates of rules.

A rule predicts a person's answer to one question, the outcome. It predicts the person's answer to
another question (a predictor), the opposite of that answer, always Yes, or always No. All questions
are yes/no questions, each with its own channel: a report shows the true answer with probability t,
and d = 2 t - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from privacy.checks import check_not_negative, check_symbols, check_whole
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse

# Scores for a draw are in thousandths of a report.
FACTOR = 1000


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule; `predictor` is the index of a predictor, or None for a constant.

    If `says_same`, the rule predicts the predictor's answer, or always Yes for a constant.
    Otherwise it predicts the opposite, or always No.
    """

    predictor: int | None
    says_same: bool


@dataclass(frozen=True, kw_only=True)
class RuleEstimate:
    """How often a rule is right, compared with the constants.

    Attributes
    ----------
    share, standard_error : float
        The fraction of people for whom the rule is right. The estimate is unbiased and not clipped.
    yes, yes_standard_error : float
        The fraction of people for whom "always Yes" is right: their true answer to the outcome is
        Yes.
    gains, gain_standard_errors : tuple of float
        How much larger the rule's share is than the share of "always Yes" and of "always No".
    """

    share: float
    standard_error: float
    yes: float
    yes_standard_error: float
    gains: tuple[float, float]
    gain_standard_errors: tuple[float, float]

    @property
    def gain(self) -> float:
        """How much larger the rule's share is than the share of the better constant."""
        return min(self.gains)

    def find_least_gain(self, critical: float) -> float:
        """Subtract `critical` standard errors from each of the two gains, and return the smaller.

        The rule beats the better constant only if it beats both constants, so the tests against
        both must reject, and neither test needs a correction for the other.
        """
        ends = zip(self.gains, self.gain_standard_errors, strict=True)
        return min(gain - critical * error for gain, error in ends)


def list_rules(predictors: int) -> list[Rule]:
    """List all rules in the order of `rule_scores`.

    Parameters
    ----------
    predictors : int
        Number of predictors q, at least 1.

    Returns
    -------
    list of Rule
        For each predictor, "the same" and "the opposite"; then "always Yes" and "always No". In
        total, there are 2 q + 2 rules.

    Raises
    ------
    ValueError
        If predictors is not a whole number of at least 1.

    Examples
    --------
    >>> [(rule.predictor, rule.says_same) for rule in list_rules(1)]
    [(0, True), (0, False), (None, True), (None, False)]
    """
    places = range(check_whole("predictors", predictors, at_least=1))
    return [
        Rule(predictor=place, says_same=same) for place in (*places, None) for same in (True, False)
    ]


def rule_scores(
    *,
    agreeing: Sequence[int],
    yes: int,
    total: int,
    predictors: Sequence[RandomizedResponse],
) -> list[int]:
    """Score every rule by the number of reports it is right for, on one scale for all channels.

    Parameters
    ----------
    agreeing : sequence of int
        N_j for each predictor j: the number of reports with the same code for the predictor and the
        outcome, 0 <= N_j <= total. There must be at least one predictor.
    yes : int
        S, the number of reports whose code for the outcome is Yes, 0 <= S <= total.
    total : int
        n, the number of all reports, at least 0. Each report has a code for the outcome and for
        every predictor.
    predictors : sequence of RandomizedResponse
        The channel of each predictor, with two symbols. The outcome's channel is not needed,
        because it is the same for all rules.

    Returns
    -------
    list of int
        Scores in the order of `list_rules`: (n + r (2 N_j - n)) / 2 and (n - r (2 N_j - n)) / 2
        for each predictor with r = d_min / d_j, then the same formulas for S instead of N_j with r
        = d_min, because a constant is a predictor without noise. The smallest slope of any
        predictor is d_min. All scores are multiplied by `FACTOR` and rounded down.

    Raises
    ------
    ValueError
        If there is no predictor, a channel has more than two symbols, agreeing and predictors
        differ in number, or a count is not whole or out of range.

    Notes
    -----
    *Sensitivity.* One more report raises every score by at least 0 and at most `FACTOR`, so the
    scores are monotone, and a choice needs the rate epsilon / `FACTOR`. Proof: the report adds (1 +
    r) / 2 to a score if the rule is right for its codes and (1 - r) / 2 if it is wrong, and 0 < r
    <= 1 because d_min is the smallest slope and no slope exceeds 1. After multiplication by
    `FACTOR`, the report adds from 0 to `FACTOR`. Rounding down never turns a rise into a fall, and
    a rise of at most a whole number stays at most that number. At r = 1, a report for which the
    rule is right adds `FACTOR`.

    *One scale.* With a_j = d_y d_j and b_j = (1 - a_j) / 2, and theta_j the fraction of people for
    whom the rule is right, E N_j = n (b_j + a_j theta_j). Hence the expected score is n / 2 + n d_y
    d_min (theta_j - 1/2) for every rule, constants included (a = d_y): the best rule has the best
    expected score, and a gap of g reports stands for g / (d_y d_min) people.

    If all channels are equal, the scores of predictors are N_j and n - N_j. Otherwise, the scores
    differ from each other as the estimates (N_j - b_j n) / a_j do, multiplied by d_y d_min. If
    these estimates were the scores, one more report could raise or lower a score, by up to (1 + a)
    / (2 a), so the noise would have to be twice that: 1 / a + 1 people. Adding n / 2 to all scores
    changes no choice and makes them monotone: the noise is then 1 / a people, a fifth less for two
    coins.

    References
    ----------
    Kasiviswanathan, S. P., Lee, H. K., Nissim, K., Raskhodnikova, S. and Smith, A. (2011), What can
    we learn privately?, SIAM Journal on Computing 40(3), theorem 3.4 (learning by the exponential
    mechanism).
    McKenna, R. and Sheldon, D. (2020), Permute-and-flip, NeurIPS, section 3 (monotone scores).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> rule_scores(agreeing=[520, 430], yes=400, total=1000, predictors=[coins, coins])
    [520000, 480000, 430000, 570000, 450000, 550000]
    """
    slopes = [_find_slope("predictors", one) for one in predictors]
    n = check_whole("total", total, at_least=0)
    counts = [check_whole("agreeing", one, at_least=0, at_most=n) for one in agreeing]
    if not slopes or len(counts) != len(slopes):
        raise ValueError(
            "agreeing and predictors must be equally many, at least one, "
            f"got {agreeing!r} and {predictors!r}"
        )
    least = min(slopes)
    places = [(count, least / slope) for count, slope in zip(counts, slopes, strict=True)]
    places.append((check_whole("yes", yes, at_least=0, at_most=n), least))
    moves = (ratio * (2 * count - n) for count, ratio in places)
    return [floor(FACTOR * (n + way) / 2) for move in moves for way in (move, -move)]


def agreement_channel(
    *, outcome: RandomizedResponse, predictor: RandomizedResponse
) -> tuple[float, float]:
    """Find the channel of "both answers are the same", which is itself a scrambled yes/no answer.

    Parameters
    ----------
    outcome, predictor : RandomizedResponse
        The channels of the two questions, with two symbols.

    Returns
    -------
    tuple of float
        b and a: codes agree with probability b + a theta, where theta is the fraction of people
        whose answers agree. a = d_y d_x and b = (1 - a) / 2 = t_y c_x + c_y t_x.

    Raises
    ------
    ValueError
        If a channel has more than two symbols.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> agreement_channel(outcome=coins, predictor=coins)
    (0.375, 0.25)
    """
    slope = _find_slope("outcome", outcome) * _find_slope("predictor", predictor)
    return float((1 - slope) / 2), float(slope)


def estimate_rule(
    *,
    table: Sequence[Sequence[int]],
    outcome: RandomizedResponse,
    predictor: RandomizedResponse,
    says_same: bool,
    noise_variance: float = 0.0,
) -> RuleEstimate:
    """Estimate how often a rule is right, and how much more often than a constant.

    Parameters
    ----------
    table : sequence of sequence of int
        Numbers of reports: table[y][x] for code y of the outcome and code x of the predictor. With
        noise, cells may be negative, but their sum must be at least 1.
    outcome, predictor : RandomizedResponse
        The channels, with two symbols.
    says_same : bool
        Whether the rule predicts the predictor's answer rather than its opposite.
    noise_variance : float, optional
        Variance v of the noise of one cell, at least 0.

    Returns
    -------
    RuleEstimate
        share is theta = (N / n - b) / a with its standard error sqrt(l (1 - l) / n) / a, where l =
        N / n and N is the number of reports that agree with the rule; noise adds to the error.

    Raises
    ------
    ValueError
        If the table does not have two rows of two whole numbers, sums to less than one, or another
        parameter is out of range.

    Notes
    -----
    Every figure is sum(w_i C_i) / n with known weights w_i for the four cells C_i. Its variance is
    (sum(w_i**2 C_i) / n - value**2) / n, and noise on the cells adds
    v sum((w_i - value)**2) / n**2 (a first-order approximation of the ratio). The standard errors
    hold for one rule that was chosen beforehand. The best of several rules looks better than it is.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> found = estimate_rule(table=[[310, 290], [190, 210]], outcome=coins, predictor=coins,
    ...                       says_same=True)
    >>> round(found.share, 9), round(found.standard_error, 9)
    (0.58, 0.063194937)
    >>> round(found.yes, 9), round(found.gain, 9)
    (0.3, -0.12)
    """
    cells = _check_table(table)
    v = check_not_negative("noise_variance", noise_variance)
    b, a = agreement_channel(outcome=outcome, predictor=predictor)
    d = outcome.slope
    agrees = np.array([1.0, 0.0, 0.0, 1.0]) if says_same else np.array([0.0, 1.0, 1.0, 0.0])
    right = (agrees - b) / a
    always_yes = (np.array([0.0, 0.0, 1.0, 1.0]) - outcome.other_probability) / d
    share, error = _estimate(cells, right, v)
    yes, yes_error = _estimate(cells, always_yes, v)
    over_yes, over_yes_error = _estimate(cells, right - always_yes, v)
    over_no, over_no_error = _estimate(cells, right - (1 - always_yes), v)
    return RuleEstimate(
        share=share,
        standard_error=error,
        yes=yes,
        yes_standard_error=yes_error,
        gains=(over_yes, over_no),
        gain_standard_errors=(over_yes_error, over_no_error),
    )


def _estimate(
    cells: NDArray[np.float64], weights: NDArray[np.float64], v: float
) -> tuple[float, float]:
    n = float(cells.sum())
    value = float(weights @ cells) / n
    sampling = max(float(weights**2 @ cells) / n - value**2, 0.0) / n
    return value, sqrt(sampling + v * float(((weights - value) ** 2).sum()) / n**2)


def _check_table(table: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    rows = [list(row) for row in table]
    if [len(row) for row in rows] != [2, 2]:
        raise ValueError(f"table must have two rows of two counts, got {table!r}")
    cells = [check_whole("table", cell, at_least=-(2**53)) for row in rows for cell in row]
    if sum(cells) < 1:
        raise ValueError(f"table must sum to at least 1, got {table!r}")
    return np.array(cells, dtype=np.float64)


def _find_slope(name: str, mechanism: RandomizedResponse) -> Fraction:
    """Return d as a fraction, because sums of floats have a larger sensitivity than expected."""
    check_symbols(name, mechanism.symbols, at_least=2, at_most=2)
    return Fraction(2 * mechanism.threshold - SCALE, SCALE)
