"""Log lines contain no password reset links and do not reveal when anyone answered."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import kombu.exceptions
import psycopg
import pytest
import redis
from django.db import OperationalError
from django.test import Client

from config.logs import CountsNotFound, OutagesOnce, WithoutResetLinks

RESET = "/accounts/password/reset"


@pytest.mark.parametrize("path", [f"{RESET}/key/", f"{RESET}//key//", "/invitations/"])
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
        f"{count} requests in one minute were for pages that do not exist" for count in (3, 1)
    ]


def lost(driver: type[psycopg.Error], text: str) -> OperationalError:
    error = OperationalError(text)
    error.__cause__ = driver(text)
    return error


REFUSED = 'connection to server at "10.0.0.1", port 5432 failed: Connection refused'
OUTAGES = [
    lost(psycopg.OperationalError, f"{REFUSED}\n\tIs the server running?"),
    lost(psycopg.errors.DiskFull, "could not extend file: No space left on device"),
    redis.ConnectionError("Error 111 connecting to 10.0.0.1:6379. Connection refused."),
    kombu.exceptions.OperationalError("Connection refused"),
]


@pytest.mark.parametrize("error", OUTAGES, ids=lambda error: str(error)[:20])
def test_the_cause_of_an_outage_is_logged_once_and_again_after_ten_minutes(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    outages, told = OutagesOnce(), []
    for second in (0, 2, 599, 600):
        monkeypatch.setattr("time.monotonic", lambda now=second: now)
        record = logging.LogRecord("celery", 40, "", 0, "It failed.", (), exc_of(error))
        if outages.filter(record):
            told.append((second, logging.Formatter().format(record)))
    cause = str(error).splitlines()[0]
    assert told == [(s, f"A server that Murmur needs does not answer: {cause}") for s in (0, 600)]


@pytest.mark.parametrize(
    "error",
    [
        lost(psycopg.errors.DeadlockDetected, "deadlock detected"),
        OperationalError("no such table: wave"),  # SQLite
        ValueError("wrong"),
    ],
)
def test_a_fault_keeps_its_traceback_each_time(error: Exception) -> None:
    outages = OutagesOnce()
    for _ in range(2):
        record = logging.LogRecord("celery", 40, "", 0, "It failed.", (), exc_of(error))
        assert outages.filter(record)
        assert record.exc_info


def exc_of(error: Exception) -> Any:
    return (type(error), error, None)


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
