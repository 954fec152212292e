"""The figures of a comparison as rows of dots and whiskers."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

from aggregator.comparisons.result import RegressionResult, Term, TwoQuestionsResult
from aggregator.comparisons.sentences import write_number, write_range
from aggregator.comparisons.words.regression_sentences import name_term
from aggregator.comparisons.words.table_sentences import (
    name_groups,
    scale_to_range,
    write_difference,
    write_figure,
    write_group_size,
)
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import Indicator
from surveys.formatting import points
from surveys.manifest.manifest import Manifest

# An axis of differences or odds ratios ends at the first of these that holds all estimates; longer
# whiskers are cut there.
ENDS_OF_DIFFERENCES = (0.1, 0.2, 0.5, 1.0)
ENDS_OF_RATIOS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)


@dataclass(frozen=True, kw_only=True)
class Axis:
    low: float
    high: float
    ends: tuple[str, str]  # in words
    reference: float | None = None  # no difference

    def place(self, value: float) -> str:
        """Write where a value is on the axis, as an attribute of an SVG element."""
        inside = min(max(value, self.low), self.high)
        return f"{100 * (inside - self.low) / (self.high - self.low):.2f}%"


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """One figure; `dot` is empty if there is no estimate."""

    label: str
    detail: str = ""
    text: str  # "15 % (8–21)"
    axis: Axis
    dot: str
    start: str
    end: str

    @property
    def reference(self) -> str:
        return "" if self.axis.reference is None else self.axis.place(self.axis.reference)


def list_group_rows(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> list[FigureRow]:
    """List the two groups on one axis, and their difference on another."""
    first, second = name_groups(group)
    sizes = write_group_size(result, group)
    axis = _axis_of_groups(result, outcome)
    groups = [
        _row(
            label=capitalize(label),
            detail=size,
            text=write_figure(result, figure),
            axis=axis,
            figure=scale_to_range(result, figure),
        )
        for label, size, figure in zip(
            (first, second), sizes, (result.share_first, result.share_second), strict=True
        )
    ]
    difference = scale_to_range(result, result.difference)
    return [
        *groups,
        _row(
            label="Difference",
            text=write_difference(result),
            axis=_axis_of_difference(result, difference),
            figure=difference,
        ),
    ]


def _axis_of_groups(result: TwoQuestionsResult, outcome: Indicator) -> Axis:
    if result.outcome_range is None:
        return Axis(low=0, high=1, ends=("0\N{NO-BREAK SPACE}%", "100\N{NO-BREAK SPACE}%"))
    least, greatest = result.outcome_range
    unit = f" {outcome.question.unit}" if outcome.question.unit else ""
    return Axis(low=least, high=greatest, ends=(f"{least}{unit}", f"{greatest}{unit}"))


def _axis_of_difference(result: TwoQuestionsResult, difference: AssociationEstimate) -> Axis:
    length = 1.0
    if result.outcome_range is not None:
        least, greatest = result.outcome_range
        length = greatest - least
    reach = max(abs(difference.low), abs(difference.high)) / length
    end = length * _choose_end(reach, ENDS_OF_DIFFERENCES)
    if result.outcome_range is None:
        ends = (f"{points(-end)} points", f"+{points(end)} points")
    else:
        ends = (write_number(-end, 1), f"+{write_number(end, 1)}")
    return Axis(low=-end, high=end, ends=ends, reference=0)


def list_ratio_rows(result: RegressionResult, manifest: Manifest) -> list[FigureRow]:
    """List the odds ratio of each predictor on one logarithmic axis."""
    terms = [term for term in result.terms if term.indicator]
    reach = max((abs(term.coefficient) for term in terms), default=0.0)
    ends = [limit for term in terms for limit in (term.low, term.high) if abs(limit) < inf]
    wanted = exp(min(max([reach, *map(abs, ends)]), log(ENDS_OF_RATIOS[-1])))
    end = _choose_end(wanted, ENDS_OF_RATIOS)
    axis = Axis(low=-log(end), high=log(end), ends=(f"1/{end:.0f}", f"{end:.0f}"), reference=0)
    return [
        FigureRow(
            label=name_term(term, manifest),
            text=_write_ratio(term),
            axis=axis,
            dot=axis.place(term.coefficient),
            start=axis.place(term.low),
            end=axis.place(term.high),
        )
        for term in terms
    ]


def _write_ratio(term: Term) -> str:
    ends = write_range(write_number(term.odds_ratio_low), write_number(term.odds_ratio_high))
    return f"{write_number(term.odds_ratio)} ({ends})"


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _choose_end(reach: float, ends: tuple[float, ...]) -> float:
    return next((end for end in ends if reach <= end), ends[-1])


def _row(
    *, label: str, text: str, axis: Axis, figure: AssociationEstimate, detail: str = ""
) -> FigureRow:
    known = figure.estimate is not None
    return FigureRow(
        label=label,
        detail=detail,
        text=text,
        axis=axis,
        dot=axis.place(figure.estimate) if figure.estimate is not None else "",
        start=axis.place(figure.low) if known else "",
        end=axis.place(figure.high) if known else "",
    )
