"""The ASGI entry of the intake: caps, deadlines and the same replies as through Django."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from aggregator.intake import asgi, body
from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.errors import IntakeError
from aggregator.intake.limiter import Limiter, network_of
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import MAX_BODY_BYTES, Upload, encode_report
from aggregator.models import RawReport
from surveys.models import Wave
from tests.aggregator.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)
Message = dict[str, Any]


async def ask(
    application: Any,
    messages: list[Message],
    *,
    method: str = "POST",
    wait: bool = False,
    client: str = "127.0.0.1",
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> list[Message]:
    """Hand the messages to the application, then say nothing more; return what it sends."""
    pending, sent = list(messages), []

    async def receive() -> Message:
        if pending:
            return pending.pop(0)
        await asyncio.sleep(3600 if wait else 0)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": "/api/reports",
        "client": (client, 50_000),
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), *headers],
    }
    await application(scope, receive, send)
    return sent


def call(messages: list[Message], **request: Any) -> tuple[int, dict[str, str], bytes]:
    """Ask once, of an application of its own; return the reply."""

    async def run() -> list[Message]:
        application = IntakeApplication()
        try:
            return await ask(application, messages, **request)
        finally:
            await application.close()

    sent = asyncio.run(run())
    if not sent:
        return 0, {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


def chunks(content: bytes, *, size: int = 16, complete: bool = True) -> list[Message]:
    parts = [content[i : i + size] for i in range(0, len(content), size)]
    return [
        {"type": "http.request", "body": part, "more_body": not complete or i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]


def report(wave: Wave, *, report_id: bytes = bytes(32), symbols: bytes = b"\1\0\1") -> bytes:
    return encode_report(
        manifest_hash=bytes(wave.manifest_hash), report_id=report_id, symbols=symbols
    )


def test_a_body_in_pieces_is_one_report() -> None:
    status, headers, content = call(chunks(report(make_wave())))
    assert (status, json.loads(content)) == (201, {"status": "recorded"})
    assert headers["content-length"] == str(len(content))
    assert RawReport.objects.count() == 1


def test_a_body_without_end_is_cut_off_at_the_cap() -> None:
    status, headers, content = call(chunks(b"x" * 2 * MAX_BODY_BYTES, size=1000), wait=True)
    assert status == 413
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(content)["type"] == "/problems/too-large"


def test_a_half_sent_body_is_given_up_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body.read_body, "__kwdefaults__", {"deadline": 0.05})
    half = report(make_wave())[:40]
    status, headers, content = call(chunks(half, complete=False), wait=True)
    assert (status, headers["retry-after"]) == (408, "1")
    assert json.loads(content)["type"] == "/problems/body-too-slow"
    assert RawReport.objects.count() == 0


def test_a_client_that_goes_away_is_not_answered() -> None:
    half = report(make_wave())[:40]
    assert call(chunks(half, complete=False))[0] == 0
    assert RawReport.objects.count() == 0


def test_a_body_that_is_announced_too_long_is_refused_unread() -> None:
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


def test_a_commit_that_fails_is_acknowledged_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_wave()

    def fail(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
        raise OperationalError("disk full")

    monkeypatch.setattr(asgi, "record_reports", fail)
    status, headers, content = call(chunks(report(wave)))
    assert (status, headers["retry-after"]) == (503, "5")
    assert json.loads(content)["type"] == "/problems/database-unavailable"


@pytest.mark.parametrize(
    ("behind_proxy", "client", "forwarded", "limited"),
    [
        (False, "127.0.0.1", b"", False),
        (False, "127.0.0.1", b"192.0.2.1", False),  # anybody can write that
        (False, "192.0.2.1", b"", True),
        (True, "127.0.0.1", b"192.0.2.1", True),
        (True, "127.0.0.1", b"127.0.0.1, 192.0.2.1", True),
        (True, "127.0.0.1", b"", False),  # or all would share one limit
    ],
)
def test_who_is_limited(
    behind_proxy: bool,
    client: str,
    forwarded: bytes,
    limited: bool,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    asked: list[bytes] = []

    async def admit(self: Limiter, networks: Sequence[bytes]) -> Sequence[int]:
        asked.extend(networks)
        return [7] * len(networks)

    monkeypatch.setattr(Limiter, "admit", admit)
    headers = [(b"x-forwarded-for", forwarded)] if forwarded else []
    status, replied, content = call(chunks(report(make_wave())), client=client, headers=headers)
    if limited:
        assert asked == [network_of("192.0.2.1")]
        assert (status, replied["retry-after"]) == (429, "7")
        assert json.loads(content)["type"] == "/problems/too-many-requests"
        assert RawReport.objects.count() == 0
    else:
        assert (asked, status) == ([], 201)


def test_no_limit_is_asked_for_where_none_is_set(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPORTS_PER_MINUTE = 0
    monkeypatch.setattr(Limiter, "admit", None)  # asking would fail
    assert call(chunks(report(make_wave())), client="192.0.2.1")[0] == 201


def test_too_many_waiting_requests_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_WAITING", 0)
    status, headers, content = call(chunks(report(make_wave())))
    assert (status, headers["retry-after"]) == (503, "2")
    assert json.loads(content)["type"] == "/problems/busy"


@pytest.mark.parametrize(
    ("method", "content"),
    [
        ("POST", b"not json"),
        ("POST", b"x" * 5000),
        ("GET", b""),
        ("POST", encode_report(manifest_hash=bytes(32), report_id=bytes(32), symbols=b"\1")),
    ],
)
def test_django_and_the_entry_give_the_same_reply(method: str, content: bytes) -> None:
    messages = chunks(content, size=5000) or [{"type": "http.request", "body": b""}]
    status, headers, reply = call(messages, method=method)
    response = Client(headers={"host": "localhost"}).generic(
        method, "/api/reports", content, content_type="application/json"
    )
    assert (response.status_code, response.content) == (status, reply)
    assert response["Content-Type"] == headers["content-type"]


def test_a_report_through_either_door_is_the_same_report() -> None:
    wave = make_wave()
    client = Client(headers={"host": "localhost"})
    first = client.post("/api/reports", report(wave), content_type="application/json")
    assert first.status_code == 201
    assert call(chunks(report(wave)))[0] == 200
    assert call(chunks(report(wave, symbols=b"\0\0\0")))[0] == 409
    assert RawReport.objects.count() == 1
