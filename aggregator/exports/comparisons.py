"""A comparison as CSV: every figure in full precision, with what it was computed from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse

from aggregator.comparisons.indicators import find_indicators
from aggregator.comparisons.jobs import (
    ComparisonStanding,
    find_plain_indicators,
    find_standing,
)
from aggregator.exports.tables import CONTENT_TYPE, DESIGN, write_row
from aggregator.models import Comparison

HEAD = (
    "survey",
    "wave",
    "manifest_sha256",
    "through_batch",
    "method_version",
    "standing",
    "design",
    "ks",
    "thresholds",
    # Codes and threshold of the symbol that says whether a "select several" was answered.
    "gates",
    "n",
    # Of a number as the outcome: its shares say how far means lie between these.
    "outcome_minimum",
    "outcome_maximum",
)
AS_IT_IS = "as_it_is"  # of a declared group, in the place of a threshold
TABLE_COLUMNS = ("figure", "raw", "standard_error", "estimate", "low", "high", "level")
TEST_COLUMNS = ("interval_method", "test_method", "statistic", "degrees_of_freedom", "p_value")
# In the file → in the result: the first group is those who say Yes.
FIGURES = {
    "share_where_group_yes": "share_first",
    "share_where_group_no": "share_second",
    "difference": "difference",
    "odds_ratio": "odds_ratio",
    "log_odds_ratio": "log_odds_ratio",
    "phi": "phi",
}
CELL_COLUMNS = (
    "outcome_code",
    "group_code",
    "count",
    "cell_share",
    "cell_standard_error",
    "cell_joint_share",
)
TERM_COLUMNS = (
    "name",
    "coefficient",
    "standard_error",
    "low",
    "high",
    "odds_ratio",
    "odds_ratio_low",
    "odds_ratio_high",
    "statistic",
    "p_value",
    "adjusted_p_value",
)
PAIR_COLUMNS = (
    "first",
    "second",
    "n_of_both",
    "more_often_together",
    "method",
    "statistic",
    "p_value",
    "adjusted_p_value",
)


def respond_with_comparison(comparison: Comparison) -> HttpResponse:
    response = HttpResponse(b"".join(_rows(comparison)), content_type=CONTENT_TYPE)
    wave = comparison.wave
    name = "_".join([comparison.kind, *comparison.names])
    response["Content-Disposition"] = (
        f'attachment; filename="{wave.survey.slug}_w{wave.number}_'
        f'{wave.manifest_hash_hex[:8]}_RANDOMIZED_{name}.csv"'
    )
    return response


def _rows(comparison: Comparison) -> Iterator[bytes]:
    """One table: the columns of the survey first, the same in every row."""
    result, wave = comparison.result or {}, comparison.wave
    standing = find_standing(comparison)
    indicators = find_indicators(standing.manifest, comparison.names) or find_plain_indicators(
        standing.manifest
    )
    head = (
        wave.survey.slug,
        wave.number,
        wave.manifest_hash_hex,
        comparison.through_batch,
        comparison.method_version,
        _name_standing(standing),
        DESIGN,
        ";".join(str(indicator.symbol.k) for indicator in indicators),
        ";".join(
            AS_IT_IS if indicator.is_known else str(indicator.symbol.threshold)
            for indicator in indicators
        ),
        ";".join(
            f"{indicator.gate.k}:{indicator.gate.threshold}" if indicator.gate else ""
            for indicator in indicators
        ),
        result["n"],
        *(result.get("range") or (None, None)),
    )
    columns, rows = _table(comparison.kind, comparison.names, result)
    yield write_row((*HEAD, *columns))
    for row in rows:
        yield write_row((*head, *row))


def _name_standing(standing: ComparisonStanding) -> str:
    if standing.is_impossible:
        return "contradiction"
    return "fixed_end" if standing.fixed_end else "exploratory"


def _table(
    kind: str, names: list[str], result: dict[str, Any]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    if kind == Comparison.Kind.REGRESSION:
        rows = [tuple(term[column] for column in TERM_COLUMNS) for term in result["terms"]]
        columns = ("outcome", *TERM_COLUMNS, "interval_method", "level")
        return columns, [(names[0], *row, "wald", result["level"]) for row in rows]
    if kind == Comparison.Kind.PAIRS:
        return PAIR_COLUMNS, [
            (
                *pair["questions"],
                pair["n"],
                pair["together"],
                *(pair[column] for column in PAIR_COLUMNS[4:]),
            )
            for pair in result["pairs"]
        ]
    return _two_questions(names, result)


def _two_questions(
    names: list[str], result: dict[str, Any]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The figures, the test, and then the cells of the table of true answers."""
    columns = ("outcome", "group", *TABLE_COLUMNS, *TEST_COLUMNS, *CELL_COLUMNS)
    no_cell, no_figure = (None,) * len(CELL_COLUMNS), (None,) * (len(TABLE_COLUMNS) - 1)
    profile = ("profile_likelihood", *(None,) * (len(TEST_COLUMNS) - 1))
    rows: list[tuple[Any, ...]] = [
        (name, *(result[key][column] for column in TABLE_COLUMNS[1:]), *profile, *no_cell)
        for name, key in FIGURES.items()
    ]
    test = result["test"]
    tested = (test["method"], test["statistic"], test["degrees_of_freedom"], test["p_value"])
    rows.append(("test", *no_figure, None, *tested, *no_cell))
    for first, counts in enumerate(result["counts"]):
        for second, count in enumerate(counts):
            cell = [
                result[name][first][second]
                for name in ("shares", "standard_errors", "joint_shares")
            ]
            nothing = (None,) * len(TEST_COLUMNS)
            rows.append(("cell", *no_figure, *nothing, first, second, count, *cell))
    return columns, [(*names, *row) for row in rows]
