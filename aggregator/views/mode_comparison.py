"""The page and the file of browser and coins side by side, with the words for their difference."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.comparisons.sentences import TRIED, subtract_shown, write_points
from aggregator.exports.modes import respond_with_mode_comparison
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.blocks import (
    Block,
    BlockRow,
    RowKind,
    row_of_estimate,
    row_of_share,
)
from aggregator.results.display import Results, View
from aggregator.results.estimate import QuestionResult
from aggregator.results.modes import ModeComparison, compare_modes
from aggregator.results.sentences import describe_caution
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import Action, needs
from surveys.axis import Axis
from surveys.formatting import points, whole
from surveys.history.recording import record_seen
from surveys.manifest.modes import Mode
from surveys.models import Survey

LEAST_HETEROGENEITY = 0.05
EXPLORATORY = (
    "Exploratory: these intervals are not guaranteed if you look more than once before both ways "
    "of answering have ended as fixed."
)


@needs(Action.READ)
@require_safe
def mode_comparison(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show each question's two shares, their difference and, if ?pooled=yes, the pooled share."""
    coins, browser = view_of(survey, mode=Mode.MANUAL), view_of(survey, mode=Mode.ELECTRONIC)
    pooled = _is_pooled(request)
    found = _pair(browser, coins)
    if found:
        record_seen(survey)
    wave = browser.wave
    assert wave is not None  # opened together with the coin wave
    context = {
        "survey": survey,
        "wave": wave,
        "addresses": find_addresses(coins),
        "missing": _list_missing(browser, coins),
        "blocks": [_build_block(question, pooled=pooled) for question in found],
        "pooled": pooled,
        "caution": describe_caution(
            result.shown[0] for pair in found for result in (pair.browser, pair.coins)
        ),
        "standing": TRIED if _is_one_look(browser, coins) else EXPLORATORY,
    }
    return render(request, "aggregator/results/mode_comparison.html", context)


@needs(Action.EXPORT)
@require_safe
def mode_comparison_csv(request: HttpRequest, survey: Survey) -> HttpResponse:
    coins, browser = view_of(survey, mode=Mode.MANUAL), view_of(survey, mode=Mode.ELECTRONIC)
    if browser.results is None or coins.results is None:
        missing = coins if browser.results else browser
        context = {
            "view": missing,
            "survey": survey,
            "wave": missing.wave,
        }
        status = TOO_FEW_RESPONSES.status
        return render(request, "aggregator/results/nothing_to_export.html", context, status=status)
    return respond_with_mode_comparison(
        _pair(browser, coins),
        browser=browser.results,
        coins=coins.results,
        pooled=_is_pooled(request),
    )


def _is_one_look(*views: View) -> bool:
    return all(view.results and view.results.fixed_end for view in views)


def _is_pooled(request: HttpRequest) -> bool:
    return request.GET.get("pooled") == "yes"


def _pair(browser: View, coins: View) -> list[ModeComparison]:
    if browser.results is None or coins.results is None:
        return []
    return list(compare_modes(browser=browser.results, coins=coins.results))


def _list_missing(browser: View, coins: View) -> list[str]:
    """List the modes that have too few reports to show anything."""
    found: dict[str, Results | None] = {
        "those who answered in the browser": browser.results,
        "those who tossed two coins": coins.results,
    }
    return [name for name, results in found.items() if results is None]


def _build_block(found: ModeComparison, *, pooled: bool) -> Block:
    """Show both shares, their difference and, if wanted, the pooled share in one block."""
    both = found.pooled
    warning = ""
    if found.alarms:
        warning = (
            "Do not use this question: reports that did not come from the survey’s page are the "
            f"likely cause of the codes of {' and of '.join(found.alarms)}."
        )
    elif pooled and both.heterogeneity.p_value < LEAST_HETEROGENEITY:
        warning = (
            "The two ways differ by more than chance, so no single share describes both. Do not "
            "pool them here."
        )
    key = found.browser.question.name
    rows = [
        _build_side("In the browser", found.browser),
        _build_side("Two coins", found.coins),
        _build_difference(found, key=key),
    ]
    if pooled:
        rows.append(
            row_of_share(
                key=f"{key} pooled", label="Pooled", value=both.share, low=both.low, high=both.high
            )
        )
    return Block(
        question=found.browser.question,
        total=found.browser.total,
        is_declared=False,
        rows=tuple(rows),
        warning=warning,
    )


def _build_side(name: str, result: QuestionResult) -> BlockRow:
    (share,) = result.shown
    row = row_of_estimate(share, usual=share.estimand.of)
    return replace(row, label=name, among=f"{whole(result.total)} people")


def _build_difference(pair: ModeComparison, *, key: str) -> BlockRow:
    """Show the difference of the two shown shares."""
    found = pair.difference
    coins, browser = (result.shown[0].displayed or 0.0 for result in (pair.coins, pair.browser))
    number = write_points(subtract_shown(coins, browser))
    ends = f"{points(found.low)} to {points(found.high)}"
    return BlockRow(
        key=f"{key} difference",
        kind=RowKind.MEAN,  # with a separate axis
        label="Coins less browser",
        value=found.difference,
        low=found.low,
        high=found.high,
        axis=Axis(least=-1.0, ends=("\N{MINUS SIGN}100", "100")),
        number=number,
        range=ends,
        text=f"{number} ({ends})",
    )
