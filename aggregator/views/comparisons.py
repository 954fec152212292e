"""Compare: choose questions, wait for a worker, read what hangs together and how surely."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from aggregator.comparisons import sentences as wording
from aggregator.comparisons.analysis import MAX_PREDICTORS
from aggregator.comparisons.indicators import Indicator, find_indicators, list_indicators
from aggregator.comparisons.jobs import (
    NotComparable,
    find_plain_indicators,
    find_standing,
    request_comparison,
)
from aggregator.exports.comparisons import respond_with_comparison
from aggregator.models import Comparison
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.results import Results, find_view
from aggregator.results.sentences import describe_alarm
from aggregator.views.results import STOP_POLLING
from privacy.planning.budgets import pair_fraction
from surveys.access import for_owner
from surveys.formatting import percent
from surveys.manifest.manifest import Manifest
from surveys.models import Survey

REFUSED = 422


@for_owner
@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """The forms; a choice that makes sense leads to its comparison."""
    view = find_view(survey)
    if view.results is None:
        status = TOO_FEW_RESPONSES.status if request.method == "POST" else 200
        context = {"view": view, "survey": survey, "wave": view.wave}
        return render(
            request, "aggregator/comparisons/nothing_to_compare.html", context, status=status
        )
    if request.method != "POST":
        return _render_forms(request, survey, view.results)
    try:
        kind, names = _read_choice(request, view.results)
        comparison = request_comparison(
            wave=view.results.wave, snapshot=view.results.snapshot, kind=kind, names=names
        )
    except NotComparable as error:
        return _render_forms(request, survey, view.results, problem=str(error))
    return redirect("aggregator:comparison", slug=survey.slug, pk=comparison.pk)


def _read_choice(request: HttpRequest, results: Results) -> tuple[Comparison.Kind, list[str]]:
    """Kind and names of questions; predictors in the order of the survey, so that the same
    choice is the same comparison."""
    kind = request.POST.get("kind", "")
    if kind not in Comparison.Kind.values:
        raise NotComparable("Choose what to compare.")
    outcome, group = request.POST.get("outcome", ""), request.POST.get("group", "")
    chosen = set(request.POST.getlist("predictors"))
    if kind == Comparison.Kind.PAIRS:
        return Comparison.Kind.PAIRS, []
    if kind == Comparison.Kind.TABLE:
        return Comparison.Kind.TABLE, [name for name in (outcome, group) if name]
    known = [indicator.name for indicator in list_indicators(results.manifest)]
    unknown = sorted(chosen - set(known))
    predictors = [name for name in known if name in chosen] + unknown
    return Comparison.Kind.REGRESSION, [name for name in (outcome, *predictors) if name]


def _render_forms(
    request: HttpRequest, survey: Survey, results: Results, *, problem: str = ""
) -> HttpResponse:
    wave = results.wave
    indicators = _list_shown(results)
    recent = wave.comparisons.order_by("-pk")[:20]
    context = {
        "survey": survey,
        "outcomes": indicators,
        "indicators": [indicator for indicator in indicators if not indicator.is_number],
        "plain_indicators": len(find_plain_indicators(results.manifest)),
        "drawn_note": _describe_drawn(results.manifest),
        "problem": problem,
        "posted": request.POST,
        **{
            f"{kind}_outcome": request.POST.get("outcome")
            if request.POST.get("kind") == kind
            else ""
            for kind in (Comparison.Kind.TABLE.value, Comparison.Kind.REGRESSION.value)
        },
        "chosen": request.POST.getlist("predictors"),
        "max_predictors": MAX_PREDICTORS,
        "standing": wording.describe_standing(
            fixed_end=results.fixed_end,
            end_was_frozen=wave.has_fixed_end,
            is_over=not wave.is_open,
        ),
        "alarm": describe_alarm(results),
        "recent": [
            (comparison, wording.describe_title(results.manifest, comparison))
            for comparison in recent
        ],
    }
    return render(
        request, "aggregator/comparisons/compare.html", context, status=REFUSED if problem else 200
    )


def _list_shown(results: Results) -> list[Indicator]:
    """All but groups that are too small to be shown."""
    hidden = {declared.question.name: declared.hidden for declared in results.declared}
    return [
        indicator
        for indicator in list_indicators(results.manifest)
        if hidden.get(indicator.question.name, frozenset()).isdisjoint(indicator.yes)
    ]


def _describe_drawn(manifest: Manifest) -> str:
    """What a random subset means for comparisons; empty where everybody was asked everything."""
    m, blocks = manifest.drawn, manifest.block_count
    if m is None:
        return ""
    if m == 1:
        return (
            "Each person was asked one block of questions, so no two questions of different "
            "blocks can be compared."
        )
    share = percent(pair_fraction(drawn=m, questions=blocks))
    return (
        f"Each person was asked {m} of {blocks} blocks of questions: two questions of different "
        f"blocks are compared on about {share} of the reports, and more than {m} blocks never "
        "come together."
    )


@for_owner
@require_safe
def comparison(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:
    found = _find(survey, pk)
    return render(request, "aggregator/comparisons/comparison.html", _context(survey, found))


@for_owner
@require_safe
def comparison_panel(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:
    """What there is now; asks no more once it is settled."""
    try:
        found = _find(survey, pk)
    except Http404:
        if "HX-Request" not in request.headers:
            raise
        return HttpResponseClientRefresh()  # deleted while somebody waits: the page says so
    status = STOP_POLLING if found.is_settled else 200
    context = {**_context(survey, found), "swapped": True}
    return render(request, "aggregator/comparisons/comparison_panel.html", context, status=status)


@for_owner
@require_safe
def comparison_csv(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:  # noqa: ARG001
    found = _find(survey, pk)
    if found.state != Comparison.State.DONE:
        raise Http404("This comparison has no result.")
    return respond_with_comparison(found)


def _find(survey: Survey, pk: int) -> Comparison:
    found = (
        Comparison.objects.select_related("wave__survey").filter(wave__survey=survey, pk=pk).first()
    )
    if found is None:
        raise Http404("There is no such comparison.")
    return found


def _context(survey: Survey, comparison: Comparison) -> dict[str, Any]:
    standing = find_standing(comparison)
    manifest = standing.manifest
    indicators = find_indicators(manifest, comparison.names)
    context: dict[str, Any] = {
        "survey": survey,
        "comparison": comparison,
        "title": wording.describe_title(manifest, comparison),
        "indicators": indicators,
        "standing": wording.A_PLACE_TO_START
        if comparison.kind == Comparison.Kind.PAIRS
        else wording.describe_standing(
            fixed_end=standing.fixed_end,
            end_was_frozen=standing.end_was_frozen,
            is_over=standing.is_over,
        ),
        "impossible": wording.describe_impossible(standing),
        "is_exploratory": not standing.fixed_end or comparison.kind == Comparison.Kind.PAIRS,
        "is_newest": standing.is_newest,
        "batches": comparison.through_batch,
    }
    if comparison.state == Comparison.State.DONE:
        context |= _describe_result(comparison, manifest, indicators)
    return context


def _describe_result(
    comparison: Comparison, manifest: Manifest, indicators: list[Indicator]
) -> dict[str, Any]:
    result = comparison.result or {}
    if comparison.kind == Comparison.Kind.PAIRS:
        return {
            "result": result,
            "pairs": wording.write_pairs(result, manifest),
            "left_out": wording.describe_pairs_left_out(result, manifest),
        }
    if comparison.kind == Comparison.Kind.REGRESSION:
        return {"result": result, "terms": wording.write_terms(result, manifest)}
    outcome, group = indicators
    return {
        "result": result,
        "difference": wording.describe_difference(result, outcome, group),
        "test": wording.describe_test(result["test"]),
        "disagreement": wording.describe_disagreement(result),
        "figures": wording.write_figures(result, outcome, group),
        "cells": wording.write_cells(result, outcome, group),
        "outcome": outcome.label,
        "group": group.label,
        "is_group_known": group.is_known,
    }
