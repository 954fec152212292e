"""Breakdowns of every question by a declared question: the menu, the page and its file."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from aggregator.background.rows_files import find_background
from aggregator.charts.comparisons import list_breakdown_menu
from aggregator.comparisons.breakdown.blocks import (
    build_block,
    count_answers,
    count_differences,
    list_others,
    name_groups,
)
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.jobs import find_comparison, request_comparison
from aggregator.comparisons.standing import find_standing
from aggregator.exports.breakdown import respond_with_breakdown
from aggregator.models import Comparison
from aggregator.results.display import Results, View, find_view
from aggregator.results.sentences import CAUTION, describe_alarm, describe_burst, describe_intervals
from aggregator.simulation.truth import describe_truth, known_truth
from surveys.access import Action, needs
from surveys.history.recording import record_seen
from surveys.manifest.languages import language_tag
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey

NOT_DECLARED = "This survey has no such declared question."
NO_RESULT = "This breakdown has no result."
SECONDS_TO_RELOAD = 2
# More rows would make a page of several megabytes, which nobody can read.
MOST_ROWS_ON_A_PAGE = 1200


@needs(Action.ANALYSE)
@require_safe
def breakdowns(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """List the declared questions, or say why there is no breakdown."""
    return _show_menu(request, find_view(survey))


def _show_menu(request: HttpRequest, view: View) -> HttpResponse:
    results = view.results
    manifest = view.manifest
    has_groups = manifest is None or any(one.is_declared for one in manifest.questions)
    context = {
        "view": view,
        "survey": view.survey,
        "wave": view.wave,
        "has_groups": has_groups,
        "must_choose": results is not None
        and results.is_final
        and find_background(results.wave) is None,
        "declared": results.declared if results and results.is_final else (),
    }
    return render(request, "aggregator/breakdown/breakdowns.html", context)


@needs(Action.ANALYSE)
@require_http_methods(["GET", "HEAD", "POST"])
def breakdown(request: HttpRequest, survey: Survey, question: str) -> HttpResponseBase:
    """Show a breakdown, which a worker makes on the first visit; POST tries again."""
    view = find_view(survey)
    declared = _find_declared(view, question)
    results = view.results
    if results is None or not results.is_final or find_background(results.wave) is None:
        return _show_menu(request, view)
    if request.method == "POST":
        _request(results, declared)
        return redirect("aggregator:breakdown", survey.slug, question)
    comparison = _find(results, declared) or _request(results, declared)
    response = render(
        request,
        "aggregator/breakdown/breakdown.html",
        _context(request, results, declared, comparison),
    )
    if not comparison.is_settled:
        response["Refresh"] = str(SECONDS_TO_RELOAD)
    return response


@needs(Action.EXPORT)
@require_safe
def breakdown_csv(
    request: HttpRequest,  # noqa: ARG001
    survey: Survey,
    question: str,
) -> HttpResponseBase:
    view = find_view(survey)
    declared = _find_declared(view, question)
    found = _find(view.results, declared) if view.results and view.results.is_final else None
    standing = find_standing(found) if found else None
    if view.results is None or found is None or standing is None or standing.breakdown is None:
        raise Http404(NO_RESULT)
    return respond_with_breakdown(view.results, found, standing.breakdown, declared)


def _find_declared(view: View, name: str) -> ManifestQuestion:
    questions = view.manifest.questions if view.manifest else ()
    found = next((one for one in questions if one.is_declared and one.name == name), None)
    if found is None:
        raise Http404(NOT_DECLARED)
    return found


def _find(results: Results, declared: ManifestQuestion) -> Comparison | None:
    return find_comparison(
        wave=results.wave,
        snapshot=results.snapshot,
        kind=Comparison.Kind.BREAKDOWN,
        names=[declared.name],
    )


def _request(results: Results, declared: ManifestQuestion) -> Comparison:
    return request_comparison(
        wave=results.wave,
        snapshot=results.snapshot,
        kind=Comparison.Kind.BREAKDOWN,
        names=[declared.name],
    )


def _context(
    request: HttpRequest, results: Results, declared: ManifestQuestion, comparison: Comparison
) -> dict[str, object]:
    standing, survey = find_standing(comparison), results.wave.survey
    context: dict[str, object] = {
        "survey": survey,
        "declared": declared,
        "others": [one for one in results.declared if one.question != declared],
        "comparison": comparison,
        "may_try_again": comparison.was_given_up,
        "lang": language_tag(results.manifest.language),
        "alarm": describe_alarm(results),
        # The reports of a demo come from a program.
        "burst": "" if known_truth(survey) else describe_burst(results),
        "demo": describe_truth(survey),
    }
    if standing.breakdown is not None:
        record_seen(survey)
        context |= _build_context(request, results, declared, standing.breakdown)
        context["charts"] = list_breakdown_menu(comparison, standing)
    return context


def _build_context(
    request: HttpRequest, results: Results, declared: ManifestQuestion, result: BreakdownResult
) -> dict[str, object]:
    page = _paginate(list_others(results.manifest, declared), result).get_page(
        request.GET.get("page")
    )
    blocks = [build_block(question, declared, result) for question in page]
    names = name_groups(declared, result)
    return {
        "result": result,
        "groups": [(names[group.code], group.n) for group in result.groups],
        "hides_some": any(group.n is None for group in result.groups),
        "needs_more": result.least > results.wave.crowd,
        "intervals": describe_intervals(results),
        "caution": CAUTION if any(block.has_caution for block in blocks) else "",
        "page": page,
        "blocks": blocks,
        "differences": count_differences(result),
    }


def _paginate(
    questions: list[ManifestQuestion], result: BreakdownResult
) -> Paginator[ManifestQuestion]:
    most = max(map(count_answers, questions), default=1) * len(result.shown)
    return Paginator(questions, max(MOST_ROWS_ON_A_PAGE // max(most, 1), 1))
