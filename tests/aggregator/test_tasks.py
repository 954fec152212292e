"""The sweep finds all due work in the rows; tasks may run twice, late or never."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from aggregator import tasks
from aggregator.batches.sealing import count_acknowledged, seal_next_batch
from aggregator.comparisons.jobs import request_comparison
from aggregator.models import Batch, Comparison, DueWork, RawReport, Snapshot, Upkeep
from aggregator.results.snapshots import newest_snapshot
from aggregator.upkeep.verification.differences import Difference
from aggregator.upkeep.verification.run import (
    Verification,
    claim_verification,
    store_differences,
)
from config.celery import app
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.factories import make_user
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i % 2, 0, 1]) for i in range(40)]
Message = tuple[Callable[..., None], Sequence[int]]
ALL = (
    tasks.seal_wave,
    tasks.estimate_wave,
    tasks.propose_rows,
    tasks.render_file,
    tasks.compare,
    tasks.send_account_mail,
    tasks.send_deletion_mail,
    tasks.purge,
)
WITHOUT_SUBJECT = (tasks.send_account_mail, tasks.send_deletion_mail, tasks.purge)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """Replace the broker by a list of messages that the test delivers."""
    messages: list[Message] = []

    def keep(task: Any) -> Callable[..., None]:
        def apply_async(args: Sequence[int], *, priority: int) -> None:
            messages.append((task, args))

        return apply_async

    for task in ALL:
        monkeypatch.setattr(task, "apply_async", keep(task))
    monkeypatch.setattr(tasks, "purge_is_due", lambda: False)
    monkeypatch.setattr(tasks, "count_waiting", lambda *_: 0)
    monkeypatch.setattr(tasks, "drop_waiting_sweeps", lambda: None)
    return messages


def deliver(queue: list[Message], *, times: int = 1) -> None:
    while queue:
        task, args = queue.pop(0)
        for _ in range(times):
            task(*args)


def assert_all_counted(wave: Wave, total: int) -> None:
    wave.refresh_from_db()
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    assert (snapshot.total, snapshot.final) == (total, not wave.is_open)
    assert count_acknowledged(wave) == total


@pytest.mark.parametrize("times", [1, 2])
def test_two_sweeps_and_their_messages_bring_a_wave_up_to_date(
    queue: list[Message], times: int
) -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    tasks.sweep()  # closes the wave, seals its reports and estimates
    deliver(queue, times=times)
    assert_all_counted(wave, 40)
    assert wave.ending == Wave.Ending.CAP
    tasks.sweep()  # proposes the background of the rows
    deliver(queue, times=times)
    tasks.sweep()
    assert queue == []


@pytest.mark.parametrize("lost", [1, 2, 3, 4])
def test_later_sweeps_make_up_for_lost_messages(queue: list[Message], lost: int) -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    tasks.sweep()
    for _ in range(lost):
        if queue:
            queue.pop(0)
        else:
            tasks.sweep()
    for _ in range(4):
        tasks.sweep()
        deliver(queue)
    assert_all_counted(wave, 40)


def test_undelivered_work_stays_due_from_when_it_was_first_seen(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    start = timezone.now()
    for minutes in range(5):
        monkeypatch.setattr(
            "aggregator.tasks.timezone.now", lambda m=minutes: start + timedelta(minutes=m)
        )
        tasks.sweep()
        queue.clear()
    due = DueWork.objects.get()
    assert (due.kind, due.subject, due.since) == ("seal", wave.pk, start)
    swept = Upkeep.objects.get(job=Upkeep.Job.SWEEP).ended_at
    assert swept == start + timedelta(minutes=4)


def test_messages_that_arrive_long_after_the_work_is_done_change_nothing(
    queue: list[Message],
) -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    late: list[Message] = []
    for _ in range(3):
        tasks.sweep()
        late += queue
        deliver(queue)
    before = [list(model.objects.values()) for model in (Batch, Snapshot)]
    assert {task for task, _ in late} >= {tasks.seal_wave}
    for task, args in [*late, (tasks.estimate_wave, [wave.pk])]:
        task(*args)
    assert [list(model.objects.values()) for model in (Batch, Snapshot)] == before


def test_messages_about_deleted_rows_are_harmless(queue: list[Message]) -> None:
    for task in ALL:
        task(*() if task in WITHOUT_SUBJECT else (4711,))
    assert queue == []


def test_a_comparison_requested_by_two_messages_is_computed_once(queue: list[Message]) -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    tasks.sweep()
    deliver(queue)
    comparison = request_comparison(
        wave=wave, snapshot=wave.snapshots.get(), kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    tasks.sweep()
    assert (tasks.compare, [comparison.pk]) in queue
    deliver(queue, times=2)
    comparison.refresh_from_db()
    assert (comparison.state, comparison.attempts) == (Comparison.State.DONE, 1)


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_the_same_message_seal_once(queue: list[Message]) -> None:
    wave = make_wave()
    send_many(wave, ROWS * 5)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    together = threading.Barrier(3)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            together.wait(timeout=10)
            tasks.seal_wave(wave.pk)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert list(wave.batches.values_list("number", "size")) == [(1, 200)]
    assert not RawReport.objects.exists()


def test_an_open_wave_gives_one_batch_per_message_unless_the_batch_is_full(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    sealed: list[int] = []
    seal = seal_next_batch

    def seal_while_more_arrive(*, wave_id: int) -> Batch | None:
        batch = seal(wave_id=wave_id)
        sealed.append(batch.size if batch else 0)
        send_many(wave, ROWS)
        return batch

    monkeypatch.setattr(tasks, "seal_next_batch", seal_while_more_arrive)
    tasks.seal_wave(wave.pk)
    assert sealed == [30]
    monkeypatch.setattr("aggregator.batches.sealing.MAX_BATCH", 25)
    monkeypatch.setattr(tasks, "BATCHES_PER_MESSAGE", 4)
    tasks.seal_wave(wave.pk)
    assert sealed == [30, 25, 25, 25, 25]  # then it is the turn of other messages


def test_without_a_broker_the_sweep_remembers_due_work_and_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks, "count_waiting", refuse)
    wave = make_wave()
    send_many(wave, ROWS)
    with pytest.raises(OperationalError):
        tasks.sweep()
    assert DueWork.objects.get().subject == wave.pk
    assert Upkeep.objects.filter(job=Upkeep.Job.SWEEP).exists()


def test_a_hanging_close_does_not_delay_other_work(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing waits for the row of the wave, which a stopped worker may have locked."""
    wave = make_wave()
    send_many(wave, ROWS)

    def hang() -> int:
        raise TimeoutError

    monkeypatch.setattr(tasks, "close_due_waves", hang)
    with pytest.raises(TimeoutError):
        tasks.sweep()
    assert queue == [(tasks.seal_wave, [wave.pk])]


def test_messages_contain_only_ids(queue: list[Message]) -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    tasks.sweep()
    assert [args for _, args in queue] == [[wave.pk]]


def test_traces_are_purged_when_a_purge_is_due(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    purged: list[bool] = []
    monkeypatch.setattr(tasks, "purge_traces", lambda: purged.append(True))
    tasks.sweep()
    tasks.purge()  # a message that comes twice or late
    assert (queue, purged) == ([], [])
    monkeypatch.setattr(tasks, "purge_is_due", lambda: True)
    tasks.sweep()
    assert queue == [(tasks.purge, [])]
    deliver(queue)
    assert purged == [True]


def test_one_of_two_messages_to_verify_in_a_night_is_acted_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[bool] = []

    def run(self: Verification, waves: object) -> list[Difference]:
        runs.append(True)
        tasks.verify()  # another worker, at the same time
        return []

    monkeypatch.setattr(Verification, "run", run)
    night = timezone.now().replace(hour=3)
    for hours, expected in ((0, 1), (1, 1), (24, 2), (25, 2), (48, 3)):
        monkeypatch.setattr("django.utils.timezone.now", lambda h=hours: night + timedelta(hours=h))
        tasks.verify()
        assert len(runs) == expected


@pytest.mark.parametrize(("hour", "expected"), [(2, 1), (3, 1), (5, 1), (6, 0), (14, 0), (23, 0)])
def test_a_message_to_verify_that_is_found_by_day_is_not_acted_on(
    monkeypatch: pytest.MonkeyPatch, hour: int, expected: int
) -> None:
    runs: list[bool] = []

    def run(self: Verification, waves: object) -> list[Difference]:
        runs.append(True)
        return []

    monkeypatch.setattr(Verification, "run", run)
    moment = timezone.now().replace(hour=hour)
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
    tasks.verify()
    assert len(runs) == expected


def test_a_verification_that_died_or_has_a_future_time_does_not_block_the_next() -> None:
    now = timezone.now()
    assert claim_verification(now=now)
    assert not claim_verification(now=now + timedelta(hours=11))
    assert claim_verification(now=now + timedelta(hours=24))  # nothing was stored in between
    store_differences([])
    Upkeep.objects.update(ended_at=now + timedelta(days=9))  # the clock was later set back
    assert claim_verification(now=now + timedelta(hours=48))


@pytest.mark.django_db(transaction=True)
def test_only_one_of_several_workers_verifies() -> None:
    together = threading.Barrier(4)
    now = timezone.now()
    claims: list[bool] = []

    def claim() -> None:
        try:
            together.wait(timeout=10)
            claims.append(claim_verification(now=now))
        finally:
            connection.close()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(claims) == [False, False, False, True]


def test_beat_sends_tasks_that_exist_at_night_and_with_no_time_in_them() -> None:
    schedule = settings.CELERY_BEAT_SCHEDULE
    named = {tasks.sweep.name, tasks.forget_sessions.name, tasks.verify.name}
    named.add(tasks.tend_history.name)
    assert {entry["task"] for entry in schedule.values()} == named
    assert not any("expires" in entry.get("options", {}) for entry in schedule.values())
    assert schedule["verify"]["schedule"].hour == {3}
    assert 3 in tasks.NIGHT
    assert len(schedule["forget_sessions"]["schedule"].hour) == 24
    assert str(app.timezone) == "UTC"


def test_messages_do_not_pile_up_while_nobody_takes_them(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages cannot expire, because they contain no time."""
    waves = [make_wave() for _ in range(3)]
    for wave in waves:
        send_many(wave, ROWS)
    waiting: list[tuple[str, int]] = []

    def count_waiting(name: str, priority: int) -> int:
        waiting.append((name, priority))
        return len(queue)

    monkeypatch.setattr(tasks, "count_waiting", count_waiting)
    for _ in range(10):
        tasks.sweep()
    assert queue == [(tasks.seal_wave, [wave.pk]) for wave in waves]
    assert set(waiting) == {("celery", tasks.SOON)}
    queue.pop()  # a worker took one, so there is room again, and every wave is looked at
    tasks.sweep()
    assert len(queue) == 2 + 3
    tasks.sweep()
    assert len(queue) == 2 + 3


def test_a_sweep_drops_those_that_wait_behind_it(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[bool] = []
    monkeypatch.setattr(tasks, "drop_waiting_sweeps", lambda: dropped.append(True))
    monkeypatch.setattr(settings, "SWEEP_SECONDS", 2.0)
    for _ in range(3):
        tasks.sweep()
    assert dropped == [True]


def test_a_reset_mail_is_sent_when_one_is_due(queue: list[Message]) -> None:
    tasks.sweep()
    assert queue == []
    request_mail(Kind.RESET, account=make_user("rosa@example.org").pk)
    tasks.sweep()
    assert queue == [(tasks.send_account_mail, [])]
    deliver(queue, times=2)
    assert [message.to for message in mail.outbox] == [["rosa@example.org"]]
    tasks.sweep()
    assert queue == []


def test_no_task_may_run_until_the_broker_redelivers_its_message() -> None:
    for task in (tasks.sweep, tasks.forget_sessions, *ALL):
        assert task.acks_late is None or task.acks_late
    assert (
        settings.CELERY_TASK_TIME_LIMIT
        < (settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"])
    )
    # These two tasks may take longer: their messages are acknowledged when the tasks start.
    assert not tasks.verify.acks_late
    assert not tasks.delete_survey_on_its_date.acks_late


def test_sweeps_that_pile_up_do_not_delay_other_work(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SWEEP_SECONDS", 2.0)
    send_many(make_wave(), ROWS)
    for _ in range(3):
        tasks.sweep()
    assert len(queue) == 1
    long_ago = timezone.now() - timedelta(seconds=3)
    Upkeep.objects.filter(job=Upkeep.Job.SWEEP).update(ended_at=long_ago)
    tasks.sweep()
    assert len(queue) == 2
    # A heartbeat dated in the future does not block the sweep: the clock may have been set back.
    Upkeep.objects.update(ended_at=timezone.now() + timedelta(days=1))
    tasks.sweep()
    assert len(queue) == 3


def test_a_sweep_reads_only_as_much_of_a_large_backlog_as_it_needs(
    queue: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every query on raw reports either has a limit or only asks whether a wave has any."""
    send_many(make_wave(), ROWS)
    send_many(make_wave(cap=1000), ROWS[:15])
    statements: list[str] = []

    def remember(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(remember):
        tasks.sweep()
        queue.clear()
        assert seal_next_batch(wave_id=Wave.objects.get(cap=None).pk) is not None
    asked = [sql for sql in statements if "aggregator_raw_report" in sql]
    assert len(asked) >= 4
    assert all("LIMIT" in sql or "count(" not in sql.lower() for sql in asked), asked
