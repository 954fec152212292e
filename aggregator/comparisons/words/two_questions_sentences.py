"""The text on the page that compares two questions: differences, their certainty, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aggregator.comparisons.reliability import rate_difference, rate_odds_ratio, rate_share
from aggregator.comparisons.result import Cell, TwoQuestionsResult
from aggregator.comparisons.sentences import (
    EstimateLine,
    adjust_p,
    subtract_shown,
    write_end,
    write_ends,
    write_number,
    write_p,
    write_points,
    write_range,
)
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import CAUTION_MARK, MAY_BE_ZERO, NOTHING, TOO_FEW
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import NO, NO_ANSWER, YES, Indicator
from surveys.formatting import percent, points, whole

NO_VARIATION = "no_variation"
NOTHING_TO_TEST = "Nothing can be tested: all scrambled answers to one question are the same."
RELATED = "The two questions are related"
MAY_BE_INDEPENDENT = "The two questions may be independent"
EVERYONE_ELSE = "everyone else"
# This coverage was measured with half of the cells empty; in all other tables it is .93 or more.
NEARER_92 = (
    "For both questions, some people gave no answer. If several cells of the true table are empty, "
    "the 95\N{NO-BREAK SPACE}% intervals of the difference and of φ hold the true value only about "
    "92\N{NO-BREAK SPACE}% of the time."
)
ROWS = (YES, NO, NO_ANSWER)


def describe_difference(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> str:
    """Write the main finding in one or two sentences."""
    shown = [_is_shown(share) for share in (result.share_first, result.share_second)]
    if rate_difference(result) is Reliability.NOT_SHOWN:
        return f"{_describe_too_few(result, group, shown)} to say anything."
    if not all(shown):
        few = _describe_too_few(result, group, shown)
        return f"{few} to show each share. {_describe_difference(result)}"
    first, second = name_groups(group)
    figures = [write_figure(result, one) for one in (result.share_first, result.share_second)]
    finding = f"{first}: {figures[0]} {outcome.said_text}; {second}: {figures[1]}."
    if outcome.is_number:
        finding = f"Mean of {outcome.label}: {first} {figures[0]}; {second} {figures[1]}."
    return f"{finding} {_describe_difference(result)}"


def describe_share(result: TwoQuestionsResult, outcome: Indicator, group: Indicator) -> str:
    """Write the share of the outcome in the first group."""
    if not _is_shown(result.share_first):
        return f"{_describe_too_few(result, group, [False, True])} to show a share."
    first, _ = name_groups(group)
    return f"{first}: {write_figure(result, result.share_first)} {outcome.said_text}."


def _describe_difference(result: TwoQuestionsResult) -> str:
    said = f"Difference {write_difference(result)}."
    return f"{said} {MAY_BE_ZERO}" if _may_be_zero(result.difference) else said


def _is_shown(share: AssociationEstimate) -> bool:
    return rate_share(share) is not Reliability.NOT_SHOWN


def _describe_too_few(result: TwoQuestionsResult, group: Indicator, shown: Sequence[bool]) -> str:
    """Begin a sentence about too few people; name the group if only one of the two is small."""
    if len(set(shown)) == 1:
        return f"Too few people took part ({whole(result.n)})"
    said = (_describe_no(group), group.said_text)[shown[1]]
    size = write_group_size(result, group)[shown[0]].removesuffix(" people")
    return f"Too few people {said} ({size})"


def _describe_no(group: Indicator) -> str:
    """Say what people did if their answer is No."""
    if group.asked:
        return f"said {group.no_text}"
    if group.is_known:
        return f"are outside {group.quoted}"
    return f"did not choose {group.quoted}"


def name_groups(group: Indicator) -> tuple[str, str]:
    """Name the people who answered Yes to the group question, and the others."""
    if not group.is_known:
        return group.yes_text, group.no_text
    return group.short_answer, EVERYONE_ELSE


def describe_others(group: Indicator) -> str:
    """Say who everyone else is, or return an empty string if both groups have names."""
    if not group.is_known:
        return ""
    declined = ", or would not say" if group.question.refusal else ""
    return f"“Everyone else” means people who gave a different answer to Q{group.number}{declined}."


def write_group_size(result: TwoQuestionsResult, group: Indicator) -> tuple[str, str]:
    """Write the sizes of the two groups, which are counted if declared and otherwise estimated."""
    if group.is_known:
        first, second = (sum(row[place] for row in result.counts) for place in (YES, NO))
        return f"n = {whole(first)}", f"n = {whole(second)}"
    shares = (sum(row[place] for row in result.joint_shares) for place in (YES, NO))
    about, others = (whole(round_roughly(result.n * share)) for share in shares)
    return f"about {about} people", f"about {others} people"


def round_roughly(number: float) -> int:
    """Round to two significant digits, so that an estimated number does not look counted."""
    whole_number = round(number)
    return round(whole_number, min(0, 2 - len(str(whole_number))))


def write_figure(result: TwoQuestionsResult, figure: AssociationEstimate) -> str:
    """Write a share such as "15 % (8–21)", or a mean, with a mark where caution is due."""
    rating = rate_share(figure)
    if figure.estimate is None or rating is Reliability.NOT_SHOWN:
        return TOO_FEW
    mark = CAUTION_MARK if rating is Reliability.CAUTION else ""
    if result.outcome_range is None:
        ends = write_range(points(figure.low), points(figure.high))
        return f"{percent(figure.estimate)}{mark} ({ends})"
    mean = scale_to_range(result, figure)
    ends = write_range(write_number(mean.low, 1), write_number(mean.high, 1))
    return f"{write_number(mean.estimate, 1)}{mark} ({ends})"


def write_difference(result: TwoQuestionsResult) -> str:
    """Write "10 points (1–20)", or the difference between two means, from the figures as shown."""
    rating = rate_difference(result)
    if rating is Reliability.NOT_SHOWN:
        return TOO_FEW
    mark = CAUTION_MARK if rating is Reliability.CAUTION else ""
    shown, difference = _subtract(result), result.difference
    if result.outcome_range is None:
        ends = write_range(*(write_end(100 * end) for end in (difference.low, difference.high)))
        return f"{write_points(shown)}{mark} ({ends})"
    mean = scale_to_range(result, difference)
    ends = write_range(*(write_end(end, digits=1) for end in (mean.low, mean.high)))
    return f"{write_number(shown, 1)}{mark} ({ends})"


def _subtract(result: TwoQuestionsResult, *, digits: int = 0) -> float:
    """Subtract the two figures as they are shown: in points, or in units of the number."""
    shares = (result.share_first, result.share_second)
    if not all(map(_is_shown, shares)):
        exact = scale_to_range(result, result.difference).estimate or 0.0
        return exact if result.outcome_range else 100 * exact
    first, second = (scale_to_range(result, share).estimate or 0.0 for share in shares)
    if result.outcome_range is not None:
        return round(first, digits + 1) - round(second, digits + 1)
    return subtract_shown(first, second, digits=digits)


def _may_be_zero(difference: AssociationEstimate) -> bool:
    return difference.low <= 0 <= difference.high


def scale_to_range(result: TwoQuestionsResult, figure: AssociationEstimate) -> AssociationEstimate:
    """Scale an estimate from [0, 1] to the range of the number, but leave its errors unscaled."""
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


def shows_test(result: TwoQuestionsResult) -> bool:
    """Return whether the p-value is shown, which requires varying answers from enough people."""
    is_shown = rate_difference(result) is not Reliability.NOT_SHOWN
    return is_shown and result.test.method != NO_VARIATION


def describe_verdict(result: TwoQuestionsResult) -> str:
    """Say whether the interval excludes independence; return "" if too few people answered."""
    if result.test.method == NO_VARIATION:
        return NOTHING_TO_TEST
    if not shows_test(result):
        return ""
    verdict = MAY_BE_INDEPENDENT if _may_be_zero(result.difference) else RELATED
    p_value = adjust_p(result.test.p_value, result.together)
    if p_value is None:
        return f"{verdict}."
    adjusted = ", adjusted" if result.together.family > 1 else ""
    return f"{verdict} ({write_p(p_value)}{adjusted}, likelihood-ratio test)."


def describe_coverage(outcome: Indicator, group: Indicator) -> str:
    """Warn if the intervals may cover less than stated; otherwise return an empty string."""
    has_silent = [one.variable.size > one.variable.answered for one in (outcome, group)]
    return NEARER_92 if all(has_silent) else ""


def write_estimates(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> list[EstimateLine]:
    """List all estimates, or none if the difference is not shown."""
    if rate_difference(result) is Reliability.NOT_SHOWN:
        return []
    if result.outcome_range:
        return list(_write_means(result, outcome, group))
    return [
        *_write_shares(result, outcome, group),
        EstimateLine(
            name="Odds ratio",
            anchor="odds-ratio",
            **_write_ratio(result),
        ),
        EstimateLine(
            name="Correlation φ",
            anchor="phi",
            value=write_number(result.phi.estimate),
            interval=write_ends(result.phi.low, result.phi.high),
        ),
    ]


def _write_ratio(result: TwoQuestionsResult) -> dict[str, str]:
    ratio = result.odds_ratio
    if rate_odds_ratio(result) is Reliability.NOT_SHOWN:
        return {"value": TOO_FEW, "interval": NOTHING}
    return {
        "value": write_number(ratio.estimate),
        "interval": write_ends(ratio.low, ratio.high, beside=1),
    }


def _write_shares(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> Iterator[EstimateLine]:
    shares = zip((result.share_first, result.share_second), name_groups(group), strict=True)
    for share, people in shares:
        line = EstimateLine(
            name=f"{outcome.yes_text}, {people}",
            anchor="difference-between-randomized-groups",
            value=TOO_FEW,
            interval=NOTHING,
        )
        if share.estimate is not None and _is_shown(share):
            line = replace(
                line,
                value=percent(share.estimate, 1),
                interval=f"{points(share.low, 1)} to {percent(share.high, 1)}",
                note=_write_unclipped(share),
            )
        yield line
    difference = result.difference
    value = write_points(_subtract(result, digits=1), 1)
    yield EstimateLine(
        name="Difference",
        anchor="difference-between-randomized-groups",
        value=value,
        interval=f"{write_end(100 * difference.low, digits=1)} to "
        f"{write_end(100 * difference.high, digits=1)} points",
        note=_write_unclipped(difference),
    )


def _write_means(
    result: TwoQuestionsResult, outcome: Indicator, group: Indicator
) -> Iterator[EstimateLine]:
    first, second = name_groups(group)
    names = (
        (f"Mean of {outcome.label}, {first}", result.share_first),
        (f"Mean of {outcome.label}, {second}", result.share_second),
        ("Difference between the means", result.difference),
    )
    for name, figure in names:
        mean = scale_to_range(result, figure)
        is_difference = figure is result.difference
        is_shown = is_difference or _is_shown(figure)
        value = write_number(_subtract(result, digits=1) if is_difference else mean.estimate)
        yield EstimateLine(
            name=name,
            anchor="difference-between-randomized-groups",
            value=value if is_shown else TOO_FEW,
            interval=write_ends(mean.low, mean.high) if is_shown else NOTHING,
        )


def _write_unclipped(figure: AssociationEstimate) -> str:
    """Write the unbiased estimate if it lies outside the possible range."""
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
    """List the cells: Yes before No, and “no answer” last."""
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
