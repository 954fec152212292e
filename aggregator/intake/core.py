"""Handle POST /api/reports with a function that turns method, headers and body into a reply.

The DRF view calls `handle`. The ASGI entry calls the parts of `handle`, so that one commit stores
many reports, and also applies the limit per network. No code here reads a cookie, stores an address
or a time, or sends a message to a broker.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http.request import split_domain_port, validate_host

from aggregator import problems
from aggregator.intake.errors import IntakeError, Refused, RetryLater
from aggregator.intake.store import Outcome, record_report
from aggregator.intake.wire import Upload, parse_upload

logger = logging.getLogger(__name__)
DATABASE_RETRY_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def handle(*, method: str, headers: Mapping[str, str], body: bytes) -> Reply:
    """Record one report from start to finish; `headers` has lower-case names."""
    try:
        return reply_to_outcome(record_report(read_request(method, headers, body)))
    except IntakeError as error:
        return reply_to_error(error)
    except (DatabaseError, InterfaceError) as error:
        return reply_to_error(storing_failed(error))


def read_request(method: str, headers: Mapping[str, str], body: bytes) -> Upload:
    """Run all checks that need no database; return the report or raise an error."""
    _check_request(method=method, headers=headers)
    return parse_upload(body)


def storing_failed(error: Exception) -> RetryLater:
    # Log only the type of error, because the message of a failed statement can quote the row.
    logger.error("intake could not store reports: %s", type(error).__name__)
    return RetryLater(
        problems.DATABASE_UNAVAILABLE,
        "The report could not be stored. Send the same bytes again later.",
        retry_after=DATABASE_RETRY_SECONDS,
    )


def reply_to_outcome(outcome: Outcome) -> Reply:
    return _RECEIPTS[outcome]


_RECEIPTS = {
    outcome: Reply(
        status=status,
        headers=(("Content-Type", "application/json"),),
        body=json.dumps({"status": outcome.value}, separators=(",", ":")).encode(),
    )
    for outcome, status in ((Outcome.RECORDED, 201), (Outcome.ALREADY_RECORDED, 200))
}


def reply_to_error(error: IntakeError) -> Reply:
    """Turn a refusal into problem+json."""
    headers = [("Content-Type", "application/problem+json")]
    if isinstance(error, RetryLater):
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
    check_source(headers)
    content_type = headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" or "," in content_type:
        raise Refused(problems.WRONG_CONTENT_TYPE, "Content-Type must be application/json.")


def check_source(headers: Mapping[str, str]) -> None:
    """Refuse a request that another site's page caused a browser to send."""
    host = headers.get("host", "")
    if not _is_served(host):
        raise Refused(problems.WRONG_HOST, "This server does not answer to that host name.")
    origin = headers.get("origin")
    schemes = ("https",) if settings.HTTPS else ("https", "http")
    own = {f"{scheme}://{host}".lower() for scheme in schemes}
    is_own = origin is None or origin.lower() in own
    if not is_own or headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise Refused(problems.CROSS_SITE, f"{problems.CROSS_SITE.title}.")


def _is_served(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
