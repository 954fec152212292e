"""The planned comparisons with their results, and the comparisons that the researchers tried."""

from __future__ import annotations

from collections.abc import Iterator

from aggregator.comparisons.planned import PlannedResult, list_planned
from aggregator.comparisons.result import (
    ComparisonResult,
    PairsResult,
    RegressionResult,
    SegmentsResult,
    TwoQuestionsResult,
)
from aggregator.comparisons.sentences import (
    A_SUMMARY,
    IMPOSSIBLE,
    describe_standing,
    describe_title,
    describe_together,
    is_warned_of,
    name_planned,
)
from aggregator.comparisons.stored import UnreadableResult, read_result
from aggregator.comparisons.words.all_pairs_sentences import summarize_pairs, write_pairs
from aggregator.comparisons.words.regression_sentences import list_tests, write_terms
from aggregator.comparisons.words.segment_sentences import summarize_profiles
from aggregator.comparisons.words.two_questions_sentences import (
    describe_difference,
    describe_verdict,
)
from aggregator.models import Comparison
from aggregator.results.display import Results
from aggregator.results.snapshots import METHOD_VERSION
from aggregator.study_report.content import (
    Heading,
    Listing,
    Paragraph,
    Part,
    Row,
    Section,
    Table,
    Words,
)
from surveys.comparing.indicators import find_indicators, list_names
from surveys.formatting import join_list, whole
from surveys.manifest.manifest import Manifest

PLANNED, EXPLORATORY = "planned-comparisons", "exploratory-comparisons"
LATER = "The planned comparisons are computed once the survey has closed. They are:"
NOT_YET = "It is being computed. Come back in a minute."
TRIED = (
    "These comparisons were not planned before the survey opened. Among many comparisons, some "
    "stand out by chance. Use another study to test what you find here."
)
MOST_LISTED = 30
_KINDS = frozenset(Comparison.Kind) - {Comparison.Kind.BREAKDOWN, Comparison.Kind.CLAIM}


def write_comparisons(results: Results) -> Iterator[Section]:
    """Write the planned comparisons and, after the close, the comparisons that were tried."""
    planned = list_planned(results)
    if planned:
        yield Section(
            anchor=PLANNED,
            heading="Planned comparisons",
            parts=tuple(_write_planned(results, planned)),
        )
    if results.is_final:
        yield from _write_tried(results)


def _write_planned(results: Results, planned: tuple[PlannedResult, ...]) -> Iterator[Part]:
    if not results.is_settled:
        yield Paragraph(text=LATER)
        yield Listing(items=tuple(one.title for one in planned))
        return
    yield Paragraph(
        text=describe_standing(
            results.wave,
            is_whole=results.is_final,
            planned=len(planned),
            is_warned=is_warned_of(results),
        )
    )
    for one in planned:
        yield Heading(words=Words(text=one.title))
        said = one.problem or f"{one.sentence} {one.verdict}".strip() or NOT_YET
        yield Paragraph(text=said)
        if isinstance(one.result, RegressionResult):
            yield _write_terms(one.result, results.manifest, planned=len(planned))
    together = next((one.result.together for one in planned if one.result), None)
    if together is not None:
        of = name_planned(together, len(planned))
        yield Paragraph(text=describe_together(together, what="Intervals", of=of))


def _write_tried(results: Results) -> Iterator[Section]:
    rows = list(results.wave.comparisons.filter(planned=False).order_by("pk"))
    tried = {(row.kind, row.segments, *row.names) for row in rows if row.kind in _KINDS}
    broken = {
        name
        for row in rows
        if row.kind == Comparison.Kind.BREAKDOWN and row.state == Comparison.State.DONE
        for name in row.names
    }
    if not tried and not broken:
        return
    newest = [
        row
        for row in rows
        if row.through_batch == results.snapshot.through_batch
        and row.method_version == METHOD_VERSION
        and row.state == Comparison.State.DONE
        and row.kind in _KINDS
    ]
    parts: list[Part] = [Paragraph(text=TRIED)]
    if tried:
        parts.append(Paragraph(text=_count_tried(len(tried), shown=len(newest[:MOST_LISTED]))))
    if broken:
        parts.append(Paragraph(text=_describe_broken(results.manifest, broken)))
    for row in newest[:MOST_LISTED]:
        parts += _write_row(results, row)
    yield Section(anchor=EXPLORATORY, heading="Exploratory comparisons", parts=tuple(parts))


def _count_tried(tried: int, *, shown: int) -> str:
    comparisons = "comparison was" if tried == 1 else "comparisons were"
    text = (
        f"At least {whole(tried)} {comparisons} tried, including any made while the survey was "
        "open."
    )
    return text if shown == tried else f"{text} {whole(shown)} of them are listed here."


def _describe_broken(manifest: Manifest, names: set[str]) -> str:
    numbers = [f"Q{one.number}" for one in manifest.questions if one.name in names]
    return f"All results were also broken down by the groups of {join_list(numbers)}."


def _write_row(results: Results, row: Comparison) -> Iterator[Part]:
    manifest = results.manifest
    try:
        result = read_result(row.kind, row.result, indicators=list_names(manifest))
    except UnreadableResult:
        return  # the comparison's page shows the result computed again
    assert isinstance(result, ComparisonResult)
    yield Heading(words=Words(text=describe_title(manifest, row)))
    if _is_impossible(results, row, result):
        yield Paragraph(text=IMPOSSIBLE)
    else:
        yield _write_result(manifest, row, result)


def _is_impossible(results: Results, row: Comparison, result: ComparisonResult) -> bool:
    alarmed = {question.question.name for question in results.alarms}
    involved = {name.partition(".")[0] for name in row.names} or alarmed
    return result.contradiction.applies(fixed_end=results.fixed_end) or bool(alarmed & involved)


def _write_result(manifest: Manifest, row: Comparison, result: ComparisonResult) -> Part:
    if isinstance(result, RegressionResult):
        return _write_terms(result, manifest)
    if isinstance(result, PairsResult):
        return Paragraph(text=summarize_pairs(write_pairs(result, manifest)))
    if isinstance(result, SegmentsResult):
        indicators = find_indicators(manifest, row.names)
        return Paragraph(text=f"{summarize_profiles(result, indicators)} {A_SUMMARY}")
    assert isinstance(result, TwoQuestionsResult)
    outcome, group = find_indicators(manifest, row.names)
    said = f"{describe_difference(result, outcome, group)} {describe_verdict(result)}"
    return Paragraph(text=said.strip())


def _write_terms(result: RegressionResult, manifest: Manifest, *, planned: int = 0) -> Table:
    of = list_tests(result, planned=planned)
    return Table(
        caption="Logistic regression of the true answers. "
        + describe_together(result.together, what="Intervals", of=of),
        header=("Predictor", "Odds ratio", "Difference in points", ""),
        rows=tuple(
            Row(
                cells=tuple(
                    Words(text=text)
                    for text in (line.name, line.odds_ratio, line.difference, line.sentence)
                )
            )
            for line in write_terms(result, manifest)
        ),
        widths=(1,),
    )
