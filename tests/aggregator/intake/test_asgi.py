"""The ASGI entry of the intake: caps, deadlines, and the same replies as through Django."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client

from aggregator.intake import asgi, body
from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.errors import IntakeError
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import MAX_BODY_BYTES, Upload, encode_report
from aggregator.models import RawReport
from config.asgi import Entry
from tests.support.intake_calls import ask, call, chunks, report
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_body_in_pieces_is_read_as_one_report() -> None:
    status, headers, content = call(chunks(report(make_wave())))
    assert (status, json.loads(content)) == (201, {"status": "recorded"})
    assert headers["content-length"] == str(len(content))
    assert RawReport.objects.count() == 1


def test_an_endless_body_is_cut_off_at_the_cap() -> None:
    status, headers, content = call(chunks(b"x" * 2 * MAX_BODY_BYTES, size=1000), wait=True)
    assert status == 413
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(content)["type"] == "/problems/too-large"


def test_a_half_sent_body_is_abandoned_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = body.read_body.__kwdefaults__ or {}
    monkeypatch.setattr(body.read_body, "__kwdefaults__", {**usual, "deadline": 0.05})
    half = report(make_wave())[:40]
    status, headers, content = call(chunks(half, complete=False), wait=True)
    assert (status, headers["retry-after"]) == (408, "1")
    assert json.loads(content)["type"] == "/problems/body-too-slow"
    assert RawReport.objects.count() == 0


def test_a_client_that_disconnects_is_not_answered() -> None:
    half = report(make_wave())[:40]
    assert call(chunks(half, complete=False))[0] == 0
    assert RawReport.objects.count() == 0


def test_a_body_announced_as_too_long_is_refused_unread() -> None:
    unread = chunks(b"x" * 100)
    announced = [(b"content-length", b"1000000000")]
    status, headers, _ = call(unread, wait=True, headers=announced)
    assert (status, headers["connection"]) == (413, "close")


@pytest.mark.parametrize(
    ("name", "status"), [(b"host", 400), (b"content-type", 415), (b"origin", 403)]
)
def test_a_repeated_header_is_refused(name: bytes, status: int) -> None:
    own = {b"host": b"localhost", b"content-type": b"application/json"}
    twice = [(name, own.get(name, b"http://localhost"))] * (1 if name in own else 2)
    assert call(chunks(report(make_wave())), headers=twice)[0] == status
    assert RawReport.objects.count() == 0


@pytest.mark.parametrize(
    ("https", "behind_proxy", "scheme", "forwarded", "status"),
    [
        (True, True, "http", "https", 201),
        (True, True, "http", "http", 403),
        (True, True, "http", "", 403),  # bypasses the proxy
        (True, True, "https", "http", 403),
        (True, False, "https", "", 201),
        (True, False, "http", "", 403),
        (True, False, "http", "https", 403),  # without a proxy, anybody can send this header
        (False, False, "http", "", 201),
        (False, True, "http", "http", 201),
    ],
)
def test_with_https_no_report_is_accepted_over_plain_http(
    https: bool, behind_proxy: bool, scheme: str, forwarded: str, status: int, settings: Any
) -> None:
    settings.HTTPS, settings.BEHIND_PROXY = https, behind_proxy
    headers = [(b"x-forwarded-for", b"192.0.2.1")]
    if forwarded:
        headers.append((b"x-forwarded-proto", forwarded.encode()))
    got, _, content = call(chunks(report(make_wave())), headers=headers, scheme=scheme)
    assert got == status
    assert RawReport.objects.exists() == (status == 201)
    if status == 403:
        assert json.loads(content)["type"] == "/problems/plain-http"


def test_reports_that_wait_together_share_one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_wave()
    groups: list[int] = []

    def record(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
        groups.append(len(uploads))
        return record_reports(uploads)

    monkeypatch.setattr(asgi, "record_reports", record)

    async def run() -> list[int]:
        application = IntakeApplication()
        bodies = [report(wave, report_id=bytes([n]) * 32) for n in (*range(20), 5, 5)]
        bodies.append(report(wave, report_id=bytes([6]) * 32, symbols=b"\0\0\0"))
        replies = await asyncio.gather(*(ask(application, chunks(body)) for body in bodies))
        await application.close()
        return [reply[0]["status"] for reply in replies]

    statuses = asyncio.run(run())
    assert statuses == [201] * 20 + [200, 200, 409]
    assert len(groups) < 5, groups
    assert RawReport.objects.count() == 20


@pytest.mark.parametrize(
    ("method", "content"),
    [
        ("POST", b"not json"),
        ("POST", b"x" * 5000),
        ("GET", b""),
        ("POST", encode_report(manifest_hash=bytes(32), report_id=bytes(32), symbols=b"\1")),
    ],
)
def test_django_and_the_asgi_entry_give_the_same_reply(method: str, content: bytes) -> None:
    messages = chunks(content, size=5000) or [{"type": "http.request", "body": b""}]
    status, headers, reply = call(messages, method=method)
    response = Client(headers={"host": "localhost"}).generic(
        method, "/api/reports", content, content_type="application/json"
    )
    assert (response.status_code, response.content) == (status, reply)
    assert response["Content-Type"] == headers["content-type"]


def test_a_report_is_stored_in_the_same_way_through_either_entry() -> None:
    wave = make_wave()
    client = Client(headers={"host": "localhost"})
    first = client.post("/api/reports", report(wave), content_type="application/json")
    assert first.status_code == 201
    assert call(chunks(report(wave)))[0] == 200
    assert call(chunks(report(wave, symbols=b"\0\0\0")))[0] == 409
    assert RawReport.objects.count() == 1


PART = 1_000


def test_half_sent_bodies_hold_only_so_much_together() -> None:
    async def run() -> tuple[list[int], int, int]:
        entry, gone = Entry(), asyncio.Event()
        entry._bodies = type(entry._bodies)(most_bytes=3 * PART)
        asked = [asyncio.create_task(send_half(entry, gone)) for _ in range(5)]
        await asyncio.sleep(0.01)
        held = entry._bodies.held_bytes
        gone.set()
        return await asyncio.gather(*asked), held, entry._bodies.held_bytes

    assert asyncio.run(run()) == ([0, 0, 0, 503, 503], 3 * PART, 0)


async def send_half(entry: Entry, gone: asyncio.Event) -> int:
    """Send part of a body and wait for `gone`; return the status, or 0 if no reply came."""
    messages: list[Any] = [{"type": "http.request", "body": b"x" * PART, "more_body": True}]
    status = 0

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        nonlocal status
        status = event.get("status", status)

    scope: Any = {"type": "http", "path": "/plan", "query_string": b"", "headers": []}
    await entry(scope, receive, send)
    return status
