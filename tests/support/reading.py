"""The words that a reader sees on a page."""

from __future__ import annotations

import html
import re
from typing import Any


def text_of(response: Any) -> str:
    """Return the text of a page, with each run of white space, even non-breaking, as one space."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def words_of(response: Any) -> str:
    """Return the same text, with “&amp;” and the like replaced by their characters."""
    return html.unescape(text_of(response))
