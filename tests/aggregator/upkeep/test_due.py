"""Due work is found in the rows, and stored with the time at which it was first seen."""

from __future__ import annotations

import socket
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aggregator import tasks
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison
from aggregator.models import Comparison, DueWork, Rendering, Upkeep
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep import status
from aggregator.upkeep.due import Due, WorkKind, find_due_work, find_oldest_due, remember_due_work
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i % 2, i % 3 == 0, 1]) for i in range(40)]
NOON = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
SEAL_7 = Due(kind=WorkKind.SEAL, subject=7, progress=0)


def rows() -> dict[tuple[str, int], tuple[int, float]]:
    """Return each stored row's progress, and its start in seconds after noon."""
    return {
        (row.kind, row.subject): (row.progress, (row.since - NOON).total_seconds())
        for row in DueWork.objects.all()
    }


def remember(*due: Due, at: float) -> None:
    remember_due_work(due, now=NOON + timedelta(seconds=at))


def test_each_step_of_a_wave_is_due_until_it_is_done() -> None:
    wave = make_wave()
    assert find_due_work() == []
    send_many(wave, ROWS)
    assert find_due_work() == [Due(kind=WorkKind.SEAL, subject=wave.pk, progress=0)]
    seal_next_batch(wave_id=wave.pk)
    assert find_due_work() == [Due(kind=WorkKind.ESTIMATE, subject=wave.pk, progress=0)]
    snapshot = update_snapshot(wave_id=wave.pk)
    assert find_due_work() == []
    assert snapshot is not None
    comparison = request_comparison(
        wave=wave, snapshot=snapshot, kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    assert find_due_work() == [Due(kind=WorkKind.COMPARE, subject=comparison.pk, progress=0)]


def test_progress_is_the_newest_batch_sealed_or_estimated() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    seal_next_batch(wave_id=wave.pk)
    update_snapshot(wave_id=wave.pk)
    send_many(wave, ROWS)
    assert find_due_work() == [Due(kind=WorkKind.SEAL, subject=wave.pk, progress=1)]
    seal_next_batch(wave_id=wave.pk)
    assert find_due_work() == [Due(kind=WorkKind.ESTIMATE, subject=wave.pk, progress=1)]
    update_snapshot(wave_id=wave.pk)
    assert find_due_work() == []
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert Due(kind=WorkKind.SEAL, subject=wave.pk, progress=2) in find_due_work()


def test_a_comparison_is_due_again_when_its_lease_expires() -> None:
    wave = make_wave()
    comparison = Comparison.objects.create(
        wave=wave, through_batch=1, method_version=1, kind=Comparison.Kind.PAIRS,
        state=Comparison.State.RUNNING, attempts=1,
        leased_until=timezone.now() + timedelta(minutes=1),
    )  # fmt: skip
    assert find_due_work() == []
    Comparison.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert find_due_work() == [Due(kind=WorkKind.COMPARE, subject=comparison.pk, progress=1)]


def test_a_file_is_due_until_it_is_made_and_again_when_its_lease_expires() -> None:
    rendering = Rendering.objects.create(wave=make_wave(), through_batch=1, final=False, name="x")
    assert find_due_work() == [Due(kind=WorkKind.RENDER, subject=rendering.pk, progress=0)]
    Rendering.objects.update(
        state=Rendering.State.RUNNING,
        attempts=1,
        leased_until=timezone.now() + timedelta(minutes=1),
    )
    assert find_due_work() == []
    Rendering.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert find_due_work() == [Due(kind=WorkKind.RENDER, subject=rendering.pk, progress=1)]


def test_due_work_keeps_its_start_until_it_progresses_and_is_deleted_when_done() -> None:
    seal_8 = Due(kind=WorkKind.SEAL, subject=8, progress=3)
    remember(SEAL_7, at=0)
    remember(SEAL_7, seal_8, at=2)
    assert rows() == {("seal", 7): (0, 0), ("seal", 8): (3, 2)}
    moved = Due(kind=WorkKind.SEAL, subject=8, progress=4)
    remember(SEAL_7, moved, at=4)
    assert rows() == {("seal", 7): (0, 0), ("seal", 8): (4, 4)}
    remember(moved, at=6)
    assert rows() == {("seal", 8): (4, 4)}
    remember(at=8)
    assert rows() == {}
    assert Upkeep.objects.get(job=Upkeep.Job.SWEEP).ended_at == NOON + timedelta(seconds=8)


def test_a_wave_under_constant_load_is_always_due_but_never_late() -> None:
    wave = make_wave()
    for second in range(0, 20, 2):
        send_many(wave, ROWS)
        due = find_due_work()
        assert WorkKind.SEAL in {item.kind for item in due}
        remember(*due, at=second)
        oldest = find_oldest_due()
        assert oldest is not None
        assert (NOON + timedelta(seconds=second) - oldest).total_seconds() <= 2
        seal_next_batch(wave_id=wave.pk)
        update_snapshot(wave_id=wave.pk)


def test_the_age_is_that_of_the_oldest_due_work() -> None:
    assert find_oldest_due() is None
    remember(SEAL_7, at=0)
    remember(SEAL_7, Due(kind=WorkKind.RENDER, subject=7, progress=1), at=9)
    assert find_oldest_due() == NOON


def test_a_sweep_that_reads_earlier_and_writes_later_does_no_harm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = Due(kind=WorkKind.SEAL, subject=7, progress=1)
    remember(SEAL_7, at=0)
    known_to_the_slow_one = list(DueWork.objects.all())
    remember(moved, at=2)
    # The slow sweep found seal 7 done and does not know that the seal is due again.
    with monkeypatch.context() as patch:
        patch.setattr(DueWork.objects, "all", lambda: known_to_the_slow_one)
        remember(at=3)
    assert rows() == {("seal", 7): (1, 2)}
    # Both sweeps believe that they saw the work first.
    with monkeypatch.context() as patch:
        patch.setattr(DueWork.objects, "all", list)
        remember(moved, at=4)
    assert rows() == {("seal", 7): (1, 2)}


def test_a_sweep_that_finds_nothing_makes_few_queries_and_writes_only_its_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "drop_waiting_sweeps", lambda: None)  # this test has no broker
    for _ in range(3):
        make_wave()
    tasks.sweep()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tasks.sweep()
    statements = [query["sql"].split()[0].upper() for query in queries]
    written = [name for name in statements if name in ("INSERT", "UPDATE", "DELETE")]
    assert written == ["INSERT"]
    assert statements.count("SELECT") <= 28


def test_work_seen_before_the_clock_was_set_back_is_as_old_as_the_next_sweep() -> None:
    remember(SEAL_7, at=7200)
    remember(SEAL_7, at=1)
    assert rows() == {("seal", 7): (0, 1)}
    remember(SEAL_7, at=3)
    assert rows() == {("seal", 7): (0, 1)}


def run_status() -> tuple[str, str]:
    """Return what the command prints, and its error."""
    out = StringIO()
    try:
        call_command("status", stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


@pytest.mark.parametrize(
    ("swept", "due", "found", "problem"),
    [
        (1, 2, 0, ""),
        (None, None, None, "No worker has looked for due work yet."),
        (200, 2, 0, "No worker has looked for due work for 200 seconds."),
        (1, 300, 0, "The oldest due work has been waiting for 300 seconds."),
        (-60, None, 0, "in the future: check the clocks."),
        (1, None, 2, "Run manage.py verify"),
    ],
)
def test_the_operator_reads_what_is_late(
    swept: float | None,
    due: float | None,
    found: int | None,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    if swept is not None:
        Upkeep.objects.create(job=Upkeep.Job.SWEEP, ended_at=now - timedelta(seconds=swept))
    if due is not None:
        DueWork.objects.create(kind="seal", subject=1, since=now - timedelta(seconds=due))
    if found is not None:
        Upkeep.objects.create(job=Upkeep.Job.VERIFY, ended_at=now, found={"count": found})
    printed, error = run_status()
    assert problem in error
    assert bool(problem) == bool(error)
    assert f"release            {settings.VERSION}" in printed
    assert f"last sweep         {'none' if swept is None else f'{swept} s ago'}" in printed
    assert f"oldest due work    {'none' if due is None else f'{due} s ago'}" in printed
    assert f"differences found  {'unknown' if found is None else found}" in printed
    assert "limiter            does not answer" in printed


def test_a_limiter_that_is_silent_does_not_answer() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with override_settings(LIMITER_URL=f"redis://127.0.0.1:{silent.getsockname()[1]}/0"):
            assert not status.limiter_answers()
