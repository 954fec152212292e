"""Finds the messages on respondents' pages in the code, and compiles their .po files to .mo.

The output does not depend on the day, line numbers or the machine, so a file changes only where its
messages change. Babel reads and writes the files; GNU gettext need not be installed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "surveys" / "locale"
# The languages in settings.LANGUAGES except English, spelled as Django names their folders.
LOCALES = ("ar", "de", "es", "fr", "zh_Hans")
# Babel, unlike Django and most tools, swaps the last two Arabic forms.
PLURALS = {locale: str(get_plural(locale)) for locale in LOCALES} | {
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : "
    "n%100>=3 && n%100<=10 ? 3 : n%100>=11 && n%100<=99 ? 4 : 5);"
}
NEW_FILE = "# Not yet read by a native speaker."
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop", "noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}


class Messages(Catalog):
    """A catalog whose header does not name the time or the program that wrote it."""

    def __init__(self, locale: str | None = None) -> None:
        super().__init__(locale, header_comment=NEW_FILE, fuzzy=False)

    def __iter__(self) -> Iterator[Message]:
        header, *messages = super().__iter__()
        lines = ["Content-Type: text/plain; charset=utf-8"]
        if self.locale_identifier:
            lines.append(f"Language: {self.locale_identifier}")
            lines.append(f"Plural-Forms: {PLURALS[self.locale_identifier]}")
        header.string = "".join(f"{line}\n" for line in lines)
        return iter([header, *messages])


@lru_cache(maxsize=1)  # sources do not change while the process runs
def extract_messages() -> Messages:
    """Return every message in our Python files and templates, with the files that contain it."""
    found = Messages()
    for path, source in _sources():
        for _line, text, comments, context in extract(
            "python", io.BytesIO(source.encode()), KEYWORDS, ("Translators:",)
        ):
            found.add(
                text,
                locations=[(path.relative_to(ROOT).as_posix(), 0)],
                auto_comments=comments,
                context=context,
            )
    return found


def _sources() -> Iterator[tuple[Path, str]]:
    for app in ("surveys", "aggregator"):
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "templates").rglob("*.*")):
        # Django replaces the tags with calls to gettext. Babel would reject the indentation of the
        # rest.
        lines = templatize(path.read_text(encoding="utf-8"), origin=str(path)).splitlines()
        yield path, "\n".join(map(str.strip, lines))


def po_path(locale: str, folder: Path = FOLDER) -> Path:
    return folder / locale / "LC_MESSAGES" / "django.po"


def mo_path(locale: str, folder: Path = FOLDER) -> Path:
    return po_path(locale, folder).with_suffix(".mo")


def read_catalog(locale: str, folder: Path = FOLDER) -> Catalog:
    path = po_path(locale, folder)
    if not path.exists():
        return Messages(locale)
    with path.open("rb") as file:
        return read_po(file, locale=locale, charset="utf-8")


def update_catalog(locale: str, found: Catalog, folder: Path = FOLDER) -> None:
    """Keep translations of found messages, drop all others, and add new messages untranslated."""
    old = read_catalog(locale, folder)
    new = Messages(locale)
    new.header_comment = old.header_comment
    for message in found:
        if not message.id:
            continue
        known = old.get(message.id, message.context)
        same = known is not None and known.id == message.id
        new.add(
            message.id,
            known.string if known is not None and same else None,
            locations=message.locations,
            flags=known.flags if known is not None and same else (),
            auto_comments=message.auto_comments,
            user_comments=known.user_comments if known is not None and same else (),
            context=message.context,
        )
    path = po_path(locale, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, new, width=0, sort_output=True, include_lineno=False)


def compile_catalog(locale: str, folder: Path = FOLDER) -> bytes:
    """Return the .mo file of a .po file, without messages that are not fully translated."""
    ready = Messages(locale)
    for message in read_catalog(locale, folder):
        if message.id and not message.fuzzy and all(strings(message)):
            ready.add(message.id, message.string, context=message.context)
    file = io.BytesIO()
    write_mo(file, ready)
    return file.getvalue()


def strings(message: Message) -> tuple[str, ...]:
    """Return all forms of the translation: a single one if the message has no plural."""
    forms = message.string or ""
    return (forms,) if isinstance(forms, str) else tuple(forms)


def sources(message: Message) -> tuple[str, ...]:
    """Return the source text, or the singular and the plural if the message has a plural."""
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)
