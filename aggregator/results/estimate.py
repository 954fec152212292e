"""The estimate that pages, CSV files and the API show, and that a snapshot stores.

Everything that shows an estimate reads it here, so each of its fields has one name and one
meaning. Nothing is clipped except for display.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from aggregator.results.estimands import Estimand, estimands_of
from aggregator.results.reliability import Reliability, rate
from privacy.mechanism.fake_reports import Band, robustness_band
from privacy.shares.looks import repeated_level
from surveys.manifest.questions import ManifestQuestion

# The statement about invented reports assumes that this share of the reports is invented.
FAKE_SHARE = 0.02


class Status(StrEnum):
    """The status of an estimate, to check before using it; a column of estimates.csv."""

    OK = "ok"
    OUTSIDE = "outside_0_1"
    CONTRADICTION = "contradiction"  # by chance in at most 5 in 100 questions
    ALARM = "alarm"  # by chance in at most 1 in 100 surveys


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An interval with its level for all looks together.

    Each end is about `critical_value` standard errors from the estimate.
    """

    low: float
    high: float
    level: float
    method: str
    critical_value: float | None = None  # None in snapshots that earlier versions stored

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def complement(self) -> Interval:
        """Return the interval of one minus the share."""
        return replace(self, low=1 - self.high, high=1 - self.low)


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """The intervals of one estimate.

    The `inner` intervals lie inside the main interval, and their coverage is less reliable at small
    n. There are no inner intervals if the main interval holds for all looks together. The
    `simultaneous` interval holds jointly with the simultaneous intervals of all other estimates on
    the page.
    """

    main: Interval
    inner: tuple[Interval, ...]
    simultaneous: Interval

    def change(self, one: Callable[[Interval], Interval]) -> Intervals:
        return Intervals(
            main=one(self.main),
            inner=tuple(one(interval) for interval in self.inner),
            simultaneous=one(self.simultaneous),
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Intervals:
        return cls(
            main=Interval(**stored["main"]),
            inner=tuple(Interval(**interval) for interval in stored["inner"]),
            simultaneous=Interval(**stored["simultaneous"]),
        )


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The confidence levels of one estimate's intervals, for all looks together.

    `times` lists the looks at which results were shown, as fractions of the reports expected; it is
    empty if nobody ever sees more than one interval.
    """

    main: float
    inner: tuple[float, ...]
    simultaneous: float
    times: tuple[float, ...]

    def now(self, level: float) -> float:
        """Return the level at this look that makes `level` hold for all looks together."""
        return repeated_level(level, times=self.times)

    @property
    def distinct(self) -> frozenset[float]:
        return frozenset((self.main, self.simultaneous, *self.inner))

    def find(self, interval_at: Callable[[float], Interval]) -> Intervals:
        return Intervals(
            main=interval_at(self.main),
            inner=tuple(map(interval_at, self.inner)),
            simultaneous=interval_at(self.simultaneous),
        )


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimate of one share or mean, with its intervals. Shares are fractions.

    The value is None where a ratio cannot be formed because nobody seems to have answered. Only a
    share of everyone who was asked has a joint value and an effective sample size. The sample size
    is also missing where the share lies outside (0, 1).
    """

    estimand: Estimand
    symbols: tuple[str, ...]  # the estimate uses the codes of these symbols
    total: int  # reports in which the question was asked
    count: int  # reports that show the event
    value: float | None
    joint_value: float | None = None
    standard_error: float | None
    effective_sample_size: float | None = None
    # The standard error that the design and the number of reports give at a share of 20 %, as a
    # fraction of the possible range; None if nobody seems to have answered.
    design_error: float | None = None
    intervals: Intervals
    contradiction: bool
    alarm: bool = False  # whether the question is in alarm

    @property
    def raw_share(self) -> float:
        return self.count / self.total

    @property
    def low(self) -> float:
        return self.intervals.main.low

    @property
    def high(self) -> float:
        return self.intervals.main.high

    @property
    def method(self) -> str:
        return self.intervals.main.method

    @property
    def critical_value(self) -> float | None:
        """The half-width of the main interval in standard errors, given its level at this look."""
        return self.intervals.main.critical_value

    @property
    def is_mean(self) -> bool:
        return self.estimand.is_mean

    @property
    def unit(self) -> str:
        return self.estimand.question.unit if self.is_mean else ""

    @property
    def displayed(self) -> float | None:
        """The value clipped to its interval, which contains only possible values."""
        return None if self.value is None else min(max(self.value, self.low), self.high)

    @property
    def reliability(self) -> Reliability:
        """How the value may be used: at most with caution if the question is in alarm."""
        if self.contradiction or self.displayed is None:
            return Reliability.NOT_SHOWN
        rating = rate(self.design_error, self.intervals.main.critical_value)
        if self.alarm and rating is Reliability.PUBLISHABLE:
            return Reliability.CAUTION
        return rating

    @property
    def is_shown(self) -> bool:
        """Whether pages and charts show the value."""
        return self.reliability is not Reliability.NOT_SHOWN

    @property
    def is_possible(self) -> bool:
        """Whether the value lies between the least and the greatest possible value."""
        least, greatest = self.estimand.scale
        return self.value is None or least <= self.value <= greatest

    @property
    def status(self) -> Status:
        if self.alarm:
            return Status.ALARM
        if self.contradiction:
            return Status.CONTRADICTION
        return Status.OK if self.is_possible else Status.OUTSIDE

    @property
    def fake_band(self) -> Band | None:
        """The interval if FAKE_SHARE of the reports were invented, whatever answers they contain.

        Only shares of everyone who was asked have such an interval, because invented reports change
        ratios in other ways.
        """
        estimand, question = self.estimand, self.estimand.question
        if estimand.is_ratio or self.is_mean or self.symbols != (estimand.symbol,):
            return None
        # If a question has a gate but the estimate is not a ratio, the event is a code of the gate.
        mechanism = question.gate_mechanism if question.has_gate else question.mechanism
        main = self.intervals.main
        own = main.complement() if estimand.is_complement else main
        band = robustness_band(
            low=own.low, high=own.high, fake_share=FAKE_SHARE, mechanism=mechanism
        )
        return Band(low=1 - band.high, high=1 - band.low) if estimand.is_complement else band

    def to_json(self) -> dict[str, Any]:
        row = {field.name: getattr(self, field.name) for field in fields(self)}
        intervals = asdict(self.intervals)
        intervals["inner"] = list(intervals["inner"])
        return row | {
            "estimand": self.estimand.name,
            "symbols": list(self.symbols),
            "intervals": intervals,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], estimand: Estimand) -> Estimate:
        intervals = Intervals.from_json(stored["intervals"])
        symbols = tuple(stored["symbols"])
        return cls(**{**stored, "estimand": estimand, "symbols": symbols, "intervals": intervals})


@dataclass(frozen=True, kw_only=True)
class QuestionResult:
    """All estimates of one question.

    If fewer people than the crowd were asked the question, nothing about their reports is shown:
    there are no estimates, no alarm, and the total is 0.
    """

    question: ManifestQuestion
    total: int  # reports in which the question was asked
    level: float
    simultaneous_level: float
    alarm: bool  # the design could not plausibly have produced the codes
    estimates: tuple[Estimate, ...]

    @property
    def number(self) -> int:
        return self.question.number

    @property
    def n(self) -> int | None:
        """The total for files, or None if the total is not shown."""
        return self.total or None

    @property
    def shown(self) -> tuple[Estimate, ...]:
        """The estimates on pages and in charts, which omit the share of No to a yes/no question."""
        return tuple(estimate for estimate in self.estimates if estimate.estimand.shown)

    @property
    def contradiction(self) -> bool:
        # The share of people asked can come from another question's codes. A contradiction in it
        # then belongs to that question.
        return any(
            estimate.contradiction
            for estimate in self.estimates
            if not estimate.estimand.is_asked or estimate.symbols == (estimate.estimand.symbol,)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.question.name,
            "total": self.total,
            "level": self.level,
            "simultaneous_level": self.simultaneous_level,
            "alarm": self.alarm,
            "estimates": [estimate.to_json() for estimate in self.estimates],
        }

    @classmethod
    def from_json(
        cls, stored: Mapping[str, Any], question: ManifestQuestion, *, minimum: int
    ) -> QuestionResult:
        """Read one question from a snapshot; it has no estimates below `minimum` reports."""
        rows = {row["estimand"]: row for row in stored["estimates"]}
        is_enough = stored["total"] >= minimum
        return cls(
            question=question,
            total=stored["total"] if is_enough else 0,
            level=stored["level"],
            simultaneous_level=stored["simultaneous_level"],
            alarm=stored["alarm"] and is_enough,
            estimates=tuple(
                Estimate.from_json(rows[estimand.name], estimand)
                for estimand in estimands_of(question)
                if is_enough
            ),
        )
