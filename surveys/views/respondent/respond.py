"""Serves the respondent's pages, the survey's manifest, and the files that the browser runs.

No view here reads a session, a cookie or an account. None receives a respondent's answers, because
the browser sends reports to the intake.
"""

from __future__ import annotations

from collections.abc import Collection

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from surveys.manifest.languages import NAMES, negotiate
from surveys.models import Wave
from surveys.respondent.client_files import client_version, find_content_type
from surveys.respondent.page import render_notice
from surveys.respondent.stored_pages import (
    build_early_page,
    build_file,
    build_frozen,
    build_page,
    is_served,
)
from surveys.views.respondent.compressed import HTML, answer, serve
from surveys.views.respondent.deleted import is_deleted, show_deleted, unless_deleted

# With this header, browsers keep a page in memory with its answers, and Back shows it again. They
# would not keep a page with no-store.
IN_MEMORY = "private, no-cache"
FOR_EVER = "public, max-age=31536000, immutable"
JSON = "application/json"
OK = 200


@require_safe
def respond(request: HttpRequest, slug: str, language: str = "") -> HttpResponse:
    """Ask the questions of a survey's newest wave, or explain why there are none."""
    found = Wave.objects.electronic().shown().filter(survey__slug=slug).select_related("survey")
    wave = found.defer("words").newest()
    if wave is None:
        if is_deleted(slug=slug):
            return show_deleted(request, language=language)
        page = render_notice("missing", language=_choose(request, NAMES))
        return answer(request, page, content_type=HTML, status=404)
    languages = wave.description.languages
    if language and language not in languages:
        known = language.lower()
        if known in languages:
            return redirect("surveys:respond_in", slug=slug, language=known)
        return redirect("surveys:respond", slug=slug)  # in a language of the survey
    language = language or _choose(request, languages)
    now = timezone.now()
    if wave.is_open and wave.opens_at is not None and now < wave.opens_at:
        return serve(request, build_early_page(wave, language=language), content_type=HTML)
    # A closed survey still loads the scripts, because a report that looks unsent may still count.
    kind = "open" if wave.accepts_at(now) else "closed"
    text = build_page(wave, kind=kind, language=language, asked_elsewhere=wave.count_elsewhere())
    response = serve(request, text, content_type=HTML)
    if kind == "open" and not (wave.description.quick_exit or wave.description.shared_devices):
        response["Cache-Control"] = IN_MEMORY
    return response


def _choose(request: HttpRequest, offered: Collection[str]) -> str:
    return negotiate(request.headers.get("Accept-Language", ""), offered)


@require_safe
@unless_deleted
def manifest(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the stored bytes of a manifest, which never change.

    If people may share a device, browsers must not store anything that names the questions.
    """
    return _serve_frozen(request, digest)


@require_safe
@unless_deleted
def frozen_words(request: HttpRequest, digest: str, language: str) -> HttpResponse:
    """Return a wave's texts in another language; the manifest contains their hash."""
    return _serve_frozen(request, digest, language)


def _serve_frozen(request: HttpRequest, digest: str, language: str = "") -> HttpResponse:
    found = Wave.objects.shown().filter(manifest_hash=bytes.fromhex(digest))
    wave = found.defer("words").first()
    if wave is None or (language and language not in wave.description.translations):
        raise Http404
    response = serve(request, build_frozen(wave, language), content_type=JSON)
    return response if wave.description.shared_devices else _for_ever(response)


@require_safe
def client_file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """Return a client file, byte for byte, or answer 404 for a file of another version."""
    if version != client_version() or not is_served(name):
        raise Http404
    return _for_ever(serve(request, build_file(name), content_type=find_content_type(name)))


def _for_ever(response: HttpResponse) -> HttpResponse:
    if response.status_code == OK:
        response["Cache-Control"] = FOR_EVER
    return response


@require_safe
def elsewhere(_request: HttpRequest) -> HttpResponse:
    """Redirect to the neutral page.

    "Exit this page" makes this URL the next entry in the browser's history (leaving.js). The URL
    names no survey.
    """
    return redirect(settings.EXIT_URL)
