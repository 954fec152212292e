"""Text that strangers request is made once, at the launch, and never twice at the same time."""

from __future__ import annotations

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from surveys.models import StoredText, Wave, stored_texts
from surveys.models.stored_texts import Text, make_key, read_text
from surveys.respondent.client_files import client_files, page_script
from tests.support.six_languages import HAPPENED, make_survey_in_six_languages


def list_paths(wave: Wave) -> list[str]:
    page, digest = f"/s/{wave.survey.slug}", wave.manifest_hash_hex
    files = [client_files()["randomize.js"].url, page_script(()).url]
    translated = [code for code in HAPPENED if code != "en"]
    return [
        *(page, f"{page}/check", f"{page}/page.html", f"/m/{digest}.json", *files),
        *(f"{page}/{code}" for code in HAPPENED),
        *(f"{page}/{kind}?lang={code}" for kind in ("check", "page.html") for code in HAPPENED),
        *(f"/m/{digest}/{code}.json" for code in translated),
    ]


def get(path: str, *, encoding: str = "gzip") -> Any:
    return Client(headers={"host": "localhost", "accept-encoding": encoding}).get(path)


@pytest.mark.django_db
def test_after_the_launch_no_request_makes_or_compresses_anything(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        wave = make_survey_in_six_languages()
    monkeypatch.setattr(stored_texts, "store_text", None)
    for path in list_paths(wave):
        packed, plain = get(path), get(path, encoding="identity")
        assert (packed.status_code, plain.status_code) == (200, 200), path
        assert gzip.decompress(packed.content) == plain.content
        assert "Content-Encoding" not in plain


@pytest.mark.django_db
def test_a_text_of_an_earlier_release_is_made_anew_and_goes_with_its_wave() -> None:
    wave = make_survey_in_six_languages()
    page = get(f"/s/{wave.survey.slug}/de").content
    StoredText.objects.update(key=b"earlier", compressed=b"")
    assert get(f"/s/{wave.survey.slug}/de").content == page
    assert wave.stored_texts.get(name__endswith="open de").key != b"earlier"
    Wave.objects.filter(pk=wave.pk).delete()
    assert not StoredText.objects.filter(wave__isnull=False).exists()


@pytest.mark.django_db
def test_a_text_that_cannot_be_stored_is_served_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = make_survey_in_six_languages()

    def fail(*args: object, **values: object) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(StoredText.objects, "update_or_create", fail)
    assert get(f"/m/{wave.manifest_hash_hex}.json").status_code == 200
    assert not StoredText.objects.exists()


def test_requests_for_one_text_at_the_same_time_make_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored: dict[str, bytes] = {}
    made: list[str] = []
    started = threading.Barrier(4)

    def store(text: Text) -> bytes:
        made.append(text.name)
        return stored.setdefault(text.name, text.make())

    monkeypatch.setattr(stored_texts, "find_text", lambda name, key: stored.get(name))
    monkeypatch.setattr(stored_texts, "store_text", store)
    text = Text(name="one", key=b"", make=lambda: b"text")

    def read(_: int) -> bytes:
        started.wait()
        return read_text(text)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(read, range(4))) == {b"text"}
    assert made == ["one"]


@pytest.mark.django_db
def test_who_would_wait_long_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_survey_in_six_languages()
    monkeypatch.setattr(stored_texts, "PATIENCE_SECONDS", 0.0)
    path = f"/s/{wave.survey.slug}"
    with stored_texts.one_at_a_time():
        refused = get(path)
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    assert get(path).status_code == 200
    with stored_texts.one_at_a_time():  # now the text is stored
        assert get(path).status_code == 200


@pytest.mark.parametrize("change", ["PUBLIC_URL", "EXIT_URL"])
def test_a_key_depends_on_the_settings_that_pages_show(change: str, settings: Any) -> None:
    before = make_key()
    setattr(settings, change, "https://elsewhere.example")
    assert make_key() != before
