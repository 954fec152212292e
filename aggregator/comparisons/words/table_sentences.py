"""The text on the page that compares two questions: differences, their certainty, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aggregator.comparisons.result import Cell, TwoQuestionsResult
from aggregator.comparisons.sentences import (
    SIGNIFICANT,
    EstimateLine,
    write_ends,
    write_number,
    write_p,
    write_range,
)
from aggregator.results.sentences import MAY_BE_ZERO
from privacy.associations.significance import SignificanceTest
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import NO, NO_ANSWER, YES, Indicator
from surveys.formatting import percent, points, whole

NO_VARIATION = "no_variation"
TESTS = {
    "pearson": "Pearson’s χ² test on the scrambled answers",
    "fisher_exact": "Fisher’s exact test on the scrambled answers, because there are few",
    "latent_likelihood_ratio": "likelihood-ratio test on the estimated true answers",
}
NOTHING_TO_TEST = "Nothing can be tested: all scrambled answers to one question are the same."
RELATED = "The two questions are related"
MAY_BE_INDEPENDENT = "The two questions may be independent"
EVERYONE_ELSE = "everyone else"
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
    first, second = name_groups(group)
    figures = [write_figure(result, one) for one in (result.share_first, result.share_second)]
    finding = f"{first}: {figures[0]} {outcome.said_text}; {second}: {figures[1]}."
    if outcome.is_number:
        finding = f"Mean of {outcome.label}: {first} {figures[0]}; {second} {figures[1]}."
    finding = f"{finding} Difference {write_difference(result)}."
    return f"{finding} {MAY_BE_ZERO}" if _may_be_zero(result.difference) else finding


def name_groups(group: Indicator) -> tuple[str, str]:
    """Name the people who answered Yes to the group question, and the others."""
    if not group.is_known:
        return group.yes_text, group.no_text
    return group.short_answer, EVERYONE_ELSE


def describe_others(group: Indicator) -> str:
    """Say who everyone else is; empty if the groups have names of their own."""
    if not group.is_known:
        return ""
    declined = ", or would not say" if group.question.refusal else ""
    return f"Everyone else: people who gave another answer to Q{group.number}{declined}."


def write_group_size(result: TwoQuestionsResult, group: Indicator) -> tuple[str, str]:
    """How many people are in the two groups: known for declared ones, otherwise estimated."""
    if group.is_known:
        first, second = (sum(row[place] for row in result.counts) for place in (YES, NO))
        return f"n = {whole(first)}", f"n = {whole(second)}"
    shares = (sum(row[place] for row in result.joint_shares) for place in (YES, NO))
    about, others = (whole(round_roughly(result.n * share)) for share in shares)
    return f"about {about} people", f"about {others} people"


def round_roughly(number: float) -> int:
    """Keep two digits, so that an estimated number does not look counted."""
    whole_number = round(number)
    return round(whole_number, min(0, 2 - len(str(whole_number))))


def write_figure(result: TwoQuestionsResult, figure: AssociationEstimate) -> str:
    """15 % (8–21), or the mean of a number with its interval."""
    if figure.estimate is None:
        return "unknown"
    if result.outcome_range is None:
        ends = write_range(points(figure.low), points(figure.high))
        return f"{percent(figure.estimate)} ({ends})"
    mean = scale_to_range(result, figure)
    ends = write_range(write_number(mean.low, 1), write_number(mean.high, 1))
    return f"{write_number(mean.estimate, 1)} ({ends})"


def write_difference(result: TwoQuestionsResult) -> str:
    """10 points (1–20), or the difference of two means."""
    difference = result.difference
    if difference.estimate is None:
        return "unknown"
    if result.outcome_range is not None:
        return write_figure(result, difference)
    ends = write_range(points(difference.low), points(difference.high))
    number = points(difference.estimate)
    unit = "point" if number in ("1", "\N{MINUS SIGN}1") else "points"
    return f"{number} {unit} ({ends})"


def _may_be_zero(difference: AssociationEstimate) -> bool:
    return difference.low <= 0 <= difference.high


def scale_to_range(result: TwoQuestionsResult, figure: AssociationEstimate) -> AssociationEstimate:
    """Turn an estimate on [0, 1] into one on the range of the number; keep its error."""
    if result.outcome_range is None:
        return figure
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
    return f"{verdict} ({write_p(test.p_value)}, {TESTS[test.method]})."


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
    shares = zip((result.share_first, result.share_second), name_groups(group), strict=True)
    for share, people in shares:
        yield EstimateLine(
            name=f"{outcome.yes_text}, {people}",
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
    first, second = name_groups(group)
    names = (
        (f"Mean of {outcome.label}, {first}", result.share_first),
        (f"Mean of {outcome.label}, {second}", result.share_second),
        ("Difference of the means", result.difference),
    )
    for name, figure in names:
        mean = scale_to_range(result, figure)
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
