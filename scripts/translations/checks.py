"""Finds faults in translations without knowing the languages."""

from __future__ import annotations

import gettext
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message

from scripts.translations.catalogs import (
    FOLDER,
    LOCALES,
    PLURALS,
    compile_catalog,
    extract_messages,
    mo_path,
    po_path,
    read_catalog,
    sources,
    strings,
)

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|\{\w+\}")
# A form for one number only, such as "one question", need not contain the number.
NUMBER = "%(count)s"
NUMBERS_TRIED = 200


def find_problems(folder: Path = FOLDER) -> list[str]:
    """Return a line for each task left until translations are complete."""
    found = extract_messages()
    return [
        f"{locale}: {problem}"
        for locale in LOCALES
        for problem in _find_problems(locale, found, folder)
    ]


def _find_problems(locale: str, found: Catalog, folder: Path) -> Iterator[str]:
    if not po_path(locale, folder).exists():
        yield "there is no .po file"
        return
    catalog = read_catalog(locale, folder)
    wanted, there = _by_key(found), _by_key(catalog)
    missing = [message for key, message in wanted.items() if key not in there]
    unused = [message for key, message in there.items() if key not in wanted]
    yield from (f"missing: {_quote(message)}" for message in missing)
    yield from (
        f"no longer used: {_quote(message)}" for message in (*unused, *catalog.obsolete.values())
    )
    for message in there.values():
        yield from (f"{problem}: {_quote(message)}" for problem in _find_faults(message, locale))
    path = mo_path(locale, folder)
    if not path.exists() or path.read_bytes() != compile_catalog(locale, folder):
        yield "the .mo file does not match the .po file"


def _by_key(catalog: Catalog) -> dict[tuple[str | None, object], Message]:
    return {(message.context, message.id): message for message in catalog if message.id}


def _quote(message: Message) -> str:
    return f"“{sources(message)[0]}”"


def _find_faults(message: Message, locale: str) -> Iterator[str]:
    texts = strings(message)
    if message.fuzzy:
        yield "marked as fuzzy"
    if not any(texts):
        yield "not translated"
        return
    if message.pluralizable and (len(texts) != _count_forms(locale) or not all(texts)):
        yield "a plural form is empty"
    *singular, plural = [_placeholders(text) for text in sources(message)]
    for form, text in enumerate(texts):
        allowed = [plural]
        if message.pluralizable and _is_singular(form, locale):
            allowed += [*singular, *(each - {NUMBER} for each in (*singular, plural))]
        if text and _placeholders(text) not in allowed:
            yield "the placeholders differ"
        elif not _can_be_filled(message, text):
            yield "a percent sign must be written %%"


def _placeholders(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def _can_be_filled(message: Message, text: str) -> bool:
    if not any("%(" in source or "%%" in source for source in sources(message)):
        return True
    try:
        text % defaultdict(int)
    except (TypeError, ValueError):
        return False
    return True


def _count_forms(locale: str) -> int:
    return int(PLURALS[locale].partition("nplurals=")[2].partition(";")[0])


def _is_singular(form: int, locale: str) -> bool:
    """Return whether a plural form covers one number only, or 0 and 1 as in French."""
    choose = gettext.c2py(PLURALS[locale].partition("plural=")[2].rstrip(";"))
    numbers = {number for number in range(NUMBERS_TRIED) if choose(number) == form}
    return len(numbers) == 1 or numbers <= {0, 1}
