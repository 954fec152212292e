"""Check the rows of the database: the last purge, and waves or batches below the minimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.core.checks import CheckMessage, Info
from django.db.models import F, Q
from django.utils import timezone

from accounts.second_factor.keys import count_states
from aggregator.models import Batch, Upkeep
from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge
from aggregator.upkeep.purging import purge_is_due
from surveys.manifest.manifest import Publication
from surveys.models import Survey, Wave
from surveys.models.settings import MIN_BATCH_FLOOR

# A purge may wait for a backup to end, and for earlier work.
PATIENCE_SECONDS = 600.0


def check_stored_rows() -> Iterator[CheckMessage]:
    purge = Upkeep.objects.filter(job=Upkeep.Job.PURGE).first()
    yield from judge_last_purge(
        is_due=purge_is_due(),
        seconds_ago=(timezone.now() - purge.ended_at).total_seconds() if purge else None,
        patience=settings.PURGE_SECONDS + PATIENCE_SECONDS,
    )
    yield from judge_traces_left(purge.found.get("left", []) if purge else [])
    small_waves = Wave.objects.filter(minimum_batch__lt=MIN_BATCH_FLOOR).count()
    small_batches = Batch.every.filter(
        Q(size__lt=MIN_BATCH_FLOOR) | Q(size__lt=F("wave__minimum_batch"))
    ).count()
    yield from judge_small_batches(below_floor=small_waves + small_batches, floor=MIN_BATCH_FLOOR)
    unreadable, old = count_states()
    yield from judge_mfa_keys(unreadable=unreadable, old=old)
    if settings.RELEASES is None:
        protected = Survey.objects.filter(publication=Publication.PROTECTED).count()
        halves = Survey.objects.filter(sealed_half=True).count()
        yield from note_no_folder(protected=protected, halves=halves)


def judge_last_purge(
    *, is_due: bool, seconds_ago: float | None, patience: float
) -> list[CheckMessage]:
    """Judge the last purge by its age; `seconds_ago` is None if there was none."""
    when = "never" if seconds_ago is None else f"{seconds_ago:,.0f} seconds ago"
    return judge(
        messages.LAST_PURGE,
        f"purge is due; last purge: {when}",
        good=not is_due or (seconds_ago is not None and seconds_ago <= patience),
        meaning="the database's files still hold traces of sealed reports.",
        remedy="start beat and a worker; if they run, look for long transactions and backups in "
        "pg_stat_activity.",
    )


def judge_traces_left(sentences: Sequence[str]) -> Iterator[CheckMessage]:
    """Report the traces that the last purge left; each of `sentences` ends with its remedy."""
    for sentence in sentences:
        yield from judge(
            messages.TRACES_LEFT,
            "the last purge left traces",
            good=False,
            meaning=sentence,
            remedy="see above.",
        )


def judge_small_batches(*, below_floor: int, floor: int) -> list[CheckMessage]:
    return judge(
        messages.SMALL_BATCHES,
        f"waves and batches with fewer than {floor} reports: {below_floor}",
        good=not below_floor,
        meaning="the database's constraints were removed, and small batches can reveal people.",
        remedy="restore the constraints by running manage.py migrate on a new database.",
    )


def judge_mfa_keys(*, unreadable: int, old: int) -> Iterator[CheckMessage]:
    """Say whether a key for second factors is missing, and whether an old key must stay."""
    yield from judge(
        messages.MFA_KEYS,
        f"secrets of second factors that no key decrypts: {unreadable}",
        good=not unreadable,
        meaning="their accounts cannot sign in.",
        remedy="put the key that encrypted them into MFA_KEY_FALLBACKS. If it is lost, "
        "manage.py encrypt_second_factors names the accounts; run manage.py reset_second_factor "
        "for each.",
    )
    if old:
        yield Info(
            f"secrets of second factors that only MFA_KEY_FALLBACKS decrypts: {old}.",
            hint="manage.py encrypt_second_factors; then remove the old key.",
            id=f"aggregator.I{messages.MFA_KEYS:03}",
        )


def note_no_folder(*, protected: int, halves: int) -> Iterator[CheckMessage]:
    """Say that this machine draws no releases, which is right if another machine does."""
    if protected or halves:
        yield Info(
            f"MURMUR_RELEASES is empty; surveys with protected publication: {protected}, with a "
            f"sealed half: {halves}. Workers with this environment draw no releases and open no "
            "halves.",
            hint="nothing, if the workers of one machine have it set or all workers share a "
            "folder. Otherwise, releases and halves wait until you set it for the workers of one "
            "machine.",
            id=f"aggregator.I{messages.DRAWS_NOWHERE:03}",
        )
