"""The mode comparison as CSV: browser and coins side by side, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from django.http import HttpResponse

from aggregator.exports.csv_format import (
    CONTENT_TYPE,
    DESIGN,
    Cell,
    list_wave_columns,
    name_wave,
    write_row,
)
from aggregator.results.display import Results
from aggregator.results.estimate import Estimate
from aggregator.results.modes import ModeComparison
from surveys.downloads import attach

Columns = Mapping[str, Callable[[ModeComparison], Cell]]

# Each column's name, and how to find its value.
ESTIMATE_COLUMNS: Mapping[str, Callable[[Estimate], Cell]] = {
    "threshold": lambda estimate: estimate.estimand.question.threshold,
    "n": lambda estimate: estimate.total,
    "count": lambda estimate: estimate.count,
    "estimate": lambda estimate: estimate.value,
    "standard_error": lambda estimate: estimate.standard_error,
    "interval_low": lambda estimate: estimate.low,
    "interval_high": lambda estimate: estimate.high,
    "interval_method": lambda estimate: estimate.method,
    "reliability": lambda estimate: estimate.reliability.value,
    "status": lambda estimate: estimate.status.value,
}
DIFFERENCE_COLUMNS: Columns = {
    "difference": lambda row: row.difference.difference,
    "difference_standard_error": lambda row: row.difference.standard_error,
    "difference_low": lambda row: row.difference.low,
    "difference_high": lambda row: row.difference.high,
    "difference_method": lambda row: row.difference.method,
    "difference_p_value": lambda row: row.difference.test.p_value,
    "interval_level": lambda row: row.difference.level,
}
POOLED_COLUMNS: Columns = {
    "pooled": lambda row: row.pooled.share,
    "pooled_low": lambda row: row.pooled.low,
    "pooled_high": lambda row: row.pooled.high,
    "heterogeneity_p_value": lambda row: row.pooled.heterogeneity.p_value,
}


def respond_with_mode_comparison(
    questions: Sequence[ModeComparison], *, browser: Results, coins: Results, pooled: bool
) -> HttpResponse:
    """Respond with one row per question; `difference` is coins minus browser.

    Columns of pooled shares are included only if the researcher asked for them.
    """
    columns = _list_columns(browser=browser, coins=coins, pooled=pooled)
    rows = [write_row(columns)]
    rows += (write_row(read(question) for read in columns.values()) for question in questions)
    response = HttpResponse(b"".join(rows), content_type=CONTENT_TYPE)
    name = name_wave(browser.wave, slug=browser.manifest.survey)
    kind = "browser_and_coins_pooled" if pooled else "browser_and_coins"
    return attach(response, f"{name}_RANDOMIZED_{kind}.csv")


def _list_columns(*, browser: Results, coins: Results, pooled: bool) -> Columns:
    return {
        **list_wave_columns(lambda _: browser.wave),
        "question": lambda row: row.browser.question.variable,
        "question_text": lambda row: row.browser.question.full_text,
        "design": lambda _: DESIGN,
        **dict(_list_side("browser", browser, lambda row: row.browser.shown[0])),
        **dict(_list_side("coins", coins, lambda row: row.coins.shown[0])),
        **DIFFERENCE_COLUMNS,
        **(POOLED_COLUMNS if pooled else {}),
    }


def _list_side(
    side: str, results: Results, estimate_of: Callable[[ModeComparison], Estimate]
) -> Iterator[tuple[str, Callable[[ModeComparison], Cell]]]:
    yield f"{side}_through_batch", lambda row: results.find_look(row.browser.question)
    for name, read in ESTIMATE_COLUMNS.items():
        yield f"{side}_{name}", lambda row, read=read: read(estimate_of(row))  # type: ignore[misc]
