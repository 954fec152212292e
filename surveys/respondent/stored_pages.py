"""Makes each text of a survey once: its pages, manifest, words and scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from django.conf import settings

from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.models import Wave
from surveys.models.stored_texts import StoredText, Text, make_key, store_text
from surveys.respondent.client_files import (
    client_files,
    find_client_file,
    page_script,
    page_style,
)
from surveys.respondent.joining import SOURCES
from surveys.respondent.page import render_notice, render_questions
from surveys.respondent.parts import choose_parts
from surveys.respondent.single_page import build_check_page, build_single_page

_PAGES: dict[str, Callable[..., bytes]] = {
    "open": partial(render_questions, "open"),
    "closed": partial(render_questions, "closed"),
    "check": build_check_page,
    "file": build_single_page,
}
# Only these pages name the server.
_WITH_ORIGIN = ("check", "file")


def build_page(wave: Wave, *, kind: str, language: str, asked_elsewhere: int) -> Text:
    """Describe one of a wave's pages: `open`, `closed`, `check` or `file`."""
    manifest = wave.description
    # The page states the number only if it is larger than at the launch.
    elsewhere = asked_elsewhere if asked_elsewhere > manifest.asked_elsewhere else 0
    is_rehearsal = wave.survey.rehearsal
    origin = {"origin": f"{settings.PUBLIC_URL}/"} if kind in _WITH_ORIGIN else {}

    def make() -> bytes:
        allow_scripts(manifest)
        return _PAGES[kind](
            content=bytes(wave.manifest),
            language=language,
            words=wave.words.get(language, ""),
            asked_elsewhere=elsewhere,
            is_rehearsal=is_rehearsal,
            **origin,
        )

    return Text(
        name=f"{wave.manifest_hash_hex} {kind} {language}",
        key=make_key(elsewhere, is_rehearsal),
        make=make,
        wave=wave.pk,
        is_squeezed=kind == "open",
    )


def build_early_page(wave: Wave, *, language: str) -> Text:
    """Describe the page of a survey that is not open yet."""

    def make() -> bytes:
        return render_notice(
            "early",
            manifest=wave.description,
            language=language,
            words=wave.words.get(language, ""),
            opens_at=wave.opens_at,
        )

    name = f"{wave.manifest_hash_hex} early {language}"
    return Text(name=name, key=make_key(), make=make, wave=wave.pk)


def build_frozen(wave: Wave, language: str = "") -> Text:
    """Describe a wave's manifest, or its words in a language. These texts never change."""
    return Text(
        name=f"{wave.manifest_hash_hex} {f'words {language}' if language else 'manifest'}",
        key=bytes(wave.manifest_hash),
        make=lambda: wave.words[language].encode() if language else bytes(wave.manifest),
        wave=wave.pk,
        is_squeezed=not language,  # pages contain the words
    )


def build_file(name: str) -> Text:
    """Describe a client file. `name` must be the name of a served file."""

    def make() -> bytes:
        file = find_client_file(name)
        assert file is not None
        return file.content

    return Text(
        name=f"client {name}",
        key=make_key(),
        make=make,
        is_squeezed=not name.startswith(SOURCES),
    )


def is_served(name: str) -> bool:
    """Return whether the browser of a respondent or an author may need a file of this name.

    Parts of the script can be combined in hundreds of ways, and a stranger could request each
    combination. Only combinations that a survey needs are therefore served.
    """
    if name in client_files():
        return True
    if "\0" in name:
        return False  # PostgreSQL rejects a NUL in queries
    return StoredText.objects.filter(name=f"client {name}").exists() and bool(
        find_client_file(name)
    )


def allow_scripts(manifest: Manifest) -> None:
    """Serve the script and the stylesheet with the parts that this survey needs."""
    for name in _name_scripts(manifest):
        StoredText.objects.get_or_create(
            name=f"client {name}", defaults={"key": b"", "compressed": b""}
        )


def _name_scripts(manifest: Manifest) -> list[str]:
    parts = choose_parts(manifest, mode="open")
    return [page_script(parts).name, page_style(parts).name]


def store_texts(wave: Wave) -> None:
    """Make all texts of a wave, so that no request has to make one."""
    for text in list_texts(wave):
        store_text(text)


def list_texts(wave: Wave) -> Iterator[Text]:
    yield build_frozen(wave)
    if wave.mode != Mode.ELECTRONIC:
        return
    manifest, asked_elsewhere = wave.description, wave.count_elsewhere()
    for language in wave.words:
        yield build_frozen(wave, language)
    for language in manifest.languages:
        for kind in _PAGES:
            yield build_page(wave, kind=kind, language=language, asked_elsewhere=asked_elsewhere)
    for name in (*_name_scripts(manifest), *client_files()):
        file = build_file(name)
        if file.is_squeezed and not is_stored(file):
            yield file


def is_stored(text: Text) -> bool:
    return StoredText.objects.filter(name=text.name, key=text.key).exists()
