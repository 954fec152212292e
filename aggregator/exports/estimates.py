"""estimates.csv: one row for every estimate of a survey."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from aggregator.exports.csv_format import (
    DESIGN,
    WAVE_IN_FULL,
    Cell,
    list_wave_columns,
    write_row,
)
from aggregator.results.display import Results
from aggregator.results.estimate import Estimate, QuestionResult
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    """The data for one row of estimates.csv."""

    results: Results
    result: QuestionResult
    estimate: Estimate
    mechanism: RandomizedResponse  # of the estimand's symbol

    @property
    def question(self) -> ManifestQuestion:
        return self.result.question

    @property
    def look(self) -> int:
        """The batch of the last look at the question."""
        return self.results.find_look(self.question)

    def inner_end(self, level: float, end: Literal["low", "high"]) -> float | None:
        """Return an end of the inner interval at this level, or None if there is no interval."""
        for interval in self.estimate.intervals.inner:
            if interval.level == level:
                return interval.low if end == "low" else interval.high
        return None


# Each column's name, and how to find its value.
ESTIMATE_COLUMNS: Mapping[str, Callable[[EstimateRow], Cell]] = {
    **list_wave_columns(lambda row: row.results.wave, WAVE_IN_FULL),
    "state": lambda row: row.results.wave.state,
    "ending": lambda row: row.results.wave.ending,
    "through_batch": lambda row: row.look,
    "method_version": lambda row: row.results.snapshot.method_version,
    "day": lambda row: row.results.snapshot.day.isoformat(),
    "question": lambda row: row.question.variable,
    "question_type": lambda row: row.question.type,
    "question_text": lambda row: row.question.full_text,
    "estimand": lambda row: row.estimate.estimand.name,
    "estimand_text": lambda row: row.estimate.estimand.text,
    "kind": lambda row: row.estimate.estimand.kind.value,
    "of": lambda row: row.estimate.estimand.of.value,
    "unit": lambda row: row.question.unit or None,
    "symbol": lambda row: row.question.name_in_files(row.estimate.estimand.symbol),
    "design": lambda _: DESIGN,
    "k": lambda row: row.mechanism.symbols,
    "threshold": lambda row: row.mechanism.threshold,
    "keep_probability": lambda row: row.mechanism.keep_probability,
    "other_probability": lambda row: row.mechanism.other_probability,
    "slope": lambda row: row.mechanism.slope,
    "epsilon": lambda row: row.mechanism.epsilon,
    "question_epsilon": lambda row: row.question.epsilon,
    "statement_epsilon": lambda row: row.results.manifest.statement_epsilon(row.question),
    "n": lambda row: row.estimate.total,
    "count": lambda row: row.estimate.count,
    "raw_share": lambda row: row.estimate.raw_share,
    "estimate": lambda row: row.estimate.value,
    "joint_estimate": lambda row: row.estimate.joint_value,
    "standard_error": lambda row: row.estimate.standard_error,
    "interval_low": lambda row: row.estimate.low,
    "interval_high": lambda row: row.estimate.high,
    "interval_method": lambda row: row.estimate.method,
    "interval_level": lambda row: row.estimate.intervals.main.level,
    "critical_value": lambda row: row.estimate.critical_value,
    "inner_50_low": lambda row: row.inner_end(0.5, "low"),
    "inner_50_high": lambda row: row.inner_end(0.5, "high"),
    "inner_80_low": lambda row: row.inner_end(0.8, "low"),
    "inner_80_high": lambda row: row.inner_end(0.8, "high"),
    "simultaneous_low": lambda row: row.estimate.intervals.simultaneous.low,
    "simultaneous_high": lambda row: row.estimate.intervals.simultaneous.high,
    "simultaneous_method": lambda row: row.estimate.intervals.simultaneous.method,
    "simultaneous_level": lambda row: row.estimate.intervals.simultaneous.level,
    "fake_2_percent_low": lambda row: band.low if (band := row.estimate.fake_band) else None,
    "fake_2_percent_high": lambda row: band.high if (band := row.estimate.fake_band) else None,
    "effective_sample_size": lambda row: row.estimate.effective_sample_size,
    "reliability": lambda row: row.estimate.reliability.value,
    "status": lambda row: row.estimate.status.value,
}


def stream_estimates(results: Results) -> Iterator[bytes]:
    """Write one row for every estimate of every question that enough people were asked."""
    yield write_row(ESTIMATE_COLUMNS)
    mechanisms = {
        symbol.name: symbol.mechanism
        for symbol in results.manifest.symbols
        if symbol.threshold is not None
    }
    for result in results.questions:
        for estimate in result.estimates:
            mechanism = mechanisms[estimate.estimand.symbol]
            row = EstimateRow(
                results=results, result=result, estimate=estimate, mechanism=mechanism
            )
            yield write_row(read(row) for read in ESTIMATE_COLUMNS.values())
