"""The headers of every response, from one table, set by the outermost wrapper.

The row that names the request's route applies. If there is none, the first row with a prefix of the
request's path applies. The row's headers replace those that other code has set, except
Cache-Control.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    ASGISendEvent,
    Scope,
)
from django.conf import settings
from django.urls import Resolver404, resolve

from aggregator import problems
from surveys.respondent.csp import CSP, EXTRA, NOTHING, write_policy

logger = logging.getLogger(__name__)
# These pages work without scripts, so no scripts are allowed.
_FORM = {
    "default-src": "'none'",
    "style-src": "'self'",
    "img-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The headers of one kind of response, in addition to the common ones."""

    routes: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    csp: Mapping[str, str | None] = field(default_factory=lambda: dict(CSP))
    extra: Mapping[str, str] = field(default_factory=dict)

    def content_security_policy(self) -> str:
        return write_policy(self.csp)


def _researcher(**changes: str | None) -> dict[str, str | None]:
    # Forms post to this site, where Django's CSRF check needs the referrer.
    return {**CSP, "script-src": "'self'", "form-action": "'self'", **changes}


_SAME_ORIGIN = {"Referrer-Policy": "same-origin"}
# Trusted Types are off only for pages where scripts insert HTML from the server.
_SWAPPED = _researcher(**{"require-trusted-types-for": None, "trusted-types": None})

TABLE = (
    Policy(prefixes=("/m/", "/r/", "/static/", "/api/", "/schemas/", "/.well-known/"), csp=NOTHING),
    # Copies in search engines could not be withdrawn.
    Policy(
        routes=(
            *("aggregator:public_results", "aggregator:public_coin_results"),
            *("aggregator:public_results_csv", "aggregator:public_coin_results_csv"),
        ),
        csp={**_FORM, "form-action": "'none'"},
        extra={"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"},
    ),
    # Without a referrer, browsers send no origin with a form, not even to the same site.
    Policy(
        routes=(
            *("aggregator:coins", "aggregator:coins_sent", "aggregator:paper"),
            *("aggregator:hand_in", "aggregator:handed_in"),
        ),
        csp=_FORM,
        extra=_SAME_ORIGIN,
    ),
    Policy(prefixes=("/s/",), extra=EXTRA),
    # Downloads contain no code, but a refused download shows a page with the common style.
    Policy(
        routes=(
            *("surveys:share_qr_svg", "surveys:share_qr_png", "aggregator:methods_figure"),
            *("surveys:xlsform", "surveys:redcap"),
            *("aggregator:file", "aggregator:coin_file"),
            *("aggregator:estimates_csv", "aggregator:coin_estimates_csv"),
            *("surveys:definition",),
            *("aggregator:reports_csv", "aggregator:codebook_csv"),
            *("aggregator:mode_comparison_csv", "aggregator:comparison_csv"),
            *("aggregator:breakdown_csv", "aggregator:history_csv"),
            *("aggregator:release_ledger_csv", "aggregator:coin_release_ledger_csv"),
        ),
        csp=_researcher(**{"script-src": None, "connect-src": None}),
        extra=_SAME_ORIGIN,
    ),
    Policy(
        routes=(
            *("aggregator:results", "aggregator:results_panel"),
            *("aggregator:coin_results", "aggregator:coin_results_panel"),
            *("aggregator:comparison", "aggregator:comparison_panel"),
            *("surveys:questions", "surveys:imported"),
        ),
        csp=_SWAPPED,
        extra=_SAME_ORIGIN,
    ),
    Policy(routes=("surveys:preview",), extra=_SAME_ORIGIN),
    Policy(prefixes=("/",), csp=_researcher(), extra=_SAME_ORIGIN),
)
_BY_ROUTE = {route: row for row, policy in enumerate(TABLE) for route in policy.routes}
COMMON = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": (
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"
    ),
}
DEFAULT_CACHE_CONTROL = "no-store"


def headers_for(path: str) -> dict[str, str]:
    """Return all headers of a response to this path, except Cache-Control."""
    return _headers_of(_row_of(path), https=settings.HTTPS)


def _row_of(path: str) -> int:
    # "OPTIONS *" has no path, so the last row applies, as for all requests without a match.
    last = len(TABLE) - 1
    row = next((row for row, one in enumerate(TABLE) if path.startswith(one.prefixes)), last)
    # The first row's headers apply to every route below its prefixes.
    return row if row == 0 else _BY_ROUTE.get(_find_route(path), row)


def _find_route(path: str) -> str:
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""


def _headers_of(row: int, *, https: bool) -> dict[str, str]:
    policy = TABLE[row]
    headers = {
        **COMMON,
        "Content-Security-Policy": policy.content_security_policy(),
        **policy.extra,
    }
    if https:
        headers["Strict-Transport-Security"] = settings.HSTS
    return headers


class SecurityHeaders:
    """The outermost ASGI wrapper, which sets the headers of every response."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        row = _row_of(scope["path"])
        started = False

        async def send_with_headers(event: ASGISendEvent) -> None:
            nonlocal started
            if event["type"] == "http.response.start":
                started = True
                event = {
                    **event,
                    "headers": _apply(event["headers"], _encode(row, https=settings.HTTPS)),
                }
            await send(event)

        try:
            await self._application(scope, receive, send_with_headers)
        except Exception as error:
            if started:  # the server can only close the connection
                raise
            # Log only the place and type of the error: its message can quote what was sent.
            [*_, place] = traceback.extract_tb(error.__traceback__)
            logger.error(
                "%s in %s, line %d: answered with 500",
                type(error).__name__,
                place.filename,
                place.lineno,
            )
            await _send_failure(send_with_headers, scope["path"])


async def _send_failure(send: ASGISendCallable, path: str) -> None:
    """Send the server error as problem+json below /api/, and as plain text elsewhere."""
    problem = problems.SERVER_ERROR
    if path.startswith("/api/"):
        kind, body = problems.CONTENT_TYPE, problems.problem_body(problem)
    else:
        kind, body = "text/plain; charset=utf-8", f"{problem.title}. {problem.advice}\n".encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send(
        {
            "type": "http.response.start",
            "status": problem.status,
            "headers": headers,
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})


@lru_cache(maxsize=2 * len(TABLE))
def _encode(row: int, *, https: bool) -> tuple[frozenset[bytes], list[tuple[bytes, bytes]]]:
    """Return the names and the headers of a row, encoded for the wire. Each row is cached."""
    headers = _headers_of(row, https=https)
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return frozenset(name for name, _ in encoded), encoded


def _apply(
    headers: Iterable[tuple[bytes, bytes]],
    wanted: tuple[frozenset[bytes], list[tuple[bytes, bytes]]],
) -> list[tuple[bytes, bytes]]:
    names, encoded = wanted
    kept = [(name, value) for name, value in headers if name.lower() not in names]
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", DEFAULT_CACHE_CONTROL.encode()))
    return kept + encoded
