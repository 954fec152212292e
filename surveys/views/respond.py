"""The respondent's pages: what is asked, its manifest, and the files that the browser runs.

No view here looks at a session, a cookie or an account (previews aside), and none receives
anything that a respondent says: the browser sends reports to the intake.
"""

from __future__ import annotations

import base64

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from surveys.client_files import ENTRY, ICON, STYLESHEET, client_files, client_version, modules
from surveys.drafts import describe
from surveys.manifest import Manifest, hash_manifest, parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.privacy_label import describe_protection
from surveys.views.access import authoring, get_own_survey
from surveys.views.compressed import answer

FOR_EVER = "public, max-age=31536000, immutable"


@require_safe
def respond(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the questions of a survey's newest wave, or say kindly why not."""
    wave = Wave.objects.filter(survey__slug=slug).order_by("-number").first()
    if wave is None:
        return _page(request, {"mode": "missing"}, status=404)
    manifest = parse_manifest(bytes(wave.manifest))
    now = timezone.now()
    if wave.is_open and wave.opens_at is not None and now < wave.opens_at:
        return _page(request, {"mode": "early", "manifest": manifest, "opens_at": wave.opens_at})
    # A closed survey still loads the scripts: an unsent envelope may have been counted.
    mode = "open" if wave.accepts_at(now) else "closed"
    context = _asking_context(manifest, mode=mode, digest=bytes(wave.manifest_hash))
    url = reverse("surveys:manifest", args=[wave.manifest_hash_hex])
    return _page(request, {**context, "manifest_url": url})


@require_safe
@authoring
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the author the same page; it neither stores nor sends."""
    survey = get_own_survey(request, slug)
    content = _manifest_bytes(survey)
    manifest = parse_manifest(content)
    if not manifest.ledger:  # browsers refuse a survey in which nothing is scrambled
        return _page(request, {"mode": "empty", "manifest": manifest, "preview": True})
    context = _asking_context(manifest, mode="preview", digest=hash_manifest(content))
    url = reverse("surveys:preview_manifest", args=[slug])
    return _page(request, {**context, "manifest_url": url, "preview": True})


@require_safe
@authoring
def preview_manifest(request: HttpRequest, slug: str) -> HttpResponse:
    content = _manifest_bytes(get_own_survey(request, slug))
    return answer(request, content, content_type="application/json")


@require_safe
def manifest(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the stored bytes of a manifest, which never change."""
    wave = Wave.objects.filter(manifest_hash=bytes.fromhex(digest)).first()
    if wave is None:
        raise Http404
    content = bytes(wave.manifest)
    response = answer(request, content, content_type="application/json")
    response["Cache-Control"] = FOR_EVER
    return response


@require_safe
def client_file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """Return one of our files exactly as written; another version is another file."""
    file = client_files().get(name)
    if file is None or version != client_version():
        raise Http404
    response = answer(
        request, file.content, content_type=file.content_type, compressed=file.compressed
    )
    response["Cache-Control"] = FOR_EVER
    return response


def _manifest_bytes(survey: Survey) -> bytes:
    """The wave's own bytes, or those that a draft would be frozen as."""
    wave = survey.wave
    if wave is not None:
        return bytes(wave.manifest)
    return serialize_manifest(describe(survey=survey, wave_number=1))


def _asking_context(manifest: Manifest, *, mode: str, digest: bytes) -> dict[str, object]:
    return {
        "mode": mode,
        "manifest": manifest,
        "label": describe_protection(manifest),
        "manifest_hash": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "manifest_hash_hex": digest.hex(),
        "intake_url": reverse("aggregator:intake"),
        "entry": client_files()[ENTRY],
        "modules": modules(),
    }


def _page(request: HttpRequest, context: dict[str, object], status: int = 200) -> HttpResponse:
    files = client_files()
    context = {"stylesheet": files[STYLESHEET], "icon": files[ICON], **context}
    # Without the request: its context processors would look at the session.
    content = render_to_string("surveys/respond.html", context).encode()
    return answer(request, content, content_type="text/html; charset=utf-8", status=status)
