"""The progress and problems of a survey's translations, in sentences for its author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from surveys.authoring.launch_problems import Problem
from surveys.manifest.languages import (
    NAMES,
    SourceText,
    list_missing,
    list_texts,
    name_language,
    translate_manifest,
    translate_own_words,
    write_words,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import fold
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey, Translation

MOST_PLACES = 6


@dataclass(frozen=True, kw_only=True)
class TranslationState:
    """The state of one translation.

    `is_own` means that this is now the language of the survey itself, because the author changed
    that language after adding the translation.
    """

    language: str
    missing: int
    is_own: bool

    @property
    def name(self) -> str:
        return name_language(self.language)

    @property
    def own_name(self) -> str:
        """The name of the language as its speakers write it."""
        return NAMES[self.language]

    @property
    def summary(self) -> str:
        if self.is_own:
            return "the survey itself is now in this language"
        return f"{_count(self.missing)} missing" if self.missing else "complete"


def _count(texts: int) -> str:
    return f"{texts} text" if texts == 1 else f"{texts} texts"


def list_states(*, survey: Survey, manifest: Manifest) -> list[TranslationState]:
    return [
        TranslationState(
            language=translation.language,
            missing=len(list_missing(manifest, translation.texts)),
            is_own=translation.language == survey.language,
        )
        for translation in survey.translations.all()
    ]


def summarize_languages(*, survey: Survey, manifest: Manifest) -> str:
    """Write one line about all languages, such as "English; French: 3 texts missing"."""
    states = list_states(survey=survey, manifest=manifest)
    return "; ".join(
        [name_language(survey.language), *(f"{state.name}: {state.summary}" for state in states)]
    )


def list_unused(manifest: Manifest, translation: Translation) -> list[tuple[str, str]]:
    """List translated texts that have since been changed or deleted, with their translations."""
    used = {source.text for source in list_texts(manifest)}
    return [(text, words) for text, words in translation.texts.items() if text not in used]


def find_translation_problems(*, survey: Survey, manifest: Manifest) -> list[str]:
    """List the problems of translations that prevent the survey from opening."""
    problems: list[str] = []
    for translation in survey.translations.all():
        language = translation.language
        if language == survey.language:
            name = name_language(language)
            said = f"The survey is written in {name}, and {name} is also among its translations."
            repair = (
                "Remove that translation, or change the language of the survey in the settings."
            )
            problems.append(
                Problem(said, repair, href=reverse("surveys:languages", args=[survey.slug]))
            )
            continue
        missing = list_missing(manifest, translation.texts)
        if missing:
            href = reverse("surveys:translation", args=[survey.slug, language])
            said, _, repair = describe_missing(language, missing).rpartition(". ")
            problems.append(Problem(f"{said}.", repair, href=href))
        problems += _find_differing_answers(manifest, translation)
        words = write_words(manifest, texts=translation.texts)
        problems += _find_equal_answers(manifest, language, words)
    return problems


def _find_differing_answers(manifest: Manifest, translation: Translation) -> Iterator[str]:
    own = translate_own_words(manifest, translation.language)
    for source in list_texts(manifest):
        problem = describe_difference(source, translation.texts.get(source.text, ""), own)
        if problem:
            yield f"{name_language(translation.language)}: {problem} ({source.place})"


def describe_difference(source: SourceText, translated: str, own: Mapping[str, str]) -> str:
    """Say what is wrong if an author's answer such as "No" is translated differently from Murmur's.

    `own` maps the answers that Murmur provides to their translations.
    """
    expected = {fold(text): words for text, words in own.items()}.get(fold(source.text))
    if "options" not in source.kinds or not expected or not translated.strip():
        return ""
    if fold(translated) == fold(expected):
        return ""
    return (
        f"In this survey, Murmur’s own answer “{source.text}” reads “{expected}”. Translate your "
        "answer the same way, or reword it."
    )


def describe_missing(language: str, missing: Sequence[SourceText]) -> str:
    places = [source.place for source in missing[:MOST_PLACES]]
    if len(missing) > MOST_PLACES:
        places.append(f"and {len(missing) - MOST_PLACES} more")
    pronoun = "it" if len(missing) == 1 else "them"
    return (
        f"{name_language(language)} lacks {_count(len(missing))}: {'; '.join(places)}. "
        f"Translate {pronoun} or remove the language."
    )


def _find_equal_answers(manifest: Manifest, language: str, words: str) -> Iterator[str]:
    """Find different answers to one question that have the same translation."""
    translated = translate_manifest(manifest, language, words)
    for question in translated.questions:
        for first, second in _list_equal(question):
            yield (
                f"In {name_language(language)}, answers {first} and {second} of question "
                f"{question.number} have the same words. Translate them differently."
            )


def _list_equal(question: ManifestQuestion) -> Iterator[tuple[int, int]]:
    first_with: dict[str, int] = {}
    for number, option in enumerate(question.options, start=1):
        first = first_with.setdefault(fold(option.text), number)
        if first != number:
            yield first, number
