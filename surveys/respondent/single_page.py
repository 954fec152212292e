"""Makes the respondent's page as one file, which works from a disk and cannot reach any network.

The file draws the code and shows it. The person can hand in the code later from elsewhere. The same
manifest, words, language, release and server settings always give the same bytes, both for the file
and for the page that names its hash.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import urljoin

from django.urls import reverse
from django.utils.safestring import mark_safe

from surveys.downloads import describe_attachment
from surveys.manifest.serialization import hash_manifest, parse_manifest
from surveys.respondent.client_files import join_page, page_style
from surveys.respondent.csp import hash_source
from surveys.respondent.guard import GUARD
from surveys.respondent.page import render_check, render_questions
from surveys.respondent.parts import choose_parts


def build_single_page(
    content: bytes, *, language: str, words: str, origin: str, **context: Any
) -> bytes:
    """Make the page as one file.

    `content` is the manifest as bytes. `origin` is the server, such as https://example.org/.
    """
    manifest = parse_manifest(content)
    slug = manifest.survey
    parts = choose_parts(manifest, mode="disk")
    script, style = join_page(parts), page_style(parts).content.decode()
    return render_questions(
        "disk",
        content=content,
        language=language,
        words=words,
        template="surveys/respondent/single_page.html",
        manifest_url=f"data:application/json;base64,{base64.b64encode(content).decode()}",
        send_url=urljoin(origin, reverse("aggregator:hand_in", args=[slug])) + f"?lang={language}",
        script=_embed(script),
        guard_hash=hash_source(GUARD),
        script_hash=hash_source(script),
        style=_embed(style),
        style_hash=hash_source(style),
        modules=[],
        **context,
    )


def build_check_page(
    content: bytes, *, language: str, words: str, origin: str, **context: Any
) -> bytes:
    """Make the page where a person checks the survey's page and this file."""
    slug, query = parse_manifest(content).survey, f"?lang={language}"
    file = build_single_page(content, language=language, words=words, origin=origin, **context)
    return render_check(
        content=content,
        language=language,
        words=words,
        page_url=urljoin(origin, reverse("surveys:respond", args=[slug])),
        file_url=reverse("surveys:single_page", args=[slug]) + query,
        file_hash=hashlib.sha256(file).hexdigest(),
        words_url=_find_words(content, language),
        hand_in_url=reverse("aggregator:hand_in", args=[slug]) + query,
        **context,
    )


def _find_words(content: bytes, language: str) -> str:
    """Return the URL of a translation's frozen words, or "" without a translation."""
    if language not in parse_manifest(content).translations:
        return ""
    return reverse("surveys:words", args=[hash_manifest(content).hex(), language])


def describe_download(slug: str) -> str:
    """Return the Content-Disposition header that names the saved file."""
    return describe_attachment(f"murmur-{slug}.html")


def _embed(text: str) -> str:
    """Insert one of our own files unescaped, because the policy names the hash of its bytes."""
    if "</" in text or "<!--" in text:
        raise ValueError("a file that closes an element or opens a comment cannot be embedded")
    return mark_safe(text)  # noqa: S308
