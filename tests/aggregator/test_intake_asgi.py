"""The ASGI entry of the intake: caps, deadlines and the same replies as through Django."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.test import Client

from aggregator.intake import asgi, body
from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.wire import MAX_BODY_BYTES, encode_report
from aggregator.models import RawReport
from surveys.models import Wave
from tests.aggregator.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)
Message = dict[str, Any]


def call(
    messages: list[Message], *, method: str = "POST", wait: bool = False
) -> tuple[int, dict[str, str], bytes]:
    """Hand the messages to the application, then say nothing more; return its reply."""

    async def run() -> list[Message]:
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
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        }
        application: Any = IntakeApplication()
        await application(scope, receive, send)
        return sent

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
