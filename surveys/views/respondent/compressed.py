"""Sends compressed text to clients that accept it, and uncompressed text to all other clients.

The responses contain no secrets and do not echo the request, so compression reveals nothing.
"""

from __future__ import annotations

import gzip

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from surveys.models.stored_texts import Busy, Text, compress, read_text

HTML = "text/html; charset=utf-8"
RETRY_SECONDS = "5"
_REFUSALS = {"q=0", "q=0.0", "q=0.00", "q=0.000"}


def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip (RFC 9110 §12.5.3)."""
    for choice in header.lower().split(","):
        name, _, weight = choice.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in _REFUSALS
    return False


def answer(
    request: HttpRequest, content: bytes, *, content_type: str, status: int = 200
) -> HttpResponse:
    """Answer with a short text that was made for this request."""
    return answer_compressed(request, compress(content), content_type=content_type, status=status)


def serve(request: HttpRequest, text: Text, *, content_type: str) -> HttpResponse:
    """Answer with a stored text, or with 503 if the text is missing and another is being made."""
    try:
        compressed = read_text(text)
    except Busy:
        return refuse_busy()
    return answer_compressed(request, compressed, content_type=content_type)


def answer_compressed(
    request: HttpRequest, compressed: bytes, *, content_type: str, status: int = 200
) -> HttpResponse:
    encode = accepts_gzip(request.headers.get("Accept-Encoding", ""))
    body = compressed if encode else gzip.decompress(compressed)
    response = HttpResponse(body, content_type=content_type, status=status)
    response["Vary"] = "Accept-Encoding"
    if encode:
        response["Content-Encoding"] = "gzip"
    return response


def refuse_busy() -> HttpResponse:
    # The page is rendered without the request, whose context processors would read the session.
    response = HttpResponse(render_to_string("503.html"), status=503)
    response["Retry-After"] = RETRY_SECONDS
    # Otherwise, Django would log which survey someone opened, and when.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
