"""Sign in by token (`Authorization: Bearer murmur_…`), and check the scope that an endpoint needs.

If a request has this header, its session is ignored. The request needs no protection against forged
forms, because a browser never adds the header on its own.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

from accounts.models import ApiToken, User
from accounts.second_factor.state import has_second_factor
from accounts.tokens import Scope, find_token
from aggregator.api.refusals import InvalidToken, WrongScope

if TYPE_CHECKING:  # the import reads settings that name this module
    from rest_framework.views import APIView


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        kind, _, text = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = find_token(text.strip())
        if token is None or _lacks_second_factor(token.account):
            raise InvalidToken
        return token.account, token


def _lacks_second_factor(user: User) -> bool:
    return settings.SECOND_FACTOR_REQUIRED and not has_second_factor(user)


class SessionOnly(IsAuthenticated):
    """The default permission: an endpoint that names no scope rejects tokens."""

    scope: Scope | None = None

    def has_permission(self, request: Request, view: APIView) -> bool:
        if isinstance(request.auth, ApiToken) and self.scope not in request.auth.scopes:
            raise WrongScope(self.scope)
        return super().has_permission(request, view)


@cache
def allows(scope: Scope) -> type[SessionOnly]:
    """Return a permission that accepts sessions, and tokens with this scope."""
    return type(f"Allows{scope.name.title()}", (SessionOnly,), {"scope": scope})


class TokenThrottle(UserRateThrottle):
    """Counts all requests with an account's tokens together; only the limiter keeps the count."""

    rate = f"{settings.API_REQUESTS_PER_MINUTE}/min"
    scope = "tokens"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        is_by_token = isinstance(request.auth, ApiToken)
        return super().get_cache_key(request, view) if is_by_token else None
