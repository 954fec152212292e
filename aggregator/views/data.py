"""The files of a survey, and its URLs for programs (API), on one page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from aggregator.charts.questions import list_menu
from aggregator.comparisons.sentences import describe_title
from aggregator.comparisons.standing import is_of_survey
from aggregator.exports.reports import list_links_to_rows
from aggregator.models import Comparison
from aggregator.results.display import Results, View
from aggregator.results.snapshots import METHOD_VERSION
from aggregator.simulation.demo import is_invented
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import Action, needs
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey, Wave

RECENT = 20
_API_PAGES = (
    "api_survey",
    "api_results",
    "api_estimates_csv",
    "api_reports_csv",
    "api_codebook_csv",
)


@needs(Action.EXPORT)
@require_safe
def data(request: HttpRequest, survey: Survey) -> HttpResponse:
    view = view_of(survey, mode=Mode.ELECTRONIC)
    views = [view]
    if view.manifest is not None and view.manifest.coins:
        views.append(view_of(survey, mode=Mode.MANUAL))
    context = {
        "survey": survey,
        "wave": view.wave,
        "view": view,
        "rows": list_links_to_rows(view.results) if view.results else [],
        "chosen_chart": request.GET.get("chart", ""),
        "modes": [_build_mode_context(each) for each in views],
        "can_be_attacked": is_invented(survey),
        "comparisons": _list_comparisons(view.wave) if view.wave else [],
        "breakdowns": _list_breakdowns(view.results) if view.results else [],
        "api": [reverse(f"aggregator:{page}", args=[survey.slug]) for page in _API_PAGES],
    }
    return render(request, "aggregator/data/data.html", context)


def _list_comparisons(wave: Wave) -> list[tuple[Comparison, str]]:
    """List the finished comparisons, newest first, each with its title."""
    done = wave.comparisons.filter(state=Comparison.State.DONE)
    elsewhere = (Comparison.Kind.BREAKDOWN, Comparison.Kind.CLAIM)
    done = done.exclude(kind__in=elsewhere).order_by("-pk")[:RECENT]
    manifest = wave.description
    return [(one, describe_title(manifest, one)) for one in done if is_of_survey(one, manifest)]


def _list_breakdowns(results: Results) -> list[ManifestQuestion]:
    """List the questions by which the newest results are broken down."""
    done = results.wave.comparisons.filter(
        kind=Comparison.Kind.BREAKDOWN,
        state=Comparison.State.DONE,
        method_version=METHOD_VERSION,
    )
    names = list(done.values_list("names", flat=True)) if results.is_final else []
    return [one for one in results.manifest.questions if [one.name] in names]


def _build_mode_context(view: View) -> dict[str, object]:
    return {
        "view": view,
        "wave": view.wave,
        "standing": view.standing.value,
        "addresses": find_addresses(view),
        "is_of_coins": view.wave is not None and view.wave.mode == Mode.MANUAL,
        "charts": list_menu(view.results) if view.results else [],
    }
