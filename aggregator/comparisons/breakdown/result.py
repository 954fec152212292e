"""The result of a breakdown: its groups in order, with their estimates.

The result contains only what may be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from aggregator.results.estimands import Estimand
from aggregator.results.estimate import Estimate, Interval, Intervals
from privacy.associations.contradictions import Contradiction


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """One group, named by the smallest code of its answers; `n` is None if the group is hidden.

    `others` has the codes of the answers that were merged with that answer.
    """

    code: int
    n: int | None
    others: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GroupEstimate:
    """The estimate of one share or mean in one group; its interval runs from `low` to `high`.

    Most fields are as in `aggregator.results.estimate.Estimate`. `n` counts the group's reports in
    which the question was asked.
    """

    question: str
    estimand: str
    group: int
    n: int
    count: int
    value: float | None
    standard_error: float | None
    low: float
    high: float
    level: float
    method: str
    contradiction: bool
    alarm: bool
    # Both are None in results that earlier versions stored.
    design_error: float | None = None
    critical_value: float | None = None

    def as_estimate(self, estimand: Estimand) -> Estimate:
        """Return the estimate for pages and files; a breakdown has intervals at one level only."""
        main = Interval(
            low=self.low,
            high=self.high,
            level=self.level,
            method=self.method,
            critical_value=self.critical_value,
        )
        return Estimate(
            estimand=estimand,
            symbols=(estimand.symbol,),
            total=self.n,
            count=self.count,
            value=self.value,
            standard_error=self.standard_error,
            design_error=self.design_error,
            intervals=Intervals(main=main, inner=(), simultaneous=main),
            contradiction=self.contradiction,
            alarm=self.alarm,
        )


@dataclass(frozen=True, kw_only=True)
class GroupDifference:
    """A group's displayed share or mean minus the share or mean of all other people together."""

    question: str
    estimand: str
    group: int
    difference: float
    low: float
    high: float
    level: float
    method: str

    @property
    def may_be_zero(self) -> bool:
        return self.low <= 0 <= self.high


@dataclass(frozen=True, kw_only=True)
class CrossedCount:
    """The number of people in a group who gave one answer to another declared question.

    The count is exact; `low` and `high` are the ends of the interval of the corresponding share.
    """

    question: str
    code: int
    group: int
    count: int
    low: float
    high: float
    others: tuple[int, ...] = ()  # codes that were merged with the answer


@dataclass(frozen=True, kw_only=True)
class BreakdownResult:
    """Everything that a breakdown shows; `n` counts all reports.

    `least` is the number of people that a group needs.
    """

    n: int
    least: int
    groups: tuple[GroupSize, ...]
    estimates: tuple[GroupEstimate, ...]
    differences: tuple[GroupDifference, ...]
    crossed: tuple[CrossedCount, ...]

    @property
    def contradiction(self) -> Contradiction:
        """Never a contradiction: each estimate has its own status, and there is no joint table."""
        return Contradiction(while_watched=False, after_fixed_end=False)

    @property
    def indicators(self) -> set[str]:
        return set()  # the row of the comparison names the declared question

    @property
    def test_methods(self) -> set[str]:
        return set()

    @property
    def shown(self) -> tuple[GroupSize, ...]:
        """The groups that have rows: those that are not hidden and contain people."""
        return tuple(group for group in self.groups if group.n)

    @cached_property
    def estimates_by_key(self) -> dict[tuple[str, str, int], GroupEstimate]:
        """The estimates by question, estimand and group."""
        return {(one.question, one.estimand, one.group): one for one in self.estimates}

    @cached_property
    def differences_by_key(self) -> dict[tuple[str, str, int], GroupDifference]:
        return {(one.question, one.estimand, one.group): one for one in self.differences}

    @cached_property
    def crossed_by_key(self) -> dict[tuple[str, int, int], CrossedCount]:
        """The crossed counts by question, code and group."""
        return {(one.question, one.code, one.group): one for one in self.crossed}
