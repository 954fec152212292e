"""Lets a respondent, or an expert on their behalf, check the survey's page."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from surveys.models import Wave
from surveys.respondent.single_page import build_check_page, build_single_page, describe_download
from surveys.respondent.views.compressed import answer
from surveys.respondent.views.deleted import unless_deleted


@require_safe
@unless_deleted
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a test of the scrambling, and the fingerprints of everything that the page runs."""
    wave, language = _find(request, slug)
    content = build_check_page(
        bytes(wave.manifest),
        language=language,
        words=wave.words.get(language, ""),
        origin=_origin(request),
        asked_elsewhere=wave.asked_elsewhere,
        is_rehearsal=wave.survey.rehearsal,
    )
    return answer(request, content, content_type="text/html; charset=utf-8")


@require_safe
@unless_deleted
def single_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve the page as one file that can be opened from disk."""
    wave, language = _find(request, slug)
    page = build_single_page(
        bytes(wave.manifest),
        language=language,
        words=wave.words.get(language, ""),
        origin=_origin(request),
        asked_elsewhere=wave.asked_elsewhere,
        is_rehearsal=wave.survey.rehearsal,
    )
    response = answer(request, page, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = describe_download(slug)
    return response


def _find(request: HttpRequest, slug: str) -> tuple[Wave, str]:
    found = Wave.objects.electronic().filter(survey__slug=slug).select_related("survey")
    wave = found.newest()
    if wave is None:
        raise Http404
    manifest = wave.description
    language = request.GET.get("lang", manifest.language)
    return wave, language if language in manifest.languages else manifest.language


def _origin(request: HttpRequest) -> str:
    return request.build_absolute_uri("/")
