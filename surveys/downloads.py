"""Tells browsers to save a reply under a name; finds text that spreadsheets run as formulas."""

from __future__ import annotations

import re
from typing import TypeVar

from django.http import HttpResponseBase
from django.utils.http import content_disposition_header

Response = TypeVar("Response", bound=HttpResponseBase)
# Some spreadsheets treat these fullwidth characters like the ASCII ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\0")
# Spreadsheets that separate cells by semicolons split a comma-separated file at each semicolon and
# line break. So a formula can begin at these places, not only at the start of a cell.
PLACE = "(?:^|(?<=[;\\r]))"
# A quotation mark after a semicolon may be read as the start of a quoted cell, and disappear.
FORMULA = re.compile(f'{PLACE}(?="*[{re.escape("".join(FORMULA_STARTS))}])', re.MULTILINE)


def attach(response: Response, name: str, *, inline: bool = False) -> Response:
    """Let browsers save a response under this name, or show it inline and suggest the name."""
    response["Content-Disposition"] = describe_attachment(name, inline=inline)
    return response


def describe_attachment(name: str, *, inline: bool = False) -> str:
    """Return the Content-Disposition header."""
    header = content_disposition_header(as_attachment=not inline, filename=name)
    assert header is not None  # it is None only without a name
    return header
