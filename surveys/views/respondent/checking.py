"""Lets a respondent, or an expert on their behalf, check the survey's page."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from surveys.models import Wave
from surveys.respondent.single_page import describe_download
from surveys.respondent.stored_pages import build_page
from surveys.views.respondent.compressed import HTML, serve
from surveys.views.respondent.deleted import unless_deleted

OK = 200


@require_safe
@unless_deleted
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a test of the scrambling, and the fingerprints of everything that the page runs."""
    return _serve(request, slug, kind="check")


@require_safe
@unless_deleted
def single_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the page as one file that can be opened from disk."""
    response = _serve(request, slug, kind="file")
    if response.status_code == OK:
        response["Content-Disposition"] = describe_download(slug)
    return response


def _serve(request: HttpRequest, slug: str, *, kind: str) -> HttpResponse:
    found = Wave.objects.electronic().shown().filter(survey__slug=slug).select_related("survey")
    wave = found.defer("words").newest()
    if wave is None:
        raise Http404
    manifest = wave.description
    language = request.GET.get("lang", manifest.language)
    page = build_page(
        wave,
        kind=kind,
        language=language if language in manifest.languages else manifest.language,
        asked_elsewhere=wave.count_elsewhere(),
    )
    return serve(request, page, content_type=HTML)
