"""POST /api/reports for callers inside Django, such as the schema and the test client.

In production, the ASGI entry answers requests to this URL before they reach Django. Both entries
use the same core.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from aggregator.api.serializers import ProblemSerializer, ReceiptSerializer, ReportSerializer
from aggregator.intake.core import Reply, handle
from aggregator.problems import CONTENT_TYPE, INTAKE_PROBLEMS


def _list_problem_responses() -> dict[tuple[int, str], OpenApiResponse]:
    by_status: dict[int, list[str]] = {}
    for problem in INTAKE_PROBLEMS:
        by_status.setdefault(problem.status, []).append(problem.slug)
    return {
        (status, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description=" or ".join(slugs))
        for status, slugs in sorted(by_status.items())
    }


class Intake(APIView):
    """Take one randomized report, without a cookie or a sign-in."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    http_method_names = ("post",)  # the core refuses every other method

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check nothing, because the core decides everything, as it does for the ASGI entry."""

    @extend_schema(
        operation_id="send_report",
        auth=[],
        request={"application/json": ReportSerializer},
        responses={
            201: OpenApiResponse(ReceiptSerializer, description="recorded"),
            200: OpenApiResponse(ReceiptSerializer, description="recorded before"),
            **_list_problem_responses(),
        },
    )
    def post(self, request: Request) -> HttpResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        return _respond(
            handle(method=str(request.method), headers=headers, body=request._request.body)
        )

    def http_method_not_allowed(
        self, request: HttpRequest | Request, *args: Any, **kwargs: Any
    ) -> Any:
        return _respond(handle(method=str(request.method), headers={}, body=b""))


def _respond(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body, status=reply.status)
    for name, value in reply.headers:
        response[name] = value
    return response


intake = csrf_exempt(Intake.as_view())
