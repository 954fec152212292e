"""A survey's results page, the panel inside it that follows new looks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator.batches.joint_tables import find_too_large
from aggregator.results.display import DeclaredResult, Results, View
from aggregator.results.estimate import QuestionResult
from aggregator.results.sentences import (
    CONTRADICTION,
    CONTRADICTION_CAUSES,
    WITH_CAUTION,
    EstimateText,
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
    gather_left_out,
    write_texts,
)
from aggregator.simulation.truth import describe_truth, known_truth
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import for_owner
from surveys.authoring.state import describe_state
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey


class _Listed(NamedTuple):
    """A question of the page: scrambled, with what is said of its estimates, or declared."""

    question: QuestionResult | None = None
    texts: Sequence[EstimateText] = ()
    left_out: Mapping[str, Sequence[str]] = MappingProxyType({})
    declared: DeclaredResult | None = None
    uses_own_codes: bool = False  # its rule reads too many codes to be counted with it


STOP_POLLING = 286  # htmx: swap in this response and stop polling


def _context(view: View) -> dict[str, Any]:
    survey, wave, found = view.survey, view.wave, view.results
    is_of_coins = wave is not None and wave.mode == Mode.MANUAL
    browsers = survey.wave if is_of_coins else wave
    texts = write_texts(found, truth=known_truth(survey)) if found else []
    return {
        "view": view,
        "survey": survey,
        "wave": wave,
        "addresses": find_addresses(view),
        "is_of_coins": is_of_coins,
        "cap": browsers.cap if browsers else None,  # also ends the coin wave
        "manifest": view.manifest,
        "standing": view.standing.value,
        "state": describe_state(wave=wave, now=timezone.now()),
        "texts": texts,
        "questions": _list_questions(found, texts) if found else [],
        "epsilons": _list_epsilons(view.manifest) if view.manifest else [],
        "chart_note": " ".join(describe_intervals(found)) if found else "",
        "caution": describe_caution(text.estimate for text in texts),
        "with_caution": WITH_CAUTION,
        "alarm": describe_alarm(found) if found else "",
        # The reports of a demo come from a program.
        "burst": describe_burst(found) if found and not known_truth(survey) else "",
        "contradiction": (CONTRADICTION, CONTRADICTION_CAUSES),
        "known_truth": describe_truth(survey),
    }


def _list_questions(results: Results, texts: list[EstimateText]) -> list[_Listed]:
    """List every question in the order of the survey: scrambled with its sentences, or declared.

    Questions that too few were asked are included, without sentences.
    """
    too_large = find_too_large(results.manifest)
    listed: dict[int, _Listed] = {
        question.number: _list_estimates(
            question, [text for text in texts if text.question is question], too_large
        )
        for question in results.questions
    }
    listed |= {
        question.number: _Listed(declared=DeclaredResult(question=question, total=0, groups=()))
        for question in results.manifest.questions
        if question.is_declared
    }
    listed |= {
        declared.question.number: _Listed(declared=declared) for declared in results.declared
    }
    return [listed[number] for number in sorted(listed)]


def _list_estimates(
    question: QuestionResult, texts: list[EstimateText], too_large: Collection[str]
) -> _Listed:
    return _Listed(
        question=question,
        texts=[text for text in texts if not text.is_left_out],
        left_out=gather_left_out(texts),
        uses_own_codes=question.question.name in too_large,
    )


def _list_epsilons(manifest: Manifest) -> list[tuple[int, ManifestQuestion, float, float]]:
    """List each question's number, its own ε, and ε with others that tell about it, or 0."""
    told = {parent for question in manifest.questions for parent in manifest.parents_of(question)}
    told |= {one.name for one in manifest.questions if manifest.list_same_fact(one)}
    return [
        (
            question.number,
            question,
            question.epsilon,
            manifest.statement_epsilon(question) if question.name in told else 0.0,
        )
        for question in manifest.questions
        if question.is_answered
    ]


@for_owner
@require_safe
def results(request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC) -> HttpResponse:
    return render(request, "aggregator/results/results.html", _context(view_of(survey, mode=mode)))


@for_owner
@require_safe
def results_panel(
    request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC
) -> HttpResponse:
    """Answer 204 while there was no look since `seen`, then the new panel."""
    view = view_of(survey, mode=mode)
    if request.GET.get("seen") == view.seen and not view.is_settled:
        return HttpResponse(status=204)
    status = STOP_POLLING if view.is_settled else 200
    return render(
        request, "aggregator/results/panel.html", {**_context(view), "swapped": True}, status=status
    )
