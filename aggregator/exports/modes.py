"""The mode comparison as CSV: browser and coins side by side, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http import HttpResponse

from aggregator.exports.tables import CONTENT_TYPE, DESIGN, name_wave, write_row
from aggregator.results.modes import ModeComparison
from aggregator.results.results import QuestionResult, Results

SIDES = ("browser", "coins")
SIDE_COLUMNS = (
    "through_batch",
    "threshold",
    "n",
    "count",
    "estimate",
    "standard_error",
    "interval_low",
    "interval_high",
    "interval_method",
    "status",
)
COLUMNS = (
    "survey",
    "wave",
    "manifest_sha256",
    "question",
    "question_text",
    "design",
    *(f"{side}_{column}" for side in SIDES for column in SIDE_COLUMNS),
    "difference",
    "difference_standard_error",
    "difference_low",
    "difference_high",
    "difference_method",
    "difference_p_value",
    "interval_level",
)
POOLED_COLUMNS = ("pooled", "pooled_low", "pooled_high", "heterogeneity_p_value")


def respond_with_mode_comparison(
    questions: Sequence[ModeComparison], *, browser: Results, coins: Results, pooled: bool
) -> HttpResponse:
    """`difference` is coins less browser; the pooled share is there only when asked for."""
    rows = [write_row(COLUMNS + (POOLED_COLUMNS if pooled else ()))]
    for question in questions:
        rows.append(write_row(_cells(question, browser=browser, coins=coins, pooled=pooled)))
    response = HttpResponse(b"".join(rows), content_type=CONTENT_TYPE)
    name = name_wave(browser.wave, slug=browser.manifest.survey)
    kind = "browser_and_coins_pooled" if pooled else "browser_and_coins"
    response["Content-Disposition"] = f'attachment; filename="{name}_RANDOMIZED_{kind}.csv"'
    return response


def _cells(
    found: ModeComparison, *, browser: Results, coins: Results, pooled: bool
) -> Iterator[str | float | None]:
    asked, difference = found.browser.question, found.difference
    yield from (browser.manifest.survey, browser.wave.number, browser.wave.manifest_hash_hex)
    yield from (asked.name, asked.text, DESIGN)
    yield from _side_cells(found.browser, browser)
    yield from _side_cells(found.coins, coins)
    yield from (difference.difference, difference.standard_error, difference.low, difference.high)
    yield from (difference.method, difference.test.p_value, difference.level)
    if pooled:
        both = found.pooled
        yield from (both.share, both.low, both.high, both.heterogeneity.p_value)


def _side_cells(result: QuestionResult, results: Results) -> Iterator[str | float | None]:
    (share,) = result.interest
    yield from (results.snapshot.through_batch, result.question.threshold)
    yield from (result.total, share.count, share.estimate, share.standard_error)
    yield from (share.low, share.high, share.method, result.status_of(share).value)
