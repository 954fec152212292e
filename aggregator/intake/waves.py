"""The waves that reports name: held open while a group is written, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import connection

from aggregator import problems
from aggregator.intake.errors import IntakeError, NotNow, Refused
from aggregator.intake.wire import Upload
from surveys.locks import WAVE_LOCK
from surveys.manifest import parse_manifest
from surveys.models import Wave

# A launched manifest never changes, so neither do the numbers of options that it gives.
_options: dict[bytes, tuple[int, ...]] = {}


def lock_waves(hashes: set[bytes]) -> dict[bytes, Wave]:
    """Read the waves so that they cannot close before this group is committed."""
    marks = ",".join(["%s"] * len(hashes))
    columns = "wave.id, state, opens_at, closes_at, wave.manifest_hash"
    if connection.vendor == "postgresql":
        # In the order of ids, as everybody takes them. The row lock shows the newest state
        # even if the wave was closed while this waited for the first one.
        query = f"""
            WITH held AS MATERIALIZED (
                SELECT id, pg_advisory_xact_lock_shared({WAVE_LOCK}, id::int) FROM surveys_wave
                WHERE manifest_hash IN ({marks}) ORDER BY id
            )
            SELECT {columns} FROM surveys_wave AS wave JOIN held ON held.id = wave.id
            ORDER BY wave.id FOR KEY SHARE OF wave
        """  # noqa: S608
    else:
        query = f"SELECT {columns} FROM surveys_wave AS wave WHERE manifest_hash IN ({marks})"  # noqa: S608
    waves = Wave.objects.raw(query, list(hashes))
    return {bytes(wave.manifest_hash): wave for wave in waves}


def _options_of(wave: Wave) -> tuple[int, ...]:
    key = bytes(wave.manifest_hash)
    if key not in _options:
        _options[key] = tuple(q.k for q in parse_manifest(bytes(wave.manifest)).questions)
    return _options[key]


def find_obstacle(
    upload: Upload, *, waves: Mapping[bytes, Wave], now: datetime
) -> IntakeError | None:
    """Say why a new report would not be taken; None if it is welcome."""
    wave = waves.get(upload.manifest_hash)
    if wave is None:
        return Refused(
            problems.UNKNOWN_MANIFEST,
            "No survey has this manifest. Load the page again to get the current one.",
        )
    if not wave.is_open or (wave.closes_at is not None and now >= wave.closes_at):
        return Refused(problems.WAVE_CLOSED, "This survey is closed and takes no more reports.")
    if wave.opens_at is not None and now < wave.opens_at:
        return NotNow(
            problems.WAVE_NOT_OPEN_YET,
            "This survey is not open yet.",
            retry_after=min(3600, max(1, int((wave.opens_at - now).total_seconds()) + 1)),
        )
    return _find_misfit(upload, options=_options_of(wave))


def _find_misfit(upload: Upload, *, options: Sequence[int]) -> IntakeError | None:
    symbols = upload.symbols
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
