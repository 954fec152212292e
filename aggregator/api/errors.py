"""Report every error of the API as application/problem+json, with a reason from problems.py."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.views import set_rollback

from aggregator import problems
from aggregator.api.refusals import (
    BackgroundNotChosen,
    DefinitionTooLarge,
    IfMatchMissing,
    InvalidToken,
    NoSuchRows,
    SurveyNotCounted,
    TooFewResponses,
    WrongScope,
)
from aggregator.problems import Problem, problem_body
from surveys.access import raise_404_if_deleted
from surveys.authoring.errors import NotDraft, Overtaken
from surveys.definition.format import InvalidDefinition

logger = logging.getLogger(__name__)
RETRY_SECONDS = 5


# The first match wins. An exception that matches none of these is a failure of Murmur itself.
_PROBLEMS: tuple[tuple[type[Exception], Problem], ...] = (
    (TooFewResponses, problems.TOO_FEW_RESPONSES),
    (SurveyNotCounted, problems.SURVEY_NOT_COUNTED),
    (BackgroundNotChosen, problems.BACKGROUND_NOT_CHOSEN),
    (NoSuchRows, problems.NO_SUCH_ROWS),
    (IfMatchMissing, problems.IF_MATCH_MISSING),
    (DefinitionTooLarge, problems.DEFINITION_TOO_LARGE),
    (InvalidDefinition, problems.INVALID_DEFINITION),
    (Overtaken, problems.OVERTAKEN),
    (NotDraft, problems.SURVEY_OPENED),
    (InvalidToken, problems.INVALID_TOKEN),
    (WrongScope, problems.WRONG_SCOPE),
    (exceptions.NotAuthenticated, problems.NOT_SIGNED_IN),
    (exceptions.AuthenticationFailed, problems.NOT_SIGNED_IN),
    (exceptions.PermissionDenied, problems.FORBIDDEN),
    (PermissionDenied, problems.FORBIDDEN),
    (exceptions.NotFound, problems.NOT_FOUND),
    (Http404, problems.NOT_FOUND),
    (exceptions.MethodNotAllowed, problems.METHOD_NOT_ALLOWED),
    (exceptions.NotAcceptable, problems.NOT_ACCEPTABLE),
    (exceptions.UnsupportedMediaType, problems.WRONG_CONTENT_TYPE),
    (exceptions.Throttled, problems.TOO_MANY_REQUESTS),
    (exceptions.ParseError, problems.INVALID_INPUT),
    (exceptions.ValidationError, problems.INVALID_INPUT),
    (OperationalError, problems.UNAVAILABLE),
    (InterfaceError, problems.UNAVAILABLE),
    (RedisError, problems.UNAVAILABLE),  # from the limiter
)
# For all other problems, the detail of the reply is the problem's advice.
_DETAILS: dict[Problem, str] = {
    problems.NOT_SIGNED_IN: "Send an API token, or sign in and send the session's cookie.",
    problems.NOT_FOUND: "Nothing was found at this address, or you do not have access to it.",
    problems.INVALID_INPUT: "The body is not JSON, or is nested too deeply.",
    problems.UNAVAILABLE: "Try again in a few seconds.",
    problems.SERVER_ERROR: "The error was logged. Try again later.",
}


def _was_deleted(context: Mapping[str, Any]) -> bool:
    """Return whether the survey that the request names was deleted during the request."""
    try:
        raise_404_if_deleted((context.get("kwargs") or {}).get("slug", ""))
    except Http404:
        return True
    return False


def problem_response(exc: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Turn an exception in an API view into a response.

    The response quotes only exceptions about a definition or a scope.
    """
    problem = next((p for kind, p in _PROBLEMS if isinstance(exc, kind)), problems.SERVER_ERROR)
    if problem is problems.SERVER_ERROR and _was_deleted(context):
        problem = problems.NOT_FOUND
    if problem is problems.SERVER_ERROR:
        logger.error("an API view failed", exc_info=exc)
    set_rollback()
    found = exc.problems if isinstance(exc, InvalidDefinition) else ()
    detail = _DETAILS.get(problem, problem.advice)
    if isinstance(exc, WrongScope):
        detail = str(exc.detail)
    response = HttpResponse(
        problem_body(
            problem, detail, errors=[{"pointer": one.pointer, "detail": one.text} for one in found]
        ),
        status=problem.status,
        content_type=problems.CONTENT_TYPE,
    )
    if isinstance(exc, exceptions.MethodNotAllowed):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    if problem is problems.INVALID_TOKEN:
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(exc, exceptions.Throttled):
        wait: float | None = getattr(exc, "wait", None)
        response["Retry-After"] = str(ceil(wait or RETRY_SECONDS))
    if problem is problems.UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
