"""Compresses responses for clients that accept it.

The responses contain no secrets and do not echo the request, so compression reveals nothing.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from surveys.respondent.client_files import compress

HTML = "text/html; charset=utf-8"
_REFUSALS = {"q=0", "q=0.0", "q=0.00", "q=0.000"}


def accepts_gzip(header: str) -> bool:
    """Read an Accept-Encoding header (RFC 9110 §12.5.3)."""
    for choice in header.lower().split(","):
        name, _, weight = choice.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in _REFUSALS
    return False


def answer(
    request: HttpRequest,
    content: bytes,
    *,
    content_type: str,
    compressed: bytes | None = None,
    status: int = 200,
) -> HttpResponse:
    """Answer with these bytes; `compressed` saves compressing them again."""
    encode = accepts_gzip(request.headers.get("Accept-Encoding", ""))
    body = (compressed or compress(content)) if encode else content
    response = HttpResponse(body, content_type=content_type, status=status)
    response["Vary"] = "Accept-Encoding"
    if encode:
        response["Content-Encoding"] = "gzip"
    return response
