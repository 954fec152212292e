"""Celery tasks, each of which calls one service and may run twice, late or never.

The database shows which work is due. `sweep` runs every few seconds and finds it, so a lost
message, a dead worker or an emptied Redis only delays a result.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.utils import timezone

from accounts import tokens
from accounts.mail.queue import is_mail_due, send_next_mail
from accounts.second_factor import codes
from aggregator.background.rows_files import make_rows_file
from aggregator.batches.closing import close_due_waves
from aggregator.batches.sealing import find_largest_batch, seal_next_batch
from aggregator.comparisons.jobs import run_comparison
from aggregator.comparisons.opening import open_half
from aggregator.comparisons.planned import request_planned
from aggregator.exports.worker_files import find_recipe
from aggregator.publishing.public_page import store_public_page
from aggregator.releases.alerts import look_at_alert
from aggregator.releases.drawing import draw_release
from aggregator.releases.folder import WrongFolder, claim_folder
from aggregator.releases.ledger import reserve_planned
from aggregator.renderings.jobs import run_rendering
from aggregator.results.snapshots import find_waves_to_estimate, update_snapshot
from aggregator.upkeep.broker import count_waiting, drop_waiting_sweeps, find_queue
from aggregator.upkeep.deletion_dates import (
    delete_on_its_date,
    is_deletion_mail_due,
    send_next_deletion_mail,
)
from aggregator.upkeep.due import WorkKind, find_due_work, remember_due_work, was_just_swept
from aggregator.upkeep.missing_migrations import report_missing_migrations
from aggregator.upkeep.purging import purge_is_due, purge_traces
from aggregator.upkeep.sessions import forget_expired_sessions
from aggregator.upkeep.verification.run import (
    Verification,
    claim_verification,
    store_differences,
)
from surveys.exchange.jobs import forget_imports, read_upload
from surveys.history.upkeep import forget_old_rows, hide_moments, record_endings
from surveys.models import Wave
from surveys.people.mails import is_invitation_due, send_next_invitation

logger = logging.getLogger(__name__)
worker_ready.connect(lambda **_: report_missing_migrations(), weak=False)
# Sweeps have priority 0, which comes first. The settings say which tasks have separate workers.
SOON, LATER, AT_LEISURE = 3, 6, 9
# Far fewer batches become due between two sweeps. After this many, other messages get their turn.
BATCHES_PER_MESSAGE = 100
MAIL_SECONDS = 30
DELETE_SECONDS = 3600
VERIFY_SECONDS = 6 * 3600
# Verifying delays other work, so a worker that receives the message by day ignores it. Another
# message is sent the next night.
NIGHT = range(2, 6)  # hours in UTC; beat sends the message at 3:00, by its own clock


@shared_task
def sweep() -> None:
    if was_just_swept(now=timezone.now()):
        return
    if settings.RELEASES is not None:
        # Claim the folder early, so that every backup of the database knows it.
        with suppress(OSError, WrongFolder):
            claim_folder(settings.RELEASES)
    forget_imports()
    send_due_work()
    drop_waiting_sweeps()
    # This comes last: closing waits for the lock of the wave's row, and other work should not wait.
    if close_due_waves():
        send_due_work()


def send_due_work() -> None:
    due = find_due_work()
    remember_due_work(due, now=timezone.now())
    messages = [(*_TASKS[item.kind], [item.subject]) for item in due]
    if purge_is_due():
        messages.append((purge, SOON, []))
    if is_mail_due():
        messages.append((send_account_mail, SOON, []))
    if is_deletion_mail_due():
        messages.append((send_deletion_mail, SOON, []))
    if is_invitation_due():
        messages.append((send_invitation, SOON, []))
    groups: defaultdict[tuple[str, int], list[tuple[Any, list[int]]]] = defaultdict(list)
    for task, priority, arguments in messages:
        groups[find_queue(task.name), priority].append((task, arguments))
    for (queue, priority), group in groups.items():
        # Enough messages are already waiting. Earlier sweeps sent them, and they cover most of this
        # work. The next sweep finds the rest.
        if count_waiting(queue, priority) >= len(group):
            continue
        for task, arguments in group:
            task.apply_async(arguments, priority=priority)


@shared_task
def seal_wave(wave_id: int) -> None:
    sealed = 0
    for _ in range(BATCHES_PER_MESSAGE):
        batch = seal_next_batch(wave_id=wave_id)
        if batch is None:
            break
        sealed += 1
        # Reports that arrive now wait for the next sweep. Under load, this makes one large batch
        # every few seconds instead of many small batches.
        if batch.wave.is_open and batch.size < find_largest_batch(batch.wave):
            break
    if sealed:
        estimate_wave.apply_async([wave_id], priority=SOON)


@shared_task
def estimate_wave(wave_id: int) -> None:
    if find_waves_to_estimate().filter(pk=wave_id).exists():
        with _unless_deleted(wave_id):
            snapshot = update_snapshot(wave_id=wave_id)
            if snapshot is not None and snapshot.final:
                store_public_page(snapshot.wave)


@contextmanager
def _unless_deleted(wave_id: int) -> Iterator[None]:
    """Do nothing if the survey is deleted while its results are computed."""
    try:
        yield
    except (ObjectDoesNotExist, IntegrityError):
        if Wave.objects.filter(pk=wave_id).exists():
            raise


@shared_task
def propose_rows(wave_id: int) -> None:
    with _unless_deleted(wave_id):
        make_rows_file(wave_id=wave_id)


@shared_task
def render_file(rendering_id: int) -> None:
    run_rendering(rendering_id=rendering_id, find_recipe=find_recipe)


@shared_task
def request_planned_comparisons(wave_id: int) -> None:
    with _unless_deleted(wave_id):
        request_planned(wave_id=wave_id)


@shared_task
def open_sealed_half(wave_id: int) -> None:
    with _unless_deleted(wave_id):
        open_half(wave_id=wave_id)


@shared_task
def compare(comparison_id: int) -> None:
    run_comparison(comparison_id=comparison_id)


@shared_task
def reserve_planned_releases(wave_id: int) -> None:
    with _unless_deleted(wave_id):
        reserve_planned(wave_id=wave_id)


@shared_task
def draw(release_id: int) -> None:
    draw_release(release_id)


@shared_task
def look(release_id: int) -> None:
    look_at_alert(release_id)


@shared_task
def purge() -> None:
    if purge_is_due():
        purge_traces()


# EMAIL_TIMEOUT limits each step of sending, but not the number of steps or the search for a server.
@shared_task(time_limit=MAIL_SECONDS)
def send_account_mail() -> None:
    send_next_mail()


@shared_task(time_limit=MAIL_SECONDS)
def send_deletion_mail() -> None:
    send_next_deletion_mail()


@shared_task(time_limit=MAIL_SECONDS)
def send_invitation() -> None:
    send_next_invitation()


# A survey with very many reports takes longer than other work. The message is acknowledged at the
# start, as below; the next sweep resends a lost message.
@shared_task(acks_late=False, time_limit=DELETE_SECONDS)
def delete_survey_on_its_date(wave_id: int) -> None:
    delete_on_its_date(wave_id=wave_id)


@shared_task
def read_import(import_id: int) -> None:
    read_upload(import_id=import_id)


@shared_task
def forget_sessions() -> None:
    forget_expired_sessions()


@shared_task
def tend_history() -> None:
    record_endings()
    hide_moments()
    tokens.hide_moments()
    codes.hide_moments()
    forget_old_rows()


# The message is acknowledged at the start, because the task may take longer than the broker waits
# before it redelivers. A lost message is sent again the next night.
@shared_task(acks_late=False, time_limit=VERIFY_SECONDS)
def verify() -> None:
    now = timezone.now()
    if now.hour not in NIGHT or not claim_verification(now=now):
        return
    differences = list(Verification().run(Wave.objects.order_by("pk")))
    store_differences(differences)
    for difference in differences:
        logger.error("verify: %s", difference)


_TASKS: dict[WorkKind, tuple[Any, int]] = {
    WorkKind.SEAL: (seal_wave, SOON),
    WorkKind.ESTIMATE: (estimate_wave, SOON),
    WorkKind.ROWS: (propose_rows, LATER),
    WorkKind.RENDER: (render_file, LATER),
    WorkKind.PLAN: (request_planned_comparisons, LATER),
    WorkKind.OPEN: (open_sealed_half, SOON),
    WorkKind.COMPARE: (compare, AT_LEISURE),
    WorkKind.RESERVE: (reserve_planned_releases, LATER),
    WorkKind.RELEASE: (draw, LATER),
    WorkKind.LOOK: (look, LATER),
    WorkKind.DELETE: (delete_survey_on_its_date, SOON),
    WorkKind.IMPORT: (read_import, SOON),
}
