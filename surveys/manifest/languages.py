"""The languages that respondents can read, and the words of a survey that need translating."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from django.conf import settings
from django.utils.translation import get_language_info, gettext, override
from django.utils.translation.trans_real import parse_accept_lang_header

from surveys.base64url import encode_base64url
from surveys.manifest.manifest import TRANSLATED, Manifest
from surveys.manifest.question_types import own_words
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.scores import Score

LANGUAGES: tuple[tuple[str, str], ...] = tuple(settings.LANGUAGES)
NAMES = dict(LANGUAGES)
_TAGS = {"zh-hans": "zh-Hans"}
_RIGHT_TO_LEFT = ("ar",)
# The translated fields of a survey itself, not of its questions, with authors' names for them.
WORDS = {one.name: one.metadata[TRANSLATED] for one in fields(Manifest) if one.metadata}
INFORMATION_TEXT = "information_text"  # unlike a question, it may have paragraphs


def language_tag(language: str) -> str:
    """Return the language as the lang attribute of HTML spells it."""
    return _TAGS.get(language, language)


def direction(language: str) -> str:
    return "rtl" if language in _RIGHT_TO_LEFT else "ltr"


def negotiate(header: str, offered: Collection[str]) -> str:
    """Return the offered language that Accept-Language ranks highest, or else the first one."""
    for wanted, _ in parse_accept_lang_header(header):
        # People who ask for any form of Chinese prefer zh-hans to another language.
        candidates = (wanted, wanted.partition("-")[0], "zh-hans" if wanted[:2] == "zh" else "")
        for code in candidates:
            if code in offered:
                return code
    return next(iter(offered))


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """Words that an author wrote, and where they first appear, such as "Question 3, answer 2".

    `kinds` are the fields of the survey or of questions that contain the words, one for each place.
    The text of an information page has the kind INFORMATION_TEXT.
    """

    place: str
    text: str
    kinds: tuple[str, ...]


def list_texts(manifest: Manifest) -> list[SourceText]:
    """List the texts that an author must translate, in survey order and without duplicates."""
    found: dict[str, SourceText] = {}
    for kind, place, text in _walk(manifest):
        if text in found:
            found[text] = replace(found[text], kinds=(*found[text].kinds, kind))
        elif text:
            found[text] = SourceText(place=place, text=text, kinds=(kind,))
    return list(found.values())


def _walk(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    for one in fields(manifest):
        if one.name == "questions":
            for question in manifest.questions:
                yield from _walk_question(question.called.capitalize(), question)
        # A contact that is only an address or a number needs no translation.
        elif one.name in WORDS and not (one.name == "contact" and manifest.contact_link):
            yield one.name, WORDS[one.name], getattr(manifest, one.name)


def _walk_question(place: str, question: ManifestQuestion) -> Iterator[tuple[str, str, str]]:
    yield "text" if question.is_answered else INFORMATION_TEXT, place, question.text
    yield "follow_up", f"{place}, follow-up", question.follow_up
    if question.described.has_options:
        for number, option in enumerate(question.options, start=1):
            yield "options", f"{place}, answer {number}", option.text
    if question.score is not None and not question.is_second:
        for number, item in enumerate(question.score.items, start=1):
            yield "scored_items", f"{place}, item {number}", item.text
        for number, scored in enumerate(question.score.options, start=1):
            yield "scored_options", f"{place}, answer to each item {number}", scored.text
    yield "unit", f"{place}, unit", question.unit
    yield "low_label", f"{place}, label of the lowest point", question.low_label
    yield "high_label", f"{place}, label of the highest point", question.high_label


def list_missing(manifest: Manifest, texts: Mapping[str, str]) -> list[SourceText]:
    return [source for source in list_texts(manifest) if not texts.get(source.text, "").strip()]


def translate_own_words(manifest: Manifest, language: str) -> dict[str, str]:
    """Map the answers that Murmur provides, in the survey's language, to their translations."""
    answers = own_words(question.type for question in manifest.questions)
    with override(manifest.language):
        sources = [gettext(answer) for answer in answers]
    with override(language):
        return dict(zip(sources, map(gettext, answers), strict=True))


def write_words(manifest: Manifest, *, texts: Mapping[str, str]) -> str:
    """Write a translation's words as the JSON to be frozen, keyed by the source words.

    Only the author's words that are still in use are written. The Yes and No that Murmur provides
    are left out, because an author's option "No" may need a different translation.
    """
    words = {
        source.text: texts[source.text]
        for source in list_texts(manifest)
        if texts.get(source.text, "").strip()
    }
    return json.dumps(words, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_words(words: str) -> str:
    """Return the hash of these words. The manifest contains this hash, and browsers check it."""
    return encode_base64url(hashlib.sha256(words.encode()).digest())


def read_words(words: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(words or "{}")
    return found


def translate_manifest(manifest: Manifest, language: str, words: str) -> Manifest:
    """Return the manifest in another of its languages. Untranslated words stay as they are.

    `words` contains the frozen words of that language, and is empty for the author's own language.
    """
    if language not in manifest.translations:
        return manifest
    known = read_words(words)

    def find(text: str) -> str:
        return known.get(text, text)

    words_of_survey: dict[str, Any] = {name: find(getattr(manifest, name)) for name in WORDS}
    return replace(
        manifest,
        language=language,
        questions=tuple(
            replace(
                question,
                text=find(question.text),
                follow_up=find(question.follow_up),
                unit=find(question.unit),
                low_label=find(question.low_label),
                high_label=find(question.high_label),
                options=_translate_options(question, language, known),
                score=None if question.score is None else _translate_score(question.score, known),
            )
            for question in manifest.questions
        ),
        **words_of_survey,
    )


def _translate_options(
    question: ManifestQuestion, language: str, known: Mapping[str, str]
) -> tuple[Option, ...]:
    fixed = {option.code: option.text for option in question.described.fixed_answers}
    with override(language):
        return tuple(
            Option(
                code=option.code,
                text=gettext(fixed[option.code]) if fixed else known.get(option.text, option.text),
            )
            for option in question.options
        )


def _translate_score(score: Score, known: Mapping[str, str]) -> Score:
    return replace(
        score,
        items=tuple(replace(one, text=known.get(one.text, one.text)) for one in score.items),
        options=tuple(replace(one, text=known.get(one.text, one.text)) for one in score.options),
    )


def name_language(language: str) -> str:
    """Return the English name of a language, as pages for researchers show it."""
    return str(get_language_info(language)["name"])
