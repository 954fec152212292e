"""The history of a survey: a page for its owner, and a file."""

from __future__ import annotations

from itertools import chain, islice

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from aggregator.exports.csv_format import CONTENT_TYPE, PARTS_AT_FIRST
from aggregator.exports.history import find_rows, read_acts, stream_history
from surveys.access import Action, needs
from surveys.downloads import attach
from surveys.models import Survey, Verb, Wave, today

ROWS_ON_A_PAGE = 25


@needs(Action.HISTORY)
@require_safe
def history(request: HttpRequest, survey: Survey) -> HttpResponse:
    verb = _read_verb(request)
    page = Paginator(find_rows(survey.slug, verb=verb), ROWS_ON_A_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "survey": survey,
        "page": page,
        "acts": read_acts(survey.slug, list(page), with_changes=True),
        "verbs": Verb.choices,
        "verb": verb,
        "query": urlencode({"verb": verb}) if verb else "",
        "ended_today": _ended_today(survey.find_wave()),
    }
    return render(request, "aggregator/history/history.html", context)


@needs(Action.HISTORY)
@require_safe
def history_csv(request: HttpRequest, survey: Survey) -> HttpResponseBase:
    parts = stream_history(survey.slug, verb=_read_verb(request), with_changes=True)
    # Read the first parts before the response begins, so that the response is 404 if the survey was
    # just deleted.
    first = list(islice(parts, PARTS_AT_FIRST))
    response = StreamingHttpResponse(chain(first, parts), content_type=CONTENT_TYPE)
    return attach(response, f"{survey.slug}_history.csv")


def _read_verb(request: HttpRequest) -> str:
    """Read which acts to show; any value that is not a verb shows all acts."""
    verb = request.GET.get("verb", "")
    return verb if verb in Verb.values else ""


def _ended_today(wave: Wave | None) -> bool:
    """Return whether a survey ended today without its owner; the history says so from tomorrow."""
    if wave is None or wave.closed_at is None or wave.ending == Wave.Ending.OWNER:
        return False
    return wave.closed_at.date() == today()
