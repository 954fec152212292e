"""The respondent's pages: what is asked, its manifest, and the files that the browser runs.

No view here looks at a session, a cookie or an account, and none receives a respondent's answers:
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
from surveys.manifest.serialization import parse_manifest
from surveys.models import DeletedWave, Wave
from surveys.respondent.client_files import client_version, find_client_file, squeeze
from surveys.respondent.page import render_notice, render_questions
from surveys.respondent.views.compressed import HTML, answer
from surveys.respondent.views.deleted import show_deleted, unless_deleted

FOR_EVER = "public, max-age=31536000, immutable"


@require_safe
def respond(request: HttpRequest, slug: str, language: str = "") -> HttpResponse:
    """Ask the questions of a survey's newest wave, or explain why there are none."""
    found = Wave.objects.electronic().filter(survey__slug=slug).select_related("survey")
    wave = found.newest()
    if wave is None:
        if DeletedWave.objects.filter(slug=slug).exists():
            return show_deleted(request, language=language)
        return _page(
            request, render_notice("missing", language=_choose(request, NAMES)), status=404
        )
    content = bytes(wave.manifest)
    manifest = parse_manifest(content)
    if language and language not in manifest.languages:
        return redirect("surveys:respond", slug=slug)  # a language that it has
    language = language or _choose(request, manifest.languages)
    words = wave.words.get(language, "")
    now = timezone.now()
    if wave.is_open and wave.opens_at is not None and now < wave.opens_at:
        page = render_notice(
            "early", manifest=manifest, language=language, words=words, opens_at=wave.opens_at
        )
        return _page(request, page)
    # A closed survey still loads the scripts: a report that looks unsent may have been counted.
    mode = "open" if wave.accepts_at(now) else "closed"
    page = render_questions(
        mode,
        content=content,
        language=language,
        words=words,
        asked_elsewhere=wave.asked_elsewhere,
        is_rehearsal=wave.survey.rehearsal,
    )
    return answer(request, page, content_type=HTML, compressed=squeeze(page))


def _choose(request: HttpRequest, offered: Collection[str]) -> str:
    return negotiate(request.headers.get("Accept-Language", ""), offered)


@require_safe
@unless_deleted
def manifest(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the stored bytes of a manifest, which never change."""
    wave = Wave.objects.filter(manifest_hash=bytes.fromhex(digest)).first()
    if wave is None:
        raise Http404
    content = bytes(wave.manifest)
    response = answer(
        request, content, content_type="application/json", compressed=squeeze(content)
    )
    response["Cache-Control"] = FOR_EVER
    return response


@require_safe
@unless_deleted
def frozen_words(request: HttpRequest, digest: str, language: str) -> HttpResponse:
    """Return the words of a wave in another language, whose hash its manifest names."""
    wave = Wave.objects.filter(manifest_hash=bytes.fromhex(digest)).first()
    if wave is None or language not in wave.words:
        raise Http404
    content = wave.words[language].encode()
    response = answer(request, content, content_type="application/json")
    response["Cache-Control"] = FOR_EVER
    return response


@require_safe
def client_file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """Return one of our files exactly as written; another version is a different file."""
    file = find_client_file(name)
    if file is None or version != client_version():
        raise Http404
    response = answer(
        request, file.content, content_type=file.content_type, compressed=file.compressed
    )
    response["Cache-Control"] = FOR_EVER
    return response


@require_safe
def elsewhere(_request: HttpRequest) -> HttpResponse:
    """Lead to the neutral page.

    "Exit this page" leaves this address, which names no survey, as the next one in the browser's
    history (leaving.js).
    """
    return redirect(settings.EXIT_URL)


def _page(request: HttpRequest, content: bytes, status: int = 200) -> HttpResponse:
    return answer(request, content, content_type=HTML, status=status)
