"""Shows authors a survey as respondents will see it. The preview cannot send anything."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.access import Action
from surveys.authoring.drafts import build_manifest, build_words
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey, Wave
from surveys.respondent.page import link_languages, render_notice, render_questions
from surveys.respondent.stored_pages import allow_scripts
from surveys.views.authoring.access import authoring
from surveys.views.respondent.compressed import HTML, answer


@require_safe
@authoring(Action.EDIT)
def preview(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the author the page that respondents see. The preview stores and sends nothing."""
    wave = survey.find_wave()
    content, words = _freeze(survey, wave)
    way_back: dict[str, Any] = {
        "preview": True,
        "slug": survey.slug,
        "kind": "draft" if wave is None else "survey",
    }
    manifest = parse_manifest(content)
    language = request.GET.get("lang", manifest.language)
    if language not in manifest.languages:
        language = manifest.language
    if not manifest.ledger:  # respondents' pages refuse a survey that scrambles nothing
        # The notice is for the author, so it is in the author's language.
        notice = render_notice("empty", manifest=manifest, **way_back)
        return answer(request, notice, content_type=HTML)
    allow_scripts(manifest)
    page = render_questions(
        "preview",
        content=content,
        language=language,
        words=words.get(language, ""),
        asked_elsewhere=0 if wave is None else wave.count_elsewhere(),
        manifest_url=reverse("surveys:preview_manifest", args=[survey.slug]),
        languages=link_languages(manifest, but=language, find_url=lambda code: f"?lang={code}"),
        **way_back,
    )
    return answer(request, page, content_type=HTML)


@require_safe
@authoring(Action.EDIT)
def preview_manifest(request: HttpRequest, survey: Survey) -> HttpResponse:
    content, _ = _freeze(survey, survey.find_wave())
    return answer(request, content, content_type="application/json")


def _freeze(survey: Survey, wave: Wave | None) -> tuple[bytes, dict[str, str]]:
    """Return the manifest and words of the wave, or of the wave that a draft would open."""
    if wave is not None:
        return bytes(wave.manifest), wave.words
    manifest = build_manifest(survey=survey, wave_number=1)
    return serialize_manifest(manifest), build_words(survey=survey, manifest=manifest)
