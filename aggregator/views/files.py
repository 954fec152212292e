"""Send a file that a worker makes, or a page that waits for the file and reloads itself."""

from __future__ import annotations

from datetime import timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator.charts.names import write_name
from aggregator.exports.csv_format import name_wave
from aggregator.exports.worker_files import find_content_type, find_recipe
from aggregator.models import Rendering, Upkeep
from aggregator.problems import TOO_FEW_RESPONSES, UNAVAILABLE
from aggregator.renderings.jobs import (
    QUEUE,
    note_sent,
    request_rendering,
)
from aggregator.renderings.recipes import NotRenderable
from aggregator.results.display import View
from aggregator.views.downloads import explain
from aggregator.views.mode_addresses import view_of
from surveys.access import Action, needs
from surveys.downloads import attach
from surveys.manifest.modes import Mode
from surveys.models import Survey

# Seconds until the page reloads itself, at first and after PATIENCE_SECONDS.
RELOAD_SECONDS = 2
PATIENT_RELOAD_SECONDS = 5
# After this time, the page says what it is waiting for.
PATIENCE_SECONDS = 10
# Reloading stops after this time, because workers of a different version drop each request as
# outdated.
MOST_SECONDS = 180
# Sweeps run every few seconds while a worker runs.
WORKER_ANSWERS = timedelta(seconds=20)
WAITED = "waited"  # seconds, in the URL, so no script counts them and nothing is stored
AGAIN = "again"  # in the URL of "Try again"
NOT_ALLOWED = 409


@needs(Action.EXPORT)
@require_safe
def file(
    request: HttpRequest, survey: Survey, name: str, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    recipe = find_recipe(name)
    if recipe is None:
        raise Http404("There is no such file.")
    view = view_of(survey, mode=mode)
    if view.results is None:
        return explain(request, view, status=TOO_FEW_RESPONSES.status)
    try:
        inputs = recipe.find_inputs(view.results, name)
    except NotRenderable as refusal:
        return _refuse(request, view, str(refusal), status=NOT_ALLOWED)
    if inputs is None:
        raise Http404("There is no such file.")
    rendering = request_rendering(results=view.results, name=name, inputs=inputs)
    if AGAIN in request.GET and rendering.was_given_up:
        QUEUE.try_again(rendering)
        return _wait(request, view, rendering)
    if rendering.content is not None:
        if WAITED in request.GET:
            return _hand_over(request, view, rendering)
        response = _send(rendering)
        if request.method == "GET":
            note_sent(rendering)
        return response
    if rendering.state == Rendering.State.FAILED:
        given_up = rendering.was_given_up
        status = UNAVAILABLE.status if given_up else NOT_ALLOWED
        return _refuse(request, view, rendering.problem, status=status, can_retry=given_up)
    return _wait(request, view, rendering)


@needs(Action.EXPORT)
@require_safe
def choose_chart(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """Redirect from the form that chooses a chart to its file."""
    chosen = request.GET
    name = write_name(
        stem=chosen.get("chart", ""),
        width=chosen.get("width", ""),
        axis=chosen.get("axis", ""),
        file_format=chosen.get("format", ""),
    )
    if name is None:
        raise Http404("There is no such chart.")
    page = "aggregator:coin_file" if chosen.get("mode") == Mode.MANUAL else "aggregator:file"
    return redirect(page, slug=survey.slug, name=name)


def _send(rendering: Rendering) -> HttpResponse:
    assert rendering.content is not None
    wave = rendering.wave
    response = HttpResponse(
        bytes(rendering.content), content_type=find_content_type(rendering.name)
    )
    name = f"{name_wave(wave, slug=wave.survey.slug)}_{rendering.name}"
    return attach(response, name)


def _wait(request: HttpRequest, view: View, rendering: Rendering) -> HttpResponse:
    """Say that the file is being made; for a while, a header makes the browser ask again."""
    waited = _read_waited(request)
    is_late, has_stopped = waited >= PATIENCE_SECONDS, waited >= MOST_SECONDS
    seconds = PATIENT_RELOAD_SECONDS if is_late else RELOAD_SECONDS
    context = {
        "view": view,
        "survey": view.survey,
        "name": rendering.name,
        "is_late": is_late,
        "is_answering": is_late and _is_worker_answering(),
        "again": request.path if has_stopped else "",
    }
    response = render(request, "aggregator/renderings/waiting.html", context, status=202)
    if not has_stopped:
        response["Refresh"] = f"{seconds}; url={request.path}?{WAITED}={waited + seconds}"
    return response


def _hand_over(request: HttpRequest, view: View, rendering: Rendering) -> HttpResponse:
    """Start the download from a page that stays open; otherwise the waiting page would remain."""
    context = {"view": view, "survey": view.survey, "name": rendering.name, "file": request.path}
    response = render(request, "aggregator/renderings/ready.html", context)
    response["Refresh"] = f"0; url={request.path}"
    return response


def _read_waited(request: HttpRequest) -> int:
    """Read how long this visitor has waited; anything other than a small number counts as 0."""
    text = request.GET.get(WAITED, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0


def _is_worker_answering() -> bool:
    """Return whether a worker has just looked for work; if so, this file waits for other work."""
    swept = Upkeep.objects.filter(job=Upkeep.Job.SWEEP).values_list("ended_at", flat=True).first()
    return swept is not None and timezone.now() - swept < WORKER_ANSWERS


def _refuse(
    request: HttpRequest, view: View, problem: str, *, status: int, can_retry: bool = False
) -> HttpResponse:
    context = {
        "view": view,
        "survey": view.survey,
        "problem": problem,
        "again": f"{request.path}?{AGAIN}" if can_retry else "",
    }
    return render(request, "aggregator/renderings/failed.html", context, status=status)
