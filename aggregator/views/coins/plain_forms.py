"""Check forms that pages without scripts post."""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, QueryDict

from aggregator import problems
from aggregator.intake.coin_sheets import CONTENT_TYPE
from aggregator.intake.core import check_source
from aggregator.intake.errors import Refused, RetryLater
from aggregator.intake.limiter import seconds_to_wait
from aggregator.views.coins.pages import show_notice
from surveys.models import Wave


def refuse_request(request: HttpRequest, wave: Wave) -> HttpResponse | None:
    """Reject a request that our own form would not send, before reading its content."""
    try:
        check_source({name.lower(): value for name, value in request.headers.items()})
    except Refused as error:
        return show_notice(request, "foreign", wave=wave, status=error.problem.status)
    if request.content_type != CONTENT_TYPE:
        status = problems.WRONG_CONTENT_TYPE.status
        return show_notice(request, "not-a-form", wave=wave, status=status)
    return None


def read_form(request: HttpRequest, *, limit: int) -> tuple[QueryDict, bool]:
    """Return the fields in the first `limit` bytes, and whether the body is complete."""
    try:
        body = request.body
    except RequestDataTooBig:  # the body was not read
        return QueryDict(), False
    return QueryDict(body[:limit], encoding="utf-8"), len(body) <= limit


def check_limit(request: HttpRequest) -> None:
    wait = seconds_to_wait(request)
    if wait:
        raise RetryLater(problems.TOO_MANY_REQUESTS, "Send the page again later.", retry_after=wait)
