"""A survey's results page, and its panel, which follows new looks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator.results.display import View
from aggregator.results.rendered_blocks import list_epsilons, render_blocks
from aggregator.results.sentences import (
    describe_alarm,
    describe_burst,
    describe_caution,
    describe_intervals,
)
from aggregator.simulation.truth import describe_truth, known_truth
from aggregator.views.mode_addresses import find_addresses, view_of
from surveys.access import Action, may, needs
from surveys.history.recording import record_seen
from surveys.lifecycle.state import describe_state
from surveys.manifest.modes import Mode
from surveys.models import Survey
from surveys.respondent.label.label import describe_in_english

STOP_POLLING = 286  # htmx: swap in this response and stop polling


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
    record_seen(survey)
    return context | {
        "blocks": render_blocks(
            found,
            truth=truth,
            has_links=may(survey, Action.ANALYSE) and may(survey, Action.EXPORT),
            describe_label=lambda: describe_in_english(found.manifest),
        ),
        "validity": describe_intervals(found),
        "caution": describe_caution(one for result in found.questions for one in result.shown),
        "alarm": describe_alarm(found),
        # The reports of a demo come from a program.
        "burst": "" if truth else describe_burst(found),
        "known_truth": describe_truth(survey),
    }


@needs(Action.READ)
@require_safe
def results(request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC) -> HttpResponse:
    return render(request, "aggregator/results/results.html", _context(view_of(survey, mode=mode)))


@needs(Action.READ)
@require_safe
def results_panel(
    request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC
) -> HttpResponse:
    """Reply with 204 until there is a look after `seen`, and then with the new panel."""
    view = view_of(survey, mode=mode)
    if request.GET.get("seen") == view.seen and not view.is_settled:
        return HttpResponse(status=204)
    status = STOP_POLLING if view.is_settled else 200
    return render(
        request, "aggregator/results/panel.html", {**_context(view), "swapped": True}, status=status
    )
