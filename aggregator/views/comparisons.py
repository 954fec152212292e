"""The pages for choosing a comparison, waiting for the worker and reading the result."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from aggregator.background.rows_files import find_rows_file
from aggregator.batches.halves import find_half_with_groups
from aggregator.comparisons.choice import (
    BLOCKS_APART,
    BLOCKS_MOVE_APART,
    MOST_ACROSS,
    find_problem,
)
from aggregator.comparisons.forms import CHOOSE_KIND, FORMS, ComparisonForm, predictor_field
from aggregator.comparisons.jobs import is_of_final_snapshot, request_comparison
from aggregator.comparisons.key_driver import list_outcomes
from aggregator.comparisons.planned import list_planned
from aggregator.comparisons.result import (
    ComparisonResult,
    PairsResult,
    RegressionResult,
    SegmentsResult,
)
from aggregator.comparisons.sentences import (
    A_PLACE_TO_START,
    A_SUMMARY,
    describe_all,
    describe_impossible,
    describe_standing,
    describe_title,
    describe_together,
    is_warned_of,
    name_planned,
)
from aggregator.comparisons.standing import ComparisonStanding, find_standing, is_of_survey
from aggregator.comparisons.words.all_pairs_sentences import (
    describe_pairs_left_out,
    divide_pairs,
    summarize_pairs,
    write_pairs,
)
from aggregator.comparisons.words.figure_rows import list_group_rows, list_ratio_rows
from aggregator.comparisons.words.regression_sentences import (
    list_references,
    list_tests,
    summarize_terms,
    write_terms,
)
from aggregator.comparisons.words.segment_sentences import (
    list_profile_rows,
    summarize_profiles,
)
from aggregator.comparisons.words.two_questions_sentences import (
    describe_coverage,
    describe_difference,
    describe_others,
    describe_verdict,
    write_cells,
    write_estimates,
)
from aggregator.exports.comparisons import respond_with_comparison
from aggregator.models import Comparison, RowsFile
from aggregator.problems import TOO_FEW_RESPONSES
from aggregator.results.display import Results, find_view
from aggregator.results.sentences import CAUTION, CAUTION_MARK, describe_alarm
from aggregator.views.results import STOP_POLLING
from privacy.planning.budgets import pair_fraction
from surveys.access import Action, needs
from surveys.comparing.choice import GROUP, OUTCOME
from surveys.comparing.indicators import (
    Indicator,
    find_indicators,
    list_indicators,
    list_predictors,
)
from surveys.comparing.pairs import list_pair_indicators
from surveys.formatting import percent
from surveys.history.recording import record_seen
from surveys.models import Survey

REFUSED = 422
RECENT = 20
NO_COMPARISON = "There is no such comparison."
NO_RESULT = "This comparison has no result."
ONE_BLOCK_EACH = (
    "Each person was asked one block of questions, so questions from different blocks cannot be "
    "compared."
)


@needs(Action.ANALYSE)
@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """Show the forms; redirect a valid choice to its comparison."""
    view = find_view(survey)
    if view.results is None:
        status = TOO_FEW_RESPONSES.status if request.method == "POST" else 200
        context = {"view": view, "survey": survey, "wave": view.wave}
        return render(
            request, "aggregator/comparisons/nothing_to_compare.html", context, status=status
        )
    results = view.results
    rows_file = find_rows_file(results.wave)
    through_batch = results.snapshot.through_batch
    half = find_half_with_groups(results.wave, through_batch=through_batch)
    shown = _list_shown(results, rows_file)
    # In an open half, only tables have groups.
    groups = [one for one in list_indicators(results.manifest) if half and one.is_known]
    forms = {
        kind: form(
            request.POST if request.POST.get("kind") == kind else None,
            manifest=results.manifest,
            snapshot=results.snapshot,
            rows_file=rows_file,
            half=half,
            shown=[*shown, *groups] if kind == Comparison.Kind.TABLE else shown,
        )
        for kind, form in FORMS.items()
    }
    posted = next((form for form in forms.values() if form.is_bound), None)
    if posted is not None and posted.is_valid():
        comparison = request_comparison(
            wave=results.wave,
            snapshot=results.snapshot,
            kind=posted.kind,
            names=posted.names,
            segments=posted.segments,
        )
        return redirect("aggregator:comparison", slug=survey.slug, pk=comparison.pk)
    record_seen(survey)
    context = _build_forms(results, shown, forms)
    context |= {"drawn_note": _describe_drawn(results, rows_file)}
    context |= {"survey": survey, "form": posted, "must_choose": must_choose(results, rows_file)}
    if request.method == "POST" and posted is None:
        context["problem"] = CHOOSE_KIND
    status = REFUSED if request.method == "POST" else 200
    return render(request, "aggregator/comparisons/compare.html", context, status=status)


def must_choose(results: Results, rows_file: RowsFile | None) -> bool:
    """Return whether background questions are waiting for the owner's choice."""
    return results.has_rows and rows_file is not None and rows_file.chosen is None


def _build_forms(
    results: Results, shown: list[Indicator], forms: Mapping[str, ComparisonForm]
) -> dict[str, object]:
    wave, manifest = results.wave, results.manifest
    planned = list_planned(results)
    listed = {one.comparison.pk for one in planned if one.comparison is not None}
    recent = [
        one
        for one in wave.comparisons.exclude(pk__in=listed)
        .exclude(kind__in=(Comparison.Kind.BREAKDOWN, Comparison.Kind.CLAIM))
        .order_by("-pk")[:RECENT]
        if is_of_survey(one, manifest)
    ]
    return {
        "forms": forms,
        "can_compare": len(shown) > 1 and not all(indicator.is_number for indicator in shown),
        "pair_indicators": len(list_pair_indicators(manifest)),
        "pairs_wait": not (results.snapshot.final or results.snapshot.is_half),
        "has_half": results.wave.sealed_half,
        "can_rank": results.snapshot.final and len(list_outcomes(manifest)) > 1,
        "can_segment": results.is_final and sum(one.is_plain for one in shown) > 1,
        "groups_come_later": not results.is_settled
        and forms[Comparison.Kind.TABLE].half is None
        and any(question.is_declared for question in manifest.questions),
        "standing": describe_all(results),
        "planned": planned,
        "has_groups": results.is_final and bool(results.declared),
        "alarm": describe_alarm(results),
        "recent": [(one, describe_title(manifest, one)) for one in recent],
    }


def _list_shown(results: Results, rows_file: RowsFile | None) -> list[Indicator]:
    """List all predictors except empty groups and groups that are not in the file of rows.

    Before groups are counted, the list contains no groups.
    """
    nobody = results.nobody
    return [
        indicator
        for indicator in list_predictors(results.manifest)
        if not find_problem(indicator, is_final=results.is_final, rows_file=rows_file)
        and not (indicator.is_known and (indicator.question.name, *indicator.yes) in nobody)
    ]


def _describe_drawn(results: Results, rows_file: RowsFile | None) -> str:
    """Say how a random subset affects comparisons; return "" if everyone was asked everything."""
    m, blocks = results.manifest.drawn, results.manifest.block_count
    if m is None:
        return ""
    if m == 1:
        return ONE_BLOCK_EACH
    if not results.snapshot.final:
        return BLOCKS_MOVE_APART
    if rows_file is not None and not rows_file.crosses_blocks:
        return BLOCKS_APART
    most = min(m, MOST_ACROSS) if rows_file is not None and rows_file.has_files_of_blocks else m
    share = percent(pair_fraction(drawn=m, questions=blocks))
    return (
        f"Each person was asked {m} of {blocks} blocks of questions. Two questions from different "
        f"blocks are compared on about {share} of the reports, and questions from more than {most} "
        "blocks cannot be compared together."
    )


@needs(Action.ANALYSE)
@require_safe
def comparison(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:
    found = _find(survey, pk)
    if found.kind == Comparison.Kind.CLAIM:
        return redirect("aggregator:sealed_half", slug=survey.slug)
    return render(request, "aggregator/comparisons/comparison.html", _context(survey, found))


@needs(Action.ANALYSE)
@require_safe
def comparison_panel(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:
    """Show the current state; stop the polling once the comparison is settled."""
    try:
        found = _find(survey, pk)
    except Http404:
        if "HX-Request" not in request.headers:
            raise
        return HttpResponseClientRefresh()  # deleted in the meantime: show the 404 page
    context = {**_context(survey, found), "swapped": True}
    status = STOP_POLLING if found.is_settled else 200
    return render(request, "aggregator/comparisons/comparison_panel.html", context, status=status)


@needs(Action.EXPORT)
@require_safe
def comparison_csv(request: HttpRequest, survey: Survey, pk: int) -> HttpResponseBase:  # noqa: ARG001
    found = _find(survey, pk)
    standing = find_standing(found)
    if standing.result is None:
        raise Http404(NO_RESULT)
    return respond_with_comparison(found, standing, standing.result)


def _find(survey: Survey, pk: int) -> Comparison:
    found = (
        Comparison.objects.select_related("wave__survey").filter(wave__survey=survey, pk=pk).first()
    )
    if found is None or not is_of_survey(found, found.wave.description):
        raise Http404(NO_COMPARISON)
    return found


def _context(survey: Survey, comparison: Comparison) -> dict[str, object]:
    standing = find_standing(comparison)
    indicators = find_indicators(standing.manifest, comparison.names)
    context: dict[str, object] = {
        "survey": survey,
        "comparison": comparison,
        "title": describe_title(standing.manifest, comparison),
        "indicators": indicators,
        "standing": _describe_use(comparison, standing),
        "impossible": describe_impossible(standing),
        "is_exploratory": not standing.planned,
        "chart_stem": f"comparison-{comparison.pk}",
        "hidden": _list_hidden(comparison),
        "is_newest": standing.is_newest,
        "batches": comparison.through_batch,
    }
    if standing.result is not None:
        record_seen(survey)
        context |= _build_result(standing.result, standing, indicators)
    rows = context.get("rows", [])
    assert isinstance(rows, list)
    context["rows"] = rows if any(row.whisker for row in rows) else []
    found = context["rows"] or context.get("pairs") or context.get("profiles")
    context["finding"] = bool(found or standing.planned)
    context["caution"] = CAUTION if any(CAUTION_MARK in row.text for row in rows) else ""
    return context


def _list_hidden(comparison: Comparison) -> list[tuple[str, str]]:
    """List the form fields that request the same comparison again."""
    if comparison.kind == Comparison.Kind.TABLE:
        return list(zip((OUTCOME, GROUP), comparison.names, strict=True))
    if comparison.kind == Comparison.Kind.SEGMENTS:
        chosen = [("questions", name) for name in comparison.names]
        return [*chosen, ("profiles", str(comparison.segments))]
    fields = [OUTCOME, *(predictor_field(place) for place in range(1, len(comparison.names)))]
    return list(zip(fields, comparison.names, strict=False))


def _describe_use(comparison: Comparison, standing: ComparisonStanding) -> str:
    if comparison.kind == Comparison.Kind.PAIRS:
        return A_PLACE_TO_START
    if comparison.kind == Comparison.Kind.SEGMENTS:
        return A_SUMMARY
    results = find_view(comparison.wave.survey).results
    return describe_standing(
        comparison.wave,
        is_whole=standing.is_newest and is_of_final_snapshot(comparison),
        planned=standing.planned,
        is_warned=results is not None and is_warned_of(results),
    )


def _build_result(
    result: ComparisonResult, standing: ComparisonStanding, indicators: list[Indicator]
) -> dict[str, object]:
    manifest, planned = standing.manifest, standing.planned
    if isinstance(result, PairsResult):
        first, rest = divide_pairs(write_pairs(result, manifest))
        return {
            "result": result,
            "pairs": {"first": first, "rest": rest},
            "summary": summarize_pairs([*first, *rest]),
            "left_out": describe_pairs_left_out(result, manifest),
        }
    if isinstance(result, RegressionResult):
        terms = write_terms(result, manifest)
        return {
            "result": result,
            "terms": terms,
            "summary": summarize_terms(terms),
            "rows": list_ratio_rows(result, manifest),
            "references": {
                predictor_field(menu.place): menu for menu in list_references(result, indicators)
            },
            "together": describe_together(result.together, of=list_tests(result, planned=planned)),
        }
    if isinstance(result, SegmentsResult):
        return {
            "result": result,
            "summary": summarize_profiles(result, indicators),
            "profiles": list_profile_rows(result, indicators),
        }
    outcome, group = indicators
    return {
        "result": result,
        "summary": describe_difference(result, outcome, group),
        "rows": list_group_rows(result, outcome, group),
        "verdict": describe_verdict(result),
        "together": describe_together(result.together, of=name_planned(result.together, planned)),
        "coverage": describe_coverage(outcome, group),
        "estimates": write_estimates(result, outcome, group),
        "others": describe_others(group),
        "cells": write_cells(result, outcome, group),
        "outcome": outcome.label,
        "group": group.label,
        "is_group_known": group.is_known,
    }
