"""The demo's people, and how their envelopes are sent and retried."""

from __future__ import annotations

import io
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import User
from aggregator.releases.ledger import read_account, reserve_planned
from aggregator.simulation.demo import (
    draw_envelopes,
    field_demo,
    load_or_draw_envelopes,
)
from aggregator.simulation.demo_surveys import (
    DEMOS,
    INVENTED_PEOPLE,
    OPEN,
    REDBOOK,
    REDBOOK_COUNTS,
    STUDY,
    Demo,
)
from aggregator.simulation.sending import SendingError, send_reports
from aggregator.simulation.truth import known_truth
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest
from surveys.models import Question, Survey, Wave
from tests.support.waves import count_all, send

PEOPLE = 6366


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user(email="demo@example.org")


def manifest_of(demo: Demo, owner: User) -> Manifest:
    return parse_manifest(bytes(field_demo(demo, owner=owner).manifest))


def test_the_counts_add_up_to_the_published_totals(owner: User) -> None:
    assert len(REDBOOK_COUNTS) == 16
    assert sum(REDBOOK_COUNTS.values()) == PEOPLE
    truth = known_truth(field_demo(REDBOOK, owner=owner).survey)
    published = {"q1 1": 2053, "q2 1": 1440, "q3 1": 3078, "q4 1": 3952}
    for estimand, yes in published.items():
        assert truth[estimand] == pytest.approx(yes / PEOPLE, abs=1e-12)


def test_drawing_without_noise_returns_the_true_answers(owner: User) -> None:
    # u = 0 keeps every answer
    envelopes = draw_envelopes(
        manifest_of(REDBOOK, owner), REDBOOK.people(), random_uint32=lambda: 0
    )
    assert Counter(tuple(e.symbols) for e in envelopes) == REDBOOK_COUNTS
    assert len({e.report_id for e in envelopes}) == PEOPLE


def test_a_quarter_of_all_answers_is_changed(owner: User) -> None:
    generator = random.Random(1974)
    wave = field_demo(REDBOOK, owner=owner)
    envelopes = draw_envelopes(
        wave.description,
        REDBOOK.people(),
        random_uint32=lambda: generator.getrandbits(32),
    )
    for index, share in enumerate(known_truth(wave.survey)[f"q{n} 1"] for n in (1, 2, 3, 4)):
        observed = sum(e.symbols[index] for e in envelopes)
        expected = PEOPLE / 4 + share * PEOPLE / 2
        # One run in a million is 4.9 standard deviations off; each code has p (1 - p) = 3/16.
        assert abs(observed - expected) < 4.9 * (PEOPLE * 3 / 16) ** 0.5
        print(f"n={PEOPLE} k={observed} expected={expected}")


def test_one_demo_uses_every_type_of_question_but_a_score(owner: User) -> None:
    survey = field_demo(STUDY, owner=owner).survey
    types = set(survey.questions.values_list("type", flat=True))
    assert types == set(Question.Type.values) - {Question.Type.SCORE, Question.Type.SECOND}
    assert survey.questions.filter(refusal=True).exists()
    assert survey.questions.exclude(rule=None).exists()
    assert survey.drawn is not None
    assert len(STUDY.people()) == INVENTED_PEOPLE
    assert STUDY.people() == STUDY.people()  # the same assumptions make the same people


def test_envelopes_are_stored_before_sending_and_read_back(owner: User, tmp_path: Path) -> None:
    for demo in DEMOS:
        wave = field_demo(demo, owner=owner)
        path = tmp_path / demo.key
        drawn = load_or_draw_envelopes(wave=wave, people=demo.people, path=path)
        assert path.stat().st_mode & 0o077 == 0
        assert load_or_draw_envelopes(wave=wave, people=demo.people, path=path) == drawn


def test_each_demo_is_launched_once_with_its_cap_frozen(owner: User) -> None:
    for demo in DEMOS:
        first, second = field_demo(demo, owner=owner), field_demo(demo, owner=owner)
        assert first.pk == second.pk
        assert first.cap == (None if demo is OPEN else len(demo.people()))
    assert Survey.objects.count() == len(DEMOS)


def test_the_survey_of_1974_plans_comparisons_whose_answers_are_known(owner: User) -> None:
    assert field_demo(REDBOOK, owner=owner).description.planned_comparisons == REDBOOK.planned


def test_a_demo_without_its_envelopes_is_not_drawn_again(owner: User, tmp_path: Path) -> None:
    wave = field_demo(REDBOOK, owner=owner)
    send(wave, b"\0\0\0\0")
    gone = tmp_path / "gone.json"
    with pytest.raises(CommandError, match="would count people twice"):
        call_command("demo", only="redbook", owner=owner.email, envelopes=gone)
    assert not (tmp_path / "gone.json").exists()


def test_a_complete_demo_that_an_upgrade_computes_again_is_waited_for(owner: User) -> None:
    """The reports have been erased, and none of them is sent a second time."""
    wave = field_demo(REDBOOK, owner=owner)
    send(wave, b"\0\0\0\0")
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    with pytest.raises(CommandError, match="no worker has counted them yet"):
        call_command("demo", only="redbook", owner=owner.email, seconds=0)


def make_complete(owner: User) -> Wave:
    """Open the demo of all types, let some of its people answer, and count their reports."""
    wave = field_demo(STUDY, owner=owner)
    for envelope in draw_envelopes(wave.description, STUDY.people()[:200]):
        send(wave, envelope.symbols)
    count_all(wave)
    return wave


def test_a_complete_demo_has_the_releases_that_it_plans(owner: User) -> None:
    wave = make_complete(owner)
    for _ in range(2):
        printed = io.StringIO()
        call_command("demo", only="study", owner=owner.email, stdout=printed)
        slug = wave.survey.slug
        assert f"Releases: /surveys/{slug}/releases, for anyone: /s/{slug}/results" in (
            printed.getvalue()
        )
        reserve_planned(wave_id=wave.pk)
    assert [
        (one.kind, one.request["questions"], one.epsilon_hundredths)
        for one in wave.releases.order_by("pk")
    ] == [("table", ["q1", "q2", "q4", "q5"], 50), ("leader", ["q4"], 50), ("median", ["q5"], 50)]
    account = read_account(wave)
    assert (account.spent, account.cap) == (150, 200)
    # The people are invented, so nothing waits for the next day.
    assert {one.public_from for one in wave.releases.all()} == {timezone.now().date()}


def test_the_demo_needs_an_account(db: None) -> None:
    with pytest.raises(CommandError, match="create_first_account"):
        call_command("demo")


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


def test_sending_gives_up_after_the_time_limit(intake: Scripted) -> None:
    intake.script = [(503, {"Retry-After": "60"})]
    with pytest.raises(SendingError, match="Gave up"):
        send_to(intake, [b"report"], seconds=5)
