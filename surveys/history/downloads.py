"""Records every download of figures, as a file or an API reply. No download can be recalled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse

from surveys.access import Action, ask_again, list_needs
from surveys.history.recording import record
from surveys.models import Kind, Survey, Verb

PUBLIC = "/s/"  # pages and files for respondents and readers
# The views that send figures as files or to programs, and the kind of object that each sends.
DOWNLOADS: Mapping[str, Kind] = {
    "aggregator:estimates_csv": Kind.ESTIMATES,
    "aggregator:coin_estimates_csv": Kind.ESTIMATES,
    "aggregator:reports_csv": Kind.ROWS,
    "aggregator:codebook_csv": Kind.CODEBOOK,
    "aggregator:mode_comparison_csv": Kind.MODES,
    "aggregator:comparison_csv": Kind.COMPARISON,
    "aggregator:breakdown_csv": Kind.BREAKDOWN,
    "aggregator:release_ledger_csv": Kind.LEDGER,
    "aggregator:coin_release_ledger_csv": Kind.LEDGER,
    "aggregator:history_csv": Kind.HISTORY,
    "aggregator:file": Kind.REPORT,
    "aggregator:coin_file": Kind.REPORT,
    "aggregator:api_results": Kind.RESULTS,
    "aggregator:api_reports_csv": Kind.ROWS,
    "aggregator:api_codebook_csv": Kind.CODEBOOK,
    "aggregator:api_estimates_csv": Kind.ESTIMATES,
}


def record_downloads(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Build middleware that records a download before the first byte of the file is sent.

    Downloads of published figures are left out. Their readers are not recorded, so the session is
    not read.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        kind = find_download(request, response)
        if kind is not None:
            _record(request, kind)
        return response

    return middleware


def find_download(request: HttpRequest, response: HttpResponse) -> Kind | None:
    """Return the kind of file in a response, or None for a page or a reply without figures."""
    match = request.resolver_match
    if response.status_code != HTTPStatus.OK or request.method != "GET" or match is None:
        return None
    if "slug" not in match.kwargs or request.path_info.startswith(PUBLIC):
        return None
    if match.kwargs.get("name", "").startswith("chart"):
        return Kind.CHART
    is_csv = response.headers.get("Content-Type", "").startswith("text/csv")
    return DOWNLOADS.get(match.view_name, Kind.FILE if is_csv else None)


def _find_action(view: str, kind: Kind) -> Action:
    """Return the action that a view requires. Views of the API declare their actions elsewhere."""
    by_default = Action.READ if kind == Kind.RESULTS else Action.EXPORT
    return list_needs().get(view, (by_default, None))[0]


@transaction.atomic
def _record(request: HttpRequest, kind: Kind) -> None:
    match = request.resolver_match
    assert match is not None
    # The row is locked, so that the survey cannot be deleted before the download is recorded.
    locked = Survey.objects.select_for_update(no_key=True)
    survey = locked.filter(slug=match.kwargs["slug"]).first()
    if survey is None:
        raise Http404("The survey was deleted while the file was being made.")
    ask_again(survey, _find_action(match.view_name, kind))
    record(survey, Verb.DOWNLOADED, kind, facts={"path": request.path})
