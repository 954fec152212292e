"""The page of two questions in words: what differs, how certain that is, and the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aggregator.comparisons.result import Cell, TwoQuestionsResult
from aggregator.comparisons.sentences import (
    SIGNIFICANT,
    EstimateLine,
    write_ends,
    write_number,
    write_p_value,
)
from privacy.associations.significance import SignificanceTest
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import NO, NO_ANSWER, YES, Indicator
from surveys.formatting import percent, points

NO_VARIATION = "no_variation"
TESTS = {
    "pearson": "Pearson’s χ² test on the scrambled answers",
    "fisher_exact": "Fisher’s exact test on the scrambled answers, because there are few",
    "latent_likelihood_ratio": "likelihood-ratio test on the estimated true answers",
}
NOTHING_TO_TEST = "Nothing can be tested: all scrambled answers to one question are the same."
RELATED = "The two questions are related"
MAY_BE_INDEPENDENT = "The two questions may be independent"
MAY_BE_ZERO = "It may be zero: there is not enough data to tell these groups apart."
DISAGREE = (
    "The interval and the test are different approximations, and here they disagree. Treat the "
    "question as open."
)
# Measured where half of the cells of such a table are empty; all other tables cover .93 or more.
NEARER_92 = (
    "Both questions have people without an answer. If several cells of the true table are empty, "
    "the 95\N{NO-BREAK SPACE}% intervals of the difference and of φ hold the true value only about "
    "92\N{NO-BREAK SPACE}% of the time."
)
ROWS = (YES, NO, NO_ANSWER)


def describe_difference(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> str:
    """The main finding in one or two sentences."""
    if result.share_first.estimate is None or result.share_second.estimate is None:
        return (
            f"There is not enough data to compare these groups: it is possible that nobody "
            f"gave one of the answers to {group.label}."
        )
    if result.outcome_range:
        return _describe_means(result, outcome, group)
    return _describe_shares(result, outcome, group)


def _describe_shares(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> str:
    difference, first, second = _list_groups(result)
    interval = f"{points(difference.low)} to {points(difference.high)}"
    shares = (
        f"an estimated {percent(_defined(first))} among {_people_with(group)}, "
        f"{percent(_defined(second))} among {_people_without(group)}. The difference is "
        f"{points(_defined(difference))} points (95\N{NO-BREAK SPACE}%: {interval})."
    )
    if _may_be_zero(difference):
        return f"{outcome.yes_text}: {shares} {MAY_BE_ZERO}"
    common = "more" if difference.low > 0 else "less"
    return f"{outcome.yes_text} is {common} common among {group.yes_text}: {shares}"


def _describe_means(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> str:
    difference, first, second = (_scale_to_range(result, figure) for figure in _list_groups(result))
    means = (
        f"an estimated {write_number(first.estimate, 1)} among {_people_with(group)}, "
        f"{write_number(second.estimate, 1)} among {_people_without(group)}. "
        f"The difference is {write_number(difference.estimate, 1)} (95\N{NO-BREAK SPACE}%: "
        f"{write_ends(difference.low, difference.high, 1)})."
    )
    if _may_be_zero(difference):
        return f"Mean of {outcome.label}: {means} {MAY_BE_ZERO}"
    word = "higher" if difference.low > 0 else "lower"
    return f"The mean of {outcome.label} is {word} among {group.yes_text}: {means}"


def _list_groups(
    result: TwoQuestionsResult,
) -> tuple[AssociationEstimate, AssociationEstimate, AssociationEstimate]:
    return result.difference, result.share_first, result.share_second


def _defined(figure: AssociationEstimate) -> float:
    assert figure.estimate is not None  # neither group is empty
    return figure.estimate


def _may_be_zero(difference: AssociationEstimate) -> bool:
    return difference.low <= 0 <= difference.high


def _people_with(group: Indicator) -> str:
    if group.is_known:
        return f"people in {group.label}"
    return f"people whose true answer to {group.label} is Yes"


def _people_without(group: Indicator) -> str:
    return f"those in the {group.no_text}" if group.is_known else "those whose answer is No"


def _scale_to_range(result: TwoQuestionsResult, figure: AssociationEstimate) -> AssociationEstimate:
    """Turn an estimate on [0, 1] into one on the range of the number; keep its error."""
    assert result.outcome_range is not None
    least, greatest = result.outcome_range
    start = 0 if figure is result.difference else least

    def scale(value: float) -> float:
        return start + (greatest - least) * value

    return replace(
        figure,
        raw=None if figure.raw is None else scale(figure.raw),
        estimate=None if figure.estimate is None else scale(figure.estimate),
        low=scale(figure.low),
        high=scale(figure.high),
    )


def describe_test(test: SignificanceTest) -> str:
    """Say what the test found, and which test it is."""
    if test.method == NO_VARIATION:
        return NOTHING_TO_TEST
    verdict = RELATED if test.p_value <= SIGNIFICANT else MAY_BE_INDEPENDENT
    p_value = write_p_value(test.p_value)
    phrase = p_value if p_value.startswith("<") else f"= {p_value}"
    return f"{verdict} (p {phrase}, {TESTS[test.method]})."


def describe_disagreement(result: TwoQuestionsResult) -> str:
    """Say so if interval and test disagree; empty otherwise."""
    is_significant = result.test.p_value <= SIGNIFICANT
    return DISAGREE if _may_be_zero(result.difference) == is_significant else ""


def describe_coverage(outcome: Indicator, group: Indicator) -> str:
    """Say so if the intervals may cover less than they state; empty otherwise."""
    has_silent = [one.variable.size > one.variable.answered for one in (outcome, group)]
    return NEARER_92 if all(has_silent) else ""


def write_estimates(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> list[EstimateLine]:
    if result.outcome_range:
        return list(_write_means(result, outcome, group))
    return [
        *_write_shares(result, outcome, group),
        EstimateLine(
            name="Odds ratio",
            anchor="odds-ratio",
            value=write_number(result.odds_ratio.estimate),
            interval=write_ends(result.odds_ratio.low, result.odds_ratio.high),
        ),
        EstimateLine(
            name="Correlation φ",
            anchor="phi",
            value=write_number(result.phi.estimate),
            interval=write_ends(result.phi.low, result.phi.high),
        ),
    ]


def _write_shares(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> Iterator[EstimateLine]:
    shares = ((result.share_first, group.yes_text), (result.share_second, group.no_text))
    for share, people in shares:
        yield EstimateLine(
            name=f"{outcome.yes_text} among {people}",
            anchor="difference-between-randomized-groups",
            value="–" if share.estimate is None else percent(share.estimate, 1),
            interval=f"{points(share.low, 1)} to {percent(share.high, 1)}",
            note=_write_unclipped(share),
        )
    difference = result.difference
    value = "–" if difference.estimate is None else f"{points(difference.estimate, 1)} points"
    yield EstimateLine(
        name="Difference",
        anchor="difference-between-randomized-groups",
        value=value,
        interval=f"{points(difference.low, 1)} to {points(difference.high, 1)} points",
        note=_write_unclipped(difference),
    )


def _write_means(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> Iterator[EstimateLine]:
    names = (
        (f"Mean of {outcome.label} among {group.yes_text}", result.share_first),
        (f"Mean of {outcome.label} among {group.no_text}", result.share_second),
        ("Difference of the means", result.difference),
    )
    for name, figure in names:
        mean = _scale_to_range(result, figure)
        yield EstimateLine(
            name=name,
            anchor="difference-between-randomized-groups",
            value=write_number(mean.estimate),
            interval=write_ends(mean.low, mean.high),
        )


def _write_unclipped(figure: AssociationEstimate) -> str:
    """The unbiased estimate, if it differs because it lies outside the possible range."""
    if figure.raw is None or figure.estimate is None or abs(figure.raw - figure.estimate) < 0.0005:
        return ""
    return f"unclipped {points(figure.raw, 1)}"


@dataclass(frozen=True, kw_only=True)
class CellLine:
    """One cell of the table of true answers."""

    outcome: str
    group: str
    cell: Cell


def write_cells(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> list[CellLine]:
    """Yes before No, and no answer last."""
    cells = sorted(
        result.cells, key=lambda cell: (ROWS.index(cell.outcome), ROWS.index(cell.group))
    )
    return [
        CellLine(
            outcome=outcome.category_texts[cell.outcome],
            group=group.category_texts[cell.group],
            cell=cell,
        )
        for cell in cells
    ]
