"""The waves that reports name: held open while a group is written, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import psycopg
from django.db import connection

from aggregator import problems
from aggregator.intake.errors import IntakeError, NotNow, Refused
from aggregator.intake.wire import Upload
from surveys.locks import WAVE_LOCK
from surveys.manifest import parse_manifest
from surveys.models import Wave

_READ = "SELECT id, state, manifest_hash FROM surveys_wave WHERE manifest_hash IN ({marks})"
# In the order of ids, as everybody takes these locks. The row lock shows the newest state even
# if the wave was closed while this waited for the first one.
_READ_AND_HOLD = """
    WITH held AS MATERIALIZED (
        SELECT id, pg_advisory_xact_lock_shared({lock}, id::int) FROM surveys_wave
        WHERE manifest_hash IN ({marks}) ORDER BY id
    )
    SELECT wave.id, state, manifest_hash FROM surveys_wave AS wave JOIN held ON held.id = wave.id
    ORDER BY wave.id FOR KEY SHARE OF wave
"""


class Cursor(Protocol):
    def execute(self, query: str, params: Sequence[Any], /) -> object: ...
    def fetchall(self) -> list[Any]: ...


@contextmanager
def open_cursor() -> Iterator[Cursor]:
    """A cursor whose statements never hold the parameters, wherever the driver can do so.

    Django writes parameters into PostgreSQL's statements; the server shows those to operators
    and may log them. The driver's own cursor sends them apart.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as apart:
                yield apart
        else:
            yield cursor


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a launched manifest says for good."""

    opens_at: datetime | None
    closes_at: datetime | None
    options: tuple[int, ...]  # of each question


@dataclass(frozen=True, kw_only=True)
class HeldWave:
    pk: int
    is_open: bool
    terms: Terms


_terms: dict[bytes, Terms] = {}


def hold_waves(hashes: set[bytes]) -> dict[bytes, HeldWave]:
    """Read the waves, by manifest hash, so that none can close before this group is committed."""
    query = _READ_AND_HOLD if connection.vendor == "postgresql" else _READ
    marks = ",".join(["%s"] * len(hashes))
    with open_cursor() as cursor:
        cursor.execute(query.format(marks=marks, lock=WAVE_LOCK), list(hashes))
        rows = cursor.fetchall()
    return {
        bytes(manifest_hash): HeldWave(
            pk=pk, is_open=state == Wave.State.OPEN, terms=_terms_of(bytes(manifest_hash))
        )
        for pk, state, manifest_hash in rows
    }


def _terms_of(manifest_hash: bytes) -> Terms:
    if manifest_hash not in _terms:
        wave = Wave.objects.get(manifest_hash=manifest_hash)
        questions = parse_manifest(bytes(wave.manifest)).questions
        _terms[manifest_hash] = Terms(
            opens_at=wave.opens_at,
            closes_at=wave.closes_at,
            options=tuple(question.k for question in questions),
        )
    return _terms[manifest_hash]


def find_obstacle(
    upload: Upload, *, waves: Mapping[bytes, HeldWave], now: datetime
) -> IntakeError | None:
    """Say why a new report would not be taken; None if it is welcome."""
    wave = waves.get(upload.manifest_hash)
    if wave is None:
        return Refused(
            problems.UNKNOWN_MANIFEST,
            "No survey has this manifest. Load the page again to get the current one.",
        )
    terms = wave.terms
    if not wave.is_open or (terms.closes_at is not None and now >= terms.closes_at):
        return Refused(problems.WAVE_CLOSED, "This survey is closed and takes no more reports.")
    if terms.opens_at is not None and now < terms.opens_at:
        return NotNow(
            problems.WAVE_NOT_OPEN_YET,
            "This survey is not open yet.",
            retry_after=min(3600, max(1, int((terms.opens_at - now).total_seconds()) + 1)),
        )
    return _find_misfit(upload.symbols, options=terms.options)


def _find_misfit(symbols: bytes, *, options: Sequence[int]) -> IntakeError | None:
    if len(symbols) != len(options):
        return Refused(
            problems.WRONG_LENGTH,
            f"This survey has {len(options)} symbols, the report has {len(symbols)}.",
        )
    for number, (code, k) in enumerate(zip(symbols, options, strict=True), 1):
        if code >= k:
            return Refused(
                problems.SYMBOL_OUT_OF_RANGE,
                f"Symbol {number} must be one of the first {k} of the alphabet.",
            )
    return None
