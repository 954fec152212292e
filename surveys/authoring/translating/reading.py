"""Compares a file of translations with a draft to find changes, and rows that do not fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from surveys.authoring.drafts import build_manifest
from surveys.authoring.forms.translations import TranslationForm, field_name
from surveys.authoring.stamps import stamp_translation_file
from surveys.authoring.translating.tables import Line, Table, read_table
from surveys.authoring.translations import describe_missing
from surveys.formatting import list_numbers
from surveys.manifest.languages import (
    SourceText,
    list_missing,
    list_texts,
    name_language,
    translate_own_words,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import fold
from surveys.models import Survey


@dataclass(frozen=True, kw_only=True)
class Change:
    """A translation from the file that would be added or would replace an earlier one."""

    row: int
    language: str
    source: SourceText
    words: str
    earlier: str

    @property
    def language_name(self) -> str:
        return name_language(self.language)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A row whose original is not a text of the draft. `now` is the current text in its place."""

    row: int
    original: str
    now: SourceText | None


@dataclass(kw_only=True)
class FileReading:
    """The changes that a file would make. A file with problems changes nothing."""

    text: str
    stamp: str
    added: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    unchanged: list[int] = field(default_factory=list)  # the numbers of rows
    outdated: list[LeftOut] = field(default_factory=list)
    unknown: list[LeftOut] = field(default_factory=list)
    columns: Sequence[str] = ()  # the columns that are left out
    problems: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # sentences about missing translations

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        """The translations to store, by language and original."""
        found: dict[str, dict[str, str]] = {}
        for one in (*self.added, *self.changed):
            found.setdefault(one.language, {})[one.source.text] = one.words
        return found

    @property
    def left_out(self) -> int:
        return len(self.outdated) + len(self.unknown)

    @property
    def can_save(self) -> bool:
        return bool(self.added or self.changed) and not self.problems

    @property
    def unchanged_rows(self) -> str:
        return list_numbers(sorted(set(self.unchanged)))


def read_file(text: str, *, survey: Survey) -> FileReading:
    """Compare a file's text with a draft, without storing anything. May raise Unreadable."""
    manifest = build_manifest(survey=survey, wave_number=1)
    translations = list(survey.translations.all())
    stored = {one.language: one.texts for one in translations if one.language != survey.language}
    sources = list_texts(manifest)
    table = read_table(text)
    reading = FileReading(
        text=text,
        stamp=stamp_translation_file(
            text, sources=[one.text for one in sources], translations=translations
        ),
        columns=[
            *table.left_out,
            *(name_language(code) for code in table.languages if code == survey.language),
        ],
    )
    matched = _match_lines(table, sources, reading)
    for code in table.languages:
        if code != survey.language:
            _read_language(code, matched, manifest, stored.get(code, {}), reading)
    for code in {**stored, **reading.texts}:
        words = {**stored.get(code, {}), **reading.texts.get(code, {})}
        if missing := list_missing(manifest, words):
            reading.missing.append(describe_missing(code, missing))
    return reading


def _match_lines(
    table: Table, sources: Sequence[SourceText], reading: FileReading
) -> list[tuple[Line, SourceText]]:
    """Find the text of each row by its original, never by its position, which may have changed."""
    exact = {one.text: one for one in sources}
    loose = {_loosen(one.text): one for one in sources}
    places = {fold(one.place): one for one in sources}
    matched = []
    for line in table.lines:
        source = exact.get(line.original) or loose.get(_loosen(line.original))
        if source is not None:
            matched.append((line, source))
            continue
        now = places.get(fold(line.where))
        left_out = LeftOut(row=line.row, original=line.original, now=now)
        (reading.unknown if now is None else reading.outdated).append(left_out)
    return matched


def _loosen(text: str) -> str:
    """Undo changes that spreadsheets make to spaces around lines and to the encoding of accents."""
    lines = unicodedata.normalize("NFC", text).split("\n")
    return "\n".join(line.strip() for line in lines).strip()


def _read_language(
    code: str,
    matched: Sequence[tuple[Line, SourceText]],
    manifest: Manifest,
    stored: Mapping[str, str],
    reading: FileReading,
) -> None:
    first: dict[str, Line] = {}
    for line, source in matched:
        other = first.setdefault(source.text, line) if code in line.cells else line
        if other.cells.get(code) != line.cells.get(code):
            reading.problems.append(
                f"Rows {other.row} and {line.row}, {name_language(code)}: the same original has "
                "two translations. Keep one."
            )
    sources = {source.text: source for _, source in matched if source.text in first}
    form = TranslationForm(
        {field_name(text): line.cells[code] for text, line in first.items()},
        sources=list(sources.values()),
        language=code,
        texts=stored,
        own=translate_own_words(manifest, code),
    )
    for text, source in sources.items():
        row, name, earlier = first[text].row, field_name(text), stored.get(text, "")
        if errors := form.errors.get(name):
            reading.problems += [f"Row {row}, {name_language(code)}: {one}" for one in errors]
            continue
        words = form.cleaned_data[name]
        change = Change(row=row, language=code, source=source, words=words, earlier=earlier)
        if words == earlier:
            reading.unchanged.append(row)
        else:
            (reading.changed if earlier.strip() else reading.added).append(change)
