"""Log lines contain no link that resets a password, and do not say when somebody answered."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from config.logs import CountsNotFound, WithoutResetLinks

RESET = "/accounts/password/reset"


@pytest.mark.parametrize("path", [f"{RESET}/key/", f"{RESET}//key//"])
@pytest.mark.parametrize("end", ["/", "", "/?next=/", "//"])
def test_the_key_is_left_out_of_a_line_however_it_is_written(path: str, end: str) -> None:
    line = write("Not Found: %s (again: %s)", f"{path}3-abc-0123456789{end}", f"{path}1-x-9{end}")
    assert "abc" not in line
    assert "0123456789" not in line
    assert line.startswith("Not Found: ")
    assert f"{path}…{end} (again: {path}…" in line


def test_the_key_is_left_out_of_a_traceback() -> None:
    path = f"{RESET}/key/3-abc-{123456789}/"
    try:
        raise ValueError(path)
    except ValueError as error:
        line = write("It failed.", exc_info=(type(error), error, error.__traceback__))
    assert f"ValueError: {RESET}/key/…/" in line
    assert "123456789" not in line


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_what_django_refuses_is_logged_without_the_key(client: Client, log: io.StringIO) -> None:
    assert client.put(f"{RESET}/key/3-abc-0123456789/").status_code == 405
    assert f"Method Not Allowed (PUT): {RESET}/key/…/" in log.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    "path", ["/s/abc", "/s/abc/coins", "/s/abc/send", "/m/abc.json", "/r/abc/page.js"]
)
def test_nothing_is_logged_of_a_respondent_whose_request_is_refused(
    client: Client, log: io.StringIO, path: str
) -> None:
    assert client.get(path).status_code == 404
    assert client.put("/accounts/login/").status_code == 405
    assert "abc" not in log.getvalue()
    assert "Method Not Allowed (PUT): /accounts/login/" in log.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_pages_that_do_not_exist_are_counted_and_not_named(
    client: Client, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    [console] = [one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler]
    [counts] = [one for one in console.filters if isinstance(one, CountsNotFound)]
    monkeypatch.setattr(counts, "_count", 0)
    for minute, requests in ((1, 3), (2, 1), (7, 1)):
        monkeypatch.setattr("time.monotonic", lambda now=60 * minute: now)
        for number in range(requests):
            assert client.get(f"/wp-{number}").status_code == 404
    lines = [line.partition("request ")[2] for line in log.getvalue().splitlines()]
    assert lines == [
        f"{count} requests of one minute were for pages that do not exist" for count in (3, 1)
    ]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Collect what is written to the console."""
    [console] = [one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler]
    stream, written = console.stream, io.StringIO()
    console.setStream(written)
    yield written
    console.setStream(stream)


def write(message: str, *values: object, exc_info: Any = None) -> str:
    record = logging.LogRecord("django", logging.WARNING, "", 0, message, values, exc_info)
    return WithoutResetLinks("%(message)s").format(record)
