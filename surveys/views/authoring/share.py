"""Shows a survey's links, their QR codes, and a poster to print."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import override
from django.views.decorators.http import require_safe

from surveys.access import Action
from surveys.authoring.qr_codes import draw_png, draw_svg
from surveys.downloads import attach
from surveys.lifecycle.reach import find_local_host, public_link
from surveys.manifest.languages import translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.models import Survey
from surveys.respondent.label.readable import hides_every_answer
from surveys.views.authoring.access import authoring

LINES_OF_A_POSTER = 4
LETTERS_OF_A_POSTER = 280
LONG_TITLE = 70


@dataclass(frozen=True, kw_only=True)
class Link:
    """The URL at which people answer. `language` is "" if the page chooses the language."""

    address: str
    language: str = ""

    @property
    def query(self) -> str:
        """The query string for the QR code and the poster of this link."""
        return f"?lang={self.language}" if self.language else ""

    @property
    def parts(self) -> tuple[str, str]:
        """The address as people type it, without https://, split where a line may break."""
        site, _, path = self.address.partition("://")[2].partition("/")
        return site, f"/{path}"


def _make_link(survey: Survey, language: str = "") -> Link:
    path = reverse("surveys:respond", args=[survey.slug])
    if language:
        path = reverse("surveys:respond_in", args=[survey.slug, language])
    return Link(address=public_link(path), language=language)


@require_safe
@authoring(Action.READ)
def share(request: HttpRequest, survey: Survey) -> HttpResponse:
    wave = survey.find_wave()
    context: dict[str, object] = {"survey": survey, "wave": wave}
    if wave is not None:
        manifest = wave.description
        languages = manifest.languages
        link = _make_link(survey)
        context |= {
            "has_coins": bool(manifest.coin_questions),
            "link": link,
            "local_host": find_local_host(link.address),
            "links": [_make_link(survey, language) for language in languages]
            if len(languages) > 1
            else [],
        }
    return render(request, "surveys/authoring/share.html", context)


@require_safe
@authoring(Action.READ)
def qr_svg(request: HttpRequest, survey: Survey) -> HttpResponse:
    link = _find_link(request, survey)
    return _picture(request, draw_svg(link.address), "image/svg+xml", _name(survey, link, "svg"))


@require_safe
@authoring(Action.READ)
def qr_png(request: HttpRequest, survey: Survey) -> HttpResponse:
    link = _find_link(request, survey)
    return _picture(request, draw_png(link.address), "image/png", _name(survey, link, "png"))


@require_safe
@authoring(Action.READ)
def poster(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show a printable page in the language of its readers. Only the top bar is for the author."""
    wave = survey.find_wave()
    if wave is None:
        # The share page says that drafts have no poster yet.
        return redirect("surveys:share", slug=survey.slug)
    manifest = wave.description
    link = _read_link(request, survey, manifest)
    language = link.language or manifest.language
    translated = translate_manifest(manifest, language, wave.words.get(language, ""))
    some_declared = any(question.is_declared for question in manifest.questions)
    with override(language):
        context = {
            "survey": survey,
            "manifest": translated,
            "introduction": _shorten(translated.introduction),
            "title_is_long": len(translated.title) > LONG_TITLE,
            "some_declared": some_declared,
            "is_only_shares": not some_declared and hides_every_answer(manifest),
            "language": language,
            "link": link,
            "local_host": find_local_host(link.address),
        }
        return render(request, "surveys/authoring/poster.html", context)


def _find_link(request: HttpRequest, survey: Survey) -> Link:
    wave = survey.find_wave()
    if wave is None:
        raise Http404
    return _read_link(request, survey, wave.description)


def _read_link(request: HttpRequest, survey: Survey, manifest: Manifest) -> Link:
    """Return the survey's link, in the language that the request names, if it names one."""
    language = request.GET.get("lang", "")
    if language and language not in manifest.languages:
        raise Http404
    return _make_link(survey, language)


def _shorten(introduction: str) -> str:
    lines = introduction.strip().split("\n")[:LINES_OF_A_POSTER]
    return Truncator("\n".join(lines)).chars(LETTERS_OF_A_POSTER)


def _name(survey: Survey, link: Link, ending: str) -> str:
    language = f"_{link.language}" if link.language else ""
    return f"{survey.slug}{language}_qr.{ending}"


def _picture(request: HttpRequest, content: bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    return attach(response, name, inline="download" not in request.GET)
