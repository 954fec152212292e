"""Reports that the intake cannot accept now: failures, or too many from a network or at once."""

from __future__ import annotations

import asyncio
import json
import threading
from asyncio import FIRST_COMPLETED
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import OperationalError

from accounts.networks import network_of
from aggregator.intake import asgi
from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.errors import IntakeError
from aggregator.intake.limiter import Limiter
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import Upload
from aggregator.models import RawReport
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest
from tests.support.intake_calls import Message, ask, call, chunks, report
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_failed_commit_is_not_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_wave()

    def fail(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
        raise OperationalError("disk full")

    monkeypatch.setattr(asgi, "record_reports", fail)
    status, headers, content = call(chunks(report(wave)))
    assert (status, headers["retry-after"]) == (503, "5")
    assert json.loads(content)["type"] == "/problems/database-unavailable"


def test_the_whole_group_gets_503_after_any_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
        raise KeyError("canary 8714")

    monkeypatch.setattr(asgi, "record_reports", fail)
    status, headers, content = call(chunks(report(make_wave())))
    assert (status, headers["retry-after"]) == (503, "5")
    assert json.loads(content)["type"] == "/problems/database-unavailable"
    assert "KeyError" in caplog.text
    assert "canary" not in caplog.text + content.decode()


def test_an_unreadable_manifest_delays_only_its_own_reports(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """This happens when a process meets a wave that a newer version opened."""
    old, new = make_wave(), make_wave(title="Written by a newer version")
    read = parse_manifest

    def fail_at_new(content: bytes) -> Manifest:
        if content == bytes(new.manifest):
            raise KeyError("threshold")
        return read(content)

    monkeypatch.setattr("surveys.models.surveys.parse_manifest", fail_at_new)

    async def run() -> list[list[Message]]:
        application = IntakeApplication()
        bodies = [report(wave, report_id=bytes([n]) * 32) for n, wave in enumerate((old, new, old))]
        replies = await asyncio.gather(*(ask(application, chunks(body)) for body in bodies))
        await application.close()
        return replies

    first, second, third = asyncio.run(run())
    assert [reply[0]["status"] for reply in (first, second, third)] == [201, 503, 201]
    assert (b"retry-after", b"5") in second[0]["headers"]
    assert json.loads(second[1]["body"])["type"] == "/problems/unavailable"
    assert "KeyError" in caplog.text
    monkeypatch.undo()  # the process is upgraded
    assert call(chunks(report(new, report_id=b"\1" * 32)))[0] == 201


@pytest.mark.parametrize(
    ("behind_proxy", "client", "forwarded", "limited"),
    [
        (False, "127.0.0.1", b"", False),
        (False, "127.0.0.1", b"192.0.2.1", False),  # anyone can write that header
        (False, "192.0.2.1", b"", True),
        (True, "127.0.0.1", b"192.0.2.1", True),
        (True, "127.0.0.1", b"127.0.0.1, 192.0.2.1", True),
        (True, "127.0.0.1", b"127.0.0.1, 192.0.2.1:5678", True),
    ],
)
def test_only_remote_addresses_are_limited(
    behind_proxy: bool,
    client: str,
    forwarded: bytes,
    limited: bool,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    asked: list[bytes] = []

    def admit(self: Limiter, networks: Sequence[bytes]) -> Sequence[int]:
        asked.extend(networks)
        return [7] * len(networks)

    monkeypatch.setattr(Limiter, "admit", admit)
    headers = [(b"x-forwarded-for", forwarded)] if forwarded else []
    status, replied, content = call(
        chunks(report(make_wave())), client=(client, 50_000), headers=headers
    )
    if limited:
        assert asked == [network_of("192.0.2.1")]
        assert (status, replied["retry-after"]) == (429, "7")
        assert json.loads(content)["type"] == "/problems/too-many-requests"
        assert RawReport.objects.count() == 0
    else:
        assert (asked, status) == ([], 201)


@pytest.mark.parametrize(("behind_proxy", "client"), [(True, ("127.0.0.1", 50_000)), (False, None)])
def test_senders_with_unknown_addresses_share_one_cap(
    behind_proxy: bool, client: tuple[str, int] | None, settings: Any
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    settings.REPORTS_PER_SECOND = 2
    wave = make_wave()

    async def run() -> list[int]:
        application = IntakeApplication()
        bodies = [report(wave, report_id=bytes([number]) * 32) for number in range(4)]
        replies = await asyncio.gather(
            *(ask(application, chunks(body), client=client) for body in bodies)
        )
        await application.close()
        return [reply[0]["status"] for reply in replies]

    assert sorted(asyncio.run(run())) == [201, 201, 429, 429]


def test_the_limiter_is_not_asked_if_no_limit_is_set(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPORTS_PER_MINUTE = 0
    monkeypatch.setattr(Limiter, "admit", None)  # asking would fail
    assert call(chunks(report(make_wave())), client=("192.0.2.1", 50_000))[0] == 201


def test_too_many_waiting_requests_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_WAITING", 2)
    wave = make_wave()
    go_on = threading.Event()

    def record(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
        assert go_on.wait(timeout=60)
        return record_reports(uploads)

    monkeypatch.setattr(asgi, "record_reports", record)

    async def run() -> list[list[Message]]:
        application = IntakeApplication()

        async def post(number: int) -> list[Message]:
            return await ask(application, chunks(report(wave, report_id=bytes([number]) * 32)))

        crowd = [asyncio.create_task(post(number)) for number in range(5)]
        refused, waiting = set[asyncio.Task[list[Message]]](), set(crowd)
        while len(refused) < 3:
            done, waiting = await asyncio.wait(waiting, timeout=20, return_when=FIRST_COMPLETED)
            assert done
            refused |= done
        assert len(waiting) == 2
        go_on.set()
        replies = [await task for task in (*refused, *waiting)]
        replies.append(await post(5))  # there is room for reports again
        await application.close()
        return replies

    replies = asyncio.run(run())
    assert [reply[0]["status"] for reply in replies] == [503] * 3 + [201] * 3
    assert (b"retry-after", b"2") in replies[0][0]["headers"]
    assert json.loads(replies[0][1]["body"])["type"] == "/problems/busy"
