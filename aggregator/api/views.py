"""The API of the surveys on which a researcher has a role, with their results and exports.

definitions.py handles requests that create or change drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.decorators import api_view, permission_classes, renderer_classes
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from accounts.tokens import Scope
from aggregator.api.definitions import (
    DEFINITION,
    NOT_FOUND,
    REFUSED,
    UNREADABLE,
    DefinitionParser,
    DefinitionThrottle,
    create,
)
from aggregator.api.refusals import (
    BackgroundNotChosen,
    NoSuchRows,
    SurveyNotCounted,
    TooFewResponses,
)
from aggregator.api.serializers import (
    CreatedSerializer,
    ProblemSerializer,
    ResultsSerializer,
    SurveySerializer,
)
from aggregator.api.tokens import SessionOnly, TokenThrottle, allows
from aggregator.exports.codebook import stream_codebook
from aggregator.exports.csv_format import respond_with_csv
from aggregator.exports.estimates import stream_estimates
from aggregator.exports.reports import NoSuchRowsError, NotChosenError, find_rows
from aggregator.problems import CONTENT_TYPE as PROBLEM_TYPE
from aggregator.results.display import Results, find_view
from aggregator.results.overview.survey_list import find_surveys, read_lines
from surveys.access import Action, get_survey, raise_404_if_deleted


class CsvRenderer(BaseRenderer):
    """Lets clients ask for text/csv. The views stream their files, so this class renders none."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else bytes(data)


def _problem(description: str) -> OpenApiResponse:
    return OpenApiResponse(ProblemSerializer, description=description)


TOO_FEW = {(409, PROBLEM_TYPE): _problem("too few reports, or not shown before the close")}
NO_ROWS = {(409, PROBLEM_TYPE): _problem("too few reports, not closed, or no background chosen")}
CSV = {(200, "text/csv"): OpenApiTypes.BINARY}


class SurveyList(generics.GenericAPIView[Any]):
    """Your surveys, newest first. A definition that is posted becomes a draft."""

    serializer_class = SurveySerializer
    parser_classes = (DefinitionParser,)
    throttle_classes = (DefinitionThrottle, TokenThrottle)

    def get_permissions(self) -> list[SessionOnly]:
        return [allows(Scope.DRAFTS if self.request.method == "POST" else Scope.RESULTS)()]

    def get_queryset(self) -> QuerySet[Any]:
        return find_surveys(account=cast(User, self.request.user))

    @extend_schema(
        operation_id="list_surveys", responses={200: SurveySerializer(many=True), **REFUSED}
    )
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        lines = read_lines(page or [], now=timezone.now())
        return self.get_paginated_response(SurveySerializer(lines, many=True).data)

    @extend_schema(
        operation_id="create_survey",
        request={"application/json": DEFINITION},
        responses={201: CreatedSerializer, **REFUSED, **UNREADABLE},
    )
    def post(self, request: Request) -> HttpResponse:
        return create(request)


@extend_schema(operation_id="get_survey", responses={200: SurveySerializer, **REFUSED, **NOT_FOUND})
@api_view(["GET", "HEAD"])
@permission_classes([allows(Scope.RESULTS)])
def survey(request: Request, slug: str) -> Response:
    """One of your surveys."""
    get_survey(request.user, slug, Action.READ)
    found = get_object_or_404(find_surveys(account=cast(User, request.user)), slug=slug)
    [line] = read_lines([found], now=timezone.now())
    return Response(SurveySerializer(line).data)


@extend_schema(
    operation_id="get_results",
    responses={200: ResultsSerializer, **REFUSED, **NOT_FOUND, **TOO_FEW},
)
@api_view(["GET", "HEAD"])
@permission_classes([allows(Scope.RESULTS)])
def results(request: Request, slug: str) -> Response:
    """The newest snapshot of one of your surveys, with every estimate and its interval."""
    return Response(ResultsSerializer(_find_results(request, slug, Action.READ)).data)


@extend_schema(
    operation_id="export_reports",
    parameters=[
        OpenApiParameter("block", int, description="the number of a block that has its own file")
    ],
    responses={**CSV, **REFUSED, **NOT_FOUND, **NO_ROWS},
)
@api_view(["GET", "HEAD"])
@permission_classes([allows(Scope.FILES)])
@renderer_classes([CsvRenderer, JSONRenderer])
def reports_csv(request: Request, slug: str) -> HttpResponseBase:
    """One row of randomized codes for each person, once the survey has closed and been counted.

    The file contains the background questions that the owner chose. Where blocks of questions were
    drawn at random and few people were asked the same ones, each block has its own file.
    """
    found = _find_results(request, slug)
    if not found.has_rows:
        raise SurveyNotCounted
    try:
        rows = find_rows(found, number=request.query_params.get("block", ""))
    except NotChosenError as error:
        raise BackgroundNotChosen from error
    except NoSuchRowsError as error:
        raise NoSuchRows from error
    return respond_with_csv(results=found, kind=rows.kind, rows=rows.stream())


@extend_schema(operation_id="export_codebook", responses={**CSV, **REFUSED, **NOT_FOUND, **TOO_FEW})
@api_view(["GET", "HEAD"])
@permission_classes([allows(Scope.FILES)])
@renderer_classes([CsvRenderer, JSONRenderer])
def codebook_csv(request: Request, slug: str) -> HttpResponseBase:
    """One row for every code of every column of reports.csv, with its meaning and its origin."""
    return _send_csv(request, slug, kind="codebook", stream=stream_codebook)


@extend_schema(
    operation_id="export_estimates", responses={**CSV, **REFUSED, **NOT_FOUND, **TOO_FEW}
)
@api_view(["GET", "HEAD"])
@permission_classes([allows(Scope.FILES)])
@renderer_classes([CsvRenderer, JSONRenderer])
def estimates_csv(request: Request, slug: str) -> HttpResponseBase:
    """One row for every estimate of every question, with its design and its interval."""
    return _send_csv(request, slug, kind="estimates", stream=stream_estimates)


def _find_results(request: Request, slug: str, action: Action = Action.EXPORT) -> Results:
    found = find_view(get_survey(request.user, slug, action)).results
    if found is None:
        raise_404_if_deleted(slug)
        raise TooFewResponses
    return found


def _send_csv(
    request: Request, slug: str, *, kind: str, stream: Callable[[Results], Iterator[bytes]]
) -> HttpResponseBase:
    found = _find_results(request, slug)
    return respond_with_csv(results=found, kind=kind, rows=stream(found))
