"""The figures of a comparison as rows of dots and whiskers."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from aggregator.comparisons.reliability import rate_difference, rate_share, rate_term
from aggregator.comparisons.result import RegressionResult, Term, TwoQuestionsResult
from aggregator.comparisons.sentences import write_number
from aggregator.comparisons.words.regression_sentences import (
    find_predictors,
    name_term,
    write_ratio,
)
from aggregator.comparisons.words.two_questions_sentences import (
    name_groups,
    scale_to_range,
    write_difference,
    write_figure,
    write_group_size,
)
from aggregator.results.reliability import Reliability
from privacy.associations.two_questions import AssociationEstimate
from surveys.axis import Axis, Whisker
from surveys.comparing.indicators import Indicator
from surveys.formatting import points
from surveys.manifest.manifest import Manifest

# An axis of differences or odds ratios ends at the first of these values that no interval exceeds,
# or at the last value; longer whiskers are cut off.
ENDS_OF_DIFFERENCES = (0.1, 0.2, 0.5, 1.0)
ENDS_OF_RATIOS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """One figure on its axis."""

    label: str
    detail: str = ""
    text: str  # "15 % (8–21)"
    axis: Axis
    whisker: Whisker | None

    @property
    def reference(self) -> str:
        return self.axis.mark(self.axis.reference)


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
            is_shown=rate_share(figure) is not Reliability.NOT_SHOWN,
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
            is_shown=rate_difference(result) is not Reliability.NOT_SHOWN,
        ),
    ]


def _axis_of_groups(result: TwoQuestionsResult, outcome: Indicator) -> Axis:
    if result.outcome_range is None:
        return Axis(ends=("0\N{NO-BREAK SPACE}%", "100\N{NO-BREAK SPACE}%"))
    least, greatest = result.outcome_range
    unit = f" {outcome.question.unit}" if outcome.question.unit else ""
    return Axis(least=least, greatest=greatest, ends=(f"{least}{unit}", f"{greatest}{unit}"))


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
    return Axis(least=-end, greatest=end, ends=ends, reference=0)


def list_ratio_rows(result: RegressionResult, manifest: Manifest) -> list[FigureRow]:
    """List the odds ratio of each predictor on one logarithmic axis."""
    terms = [term for term in result.terms if term.indicator]
    predictors = find_predictors(result, manifest)
    limits = [limit for term in terms if is_shown(term) for limit in (term.low, term.high)]
    wanted = exp(min(max(map(abs, limits), default=0.0), log(ENDS_OF_RATIOS[-1])))
    end = _choose_end(wanted, ENDS_OF_RATIOS)
    ends = (f"1/{end:.0f}", f"{end:.0f}")
    axis = Axis(least=-log(end), greatest=log(end), ends=ends, reference=0)
    return [
        FigureRow(
            label=capitalize(name_term(term, predictors[term.indicator])),
            text=write_ratio(term),
            axis=axis,
            whisker=axis.place_whisker(low=term.low, value=term.coefficient, high=term.high)
            if is_shown(term)
            else None,
        )
        for term in terms
    ]


def is_shown(term: Term) -> bool:
    return rate_term(term) is not Reliability.NOT_SHOWN


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _choose_end(reach: float, ends: tuple[float, ...]) -> float:
    return next((end for end in ends if reach <= end), ends[-1])


def _row(
    *,
    label: str,
    text: str,
    axis: Axis,
    figure: AssociationEstimate,
    is_shown: bool,
    detail: str = "",
) -> FigureRow:
    return FigureRow(
        label=label,
        detail=detail,
        text=text,
        axis=axis,
        whisker=axis.place_whisker(low=figure.low, value=figure.estimate, high=figure.high)
        if is_shown
        else None,
    )
