"""What a reader sees of a page."""

from __future__ import annotations

import html
import re
from typing import Any


def text_of(response: Any) -> str:
    """The words of a page, each run of white space, breaking or not, as one space."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def words_of(response: Any) -> str:
    """The same with “&amp;” and the like as the characters they stand for."""
    return html.unescape(text_of(response))
