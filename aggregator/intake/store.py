"""Write each report durably and once, even after a retry, before it is acknowledged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import psycopg
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone

from aggregator import problems
from aggregator.intake.errors import IntakeError, Refused, RetryLater
from aggregator.intake.waves import (
    Terms,
    find_refusal,
    find_terms,
    refused_as_closed,
    refused_as_deleted,
)
from aggregator.intake.wire import Upload
from surveys.locks import WAVE_LOCK
from surveys.models import DeletedWave, Wave

# This is one statement, and therefore one transaction in one round trip. The waves are locked in
# the order of their ids, as everywhere else. The row lock shows a wave's newest state even if the
# wave was closed while this statement waited for the first lock.
# A known id raises no exception, because the database would log the exception with the
# row and the time.
_RECORD_POSTGRESQL = f"""
    WITH held AS MATERIALIZED (
        SELECT id, pg_advisory_xact_lock_shared({WAVE_LOCK}, id::int) FROM surveys_wave
        WHERE manifest_hash = ANY(%b::bytea[]) ORDER BY id
    ), open AS MATERIALIZED (
        SELECT wave.id, wave.manifest_hash FROM surveys_wave AS wave JOIN held ON held.id = wave.id
        WHERE wave.state = 'open' ORDER BY wave.id FOR KEY SHARE OF wave
    ), incoming AS (
        SELECT * FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[]) AS t (id, hash, symbols)
    ), fresh AS (
        INSERT INTO aggregator_spent_id (id, wave_id)
        SELECT incoming.id, open.id FROM incoming JOIN open ON open.manifest_hash = incoming.hash
        ORDER BY incoming.id ON CONFLICT DO NOTHING RETURNING id, wave_id
    )
    INSERT INTO aggregator_raw_report (id, wave_id, symbols)
    SELECT id, fresh.wave_id, symbols FROM incoming JOIN fresh USING (id) ORDER BY id
    RETURNING id
"""  # noqa: S608
_OPEN_SQLITE = "SELECT manifest_hash, id FROM surveys_wave WHERE state = 'open'"
_SPEND_SQLITE = """
    INSERT INTO aggregator_spent_id (id, wave_id) VALUES {rows}
    ON CONFLICT DO NOTHING RETURNING id
"""
_KEEP_SQLITE = "INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES {rows}"
_FIND = """
    SELECT spent.id, wave.manifest_hash, raw.symbols
    FROM aggregator_spent_id AS spent
    JOIN surveys_wave AS wave ON wave.id = spent.wave_id
    LEFT JOIN aggregator_raw_report AS raw ON raw.id = spent.id
    WHERE spent.id IN ({ids})
"""


class Outcome(Enum):
    RECORDED = "recorded"
    ALREADY_RECORDED = "already-recorded"


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The stored data of a spent id; its symbols are gone once the report is sealed."""

    manifest_hash: bytes
    symbols: bytes | None


def record_report(upload: Upload) -> Outcome:
    """Commit one report, or find that it was committed before; raise an error if it is refused."""
    (result,) = record_reports([upload])
    if isinstance(result, IntakeError):
        raise result
    return result


def record_reports(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
    """Commit a group of reports in one transaction; return one result for each, in order.

    After a lost connection, the group is sent again on a new connection. Every report has its own
    id, so this does no harm even if the first commit succeeded unnoticed.
    """
    try:
        return _record_together(uploads)
    except (DatabaseError, InterfaceError):
        if connection.in_atomic_block:  # the caller's transaction, which cannot be repeated here
            raise
        connection.close()
        return _record_together(uploads)


def _record_together(uploads: Sequence[Upload]) -> list[Outcome | IntakeError]:
    terms = find_terms({upload.manifest_hash for upload in uploads})
    now = timezone.now()
    refusals = [find_refusal(u, terms=terms.get(u.manifest_hash), now=now) for u in uploads]
    welcome: dict[bytes, Upload] = {}
    for upload, refusal in zip(uploads, refusals, strict=True):
        if refusal is None:
            welcome.setdefault(upload.report_id, upload)  # the first of two with the same id
    fresh = _insert(list(welcome.values())) if welcome else set()
    recorded = [
        upload.report_id in fresh and welcome.get(upload.report_id) is upload for upload in uploads
    ]
    rest = {upload.report_id for upload, done in zip(uploads, recorded, strict=True) if not done}
    known = _find(rest) if rest else {}
    unexplained = {
        upload.manifest_hash
        for upload, refusal in zip(uploads, refusals, strict=True)
        if upload.report_id in rest and (refusal or upload.report_id not in known)
    }
    over = _find_over(unexplained) if unexplained else {}
    return [
        Outcome.RECORDED
        if done
        else _judge(
            upload,
            over.get(upload.manifest_hash, refusal),
            known=known.get(upload.report_id),
            terms=terms.get(upload.manifest_hash),
        )
        for upload, refusal, done in zip(uploads, refusals, recorded, strict=True)
    ]


def _judge(
    upload: Upload,
    refusal: IntakeError | None,
    *,
    known: _Known | None,
    terms: Terms | RetryLater | None,
) -> Outcome | IntakeError:
    """Answer a report that this call did not record.

    A known id is answered in any state of its wave, because its report was acknowledged before.
    """
    if known is None:
        return refusal or refused_as_closed()  # there is no other reason
    if refusal is not None and refusal.problem is problems.UNKNOWN_MANIFEST:
        return refusal
    # A sealed report can no longer be compared; only its id shows that it was counted. If sealing
    # must stay hidden, because it reveals the number of reports to within K, no report is compared.
    is_compared = not (isinstance(terms, Terms) and terms.hides_seals)
    has_same_symbols = not is_compared or known.symbols in (None, upload.symbols)
    if known.manifest_hash == upload.manifest_hash and has_same_symbols:
        return Outcome.ALREADY_RECORDED
    return Refused(
        problems.ID_ALREADY_USED, "This id was already used for a report with different content."
    )


class _Cursor(Protocol):
    def execute(self, query: str, params: Sequence[Any], /) -> object: ...
    def fetchall(self) -> list[Any]: ...


@contextmanager
def _open_cursor() -> Iterator[_Cursor]:
    """Open a cursor that keeps parameters out of statements, wherever the driver can do so.

    Django writes parameters into PostgreSQL's statements, which the server shows to operators and
    may log. The driver's own cursor sends parameters separately.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as separate:
                yield separate
        else:
            yield cursor


def _insert(uploads: list[Upload]) -> set[bytes]:
    """Commit the reports that are new and whose wave is open; return their ids."""
    # Sort by id, so that two processes never deadlock and the order within a group does not show
    # who came first.
    uploads.sort(key=lambda upload: upload.report_id)
    if connection.vendor == "postgresql":
        return _insert_postgresql(uploads)
    with transaction.atomic(durable=True):
        return _insert_sqlite(uploads)


def _insert_postgresql(uploads: Sequence[Upload]) -> set[bytes]:
    hashes = [upload.manifest_hash for upload in uploads]
    ids = [upload.report_id for upload in uploads]
    with _open_cursor() as cursor:
        cursor.execute(
            _RECORD_POSTGRESQL, [list(set(hashes)), ids, hashes, [u.symbols for u in uploads]]
        )
        return {bytes(report_id) for (report_id,) in cursor.fetchall()}


def _insert_sqlite(uploads: Sequence[Upload]) -> set[bytes]:
    with _open_cursor() as cursor:
        cursor.execute(_OPEN_SQLITE, [])
        waves = {bytes(manifest_hash): pk for manifest_hash, pk in cursor.fetchall()}
        rows = [
            (upload.report_id, waves[upload.manifest_hash], upload.symbols)
            for upload in uploads
            if upload.manifest_hash in waves
        ]
        if not rows:
            return set()
        spend = _SPEND_SQLITE.format(rows=_marks(len(rows), width=2))
        cursor.execute(spend, [value for row in rows for value in row[:2]])
        fresh = {bytes(report_id) for (report_id,) in cursor.fetchall()}
        kept = [row for row in rows if row[0] in fresh]
        if kept:
            keep = _KEEP_SQLITE.format(rows=_marks(len(kept), width=3))
            cursor.execute(keep, [value for row in kept for value in row])
        return fresh


def _find_over(hashes: set[bytes]) -> dict[bytes, IntakeError]:
    """Return a refusal for each closed or deleted wave; it takes precedence over other refusals."""
    deleted = DeletedWave.objects.filter(manifest_hash__in=hashes)
    closed = Wave.objects.closed().filter(manifest_hash__in=hashes)
    return {
        bytes(manifest_hash): refusal
        for waves, refusal in ((deleted, refused_as_deleted()), (closed, refused_as_closed()))
        for manifest_hash in waves.values_list("manifest_hash", flat=True)
    }


def _find(ids: set[bytes]) -> dict[bytes, _Known]:
    with _open_cursor() as cursor:
        cursor.execute(_FIND.format(ids=_marks(len(ids))), list(ids))
        return {
            bytes(report_id): _Known(
                manifest_hash=bytes(manifest_hash),
                symbols=None if symbols is None else bytes(symbols),
            )
            for report_id, manifest_hash, symbols in cursor.fetchall()
        }


def _marks(rows: int, *, width: int = 0) -> str:
    one = f"({','.join(['%s'] * width)})" if width else "%s"
    return ",".join([one] * rows)
