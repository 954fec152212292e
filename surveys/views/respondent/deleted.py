"""Tells respondents that a survey, with its questions and words, has been deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from surveys.manifest.languages import NAMES, negotiate
from surveys.models import DeletedWave, Wave
from surveys.respondent.page import render_notice
from surveys.views.respondent.compressed import HTML, answer

GONE = 410


def show_deleted(request: HttpRequest, *, language: str = "") -> HttpResponse:
    language = language or negotiate(request.headers.get("Accept-Language", ""), NAMES)
    notice = render_notice("deleted", language=language)
    return answer(request, notice, content_type=HTML, status=GONE)


def is_deleted(*, slug: str = "", digest: str = "") -> bool:
    """Return whether a survey, found by slug or manifest, is deleted or past its deletion date."""
    if slug:
        deleted = DeletedWave.objects.filter(slug=slug)
        waves = Wave.objects.filter(survey__slug=slug)
    else:
        manifest_hash = bytes.fromhex(digest)
        deleted = DeletedWave.objects.filter(manifest_hash=manifest_hash)
        waves = Wave.objects.filter(manifest_hash=manifest_hash)
    return deleted.exists() or waves.past_deletion_date(timezone.now()).exists()


def unless_deleted(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 410 instead of 404 if the address names a deleted survey or its manifest."""

    @wraps(view)
    def wrapper(
        request: HttpRequest, *, slug: str = "", digest: str = "", **rest: str
    ) -> HttpResponse:
        named = {"slug": slug} if slug else {"digest": digest}
        try:
            return view(request, **named, **rest)
        except Http404:
            if not is_deleted(**named):
                raise
            return show_deleted(request, language=rest.get("language", ""))

    return wrapper
