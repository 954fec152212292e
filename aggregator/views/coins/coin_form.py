"""The form for people who toss two coins, in browsers without scripts and on paper.

People toss the coins before they fill in the form, so the form sends scrambled codes like any other
report. No code here reads a session, a cookie or an account, and no IP address is kept.
"""

from __future__ import annotations

import segno
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from aggregator import problems
from aggregator.intake.coin_sheets import CoinSheet, read_hash, read_sheet
from aggregator.intake.core import storing_failed
from aggregator.intake.errors import IntakeError, RetryLater
from aggregator.intake.store import record_report
from aggregator.intake.wire import MAX_BODY_BYTES
from aggregator.views.coins.pages import (
    choose_language,
    lead_to,
    render_page,
    show_absence,
    show_form,
    show_notice,
    show_thanks,
)
from aggregator.views.coins.plain_forms import check_limit, read_form, refuse_request
from surveys.lifecycle.reach import public_link
from surveys.models import Wave, WaveQuerySet

# After these refusals the form is useless; after all others it is shown again.
_NOTICES = {
    problems.WAVE_CLOSED: "closed",
    problems.SURVEY_DELETED: "deleted",
    problems.WAVE_NOT_OPEN_YET: "early",
    problems.ID_ALREADY_USED: "other-codes",
}
_STATUSES = {
    "closed": problems.WAVE_CLOSED.status,
    "early": problems.WAVE_NOT_OPEN_YET.status,
}


@csrf_exempt  # no session that another site could use; check_source refuses posts from other sites
@require_http_methods(["GET", "HEAD", "POST"])
def coins(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form for the newest wave with two coins, or record the ticks."""
    newest = _waves(slug).newest()
    if newest is None:
        return show_absence(request, "missing", slug=slug)
    if request.method == "POST":
        return _take(request, slug, newest=newest)
    standing = _standing(newest)
    return show_notice(request, standing, wave=newest) if standing else show_form(request, newest)


@require_safe
def sent(request: HttpRequest, slug: str) -> HttpResponse:
    """Thank the person for submitting a form. The URL reveals nothing about the form."""
    wave = _waves(slug).newest()
    if wave is None:
        return show_absence(request, "missing", slug=slug)
    return show_thanks(request, "sent", form="aggregator:coins", wave=wave)


@require_safe
def paper(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the same questions for printing, with the URL of the form."""
    wave = _waves(slug).newest()
    if wave is None:
        return show_absence(request, "missing", slug=slug)
    manifest = wave.description
    language = choose_language(request, manifest)
    # A person who reads the sheet in one language wants the form in the same language.
    query = f"?lang={language}" if len(manifest.languages) > 1 else ""
    address = public_link(reverse("aggregator:coins", args=[slug]) + query)
    # Leave out inline colours and sizes, because the page's policy forbids style attributes.
    code = segno.make(address, error="m", micro=False).svg_inline(
        omitsize=True, svgclass="code", lineclass=None
    )
    return render_page(request, "paper.html", wave=wave, is_paper=True, address=address, code=code)


def _waves(slug: str) -> WaveQuerySet:
    return Wave.objects.manual().shown().filter(survey__slug=slug)


def _standing(wave: Wave) -> str:
    """Say why reports are not accepted now, or return an empty string if they are."""
    now = timezone.now()
    if wave.accepts_at(now):
        return ""
    return "early" if wave.is_open and wave.opens_at and now < wave.opens_at else "closed"


def _take(request: HttpRequest, slug: str, *, newest: Wave) -> HttpResponse:
    refused = refuse_request(request, newest)
    if refused is not None:
        return refused
    posted, is_whole = read_form(request, limit=MAX_BODY_BYTES)
    if not is_whole:
        status = problems.TOO_LARGE.status
        return show_notice(request, "not-a-form", wave=newest, status=status)
    # A form loaded before another wave opened asks different questions.
    wave = _waves(slug).filter(manifest_hash=read_hash(posted) or b"").first()
    if wave is None:
        return _ask_again(request, newest, trouble="changed")
    manifest = wave.description
    sheet = read_sheet(posted, manifest=manifest, manifest_hash=bytes(wave.manifest_hash))
    if sheet.missing(manifest):
        return _ask_again(request, wave, sheet=sheet, trouble="missing")
    try:
        check_limit(request)
        record_report(sheet.as_upload(manifest))
    except IntakeError as error:
        return _answer_error(request, wave, sheet=sheet, error=error)
    except (DatabaseError, InterfaceError) as error:
        return _answer_error(request, wave, sheet=sheet, error=storing_failed(error))
    return lead_to(request, "aggregator:coins_sent", wave=wave)


def _ask_again(
    request: HttpRequest, wave: Wave, *, trouble: str, sheet: CoinSheet | None = None
) -> HttpResponse:
    """Show the form again only if reports are accepted, so that no one tosses coins needlessly."""
    standing = _standing(wave)
    if standing:
        return show_notice(request, standing, wave=wave, status=_STATUSES[standing])
    return show_form(request, wave, sheet=sheet, trouble=trouble, status=422)


def _answer_error(
    request: HttpRequest, wave: Wave, *, sheet: CoinSheet, error: IntakeError
) -> HttpResponse:
    status = error.problem.status
    kind = _NOTICES.get(error.problem)
    if kind:
        response = show_notice(request, kind, wave=wave, status=status)
    else:
        trouble = "busy" if error.problem is problems.TOO_MANY_REQUESTS else "not-stored"
        response = show_form(request, wave, sheet=sheet, trouble=trouble, status=status)
    if isinstance(error, RetryLater):
        response["Retry-After"] = str(error.retry_after)
    return response
