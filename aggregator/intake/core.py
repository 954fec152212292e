"""(method, headers, body) → reply: the whole meaning of POST /api/reports.

The ASGI entry and the DRF view both call `handle` and add nothing to it. It reads no
cookie, stores no address and no time, and sends no message to a broker.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http.request import split_domain_port, validate_host

from aggregator import problems
from aggregator.intake.errors import IntakeError, NotNow, Refused
from aggregator.intake.store import Outcome, record_report
from aggregator.intake.wire import parse_upload

logger = logging.getLogger(__name__)
_STATUS = {Outcome.RECORDED: 201, Outcome.ALREADY_RECORDED: 200}
DATABASE_RETRY_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def handle(*, method: str, headers: Mapping[str, str], body: bytes) -> Reply:
    """Take one report; `headers` has lower-case names."""
    try:
        _check_request(method=method, headers=headers)
        outcome = record_report(parse_upload(body))
    except IntakeError as error:
        return reply_to_error(error)
    except (DatabaseError, InterfaceError) as error:
        # The kind only: the message of a failed statement can quote the row.
        logger.error("intake could not store a report: %s", type(error).__name__)
        return reply_to_error(
            NotNow(
                problems.DATABASE_UNAVAILABLE,
                "The report could not be stored. Send the same bytes again later.",
                retry_after=DATABASE_RETRY_SECONDS,
            )
        )
    return Reply(
        status=_STATUS[outcome],
        headers=(("Content-Type", "application/json"),),
        body=json.dumps({"status": outcome.value}, separators=(",", ":")).encode(),
    )


def reply_to_error(error: IntakeError) -> Reply:
    """Turn a refusal into problem+json."""
    headers = [("Content-Type", "application/problem+json")]
    if isinstance(error, NotNow):
        headers.append(("Retry-After", str(error.retry_after)))
    if error.problem is problems.METHOD_NOT_ALLOWED:
        headers.append(("Allow", "POST"))
    return Reply(
        status=error.problem.status,
        headers=tuple(headers),
        body=problems.problem_body(error.problem, error.detail),
    )


def _check_request(*, method: str, headers: Mapping[str, str]) -> None:
    if method != "POST":
        raise Refused(problems.METHOD_NOT_ALLOWED, "Reports are sent with POST.")
    host = headers.get("host", "")
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise Refused(problems.WRONG_HOST, "This server does not answer for that host name.")
    origin = headers.get("origin")
    # A page of another site must not send reports with its visitors' browsers.
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise Refused(problems.CROSS_SITE, "Reports are taken from this site's own pages only.")
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Refused(problems.CROSS_SITE, "Reports are taken from this site's own pages only.")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused(problems.WRONG_CONTENT_TYPE, "Content-Type must be application/json.")
