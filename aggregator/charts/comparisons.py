"""Draw comparisons: two groups and their difference, odds ratios, breakdowns and all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aggregator.charts.figure import (
    LEAST_P,
    Axis,
    Figure,
    Panel,
    Row,
    Section,
    make_difference_axis,
    make_p_axis,
    make_ratio_axis,
    make_share_axis,
)
from aggregator.charts.names import read_part
from aggregator.charts.questions import (
    DASHED,
    EVERY_LOOK,
    FIXED_END,
    ONE_LOOK,
    REHEARSAL,
    divide,
    make_row,
)
from aggregator.comparisons.breakdown.blocks import AnswerRows, BrokenBlock, list_broken_blocks
from aggregator.comparisons.breakdown.blocks import name_groups as name_all_groups
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.jobs import find_declared
from aggregator.comparisons.reliability import rate_difference, rate_share, rate_term
from aggregator.comparisons.result import (
    INTERCEPT,
    PairsResult,
    RegressionResult,
    SegmentsResult,
    Term,
    TwoQuestionsResult,
)
from aggregator.comparisons.sentences import describe_title, describe_together, name_planned
from aggregator.comparisons.standing import ComparisonStanding
from aggregator.comparisons.words.all_pairs_sentences import PairLine, write_pairs
from aggregator.comparisons.words.regression_sentences import (
    find_predictors,
    list_tests,
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
from aggregator.models import Comparison
from aggregator.renderings.recipes import NotRenderable
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import CAUTION
from aggregator.results.snapshots import ended_as_frozen, list_looks_before_close
from privacy.associations.two_questions import AssociationEstimate
from surveys.comparing.indicators import Factor, Indicator, find_indicators, shorten
from surveys.formatting import whole
from surveys.manifest.questions import ManifestQuestion

PAIRS = (
    "Each dot is a p-value, adjusted for {pairs} by Holm’s method. To the right of the line, it is "
    "below 0.05. It does not show how strong a relationship is."
)
MOST_PAIRS = 40
SHORT_TEXT = 30  # the most characters of a question in a chart of pairs
IMPOSSIBLE = "These reports contradict the survey’s design, so there is no chart of them."
PLANNED = "Planned before the survey opened."
EXPLORATORY = "Exploratory."
ADJUSTED = "Each odds ratio holds the other answers constant."
YES = "Yes"
ARROWS = "An arrow means that the interval goes on."


def make_comparison_figure(
    comparison: Comparison,
    standing: ComparisonStanding,
    *,
    ends_at_data: bool,
    part: str = "",
) -> Figure | None:
    """Make the figure of a finished comparison or of a part of it; return None if it has none."""
    if standing.is_impossible:
        raise NotRenderable(IMPOSSIBLE)
    if standing.breakdown is not None:
        return _draw_breakdown(
            comparison, standing, standing.breakdown, ends_at_data=ends_at_data, part=part
        )
    if part or standing.result is None or isinstance(standing.result, SegmentsResult):
        return None
    if isinstance(standing.result, TwoQuestionsResult):
        panels = tuple(
            _draw_table(comparison, standing, standing.result, ends_at_data=ends_at_data)
        )
        notes: tuple[str, ...] = ()
        of = name_planned(standing.result.together, standing.planned)
    elif isinstance(standing.result, RegressionResult):
        panels = (_draw_regression(comparison, standing, standing.result),)
        notes, of = (ADJUSTED,), list_tests(standing.result, planned=standing.planned)
    else:
        return _draw_pairs(comparison, standing, standing.result)
    title = describe_title(standing.manifest, comparison)
    about = f"{whole(standing.result.n)} randomized reports."
    together = describe_together(standing.result.together, of=of)
    kind = f"{about} {PLANNED if standing.planned else EXPLORATORY} {together}"
    return _finish(comparison, title, panels, notes=(kind, *notes, *_explain(panels)))


def _finish(
    comparison: Comparison,
    title: str,
    panels: tuple[Panel, ...],
    *,
    notes: tuple[str, ...],
) -> Figure:
    survey = comparison.wave.survey
    return Figure(
        title=f"{survey.title}: {title}",
        panels=panels,
        footnotes=notes,
        warning=REHEARSAL if survey.rehearsal else "",
    )


def _explain(panels: tuple[Panel, ...]) -> Iterator[str]:
    """Explain the marks in a chart."""
    rows = [
        (row, row.axis or panel.axis)
        for panel in panels
        for section in panel.sections
        for row in section.rows
        if not row.is_caption
    ]
    if any(row.is_cautious for row, _ in rows):
        yield CAUTION
    if any(row.value is None for row, _ in rows):
        yield DASHED
    if any(_goes_on(row, axis) for row, axis in rows):
        yield ARROWS


def _goes_on(row: Row, axis: Axis) -> bool:
    return (
        row.low is not None
        and row.high is not None
        and (row.low < axis.least - 1e-9 or row.high > axis.greatest + 1e-9)
    )


def _draw_table(
    comparison: Comparison,
    standing: ComparisonStanding,
    result: TwoQuestionsResult,
    *,
    ends_at_data: bool,
) -> Iterator[Panel]:
    """Draw the two groups on one axis, and their difference on another."""
    outcome, group = find_indicators(standing.manifest, comparison.names)
    shares = (result.share_first, result.share_second)
    rows = tuple(
        _row_of(
            f"{name[0].upper()}{name[1:]} ({size})",
            write_figure(result, share),
            scale_to_range(result, share),
            rate_share(share),
        )
        for name, size, share in zip(
            name_groups(group), write_group_size(result, group), shares, strict=True
        )
    )
    yield Panel(
        axis=_axis_of_groups(result, outcome, rows if ends_at_data else ()),
        sections=(
            _head(outcome, f", by Q{group.question.number} {group.question.full_text}", rows),
        ),
    )
    difference = scale_to_range(result, result.difference)
    row = _row_of("Difference", write_difference(result), difference, rate_difference(result))
    yield Panel(
        axis=_axis_of_difference(result, outcome, row), sections=(Section(heading="", rows=(row,)),)
    )


def _head(outcome: Indicator, by: str, rows: tuple[Row, ...]) -> Section:
    what = "Mean" if outcome.is_number else f"“{outcome.answer or YES}”"
    question = outcome.question
    return Section(
        heading=f"Q{question.number}  {question.full_text}", note=f"{what}{by}", rows=rows
    )


def _name_answer(term: Term, indicator: Indicator) -> str:
    """Name a coefficient in full, so that readers of the picture need no list of questions."""
    question, answer = indicator.question, indicator.answer or YES
    if isinstance(indicator, Factor) and not indicator.is_trend:
        answer = name_term(term, indicator).removesuffix(f" (Q{question.number})")
    return f"Q{question.number}  {question.full_text} {answer}"


def _row_of(label: str, text: str, figure: AssociationEstimate, rating: Reliability) -> Row:
    is_shown = rating is not Reliability.NOT_SHOWN
    return Row(
        label=label,
        text=text,
        value=figure.estimate if is_shown else None,
        low=figure.low if is_shown else None,
        high=figure.high if is_shown else None,
        is_cautious=rating is Reliability.CAUTION,
    )


def _axis_of_groups(result: TwoQuestionsResult, outcome: Indicator, rows: tuple[Row, ...]) -> Axis:
    if result.outcome_range is None:
        return make_share_axis([row.high for row in rows if row.high is not None] or [1.0])
    least, greatest = result.outcome_range
    axis = make_difference_axis(
        (least, greatest), title=_name_unit("Mean", outcome), full=greatest - least
    )
    ticks = tuple(tick for tick in axis.ticks if least <= tick[0] <= greatest)
    return replace(axis, least=least, greatest=greatest, ticks=ticks, reference=None)


def _axis_of_difference(result: TwoQuestionsResult, outcome: Indicator, row: Row) -> Axis:
    ends = [end for end in (row.low, row.high) if end is not None]
    if result.outcome_range is None:
        return make_difference_axis(ends, title="Difference (percentage points)", factor=100)
    least, greatest = result.outcome_range
    return make_difference_axis(
        ends, title=_name_unit("Difference", outcome), full=greatest - least
    )


def _name_unit(what: str, outcome: Indicator) -> str:
    return f"{what} ({outcome.question.unit})" if outcome.question.unit else what


def _draw_pairs(
    comparison: Comparison, standing: ComparisonStanding, result: PairsResult
) -> Figure:
    """Draw the adjusted p-value of each pair on a logarithmic axis, smallest first."""
    lines = write_pairs(result, standing.manifest)
    shown = lines[:MOST_PAIRS]
    rows = tuple(_row_of_pair(one) for one in shown)
    number = f"{len(lines):,} pairs"
    notes = [f"{whole(result.n)} randomized reports. {EXPLORATORY}", PAIRS.format(pairs=number)]
    if len(shown) < len(lines):
        notes.append(f"Only the {len(shown)} smallest p-values of {number} are shown.")
    panel = Panel(axis=make_p_axis(), sections=(Section(heading="", rows=rows),))
    title = describe_title(standing.manifest, comparison)
    return _finish(comparison, title, (panel,), notes=tuple(notes))


def _row_of_pair(line: PairLine) -> Row:
    text, place = line.adjusted, 1 / max(line.adjusted_p, LEAST_P)
    return Row(
        label=" and ".join(_name_shortly(one) for one in (line.first, line.second)),
        text=f"p {text}" if text.startswith("<") else f"p = {text}",
        value=place,
        low=place,
        high=place,
    )


def _name_shortly(indicator: Indicator) -> str:
    return f"{indicator.label} {shorten(indicator.question.full_text, SHORT_TEXT)}"


def _draw_regression(
    comparison: Comparison, standing: ComparisonStanding, result: RegressionResult
) -> Panel:
    """Draw a forest plot of the odds ratios of the answers on a logarithmic axis."""
    predictors = find_predictors(result, standing.manifest)
    rows = tuple(
        _row_of_term(_name_answer(term, predictors[term.indicator]), term)
        for term in result.terms
        if term.name != INTERCEPT
    )
    ends = [end for row in rows for end in (row.low, row.high) if end is not None]
    outcome = find_indicators(standing.manifest, comparison.names[:1])[0]
    return Panel(axis=make_ratio_axis(ends), sections=(_head(outcome, "", rows),))


def _row_of_term(label: str, term: Term) -> Row:
    rating = rate_term(term)
    if rating is Reliability.NOT_SHOWN:
        return Row(label=label, text=write_ratio(term), value=None)
    return Row(
        label=label,
        text=write_ratio(term),
        value=term.odds_ratio,
        low=term.odds_ratio_low,
        high=term.odds_ratio_high,
        is_cautious=rating is Reliability.CAUTION,
    )


def list_breakdown_menu(
    comparison: Comparison, standing: ComparisonStanding
) -> list[tuple[str, str]]:
    """List each chart of a breakdown with the start of its file name and the questions it shows."""
    blocks = _list_blocks(comparison, standing)
    sections = [_make_section(block) for block in blocks]
    stem = f"comparison-{comparison.pk}"
    numbers = iter(block.question.number for block in blocks)
    menu = []
    parts = divide(sections)
    for place, part in enumerate(parts, start=1):
        shown = [f"Q{next(numbers)}" for _ in part]
        which = shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]}"
        menu.append(
            (
                stem if place == 1 else f"{stem}-part{place}",
                "All questions" if len(parts) == 1 else which,
            )
        )
    return menu + [
        (f"{stem}-{block.question.name}", f"Q{block.question.number} {block.question.full_text}")
        for block in blocks
        if block.answers
    ]


def _list_blocks(comparison: Comparison, standing: ComparisonStanding) -> list[BrokenBlock]:
    declared = find_declared(comparison, standing.manifest)
    if standing.breakdown is None or declared is None:
        return []
    return list_broken_blocks(standing.manifest, declared, standing.breakdown)


def _draw_breakdown(
    comparison: Comparison,
    standing: ComparisonStanding,
    result: BreakdownResult,
    *,
    ends_at_data: bool,
    part: str,
) -> Figure | None:
    blocks = _list_blocks(comparison, standing)
    sections = [_make_section(block) for block in blocks]
    parts = divide(sections)
    chosen = [
        section
        for block, section in zip(blocks, sections, strict=True)
        if block.question.name == part
    ]
    note: tuple[str, ...] = ()
    if not chosen:
        number = read_part(part)
        if number is None or number > len(parts):
            return None
        chosen = parts[number - 1]
        note = (f"Part {number:d} of {len(parts)}.",) if len(parts) > 1 else ()
    highs = [
        row.high
        for section in chosen
        for row in section.rows
        if row.axis is None and row.high is not None
    ]
    axis = make_share_axis(highs if ends_at_data and highs else ())
    panels = (Panel(axis=axis, sections=tuple(chosen)),)
    declared = find_declared(comparison, standing.manifest)
    assert declared is not None
    kind = EVERY_LOOK if list_looks_before_close(comparison.wave) else ONE_LOOK
    if ended_as_frozen(comparison.wave):
        kind = FIXED_END
    kind = f"{whole(result.n)} randomized reports. {kind}."
    groups = _describe_groups(declared, result)
    notes = (groups, kind, *_explain(panels), *note)
    return _finish(comparison, f"by {declared.text}", panels, notes=notes)


def _describe_groups(declared: ManifestQuestion, result: BreakdownResult) -> str:
    names = name_all_groups(declared, result)
    sizes = (f"{names[one.code]} (n = {whole(one.n)})" for one in result.shown if one.n is not None)
    return f"Groups of Q{declared.number} “{declared.text}”: {', '.join(sizes)}."


def _make_section(block: BrokenBlock) -> Section:
    among = f"{block.among[0].upper()}{block.among[1:]}." if block.among else ""
    return Section(
        heading=f"Q{block.question.number}  {block.question.full_text}",
        note=" ".join(filter(None, (among, block.note))),
        rows=tuple(row for answer in block.answers for row in _list_rows(answer)),
    )


def _list_rows(answer: AnswerRows) -> Iterator[Row]:
    """List an answer and, below it, its groups; only the last row labels the ends of the scale."""
    label = f"{answer.label} ({answer.among})" if answer.among else answer.label
    yield Row(label=label, text="", value=None, is_caption=True)
    for place, found in enumerate(answer.rows, start=1):
        row = replace(make_row(found), is_indented=True)
        yield row if place == len(answer.rows) else replace(row, ends=("", ""))
