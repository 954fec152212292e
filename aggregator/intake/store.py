"""Write one report durably, once; the acknowledgement is sent only after this returns."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from django.db import connection, transaction
from django.utils import timezone

from aggregator import problems
from aggregator.intake.errors import NotNow, Refused
from aggregator.intake.wire import Upload
from surveys.manifest import parse_manifest
from surveys.models import Wave

_FIND = """
    SELECT spent.wave_id, raw.symbols
    FROM aggregator_spent_id AS spent
    LEFT JOIN aggregator_raw_report AS raw ON raw.id = spent.id
    WHERE spent.id = %s
"""
# No exception is provoked for a known id: a database would log it, with the row and the time.
_SPEND = """
    INSERT INTO aggregator_spent_id (id, wave_id) VALUES (%s, %s)
    ON CONFLICT DO NOTHING RETURNING wave_id
"""
_KEEP = "INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES (%s, %s, %s)"


class Outcome(Enum):
    RECORDED = "recorded"
    ALREADY_RECORDED = "already-recorded"


def record_report(upload: Upload) -> Outcome:
    """Commit a report, or say that it is committed already; raise if it is not welcome."""
    with transaction.atomic(durable=True):
        # A known id is answered in any state: its report was acknowledged before.
        known = _find(upload.report_id)
        wave = _lock_wave(upload.manifest_hash)
        if known is not None:
            return _compare(upload, wave=wave, known=known)
        _check_welcome(upload, wave=wave, now=timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(_SPEND, [upload.report_id, wave.pk])
            if cursor.fetchone() is None:  # the same id, committed a moment ago
                return _compare(upload, wave=wave, known=_find(upload.report_id))
            cursor.execute(_KEEP, [upload.report_id, wave.pk, upload.symbols])
    return Outcome.RECORDED


def _find(report_id: bytes) -> tuple[int, bytes | None] | None:
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [report_id])
        row = cursor.fetchone()
    return None if row is None else (row[0], None if row[1] is None else bytes(row[1]))


def _lock_wave(manifest_hash: bytes) -> Wave:
    """Read the wave so that it cannot close before this report is committed."""
    lock = "FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    waves = Wave.objects.raw(
        f"SELECT * FROM surveys_wave WHERE manifest_hash = %s {lock}",  # noqa: S608
        [manifest_hash],
    )
    for wave in waves:
        return wave
    raise Refused(
        problems.UNKNOWN_MANIFEST,
        "No survey has this manifest. Load the page again to get the current one.",
    )


def _compare(upload: Upload, *, wave: Wave, known: tuple[int, bytes | None] | None) -> Outcome:
    if known is None:
        raise NotNow(problems.BUSY, "Please send the same report again.", retry_after=1)
    wave_id, symbols = known
    # Once sealed, a report can no longer be compared: its id alone says that it was counted.
    if wave_id == wave.pk and symbols in (None, upload.symbols):
        return Outcome.ALREADY_RECORDED
    raise Refused(problems.ID_ALREADY_USED, "This id was used for a report with other content.")


def _check_welcome(upload: Upload, *, wave: Wave, now: datetime) -> None:
    if not wave.is_open or (wave.closes_at is not None and now >= wave.closes_at):
        raise Refused(problems.WAVE_CLOSED, "This survey is closed and takes no more reports.")
    if wave.opens_at is not None and now < wave.opens_at:
        raise NotNow(
            problems.WAVE_NOT_OPEN_YET,
            "This survey is not open yet.",
            retry_after=min(3600, max(1, int((wave.opens_at - now).total_seconds()) + 1)),
        )
    questions = parse_manifest(bytes(wave.manifest)).questions
    if len(upload.symbols) != len(questions):
        raise Refused(
            problems.WRONG_LENGTH,
            f"This survey has {len(questions)} symbols, the report has {len(upload.symbols)}.",
        )
    for number, (code, question) in enumerate(zip(upload.symbols, questions, strict=True), 1):
        if code >= question.k:
            raise Refused(
                problems.SYMBOL_OUT_OF_RANGE,
                f"Symbol {number} must be one of the first {question.k} of the alphabet.",
            )
