"""The inline script that says immediately if the page's other scripts cannot run."""

from __future__ import annotations

from pathlib import Path

from surveys.respondent.javascript import split_tokens, strip_comments

_SOURCE = Path(__file__).resolve().parent / "client" / "visit" / "guard.js"
GUARD = strip_comments(split_tokens(_SOURCE.read_text()))
