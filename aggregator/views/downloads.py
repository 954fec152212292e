"""Send CSV files of reports, codebook or estimates, or a page that says why there is no file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from aggregator.exports.codebook import stream_codebook
from aggregator.exports.csv_format import respond_with_csv
from aggregator.exports.estimates import stream_estimates
from aggregator.exports.reports import NoSuchRowsError, NotChosenError, find_rows
from aggregator.problems import SURVEY_NOT_COUNTED, TOO_FEW_RESPONSES
from aggregator.results.display import Results, View
from aggregator.views.mode_addresses import view_of
from surveys.access import Action, needs
from surveys.manifest.modes import Mode
from surveys.models import Survey


@needs(Action.EXPORT)
@require_safe
def reports_csv(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    """Send the rows of reports from browsers, or of one block if each block has its own file.

    Until the background of the rows is chosen, redirect to the page for choosing it. Answers from
    coins have no rows.
    """
    view = view_of(survey, mode=Mode.ELECTRONIC)
    if view.results is None:
        return explain(request, view, status=TOO_FEW_RESPONSES.status)
    if not view.results.has_rows:
        return explain(request, view, status=SURVEY_NOT_COUNTED.status)
    try:
        rows = find_rows(view.results, number=request.GET.get("block", ""))
    except NotChosenError:
        return redirect("aggregator:background", slug=survey.slug)
    except NoSuchRowsError:
        return redirect(f"{reverse('aggregator:data', args=[survey.slug])}#download")
    return respond_with_csv(results=view.results, kind=rows.kind, rows=rows.stream())


@needs(Action.EXPORT)
@require_safe
def codebook_csv(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    view = view_of(survey, mode=Mode.ELECTRONIC)
    return _download(request, view, kind="codebook", stream=stream_codebook)


@needs(Action.EXPORT)
@require_safe
def estimates_csv(
    request: HttpRequest, survey: Survey, mode: Mode = Mode.ELECTRONIC
) -> HttpResponseBase:
    view = view_of(survey, mode=mode)
    return _download(request, view, kind="estimates", stream=stream_estimates)


def _download(
    request: HttpRequest,
    view: View,
    *,
    kind: str,
    stream: Callable[[Results], Iterator[bytes]],
) -> HttpResponseBase:
    if view.results is None:
        return explain(request, view, status=TOO_FEW_RESPONSES.status)
    return respond_with_csv(results=view.results, kind=kind, rows=stream(view.results))


def explain(request: HttpRequest, view: View, *, status: int) -> HttpResponse:
    """Show a page that says why there is no file."""
    context = {"view": view, "survey": view.survey, "wave": view.wave}
    template = "aggregator/results/nothing_to_export.html"
    return render(request, template, context, status=status)
