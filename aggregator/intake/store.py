"""Write reports durably, each once; acknowledgements are sent only after this returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone

from aggregator import problems
from aggregator.intake.errors import IntakeError, NotNow, Refused
from aggregator.intake.waves import HeldWave, find_obstacle, hold_waves, open_cursor
from aggregator.intake.wire import Upload

# No exception is provoked for a known id: a database would log it, with the row and the time.
_RECORD_POSTGRESQL = """
    WITH incoming AS (
        SELECT * FROM unnest(%s::bytea[], %s::bigint[], %s::bytea[]) AS t (id, wave_id, symbols)
    ), fresh AS (
        INSERT INTO aggregator_spent_id (id, wave_id) SELECT id, wave_id FROM incoming
        ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO aggregator_raw_report (id, wave_id, symbols)
    SELECT id, wave_id, symbols FROM incoming JOIN fresh USING (id) RETURNING id
"""
_SPEND_SQLITE = """
    INSERT INTO aggregator_spent_id (id, wave_id) VALUES {rows}
    ON CONFLICT DO NOTHING RETURNING id
"""
_KEEP_SQLITE = "INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES {rows}"
_FIND = """
    SELECT spent.id, spent.wave_id, raw.symbols
    FROM aggregator_spent_id AS spent
    LEFT JOIN aggregator_raw_report AS raw ON raw.id = spent.id
    WHERE spent.id IN ({ids})
"""


class Outcome(Enum):
    RECORDED = "recorded"
    ALREADY_RECORDED = "already-recorded"


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What is stored under a spent id; the symbols are gone once the report is sealed."""

    wave_id: int
    symbols: bytes | None


def record_report(upload: Upload) -> Outcome:
    """Commit one report, or say that it is committed already; raise if it is not welcome."""
    (result,) = record_reports([upload])
    if isinstance(result, IntakeError):
        raise result
    return result


def record_reports(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
    """Commit a group of reports in one transaction; one result for each, in order.

    A lost connection is opened anew and the group tried once more: every report carries its
    id, so doing it twice does no harm even if the first commit went through unnoticed.
    """
    try:
        return _record_together(uploads)
    except (DatabaseError, InterfaceError):
        if connection.in_atomic_block:  # a caller's transaction: not ours to repeat
            raise
        connection.close()
        return _record_together(uploads)


def _record_together(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
    with transaction.atomic(durable=True):
        waves = hold_waves({upload.manifest_hash for upload in uploads})
        now = timezone.now()
        obstacles = [find_obstacle(upload, waves=waves, now=now) for upload in uploads]
        welcome: dict[bytes, Upload] = {}
        for upload, obstacle in zip(uploads, obstacles, strict=True):
            if obstacle is None:
                welcome.setdefault(upload.report_id, upload)  # of twins in a group, the first
        fresh = _insert(list(welcome.values()), waves=waves) if welcome else set()
        results: list[Outcome | IntakeError | None] = []
        for upload, obstacle in zip(uploads, obstacles, strict=True):
            is_first = obstacle is None and welcome[upload.report_id] is upload
            done = is_first and upload.report_id in fresh
            results.append(Outcome.RECORDED if done else None)
        # A known id is answered in any state of its wave: its report was acknowledged before.
        rest = [upload for upload, done in zip(uploads, results, strict=True) if done is None]
        known = _find({upload.report_id for upload in rest}) if rest else {}
    return [
        done or _judge(upload, obstacle, waves=waves, known=known.get(upload.report_id))
        for upload, obstacle, done in zip(uploads, obstacles, results, strict=True)
    ]


def _judge(
    upload: Upload,
    obstacle: IntakeError | None,
    *,
    waves: Mapping[bytes, HeldWave],
    known: _Known | None,
) -> Outcome | IntakeError:
    """Answer what was not recorded now."""
    wave = waves.get(upload.manifest_hash)
    if wave is None or known is None:
        return obstacle or NotNow(
            problems.BUSY, "Please send the same report again.", retry_after=1
        )
    # Once sealed, a report can no longer be compared: its id alone says that it was counted.
    if known.wave_id == wave.pk and known.symbols in (None, upload.symbols):
        return Outcome.ALREADY_RECORDED
    return Refused(problems.ID_ALREADY_USED, "This id was used for a report with other content.")


def _insert(uploads: list[Upload], *, waves: Mapping[bytes, HeldWave]) -> set[bytes]:
    """Store what is new under its id; return the ids that were."""
    # In the order of ids: two processes that meet never wait for each other in a circle, and
    # within a group nothing tells who came first.
    uploads.sort(key=lambda upload: upload.report_id)
    rows = [(u.report_id, waves[u.manifest_hash].pk, u.symbols) for u in uploads]
    with open_cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_RECORD_POSTGRESQL, [list(column) for column in zip(*rows, strict=True)])
            return {bytes(report_id) for (report_id,) in cursor.fetchall()}
        spend = _SPEND_SQLITE.format(rows=_marks(len(rows), width=2))
        cursor.execute(spend, [value for row in rows for value in row[:2]])
        fresh = {bytes(report_id) for (report_id,) in cursor.fetchall()}
        kept = [row for row in rows if row[0] in fresh]
        if kept:
            keep = _KEEP_SQLITE.format(rows=_marks(len(kept), width=3))
            cursor.execute(keep, [value for row in kept for value in row])
        return fresh


def _find(ids: set[bytes]) -> dict[bytes, _Known]:
    with open_cursor() as cursor:
        cursor.execute(_FIND.format(ids=_marks(len(ids))), list(ids))
        return {
            bytes(report_id): _Known(
                wave_id=wave_id, symbols=None if symbols is None else bytes(symbols)
            )
            for report_id, wave_id, symbols in cursor.fetchall()
        }


def _marks(rows: int, *, width: int = 0) -> str:
    one = f"({','.join(['%s'] * width)})" if width else "%s"
    return ",".join([one] * rows)
