"""The result of a comparison, a frozen object from which JSON, pages and files are made.

There is one class for each kind of comparison. Nothing here is computed or put into words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from aggregator.comparisons.breakdown.result import BreakdownResult
from privacy.associations.contradictions import Contradiction
from privacy.associations.latent_regression import AdjustedShares
from privacy.associations.significance import SignificanceTest
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import Answer

# A field's key in stored JSON, if it differs from the field's name.
STORED_AS = "stored_as"
INTERCEPT = "intercept"


class TooFewToShow(Exception):
    """The result would be about too few people, or none. The message says what else to choose."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One combination of categories: 0 is No, 1 is Yes, 2 is no answer."""

    outcome: int
    group: int
    count: int
    share: float
    standard_error: float
    joint_share: float


@dataclass(frozen=True, kw_only=True)
class Together:
    """The numbers of tests and looks that the intervals cover jointly, at 95 %."""

    family: int  # planned comparisons, or tests of a regression; 1 for an unplanned table
    looks: int  # shown looks up to this one; 0 if none could decide when to stop


@dataclass(frozen=True, kw_only=True)
class TwoQuestionsResult:
    """The difference in the outcome between the Yes and the No answers to the group question.

    `share_first` is the share of Yes to the outcome among people who said Yes to the group
    question; `share_second` is this share among people who said No. The four tables have one row
    for each category of the outcome and one column for each category of the group.
    """

    n: int
    together: Together
    contradiction: Contradiction
    # This is set only if the outcome is a number. Then a share of 0 stands for a mean at the first
    # end of the range, and a share of 1 for a mean at the second end.
    outcome_range: tuple[int, int] | None = field(metadata={STORED_AS: "range"})
    counts: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    standard_errors: tuple[tuple[float, ...], ...]
    joint_shares: tuple[tuple[float, ...], ...]
    share_first: AssociationEstimate
    share_second: AssociationEstimate
    difference: AssociationEstimate
    odds_ratio: AssociationEstimate
    log_odds_ratio: AssociationEstimate
    phi: AssociationEstimate
    test: SignificanceTest

    def __post_init__(self) -> None:
        tables = (self.counts, self.shares, self.standard_errors, self.joint_shares)
        shapes = {tuple(len(row) for row in table) for table in tables}
        if len(shapes) != 1 or not all(2 <= length <= 3 for length in shapes.pop()):
            raise ValueError(f"counts, shares and errors must have the same shape, got {tables!r}")

    @property
    def cells(self) -> Iterator[Cell]:
        """The cells, row by row."""
        for outcome, counts in enumerate(self.counts):
            for group, count in enumerate(counts):
                yield Cell(
                    outcome=outcome,
                    group=group,
                    count=count,
                    share=self.shares[outcome][group],
                    standard_error=self.standard_errors[outcome][group],
                    joint_share=self.joint_shares[outcome][group],
                )

    @property
    def indicators(self) -> set[str]:
        return set()  # the row of the comparison names them

    @property
    def test_methods(self) -> set[str]:
        return {self.test.method}


@dataclass(frozen=True, kw_only=True)
class Term:
    """One coefficient of a regression, with the ends of its profile-likelihood interval.

    `name` is "intercept", "q2=1" for an indicator, "q5.all=2-0" for code 2 of a factor against
    reference 0, and "q3.points" for a trend. `adjusted` is None for the intercept.
    """

    name: str
    coefficient: float
    standard_error: float
    low: float
    high: float
    odds_ratio: float
    odds_ratio_low: float
    odds_ratio_high: float
    adjusted: AdjustedShares | None
    statistic: float | None
    p_value: float

    @property
    def indicator(self) -> str:
        """The predictor's name, or an empty string for the intercept."""
        return "" if self.name == INTERCEPT else self.name.partition("=")[0]

    @property
    def is_trend(self) -> bool:
        return bool(self.indicator) and "=" not in self.name

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answer and the reference of a factor's coefficient; empty for other coefficients."""
        _, _, contrast = self.name.partition("=")
        return tuple(_read_answer(text) for text in contrast.split("-")) if "-" in contrast else ()


def name_contrast(factor: str, answer: Answer, reference: Answer) -> str:
    """Name a coefficient of a factor: q5.all=2-0, or q5.all=2|3-0 for merged groups."""
    written = ("|".join(map(str, codes)) for codes in (answer, reference))
    return f"{factor}={'-'.join(written)}"


def _read_answer(text: str) -> Answer:
    return tuple(int(code) for code in text.split("|"))


@dataclass(frozen=True, kw_only=True)
class FactorTest:
    """The likelihood-ratio test of whether any answer of a factor matters."""

    indicator: str
    degrees_of_freedom: int
    statistic: float | None
    p_value: float


@dataclass(frozen=True, kw_only=True)
class RegressionResult:
    """The way in which the odds of Yes to the outcome depend on the predictors."""

    n: int
    together: Together
    contradiction: Contradiction
    cells: int
    log_likelihood: float
    level: float
    terms: tuple[Term, ...]
    factors: tuple[FactorTest, ...]  # only those with several coefficients

    @property
    def indicators(self) -> set[str]:
        named = {term.indicator for term in self.terms} | {one.indicator for one in self.factors}
        return named - {""}

    @property
    def test_methods(self) -> set[str]:
        return set()  # always the likelihood ratio


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """The test of one pair of questions."""

    indicators: tuple[str, str] = field(metadata={STORED_AS: "questions"})
    n: int
    # The number of reports with each pair of codes, if both questions are scrambled with two codes;
    # otherwise None.
    counts: tuple[tuple[int, ...], ...] | None
    # This is 1 if people say Yes to both more often than by chance, otherwise 0. It is None if
    # either question has more than two answers.
    more_often_together: int | None = field(metadata={STORED_AS: "together"})
    method: str
    statistic: float | None
    p_value: float
    adjusted_p_value: float


@dataclass(frozen=True, kw_only=True)
class UntestedPair:
    """A pair of questions that cannot be tested."""

    indicators: tuple[str, str] = field(metadata={STORED_AS: "questions"})
    n: int
    reason: str  # listed in aggregator.comparisons.analysis


@dataclass(frozen=True, kw_only=True)
class PairsResult:
    """The tests of whether pairs of questions are related."""

    n: int
    contradiction: Contradiction
    pairs: tuple[PairTest, ...]
    untested: tuple[UntestedPair, ...]

    @property
    def indicators(self) -> set[str]:
        tested = {name for pair in self.pairs for name in pair.indicators}
        return tested | {name for pair in self.untested for name in pair.indicators}

    @property
    def test_methods(self) -> set[str]:
        return {pair.method for pair in self.pairs}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One segment: the share of people in it, and their shares of Yes to each question.

    The spreads say how much chance and scrambling typically change the size and the shares.
    """

    size: float
    size_spread: float
    shares: tuple[float, ...]
    spread: float


@dataclass(frozen=True, kw_only=True)
class SegmentsResult:
    """Typical profiles of answers, the largest first."""

    n: int
    contradiction: Contradiction
    profiles: tuple[Profile, ...]

    @property
    def indicators(self) -> set[str]:
        return set()  # the row of the comparison names them

    @property
    def test_methods(self) -> set[str]:
        return set()


ComparisonResult = TwoQuestionsResult | RegressionResult | PairsResult | SegmentsResult
StoredResult = ComparisonResult | BreakdownResult
