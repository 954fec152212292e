"""Check a definition for a program: all problems at once, each with a JSON pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import api_view, parser_classes, throttle_classes
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle

from aggregator.api.serializers import (
    DefinitionProblemSerializer,
    ProblemSerializer,
    ValidDefinitionSerializer,
)
from aggregator.problems import (
    CONTENT_TYPE,
    DEFINITION_TOO_LARGE,
    INVALID_DEFINITION,
    Problem,
    problem_body,
)
from surveys.definition.checking import check_definition
from surveys.definition.format import MOST_BYTES, InvalidDefinition
from surveys.definition.format import Problem as DefinitionProblem
from surveys.definition.parsing import parse_definition


class DefinitionParser(BaseParser):
    """Hands the bytes on: JSON has rules of its own for definitions."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return bytes(stream.read(MOST_BYTES + 1))


class DefinitionThrottle(UserRateThrottle):
    """A check of the largest definition takes seconds."""

    rate = "30/min"
    scope = "definitions"


def _describe(serializer: type[ProblemSerializer], problem: Problem) -> dict[Any, Any]:
    response = OpenApiResponse(serializer, description=problem.slug)
    return {(problem.status, CONTENT_TYPE): response}


@extend_schema(
    operation_id="validate_definition",
    request={"application/json": {"type": "object"}},
    responses={
        200: ValidDefinitionSerializer,
        (403, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description="not signed in"),
        **_describe(ProblemSerializer, DEFINITION_TOO_LARGE),
        **_describe(DefinitionProblemSerializer, INVALID_DEFINITION),
        (429, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description="too-many-requests"),
    },
)
@api_view(["POST"])
@parser_classes([DefinitionParser])
@throttle_classes([DefinitionThrottle])
def validate(request: Request) -> HttpResponse:
    """Check the definition of a survey; nothing is stored. /schemas/definition-1.json has its form.

    The server also checks what a schema cannot say, such as rules and the names that they use.
    """
    content = request.data if isinstance(request.data, bytes) else b""
    if len(content) > MOST_BYTES:
        return _respond(DEFINITION_TOO_LARGE)
    try:
        definition = parse_definition(content)
        problems = check_definition(definition).problems
    except InvalidDefinition as error:
        problems = list(error.problems)
    if problems:
        return _respond(INVALID_DEFINITION, problems)
    return Response({"title": definition["title"], "questions": len(definition["questions"])})


def _respond(problem: Problem, found: list[DefinitionProblem] | None = None) -> HttpResponse:
    errors = [{"pointer": one.pointer, "detail": one.text} for one in found or ()]
    return HttpResponse(
        problem_body(problem, errors=errors), status=problem.status, content_type=CONTENT_TYPE
    )
