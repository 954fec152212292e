"""Every error of the API as application/problem+json, from the closed list of reasons."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.views import set_rollback

from aggregator import problems
from aggregator.problems import Problem, problem_body
from surveys.access import raise_404_if_deleted

logger = logging.getLogger(__name__)
RETRY_SECONDS = 5


class TooFewResponses(exceptions.APIException):
    """The survey exists, but has too few responses to show."""

    status_code = problems.TOO_FEW_RESPONSES.status
    default_detail = "Too few responses to show."


class SurveyNotCounted(exceptions.APIException):
    """The survey has results, but its rows exist only after the close."""

    status_code = problems.SURVEY_NOT_COUNTED.status
    default_detail = problems.SURVEY_NOT_COUNTED.advice


class BackgroundNotChosen(exceptions.APIException):
    """The rows exist once their owner has chosen which background questions they have."""

    status_code = problems.BACKGROUND_NOT_CHOSEN.status
    default_detail = problems.BACKGROUND_NOT_CHOSEN.advice


class NoSuchRows(exceptions.APIException):
    """A block was named where there is one file, or none where each block has its own."""

    status_code = problems.NO_SUCH_ROWS.status
    default_detail = problems.NO_SUCH_ROWS.advice


# The first match wins; an exception that matches nothing is our own failure.
_PROBLEMS: tuple[tuple[type[Exception], Problem], ...] = (
    (TooFewResponses, problems.TOO_FEW_RESPONSES),
    (SurveyNotCounted, problems.SURVEY_NOT_COUNTED),
    (BackgroundNotChosen, problems.BACKGROUND_NOT_CHOSEN),
    (NoSuchRows, problems.NO_SUCH_ROWS),
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
)
_DETAILS: dict[Problem, str] = {
    problems.NOT_SIGNED_IN: "Sign in, then send the session's cookie.",
    problems.NOT_FOUND: "Nothing was found at this address, or you do not have access to it.",
    problems.TOO_FEW_RESPONSES: "Too few responses to show.",
    problems.SURVEY_NOT_COUNTED: problems.SURVEY_NOT_COUNTED.advice,
    problems.UNAVAILABLE: "Try again in a few seconds.",
    problems.SERVER_ERROR: "The error was logged. Try again later.",
}


def _was_deleted(context: Mapping[str, Any]) -> bool:
    """Whether the survey that the request names was deleted while the reply was made."""
    try:
        raise_404_if_deleted((context.get("kwargs") or {}).get("slug", ""))
    except Http404:
        return True
    return False


def problem_response(exc: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Turn an exception in an API view into a response, without the text of the exception."""
    problem = next((p for kind, p in _PROBLEMS if isinstance(exc, kind)), problems.SERVER_ERROR)
    if problem is problems.SERVER_ERROR and _was_deleted(context):
        problem = problems.NOT_FOUND
    if problem is problems.SERVER_ERROR:
        logger.error("an API view failed", exc_info=exc)
    set_rollback()
    response = HttpResponse(
        problem_body(problem, _DETAILS.get(problem, "")),
        status=problem.status,
        content_type=problems.CONTENT_TYPE,
    )
    if isinstance(exc, exceptions.MethodNotAllowed):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    if isinstance(exc, exceptions.Throttled):
        wait: float | None = getattr(exc, "wait", None)
        response["Retry-After"] = str(ceil(wait or RETRY_SECONDS))
    if problem is problems.UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
