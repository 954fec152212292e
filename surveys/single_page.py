"""The respondent's page as one file: it works from a disk, and cannot reach any network.

It draws the code and shows it; the person hands it in from elsewhere, when and where they like.
The same manifest, language, release and address of the server always give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib

from django.utils.safestring import mark_safe

from surveys.client_files import ENTRY, STYLESHEET, bundle, client_files
from surveys.respondent_page import render_questions


def build_single_page(content: bytes, *, language: str, send_url: str) -> bytes:
    """`content` are the manifest's bytes; `send_url` is where a code is handed in."""
    script, style = bundle(ENTRY), client_files()[STYLESHEET].content.decode()
    return render_questions(
        "disk",
        content=content,
        language=language,
        template="surveys/single_page.html",
        manifest_url=f"data:application/json;base64,{base64.b64encode(content).decode()}",
        send_url=send_url,
        script=_embed(script),
        script_hash=_hash_source(script),
        style=_embed(style),
        style_hash=_hash_source(style),
        modules=[],
    )


def _embed(text: str) -> str:
    """Our own files, as they are: a policy by hash holds for their bytes."""
    if "</" in text:
        raise ValueError("a file that closes an element cannot stand inside a page")
    return mark_safe(text)  # noqa: S308


def _hash_source(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
