"""The demo's people, their envelopes, and the patience with which they are sent."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from aggregator.demo import (
    DEMO_TRUTH,
    PEOPLE,
    REDBOOK_COUNTS,
    draw_envelopes,
    field_demo,
    load_or_draw_envelopes,
)
from aggregator.sending import SendingError, send_reports
from privacy.mechanisms import RandomizedResponse
from surveys.models import Survey
from tests.aggregator.waves import send

COINS = [RandomizedResponse.from_flips(symbols=2, flips=25)] * 4


def test_the_counts_add_up_to_the_published_totals() -> None:
    assert len(REDBOOK_COUNTS) == 16
    assert PEOPLE == 6366
    assert [known.yes for known in DEMO_TRUTH] == [2053, 1440, 3078, 3952]


def test_drawing_without_noise_gives_back_the_people() -> None:
    keep = itertools.cycle([0, 0])  # u = 0 keeps every answer
    envelopes = draw_envelopes(mechanisms=COINS, random_uint32=lambda: next(keep))
    assert Counter(tuple(e.symbols) for e in envelopes) == REDBOOK_COUNTS
    assert len({e.report_id for e in envelopes}) == PEOPLE


def test_a_quarter_of_all_answers_is_turned() -> None:
    generator = random.Random(1974)
    envelopes = draw_envelopes(mechanisms=COINS, random_uint32=lambda: generator.getrandbits(32))
    for index, known in enumerate(DEMO_TRUTH):
        observed = sum(e.symbols[index] for e in envelopes)
        expected = PEOPLE / 4 + known.yes / 2
        # one in a million: 4.9 standard deviations of a sum of coins with p (1 - p) = 3/16
        assert abs(observed - expected) < 4.9 * (PEOPLE * 3 / 16) ** 0.5
        print(f"n={PEOPLE} k={observed} expected={expected}")


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user(email="demo@example.org")


def test_envelopes_are_stored_before_sending_and_read_back(owner: User, tmp_path: Path) -> None:
    wave = field_demo(owner=owner)
    path = tmp_path / "envelopes.json"
    drawn = load_or_draw_envelopes(wave=wave, path=path)
    assert path.stat().st_mode & 0o077 == 0
    assert load_or_draw_envelopes(wave=wave, path=path) == drawn


def test_the_demo_is_launched_once_with_its_cap_frozen(owner: User) -> None:
    first, second = field_demo(owner=owner), field_demo(owner=owner)
    assert first.pk == second.pk
    assert (first.cap, Survey.objects.count()) == (PEOPLE, 1)


def test_a_demo_without_its_envelopes_is_not_drawn_again(owner: User, tmp_path: Path) -> None:
    wave = field_demo(owner=owner)
    send(wave, b"\0\0\0\0")
    with pytest.raises(CommandError, match="would count people twice"):
        call_command("demo", owner=owner.email, envelopes=tmp_path / "gone.json")
    assert not (tmp_path / "gone.json").exists()


def test_the_demo_needs_an_account(db: None) -> None:
    with pytest.raises(CommandError, match="create_first_account"):
        call_command("demo")


# --- sending -----------------------------------------------------------------------------------

Replies = Callable[[list[tuple[int, dict[str, str]]]], str]


class Scripted(ThreadingHTTPServer):
    script: list[tuple[int, dict[str, str]]]
    received: list[tuple[float, bytes]]


class Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((time.monotonic(), content))
        status, headers = self.server.script.pop(0)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def intake() -> Iterator[Scripted]:
    server = Scripted(("127.0.0.1", 0), Handler)
    server.script, server.received = [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def send_to(server: Scripted, bodies: list[bytes], *, seconds: float = 30) -> list[int]:
    acknowledged: list[int] = []
    send_reports(
        bodies,
        url=f"http://127.0.0.1:{server.server_port}",
        connections=1,
        seconds=seconds,
        on_acknowledged=acknowledged.append,
    )
    return acknowledged


def test_retry_after_is_honoured_with_the_same_bytes(intake: Scripted) -> None:
    intake.script = [(503, {"Retry-After": "1"}), (201, {})]
    assert send_to(intake, [b"report"]) == [0]
    (first, sent), (second, again) = intake.received
    assert sent == again == b"report"
    assert second - first >= 1


def test_an_identical_retry_counts_as_acknowledged(intake: Scripted) -> None:
    intake.script = [(429, {}), (500, {}), (200, {})]
    assert send_to(intake, [b"report"]) == [0]


def test_a_refused_report_stops_the_sending_and_says_why(intake: Scripted) -> None:
    intake.script = [(201, {}), (422, {})]
    with pytest.raises(SendingError, match="refused: reply 422"):
        send_to(intake, [b"one", b"two", b"three"])
    assert [content for _, content in intake.received] == [b"one", b"two"]


def test_sending_gives_up_in_time(intake: Scripted) -> None:
    intake.script = [(503, {"Retry-After": "60"})]
    with pytest.raises(SendingError, match="Gave up"):
        send_to(intake, [b"report"], seconds=5)
