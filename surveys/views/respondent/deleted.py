"""Tells respondents that a survey has been deleted; its questions and its words are gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse

from surveys.manifest.languages import NAMES, negotiate
from surveys.models import DeletedWave
from surveys.respondent.page import render_notice
from surveys.views.respondent.compressed import HTML, answer

GONE = 410


def show_deleted(request: HttpRequest, *, language: str = "") -> HttpResponse:
    language = language or negotiate(request.headers.get("Accept-Language", ""), NAMES)
    notice = render_notice("deleted", language=language)
    return answer(request, notice, content_type=HTML, status=GONE)


def unless_deleted(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 410 instead of 404 if the address names a survey, or a manifest, that was deleted."""

    @wraps(view)
    def wrapper(
        request: HttpRequest, *, slug: str = "", digest: str = "", **rest: str
    ) -> HttpResponse:
        named = {"slug": slug} if slug else {"digest": digest}
        try:
            return view(request, **named, **rest)
        except Http404:
            deleted = DeletedWave.objects.filter(
                **({"slug": slug} if slug else {"manifest_hash": bytes.fromhex(digest)})
            )
            if not deleted.exists():
                raise
            return show_deleted(request, language=rest.get("language", ""))

    return wrapper
