"""A survey is deleted on the day that respondents were told; its owner is told a week before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from aggregator import tasks
from aggregator.background.rows_files import make_rows_file
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison
from aggregator.intake.core import Reply, handle
from aggregator.intake.wire import encode_report
from aggregator.models import Comparison, RawReport, ReleaseLedger, SpentId
from aggregator.releases.counters import append_key, find_file, read_keys
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.deleting import delete_survey
from aggregator.upkeep.deletion_dates import RETRY_AFTER, delete_on_its_date
from aggregator.upkeep.due import Due, WorkKind, find_due_work
from scripts.attacks.linker.server import Server, django_on, migrate, running_server
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.models import DeletedWave, Survey, Wave
from tests.support.deaths import Moment, killed
from tests.support.factories import make_user
from tests.support.fielding import sign_in
from tests.support.waves import make_full_survey, make_wave, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i % 2, i % 3 == 0, 1]) for i in range(40)]
HERE = f"{__name__}."
Clock = Callable[[datetime], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a function that sets the server's clock."""
    return lambda now: monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep the messages of sweeps instead of sending them."""
    sent: list[Any] = []
    for task in {
        tasks.send_deletion_mail,
        tasks.send_invitation,
        *(task for task, _ in tasks._TASKS.values()),
    }:
        monkeypatch.setattr(
            task, "apply_async", lambda args, priority, task=task: sent.append((task, args))
        )
    monkeypatch.setattr(tasks, "purge_is_due", lambda: False)
    monkeypatch.setattr(tasks, "count_waiting", lambda *_: 0)
    monkeypatch.setattr(tasks, "drop_waiting_sweeps", lambda: None)
    return sent


def in_a_month() -> date:
    return timezone.now().date() + timedelta(days=30)


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def post(manifest_hash: bytes) -> Reply:
    body = encode_report(manifest_hash=manifest_hash, report_id=bytes(32), symbols=b"\1\0\1")
    headers = {"host": "localhost", "content-type": "application/json"}
    return handle(method="POST", headers=headers, body=body)


def deletions() -> list[Due]:
    return [item for item in find_due_work() if item.kind is WorkKind.DELETE]


def waiting_survey(**settings: Any) -> Survey:
    wave = make_wave(**settings)
    send_many(wave, ROWS)
    return wave.survey


def closed_survey(**settings: Any) -> Survey:
    """Close a survey whose last reports are not sealed yet."""
    survey = waiting_survey(**settings)
    close_wave(wave_id=survey.waves.get().pk, ending=Wave.Ending.OWNER)
    return survey


def counted_survey(**settings: Any) -> Survey:
    survey = closed_survey(**settings)
    wave = survey.waves.get()
    assert seal_next_batch(wave_id=wave.pk)
    update_snapshot(wave_id=wave.pk)
    make_rows_file(wave_id=wave.pk)
    return survey


def comparing_survey(**settings: Any) -> Survey:
    survey = counted_survey(**settings)
    wave = survey.waves.get()
    request_comparison(
        wave=wave, snapshot=wave.snapshots.get(), kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    Comparison.objects.update(state=Comparison.State.RUNNING)
    return survey


STATES = {
    "open": lambda **settings: make_wave(**settings).survey,
    "open, for coins too": lambda **settings: make_wave(coins=True, **settings).survey,
    "reports wait": waiting_survey,
    "closed, to be sealed": closed_survey,
    "counted": counted_survey,
    "comparing": comparing_survey,
    "full": make_full_survey,
}


@pytest.mark.parametrize("state", STATES)
def test_on_its_day_a_survey_goes_with_everything_that_it_collected(
    state: str, clock: Clock, queue: list[Any]
) -> None:
    day, other = in_a_month(), make_wave()
    survey = STATES[state](delete_on=day)
    hashes = {bytes(wave.manifest_hash) for wave in survey.waves.all()}
    clock(midnight(day) - timedelta(seconds=1))
    assert deletions() == []
    # The worker may have been down on that day, or the clock may have jumped past it.
    clock(midnight(day) + timedelta(days=3))
    tasks.sweep()
    [message] = [args for task, args in queue if task is tasks.delete_survey_on_its_date]
    for _ in range(2):
        tasks.delete_survey_on_its_date(*message)
    assert list(Survey.objects.all()) == [other.survey]
    assert list(Wave.objects.all()) == [other]
    assert not RawReport.objects.exists()
    assert not SpentId.objects.exists()
    assert {bytes(left.manifest_hash) for left in DeletedWave.objects.all()} == hashes
    assert {left.deleted_on for left in DeletedWave.objects.all()} == {day + timedelta(days=3)}
    assert find_due_work() == []


def test_a_survey_without_a_date_is_never_due(clock: Clock) -> None:
    make_wave()
    clock(timezone.now() + timedelta(days=100_000))
    assert deletions() == []


def test_the_file_that_counts_draws_stays_as_after_a_deletion_by_hand(
    settings: Settings, clock: Clock
) -> None:
    """The random keys in the file reveal nothing, and a restored backup must not draw again."""
    day = in_a_month()
    survey = make_full_survey(delete_on=day)
    wave = survey.waves.electronic().get()
    assert ReleaseLedger.objects.filter(wave=wave).exists()
    path = find_file(settings.RELEASES, bytes(wave.manifest_hash))
    append_key(path, "0" * 32)
    clock(midnight(day))
    delete_on_its_date(wave_id=wave.pk)
    assert not ReleaseLedger.objects.exists()
    assert read_keys(path) == {"0" * 32}


def test_a_survey_that_its_owner_deleted_before_is_left_alone(clock: Clock) -> None:
    survey = closed_survey(delete_on=in_a_month())
    wave = survey.waves.get()
    delete_survey(survey=survey)
    clock(timezone.now() + timedelta(days=30))
    assert deletions() == []
    delete_on_its_date(wave_id=wave.pk)
    assert DeletedWave.objects.count() == 1


def test_from_its_day_on_an_open_survey_takes_no_report_even_without_a_worker(
    clock: Clock,
) -> None:
    day = in_a_month()
    wave = make_wave(delete_on=day)
    clock(midnight(day))
    reply = post(bytes(wave.manifest_hash))
    assert (reply.status, json.loads(reply.body)["type"]) == (410, "/problems/wave-closed")


ENDINGS = (
    *("", "/en", "/check", "/page.html", "/results"),
    *("/coins", "/paper", "/results/coins", "/send"),
)


def test_from_its_day_on_every_page_answers_as_after_the_deletion_even_without_a_worker(
    clock: Clock, static_files: None, client: Client
) -> None:
    day = in_a_month()
    wave = make_wave(delete_on=day, coins=True, publication=Publication.EXACT)
    manifest = f"/m/{wave.manifest_hash_hex}.json"
    addresses = [*(f"/s/{wave.survey.slug}{ending}" for ending in ENDINGS), manifest]

    def read() -> list[tuple[int, bytes]]:
        got = [client.get(address, headers={"host": "localhost"}) for address in addresses]
        return [(one.status_code, one.content) for one in got]

    clock(midnight(day) - timedelta(seconds=1))
    assert {status for status, _ in read()} == {200}
    clock(midnight(day))
    told = read()
    assert {status for status, _ in told} == {410}
    delete_on_its_date(wave_id=wave.pk)
    assert not Survey.objects.exists()
    assert read() == told


def test_from_its_day_on_its_owner_reads_nothing_even_without_a_worker(
    clock: Clock, static_files: None
) -> None:
    day = in_a_month()
    survey = make_wave(delete_on=day).survey
    names = ("results", "reports_csv", "api_results")
    addresses = [reverse(f"aggregator:{name}", args=[survey.slug]) for name in names]
    clock(midnight(day) - timedelta(seconds=1))
    owner = sign_in(survey.owner)
    assert [owner.get(address).status_code for address in addresses] == [200, 409, 409]
    clock(midnight(day))
    assert [owner.get(address).status_code for address in addresses] == [404] * 3


def test_the_database_refuses_to_move_the_day() -> None:
    wave = make_wave(delete_on=in_a_month())
    later = in_a_month() + timedelta(days=1)
    with pytest.raises(DatabaseError, match="a launched wave cannot change"), transaction.atomic():
        Wave.objects.filter(pk=wave.pk).update(delete_on=later)


MOMENTS: list[Moment] = [
    *(number for statement in range(1, 40, 4) for number in (statement, -statement)),
    *("before the commit", "after the commit"),
]


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_at_any_moment_leaves_a_whole_survey_or_none(clock: Clock) -> None:
    now, ends = timezone.now(), []
    for moment in MOMENTS:
        clock(now)
        survey = waiting_survey(delete_on=in_a_month())
        clock(midnight(in_a_month()))
        [due] = deletions()
        with killed(moment) as ended:
            tasks.delete_survey_on_its_date(due.subject)
        ends += ended
        if Survey.objects.exists():
            assert RawReport.objects.count() == SpentId.objects.count() == len(ROWS)
            [due] = deletions()
            tasks.delete_survey_on_its_date(due.subject)
        assert DeletedWave.objects.filter(slug=survey.slug).count() == 1
        assert not Survey.objects.exists()
        assert not RawReport.objects.exists()
    assert set(ends) == {"undone", "committed"}


@pytest.fixture(scope="module")
def postgres_server(django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    with running_server({}) as made:
        with django_db_blocker.unblock(), django_on(made.application_url):
            migrate()
        yield made


@pytest.mark.django_db(transaction=True)
def test_on_postgresql_workers_at_once_delete_once_while_others_seal(
    postgres_server: Server, clock: Clock
) -> None:
    url, day = postgres_server.application_url, in_a_month()
    with django_on(url):
        surveys = [waiting_survey(delete_on=day), closed_survey(delete_on=day)]
        waves = [survey.waves.get() for survey in surveys]
    clock(midnight(day))

    def run(step: Callable[..., object]) -> None:
        with django_on(url):
            for wave in waves:
                step(wave_id=wave.pk)

    steps = [delete_on_its_date, seal_next_batch, delete_on_its_date, seal_next_batch] * 2
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(run, steps))
    run(delete_on_its_date)  # a worker that found the wave locked left it to the next sweep
    with django_on(url):
        assert not Survey.objects.exists()
        assert not RawReport.objects.exists()
        assert sorted(DeletedWave.objects.values_list("slug", flat=True)) == sorted(
            survey.slug for survey in surveys
        )


@pytest.mark.django_db(transaction=True)
def test_on_postgresql_a_trigger_keeps_the_day(postgres_server: Server) -> None:
    with django_on(postgres_server.application_url):
        waves = Wave.objects.filter(pk=make_wave(delete_on=in_a_month()).pk)
        for change in ({"cap": 70}, {"delete_on": in_a_month() + timedelta(days=1)}):
            with pytest.raises(DatabaseError, match="a launched wave cannot change"):
                waves.update(**change)


class Refusing(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise ConnectionRefusedError


def sweep_and_send(queue: list[Any]) -> None:
    """Let a sweep find due mails, and a worker send one for each message."""
    queue.clear()
    tasks.send_due_work()
    for task, args in list(queue):
        if task is tasks.send_deletion_mail:
            task(*args)


def test_a_week_before_the_owner_gets_one_mail_without_the_title(
    clock: Clock, queue: list[Any], settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://murmur.example"
    day = date(2031, 3, 31)
    survey = make_wave(title="Do you drink?", delete_on=day).survey
    clock(midnight(day) - timedelta(days=7, seconds=1))
    sweep_and_send(queue)
    assert mail.outbox == []
    clock(midnight(day) - timedelta(days=7))
    for _ in range(3):
        sweep_and_send(queue)
    [message] = mail.outbox
    assert message.to == [survey.owner.email]
    assert message.subject == "A survey will be deleted on 31 March 2031"
    assert "https://murmur.example/" in str(message.body)
    assert survey.slug not in str(message.body)  # anyone who knows the slug can read the questions
    assert "drink" not in f"{message.subject} {message.body}"


def test_a_mail_that_cannot_be_sent_is_tried_again_and_stops_no_deletion(
    clock: Clock, queue: list[Any], settings: Settings
) -> None:
    day, backend = in_a_month(), settings.EMAIL_BACKEND
    waves = [make_wave(delete_on=day) for _ in range(2)]
    settings.EMAIL_BACKEND = f"{HERE}Refusing"
    week_before = midnight(day) - timedelta(days=7)
    clock(week_before)
    sweep_and_send(queue)
    sweep_and_send(queue)
    assert queue == []  # after one failed attempt, the other mail waits too
    settings.EMAIL_BACKEND = backend
    clock(week_before + RETRY_AFTER)
    for _ in range(3):
        sweep_and_send(queue)
    assert len(mail.outbox) == 2
    settings.EMAIL_BACKEND = f"{HERE}Refusing"
    Survey.objects.update(deletion_mail_at=week_before)
    clock(midnight(day))
    for wave in waves:
        delete_on_its_date(wave_id=wave.pk)
    assert not Survey.objects.exists()


@pytest.mark.parametrize(("is_active", "days_before"), [(False, 7), (True, 0)])
def test_a_closed_account_gets_no_mail_and_nobody_once_the_day_has_come(
    is_active: bool, days_before: int, clock: Clock, queue: list[Any]
) -> None:
    make_wave(owner=make_user(is_active=is_active), delete_on=in_a_month())
    clock(midnight(in_a_month()) - timedelta(days=days_before))
    sweep_and_send(queue)
    assert mail.outbox == []
    assert Survey.objects.get().deletion_mail_at is None


def test_pages_tell_the_owner_the_day_and_warn_in_the_last_week(
    clock: Clock, static_files: None, client: Client
) -> None:
    day = date(2031, 3, 31)
    survey = make_wave(delete_on=day).survey
    warning = "On 31 March 2031, this survey will be deleted"
    client.force_login(survey.owner)
    pages = ["/", f"/surveys/{survey.slug}", f"/surveys/{survey.slug}/results"]
    for page in pages:
        assert warning not in client.get(page, follow=True).text
    assert "It is deleted on 31 March 2031." in client.get(pages[0], follow=True).text
    assert client.get("/api/surveys").json()["results"][0]["delete_on"] == "2031-03-31"
    clock(midnight(day) - timedelta(days=7))
    client.force_login(survey.owner)
    for page in pages:
        text = client.get(page, follow=True).text
        assert warning in text
        assert f'href="/surveys/{survey.slug}/data"' in text
