"""A breakdown as CSV: one row for each figure of each group, then the differences."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpResponse

from aggregator.comparisons.breakdown.blocks import name_groups, name_level
from aggregator.comparisons.breakdown.result import BreakdownResult, CrossedCount
from aggregator.exports.csv_format import (
    CONTENT_TYPE,
    Cell,
    list_wave_cells,
    name_wave,
    write_row,
)
from aggregator.exports.report_codes import list_columns
from aggregator.models import Comparison
from aggregator.results.display import Results
from aggregator.results.estimands import Estimand, list_estimands
from privacy.level import LEVEL
from surveys.downloads import attach
from surveys.manifest.questions import ManifestQuestion

COLUMNS = (
    "section",  # estimate, count (of another declared question) or difference from all others
    "group",  # the group's code in reports.csv
    "group_text",
    "group_n",
    "question",
    "question_text",
    "estimand",
    "estimand_text",
    "kind",
    "of",
    "unit",
    "n",
    "count",
    "value",
    "standard_error",
    "low",
    "high",
    "level",
    "method",
    "reliability",
    "status",
)
SAMPLE_SHARE = "share_of_people"


def respond_with_breakdown(
    results: Results, comparison: Comparison, result: BreakdownResult, declared: ManifestQuestion
) -> HttpResponse:
    wave = results.wave
    content = b"".join(_write_rows(results, comparison, result, declared))
    name = f"{name_wave(wave, slug=wave.survey.slug)}_RANDOMIZED_breakdown_{declared.name}.csv"
    return attach(HttpResponse(content, content_type=CONTENT_TYPE), name)


def _write_rows(
    results: Results, comparison: Comparison, result: BreakdownResult, declared: ManifestQuestion
) -> Iterator[bytes]:
    # These cells are the same in every row: the source of the data and the groups' question.
    head: dict[str, Cell] = {
        **list_wave_cells(results.wave),
        "through_batch": comparison.through_batch,
        "method_version": comparison.method_version,
        "standing": "fixed_end" if results.fixed_end else "watched",
        "group_question": declared.variable,
        "group_question_text": declared.text,
    }
    yield write_row((*head, *COLUMNS))
    groups = _list_group_cells(results, result, declared)
    for group, cells in _list_cells(results, result):
        row = groups[group] | cells
        yield write_row((*head.values(), *(row.get(column) for column in COLUMNS)))


def _list_group_cells(
    results: Results, result: BreakdownResult, declared: ManifestQuestion
) -> dict[int, dict[str, Cell]]:
    names, written = name_groups(declared, result), _find_codes(results)[declared.name]
    return {
        group.code: {
            "group": written[group.code],
            "group_text": names[group.code],
            "group_n": group.n,
        }
        for group in result.groups
    }


def _find_codes(results: Results) -> dict[str, dict[int, int | None]]:
    """For each symbol, map the codes in batches to the codes in reports.csv."""
    return {
        column.symbol.name: {sent: code.written for code in column.codes for sent in code.sent}
        for column in list_columns(results.manifest)
    }


def _list_cells(results: Results, result: BreakdownResult) -> Iterator[tuple[int, dict[str, Cell]]]:
    estimands = {(one.question.name, one.name): one for one in list_estimands(results.manifest)}
    for estimate in result.estimates:
        estimand = estimands[estimate.question, estimate.estimand]
        found = estimate.as_estimate(estimand)
        yield (
            estimate.group,
            {
                "section": "estimate",
                **_list_estimand_cells(estimand),
                "n": estimate.n,
                "count": estimate.count,
                "value": estimate.value,
                "standard_error": estimate.standard_error,
                "low": estimate.low,
                "high": estimate.high,
                "level": estimate.level,
                "method": estimate.method,
                "reliability": found.reliability.value,
                "status": found.status.value,
            },
        )
    for crossed in result.crossed:
        yield crossed.group, _list_crossed_cells(results, result, crossed)
    for difference in result.differences:
        yield (
            difference.group,
            {
                "section": "difference",
                **_list_estimand_cells(estimands[difference.question, difference.estimand]),
                "value": difference.difference,
                "low": difference.low,
                "high": difference.high,
                "level": difference.level,
                "method": difference.method,
            },
        )


def _list_estimand_cells(estimand: Estimand) -> dict[str, Cell]:
    return {
        "question": estimand.question.variable,
        "question_text": estimand.question.full_text,
        "estimand": estimand.name,
        "estimand_text": estimand.text,
        "kind": estimand.kind.value,
        "of": estimand.of.value,
        "unit": estimand.question.unit or None,
    }


def _list_crossed_cells(
    results: Results, result: BreakdownResult, crossed: CrossedCount
) -> dict[str, Cell]:
    people = next(group.n for group in result.groups if group.code == crossed.group)
    question = next(one for one in results.manifest.questions if one.name == crossed.question)
    written = _find_codes(results)[crossed.question][crossed.code]
    return {
        "section": "count",
        "question": question.variable,
        "question_text": question.full_text,
        "estimand": str(written),
        "estimand_text": name_level(crossed, question),
        "kind": "share",
        "of": "everyone",
        "n": people,
        "count": crossed.count,
        "value": crossed.count / people if people else None,
        "low": crossed.low,
        "high": crossed.high,
        "level": LEVEL,
        "method": SAMPLE_SHARE,
    }
