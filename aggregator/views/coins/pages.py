"""Render pages for people who toss coins, without scripts, cookies or sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import override

from aggregator import problems
from aggregator.intake.coin_sheets import CoinSheet, new_sheet
from surveys.manifest.languages import NAMES, negotiate, translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave
from surveys.respondent.client_files import OTHER_PAGES, client_files
from surveys.respondent.introduction import fold_introduction
from surveys.respondent.label.label import describe_protection
from surveys.respondent.page import build_page_context, link_languages
from surveys.views.respondent.deleted import is_deleted


@dataclass(frozen=True, kw_only=True)
class Field:
    """One question of the form, with its ticked `code`.

    If `is_missing`, the form asks people to tick an answer.
    """

    number: int
    question: ManifestQuestion
    code: int | None
    is_missing: bool


def show_form(
    request: HttpRequest,
    wave: Wave,
    *,
    sheet: CoinSheet | None = None,
    trouble: str = "",
    status: int = 200,
) -> HttpResponse:
    """Show the form; if a sheet is given, keep its ticks and id, and say what the `trouble` is."""
    sheet = sheet or new_sheet(bytes(wave.manifest_hash))
    return render_page(
        request, "coins.html", wave=wave, status=status, sheet=sheet, trouble=trouble
    )


def show_notice(
    request: HttpRequest, kind: str, *, wave: Wave | None = None, status: int = 200
) -> HttpResponse:
    return render_page(request, "coins_notice.html", wave=wave, status=status, kind=kind)


def show_thanks(request: HttpRequest, kind: str, *, form: str, wave: Wave) -> HttpResponse:
    """Thank the person for a form. Redirect visitors who sent no form to the form.

    Only headers distinguish these visitors, because the URL is the same and there is no cookie.
    After a reload, WebKit says that the visit has no origin, but keeps the referrer.
    """
    comes_from_here = request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
    referrer = request.headers.get("Referer", "")
    if comes_from_here or url_has_allowed_host_and_scheme(referrer, {request.get_host()}):
        return show_notice(request, kind, wave=wave)
    return lead_to(request, form, wave=wave)


def lead_to(request: HttpRequest, route: str, *, wave: Wave) -> HttpResponse:
    """Redirect to another page. Reloading or going back then does not resend a form."""
    manifest = wave.description
    query = f"?lang={choose_language(request, manifest)}"
    return HttpResponse(
        status=303, headers={"Location": reverse(route, args=[manifest.survey]) + query}
    )


def show_absence(request: HttpRequest, kind: str, *, slug: str) -> HttpResponse:
    """Show the notice of a deleted survey, or the notice `kind` if no survey had this URL."""
    if is_deleted(slug=slug):
        return show_notice(request, "deleted", status=problems.SURVEY_DELETED.status)
    return show_notice(request, kind, status=problems.NOT_FOUND.status)


def render_page(
    request: HttpRequest, template: str, *, wave: Wave | None, status: int = 200, **more: Any
) -> HttpResponse:
    """Render a page in the chosen language of the survey."""
    source = wave.description if wave else None
    language = choose_language(request, source)
    words = wave.words.get(language, "") if wave else ""
    manifest = translate_manifest(source, language, words) if source else None

    def find_url(code: str) -> str:
        return f"{request.path}?lang={code}"

    context = {
        **build_page_context(language, manifest),
        "languages": link_languages(source, but=language, find_url=find_url) if source else [],
        "path": request.path,
        "other_style": client_files()[OTHER_PAGES],
        "wave": wave,
        **more,
    }
    with override(language):
        if wave is not None and manifest is not None:
            context |= _build_context(manifest, asked_elsewhere=wave.count_elsewhere(), **more)
        # Render without the request, whose context processors would read the session.
        content = render_to_string(f"aggregator/coins/{template}", context)
    return HttpResponse(content, status=status)


def _build_context(
    manifest: Manifest,
    *,
    asked_elsewhere: int,
    sheet: CoinSheet | None = None,
    trouble: str = "",
    **_more: Any,
) -> dict[str, Any]:
    if manifest.mode != Mode.MANUAL:
        return {"manifest": manifest}  # a report with any type of question can be handed in
    codes = sheet.codes if sheet else {}
    fields = [
        Field(
            number=question.number,
            question=question,
            code=codes.get(question.name),
            is_missing=trouble == "missing" and question.name not in codes,
        )
        for question in manifest.questions
    ]
    return {
        "manifest": manifest,
        "label": describe_protection(manifest, asked_elsewhere=asked_elsewhere),
        "introduction": fold_introduction(manifest.introduction),
        "fields": fields,
        "yes": _word(manifest, code=1),
        "no": _word(manifest, code=0),
    }


def _word(manifest: Manifest, *, code: int) -> str:
    """Return the text of an answer as the questions offer it."""
    options = manifest.questions[0].options
    return next(option.text for option in options if option.code == code)


def choose_language(request: HttpRequest, manifest: Manifest | None) -> str:
    """Return the language given in the URL or preferred by the browser, if offered."""
    offered = tuple(manifest.languages if manifest else NAMES)
    chosen = request.GET.get("lang", "")
    if chosen in offered:
        return chosen
    return negotiate(request.headers.get("Accept-Language", ""), offered)
