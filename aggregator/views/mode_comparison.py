"""The results of browser and coins side by side, as a page and as a file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.comparisons.mode_blocks import build_mode_block
from aggregator.comparisons.sentences import TRIED
from aggregator.exports.modes import respond_with_mode_comparison
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.display import Results, View
from aggregator.results.modes import ModeComparison, compare_modes
from aggregator.results.sentences import describe_caution
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import Action, needs
from surveys.history.recording import record_seen
from surveys.manifest.modes import Mode
from surveys.models import Survey

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
        "blocks": [build_mode_block(question, pooled=pooled) for question in found],
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
