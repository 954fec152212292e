"""Hand in a report from the single-file page that was filled in offline.

The report is already scrambled, so any phone or computer may send it, without scripts.
"""

from __future__ import annotations

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from aggregator import problems
from aggregator.intake.core import storing_failed
from aggregator.intake.errors import IntakeError, Refused, RetryLater
from aggregator.intake.store import record_report
from aggregator.intake.wire import MAX_BODY_BYTES, parse_upload
from aggregator.views.coins.pages import lead_to, render_page, show_absence, show_thanks
from aggregator.views.coins.plain_forms import check_limit, read_form, refuse_request
from surveys.models import Wave, WaveQuerySet

# A form may encode one byte as three (~ as %7E), and also sends the name of the field.
MAX_FORM_BYTES = 4 * MAX_BODY_BYTES
# The message for each kind of refusal; for any other, the message is that the format is wrong.
_TROUBLES = {
    problems.WAVE_CLOSED: "closed",
    problems.SURVEY_DELETED: "closed",
    problems.WAVE_NOT_OPEN_YET: "early",
    problems.ID_ALREADY_USED: "used",
    problems.UNKNOWN_MANIFEST: "foreign",
    problems.TOO_LARGE: "too-long",
    problems.TOO_MANY_REQUESTS: "busy",
    problems.DATABASE_UNAVAILABLE: "not-stored",
    problems.UNAVAILABLE: "not-stored",
}


@csrf_exempt  # no session that another site could use; posts from other sites are refused
@require_http_methods(["GET", "HEAD", "POST"])
def hand_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Accept the report that the single-file page showed."""
    waves = _waves(slug)
    newest = waves.newest()
    if newest is None:
        return show_absence(request, "unknown", slug=slug)
    if request.method != "POST":
        return _show(request, newest)
    refused = refuse_request(request, newest)
    if refused is not None:
        return refused
    posted, is_whole = read_form(request, limit=MAX_FORM_BYTES)
    text = posted.get("report", "").strip()
    # Paper and chats add line breaks and spaces; no report contains any.
    code = "".join(text.split())
    text = text if len(text) <= MAX_BODY_BYTES else code
    try:
        if not is_whole:
            raise Refused(problems.TOO_LARGE, "This is longer than any report.")
        upload = parse_upload(code.encode())
        if not waves.filter(manifest_hash=upload.manifest_hash).exists():
            raise Refused(problems.UNKNOWN_MANIFEST, "This report belongs to another survey.")
        check_limit(request)
        record_report(upload)
    except IntakeError as error:
        return _refuse(request, newest, text=text, error=error)
    except (DatabaseError, InterfaceError) as error:
        return _refuse(request, newest, text=text, error=storing_failed(error))
    return lead_to(request, "aggregator:handed_in", wave=newest)


@require_safe
def handed_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Thank the person for a code. The URL reveals nothing about the code."""
    wave = _waves(slug).newest()
    if wave is None:
        return show_absence(request, "unknown", slug=slug)
    return show_thanks(request, "handed-in", form="aggregator:hand_in", wave=wave)


def _waves(slug: str) -> WaveQuerySet:
    return Wave.objects.electronic().shown().filter(survey__slug=slug)


def _show(
    request: HttpRequest, wave: Wave, *, text: str = "", trouble: str = "", status: int = 200
) -> HttpResponse:
    return render_page(
        request, "hand_in.html", wave=wave, status=status, text=text, trouble=trouble
    )


def _refuse(request: HttpRequest, wave: Wave, *, text: str, error: IntakeError) -> HttpResponse:
    trouble = _TROUBLES.get(error.problem, "unreadable")
    shown = text[:MAX_BODY_BYTES]  # no report is longer
    response = _show(request, wave, text=shown, trouble=trouble, status=error.problem.status)
    if isinstance(error, RetryLater):
        response["Retry-After"] = str(error.retry_after)
    return response
