"""A survey's results page, and the panel inside it that follows new looks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import override
from django.views.decorators.http import require_safe

from aggregator.results.blocks import list_blocks
from aggregator.results.display import Results, View
from aggregator.results.sentences import (
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
)
from aggregator.simulation.truth import describe_truth, known_truth
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import for_owner
from surveys.authoring.state import describe_state
from surveys.manifest.languages import language_tag
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey
from surveys.respondent.label.label import describe_protection

STOP_POLLING = 286  # htmx: swap in this response and stop polling
# Blocks change only at looks, and rendering them takes most of the time of a page with many
# questions. So each process keeps those that were read last, in all up to this many characters.
_MOST_CHARACTERS = 8_000_000
_MOST_CHARACTERS_OF_ONE = 1_000_000
_rendered: OrderedDict[Hashable, SafeString] = OrderedDict()
_lock = Lock()  # requests are answered by several threads


def _context(view: View) -> dict[str, Any]:
    survey, wave, found = view.survey, view.wave, view.results
    truth = known_truth(survey)
    context = {
        "view": view,
        "survey": survey,
        "wave": wave,
        "addresses": find_addresses(view),
        "is_of_coins": wave is not None and wave.mode == Mode.MANUAL,
        "manifest": view.manifest,
        "standing": view.standing.value,
        "state": describe_state(wave=wave, now=timezone.now()),
    }
    if found is None:
        return context | {"epsilons": list_epsilons(view.manifest) if view.manifest else []}
    return context | {
        "blocks": render_blocks(found, truth=truth),
        "validity": describe_intervals(found),
        "caution": describe_caution(one for result in found.questions for one in result.shown),
        "alarm": describe_alarm(found),
        # The reports of a demo come from a program.
        "burst": "" if truth else describe_burst(found),
        "known_truth": describe_truth(survey),
    }


def render_blocks(
    results: Results, *, truth: Mapping[str, float], is_public: bool = False
) -> SafeString:
    """Render the blocks of these results, or return them as they were rendered before.

    Anyone may read the public ones: they leave out codes, and what describes a known group.
    """
    key = (is_public, _describe_content(results, has_truth=bool(truth)))
    with _lock:
        found = _rendered.get(key)
        if found is not None:
            _rendered.move_to_end(key)
            return found
    found = _render_anew(results, truth=truth, is_public=is_public)
    if len(found) <= _MOST_CHARACTERS_OF_ONE:
        with _lock:
            _rendered[key] = found
            while sum(map(len, _rendered.values())) > _MOST_CHARACTERS:
                _rendered.popitem(last=False)
    return found


def _render_anew(results: Results, *, truth: Mapping[str, float], is_public: bool) -> SafeString:
    blocks = list_blocks(results, truth=truth, with_details=True, is_public=is_public)
    with override("en"):
        label = describe_protection(results.manifest)
    context = {
        "blocks": blocks,
        "wave": results.wave,
        "manifest": results.manifest,
        "epsilons": list_epsilons(results.manifest),
        "charts_url": "" if is_public else _find_charts_page(results),
        "breakdown_slug": "" if is_public else results.wave.survey.slug,
        "label": label,
        "lang": language_tag(results.manifest.language),
    }
    return render_to_string("aggregator/results/_blocks.html", context)


def _find_charts_page(results: Results) -> str:
    """Return the page that makes charts to download; reports of coins have none."""
    if results.wave.mode == Mode.MANUAL:
        return ""
    return reverse("aggregator:data", args=[results.manifest.survey])


def _describe_content(results: Results, *, has_truth: bool) -> Hashable:
    """Everything that decides what the blocks show; the manifest's hash stands for all words."""
    snapshot = results.snapshot
    return (
        results.wave.manifest_hash_hex,
        results.fixed_end,
        has_truth,
        snapshot.pk,
        snapshot.method_version,
        snapshot.final,
        tuple(snapshot.looks),
        str(snapshot.counts),
    )


def list_epsilons(manifest: Manifest) -> list[tuple[int, ManifestQuestion, float, float]]:
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
