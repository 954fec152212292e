"""The description of the API as OpenAPI, with the scopes that tokens need."""

from __future__ import annotations

from threading import Lock
from typing import Any, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.tokens import PREFIX, Scope
from aggregator.api.tokens import TokenAuthentication

_one_schema_at_a_time = Lock()


class Schema(SpectacularJSONAPIView):
    """The description of this API."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        # The generator changes state that all threads share, and fails if two threads run it at
        # once.
        with _one_schema_at_a_time:
            return cast(Response, super().get(request))  # type: ignore[no-untyped-call]


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes tokens and the scope that each endpoint needs."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        scopes = ", ".join(Scope)
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": f"{PREFIX}…",
            "description": f"An API token from the account page. Scopes: {scopes}.",
        }

    def get_security_requirement(self, auto_schema: Any) -> Any:
        scopes = [getattr(one, "scope", None) for one in auto_schema.view.get_permissions()]
        named = [scope.value for scope in scopes if scope is not None]
        return {self.name: named} if named else []
