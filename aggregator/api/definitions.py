"""Accept definitions of limited size over the API, check them, and create or replace drafts.

All problems of a definition are reported together, each with a JSON pointer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, cast

from django.http import HttpResponse
from django.urls import reverse
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import (
    api_view,
    parser_classes,
    permission_classes,
    throttle_classes,
)
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle

from accounts.models import User
from accounts.tokens import Scope
from aggregator.api.refusals import DefinitionTooLarge, IfMatchMissing
from aggregator.api.serializers import (
    DefinitionProblemSerializer,
    ProblemSerializer,
    ValidDefinitionSerializer,
)
from aggregator.api.tokens import TokenThrottle, allows
from aggregator.problems import (
    CONTENT_TYPE,
    DEFINITION_TOO_LARGE,
    IF_MATCH_MISSING,
    INVALID_DEFINITION,
    OVERTAKEN,
    SURVEY_OPENED,
    WRONG_CONTENT_TYPE,
    Problem,
)
from surveys.access import Action, get_survey
from surveys.definition.creating import check_whole, create_draft
from surveys.definition.exporting import export_definition
from surveys.definition.format import MOST_BYTES
from surveys.definition.parsing import parse_definition
from surveys.definition.replacing import hash_definition, replace_draft


class DefinitionParser(BaseParser):
    """Passes the bytes on unparsed, because definitions have their own rules for JSON."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return bytes(stream.read(MOST_BYTES + 1))


class DefinitionThrottle(UserRateThrottle):
    """Limits checks, because checking the largest definition takes seconds."""

    rate = "30/min"
    scope = "definitions"

    def allow_request(self, request: Request, view: Any) -> bool:
        return request.method in ("GET", "HEAD") or super().allow_request(request, view)


def _describe(
    problem: Problem, serializer: type[ProblemSerializer] = ProblemSerializer
) -> dict[Any, Any]:
    response = OpenApiResponse(serializer, description=problem.slug)
    return {(problem.status, CONTENT_TYPE): response}


def _say(status: int, description: str) -> dict[Any, Any]:
    return {(status, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description=description)}


# REFUSED lists the errors of every endpoint in this file. UNREADABLE lists those of the endpoints
# that take a definition.
REFUSED = {
    **_say(401, "invalid-token"),
    **_say(403, "not signed in, the token lacks the scope, or your role is too low"),
    **_say(429, "too-many-requests"),
}
UNREADABLE = {
    **_describe(DEFINITION_TOO_LARGE),
    **_describe(WRONG_CONTENT_TYPE),
    **_describe(INVALID_DEFINITION, DefinitionProblemSerializer),
}
NOT_FOUND = _say(404, "you have no such survey")
DEFINITION = {"type": "object", "description": "as /schemas/definition-1.json describes it"}
_ETAG = OpenApiParameter(
    "ETag", str, "header", description="the version of the definition", response=[200]
)


def _read(request: Request) -> Any:
    """Read the body; raise DefinitionTooLarge or InvalidDefinition."""
    content = request.data if isinstance(request.data, bytes) else b""
    if len(content) > MOST_BYTES:
        raise DefinitionTooLarge
    return parse_definition(content)


@extend_schema(
    operation_id="validate_definition",
    request={"application/json": {"type": "object"}},
    responses={200: ValidDefinitionSerializer, **REFUSED, **UNREADABLE},
)
@api_view(["POST"])
@permission_classes([allows(Scope.DRAFTS)])
@parser_classes([DefinitionParser])
@throttle_classes([DefinitionThrottle])
def validate(request: Request) -> HttpResponse:
    """Check a survey's definition, which /schemas/definition-1.json describes; nothing is stored.

    The server also checks what a schema cannot express, such as rules and the names that they use.
    """
    definition = _read(request)
    check_whole(definition)
    return Response({"title": definition["title"], "questions": len(definition["questions"])})


def create(request: Request) -> HttpResponse:
    """Create a draft from the definition in the body."""
    survey = create_draft(_read(request), owner=cast(User, request.user))
    response = Response({"slug": survey.slug, "title": survey.title}, status=201)
    response["Location"] = reverse("aggregator:api_definition", args=[survey.slug])
    return response


@extend_schema(
    methods=["GET"],
    operation_id="get_definition",
    parameters=[_ETAG],
    responses={(200, "application/json"): DEFINITION, **REFUSED, **NOT_FOUND},
)
@extend_schema(
    methods=["PUT"],
    operation_id="replace_definition",
    parameters=[
        _ETAG,
        OpenApiParameter(
            "If-Match",
            str,
            "header",
            description="the ETag of the definition that this one replaces; required",
        ),
    ],
    request={"application/json": DEFINITION},
    responses={
        (200, "application/json"): DEFINITION,
        **REFUSED,
        **NOT_FOUND,
        **UNREADABLE,
        **_describe(SURVEY_OPENED),
        **_describe(OVERTAKEN),
        **_describe(IF_MATCH_MISSING),
    },
)
@api_view(["GET", "HEAD", "PUT"])
@permission_classes([allows(Scope.DRAFTS)])
@parser_classes([DefinitionParser])
@throttle_classes([DefinitionThrottle, TokenThrottle])
def definition(request: Request, slug: str) -> HttpResponse:
    """The whole content of a survey. In a draft, it can be replaced, all at once or not at all.

    Questions keep their identity by their name. Everything that the new definition omits is
    deleted, including translations and plans.
    """
    survey = get_survey(request.user, slug, Action.EDIT)
    if request.method == "PUT":
        # Proxies such as nginx mark an ETag as weak when they compress the reply.
        tags = parse_etags(request.headers.get("If-Match", ""))
        read = {tag.removeprefix("W/").strip('"') for tag in tags} - {"*"}
        if not read:
            raise IfMatchMissing
        survey = replace_draft(survey=survey, definition=_read(request), read=read)
    content = export_definition(survey)
    response = HttpResponse(content, content_type="application/json")
    response["ETag"] = f'"{hash_definition(content)}"'
    return response
