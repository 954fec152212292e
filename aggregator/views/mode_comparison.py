"""Browser and coins side by side, as a page and as a file."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregator.comparisons.sentences import EstimateLine, describe_standing
from aggregator.exports.modes import respond_with_mode_comparison
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.display import Results, View
from aggregator.results.estimate import QuestionResult
from aggregator.results.modes import ModeComparison, compare_modes
from aggregator.results.sentences import (
    describe_caution,
    summarize,
    write_displayed,
    write_interval,
)
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import for_owner
from surveys.formatting import percent, points, whole
from surveys.manifest.modes import Mode
from surveys.models import Survey

LEAST_HETEROGENEITY = 0.05


@dataclass(frozen=True, kw_only=True)
class Line:
    """One question as the page shows it."""

    name: str
    number: int
    text: str
    rows: list[EstimateLine]
    warning: str

    @property
    def title_id(self) -> str:
        return f"{self.name}-title"


@for_owner
@require_safe
def mode_comparison(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Each question's two shares and their difference; pooled only with ?pooled=yes."""
    coins, browser = view_of(survey, mode=Mode.MANUAL), view_of(survey, mode=Mode.ELECTRONIC)
    pooled = _is_pooled(request)
    found = _pair(browser, coins)
    wave = browser.wave
    assert wave is not None  # opened together with the coin wave
    context = {
        "survey": survey,
        "wave": wave,
        "addresses": find_addresses(coins),
        "missing": _list_missing(browser, coins),
        "lines": [_write_line(question, pooled=pooled) for question in found],
        "pooled": pooled,
        "caution": describe_caution(
            result.shown[0] for pair in found for result in (pair.browser, pair.coins)
        ),
        "standing": describe_standing(
            wave,
            fixed_end=all(view.results and view.results.fixed_end for view in (browser, coins)),
        ),
    }
    return render(request, "aggregator/results/mode_comparison.html", context)


@for_owner
@require_safe
def mode_comparison_csv(request: HttpRequest, survey: Survey) -> HttpResponse:
    coins, browser = view_of(survey, mode=Mode.MANUAL), view_of(survey, mode=Mode.ELECTRONIC)
    if browser.results is None or coins.results is None:
        missing = coins if browser.results else browser
        context = {
            "view": missing,
            "survey": survey,
            "wave": missing.wave,
            "addresses": find_addresses(missing),
        }
        status = TOO_FEW_RESPONSES.status
        return render(request, "aggregator/results/nothing_to_export.html", context, status=status)
    return respond_with_mode_comparison(
        _pair(browser, coins),
        browser=browser.results,
        coins=coins.results,
        pooled=_is_pooled(request),
    )


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


def _write_line(found: ModeComparison, *, pooled: bool) -> Line:
    both, difference = found.pooled, found.difference
    warning = ""
    if found.alarms:
        warning = (
            "Do not use this line: reports that did not come from the survey’s page are the likely "
            f"cause of the codes of {' and of '.join(found.alarms)}."
        )
    elif pooled and both.heterogeneity.p_value < LEAST_HETEROGENEITY:
        warning = (
            "The two differ by more than chance, so one share describes neither. Do not pool them "
            "here."
        )
    rows = [
        _write_side("In the browser", found.browser),
        _write_side("Two coins", found.coins),
        EstimateLine(
            name="Coins less browser",
            anchor="declared-groups",
            value=f"{points(difference.difference)} points",
            interval=f"{points(difference.low)} to {points(difference.high)} points",
        ),
    ]
    if pooled:
        rows.append(
            EstimateLine(
                name="Pooled",
                anchor="strata-and-modes",
                value=percent(both.share),
                interval=_write_ends(both.low, both.high),
            )
        )
    asked = found.browser.question
    return Line(
        name=asked.name, number=found.browser.number, text=asked.text, rows=rows, warning=warning
    )


def _write_side(name: str, result: QuestionResult) -> EstimateLine:
    (share,) = result.shown
    return EstimateLine(
        name=f"{name}, {whole(result.total)} people",
        anchor="estimating-a-share",
        value=write_displayed(share),
        interval=(
            write_interval(share, share.intervals.main) if share.is_shown else summarize(share)
        ),
    )


def _write_ends(low: float, high: float) -> str:
    return f"{points(low)} to {percent(high)}"
