"""Pages for failed requests. An unreachable database or Redis gives 503, never 500."""

from __future__ import annotations

import logging
import sys

from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.defaults import page_not_found
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from aggregator import problems
from aggregator.upkeep.missing_migrations import describe_missing_migrations

logger = logging.getLogger(__name__)
OUT_OF_REACH = (OperationalError, InterfaceError, RedisConnectionError, RedisTimeoutError)
RETRY_SECONDS = "5"


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 if a required service is unavailable, otherwise 500."""
    error = sys.exc_info()[1]
    unavailable = isinstance(error, OUT_OF_REACH)
    if isinstance(error, DatabaseError) and _needs_migrations():
        unavailable = True
    problem = problems.UNAVAILABLE if unavailable else problems.SERVER_ERROR
    if request.path.startswith("/api/"):
        response = HttpResponse(
            problems.problem_body(problem, problem.title),
            status=problem.status,
            content_type=problems.CONTENT_TYPE,
        )
    else:
        # Render without a request, because context processors would query the database again.
        content = loader.render_to_string(f"{problem.status}.html")
        response = HttpResponse(content, status=problem.status)
    if unavailable:
        response["Retry-After"] = RETRY_SECONDS
    return response


def _needs_migrations() -> bool:
    """Return whether migrations, and perhaps tables, are missing; if so, log the command to run."""
    try:
        missing = describe_missing_migrations()
    except (DatabaseError, InterfaceError):
        return False
    if missing:
        logger.error(missing)
    return bool(missing)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer with problem+json below /api/, and with a page elsewhere."""
    if not request.path.startswith("/api/"):
        return page_not_found(request, exception)
    return HttpResponse(
        problems.problem_body(problems.NOT_FOUND),
        status=problems.NOT_FOUND.status,
        content_type=problems.CONTENT_TYPE,
    )
