"""Makes the respondent's page as bytes, with links to its other languages.

The page depends only on the survey's manifest, the language, its words, whether the survey is open,
how many other surveys of the author share a question with it, the release and the URL of "Exit this
page". Anyone who has all of these can make the page again and compare (`manage.py verify_client`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, override

from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.base64url import encode_base64url
from surveys.manifest.languages import (
    NAMES,
    direction,
    language_tag,
    read_words,
    translate_manifest,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import hash_manifest, parse_manifest
from surveys.manifest.strength import TWO_COINS, is_weak, strength_word
from surveys.respondent.client_files import (
    ICON,
    NOTICE,
    OTHER_PAGES,
    RANDOMIZER,
    SELF_TEST,
    STYLESHEET,
    client_files,
    list_sources,
    page_script,
    page_style,
)
from surveys.respondent.csp import hash_source
from surveys.respondent.guard import GUARD
from surveys.respondent.introduction import fold_introduction
from surveys.respondent.label.label import describe_protection
from surveys.respondent.label.length import count_minutes
from surveys.respondent.label.names import branches, counts_pages
from surveys.respondent.parts import choose_parts, is_long, list_kinds


@dataclass(frozen=True, kw_only=True)
class LanguageLink:
    tag: str
    name: str
    url: str


def render_notice(
    mode: str,
    *,
    manifest: Manifest | None = None,
    language: str = "en",
    words: str = "",
    **context: Any,
) -> bytes:
    """Make the page that says why there is nothing to answer.

    `mode` is `missing`, `deleted`, `early` or `empty`.
    """
    if manifest is not None:
        manifest = translate_manifest(manifest, language, words)
    modules = [client_files()[NOTICE]] if mode == "early" else []
    return _render(mode, manifest=manifest, language=language, modules=modules, **context)


def render_questions(
    mode: str,
    *,
    content: bytes,
    language: str,
    words: str,
    asked_elsewhere: int = 0,
    template: str = "surveys/respondent/respond.html",
    **context: Any,
) -> bytes:
    """Make the page that asks the questions. `mode` is `open`, `closed`, `preview` or `disk`.

    `content` is the manifest as bytes. `words` are the survey's words in `language`, or an empty
    string for the author's own language. `asked_elsewhere` is how many other surveys of the author
    share a question with this one today. The page states this number if it is larger than the
    number at the launch, which is in the manifest. `context` replaces or adds variables of the
    template.
    """
    source = parse_manifest(content)
    manifest = translate_manifest(source, language, words)
    # In a preview, words that have no translation are in the author's language.
    known = read_words(words)
    own = "" if language == source.language else language_tag(source.language)
    with override(language):
        label = describe_protection(manifest, asked_elsewhere=asked_elsewhere)

    parts = choose_parts(source, mode=mode)
    demo = _choose_demo(manifest)

    def find_url(code: str) -> str:
        return reverse("surveys:respond_in", args=[source.survey, code])

    found: dict[str, Any] = {
        "label": label,
        "introduction": fold_introduction(manifest.introduction),
        "asked_elsewhere": asked_elsewhere if asked_elsewhere > source.asked_elsewhere else 0,
        "words": _escape_text(words),
        "title_tag": own if source.title not in known else "",
        "introduction_tag": own if source.introduction not in known else "",
        **_list_addresses(content),
        # The second script imports the first. The first has its own element, because browsers
        # refuse a script whose hash the page does not state, and WebKit ignores the hash of a
        # modulepreload.
        "modules": [client_files()[RANDOMIZER], page_script(parts)],
        "guard": mark_safe(GUARD),  # noqa: S308
        "stylesheet": page_style(parts),
        "demo_threshold": demo.threshold,
        "demo_denies_proof": not is_weak(strength_word(demo.epsilon)),
        "types": list_kinds(manifest),
        "minutes": count_minutes(manifest) if is_long(manifest) else 0,
        "refusals": any(question.refusal for question in manifest.questions),
        "branches": branches(manifest),
        "counts_pages": counts_pages(manifest),
        "urges_delay": manifest.paths.differ_much,
        "coins_url": _coins_url(source) if mode == "open" else "",
        "languages": link_languages(source, but=language, find_url=find_url)
        if mode == "open"
        else [],
    }
    return _render(mode, manifest=manifest, language=language, template=template, **found | context)


def _escape_text(text: str) -> str:
    """Escape characters that have a meaning between tags. The many quotes in JSON may stay."""
    return mark_safe(text.replace("&", "&amp;").replace("<", "&lt;"))  # noqa: S308


def _list_addresses(content: bytes) -> dict[str, Any]:
    """Return the manifest's URL and hashes, and the URL for reports."""
    digest = hash_manifest(content)
    return {
        "manifest_url": reverse("surveys:manifest", args=[digest.hex()]),
        "manifest_hash": encode_base64url(digest),
        "manifest_hash_hex": digest.hex(),
        "intake_url": reverse("aggregator:intake"),
    }


def _coins_url(manifest: Manifest) -> str:
    if not manifest.coin_questions:
        return ""
    return reverse("aggregator:coins", args=[manifest.survey])


def render_check(*, content: bytes, language: str, words: str, **context: Any) -> bytes:
    """Make the page where a person tests the scrambling and finds the hashes."""
    parts = choose_parts(parse_manifest(content), mode="open")
    fixed = [client_files()[name] for name in (RANDOMIZER, SELF_TEST, NOTICE, OTHER_PAGES)]
    return render_questions(
        "check",
        content=content,
        language=language,
        words=words,
        template="surveys/respondent/check.html",
        modules=[client_files()[RANDOMIZER], client_files()[SELF_TEST]],
        other_style=client_files()[OTHER_PAGES],
        guard_hash=hash_source(GUARD),
        files=[page_script(parts), page_style(parts), *fixed],
        sources=list_sources(),
        **context,
    )


def _render(
    mode: str,
    *,
    manifest: Manifest | None,
    language: str,
    template: str = "surveys/respondent/respond.html",
    **context: Any,
) -> bytes:
    found = {"mode": mode, "manifest": manifest, **build_page_context(language, manifest)}
    with override(language):
        return render_to_string(template, found | context).encode()


def build_page_context(language: str, manifest: Manifest | None) -> dict[str, Any]:
    """Return the variables that every page for respondents needs. The manifest is translated."""
    files = client_files()
    with override(language):
        title = _name_page(manifest)
    return {
        "page_title": title,
        "language": language,
        "tag": language_tag(language),
        "direction": direction(language),
        "stylesheet": files[STYLESHEET],
        "icon": files[ICON],
        "exit_url": settings.EXIT_URL if manifest and manifest.quick_exit else "",
    }


def _name_page(manifest: Manifest | None) -> str:
    """Return the page's title for the window and the browser's history.

    If people may have to leave quickly, the title does not name the survey.
    """
    if manifest is None:
        return gettext("There is no survey here")
    return gettext("Survey") if manifest.quick_exit else manifest.title


def _choose_demo(manifest: Manifest) -> RandomizedResponse:
    """Return the mechanism of a harmless yes/no question, as strong as the first scrambled one."""
    flips = next((one.flips for one in manifest.questions if one.is_scrambled), TWO_COINS)
    return RandomizedResponse.from_flips(symbols=2, flips=flips)


def link_languages(
    manifest: Manifest, *, but: str, find_url: Callable[[str], str]
) -> list[LanguageLink]:
    """Link to the same page in the survey's other languages."""
    return [
        LanguageLink(tag=language_tag(code), name=NAMES[code], url=find_url(code))
        for code in manifest.languages
        if code != but
    ]
