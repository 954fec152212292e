"""Check a wave as a whole: its manifest, its translations and its number of reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from django.db import connection

from aggregator.background.levels import is_within, read_background, write_background
from aggregator.background.rows_files import compute_proposal, find_rows_file
from aggregator.batches.sealing import count_reports
from aggregator.comparisons.jobs import compute_broken_down
from aggregator.upkeep.verification.differences import RESTORE, Difference, name_wave
from surveys.manifest.languages import NAMES, hash_words
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest
from surveys.models import Wave, list_frozen_columns

INTRUDER = "Compare with a backup, and find out who else writes to this database."
RESTORED = (
    "If this database was restored from a backup without raw reports, they are lost: say so once "
    "with manage.py verify --accept-loss. Otherwise, compare with a backup, and find out who else "
    "writes to this database."
)


def check_manifest(wave: Wave) -> tuple[Manifest | None, Difference | None]:
    content = bytes(wave.manifest)
    finding = ""
    manifest = None
    if hashlib.sha256(content).digest() != bytes(wave.manifest_hash):
        finding = "the manifest differs from the one that respondents agreed to (SHA-256)"
    try:
        manifest = parse_manifest(content)
    except (ValueError, KeyError, TypeError):
        finding = "the manifest cannot be read, so nothing else in this wave can be checked"
    if manifest and not finding:
        finding = "; ".join([*_check_columns(wave, manifest), *_check_words(wave, manifest)])
    if not finding:
        return manifest, None
    remedy = f"It is row {wave.pk} of surveys_wave. {RESTORE}"
    return manifest, Difference(
        kind="wave", where=name_wave(wave), number=wave.pk, finding=finding, remedy=remedy
    )


def _check_columns(wave: Wave, manifest: Manifest) -> Iterator[str]:
    """Name the columns that differ from their originals in the manifest."""
    for column, frozen in list_frozen_columns(manifest).items():
        if getattr(wave, column) != frozen:
            yield f"its {column} differs from the manifest"


def _check_words(wave: Wave, manifest: Manifest) -> Iterator[str]:
    """Name the translations whose hashes differ from those in the manifest."""
    stored = wave.words if isinstance(wave.words, dict) else {}
    for language in sorted({*stored, *manifest.translations}):
        name, words = NAMES.get(language, language), stored.get(language)
        if language not in manifest.translations:
            yield f"there is a translation into {name}, which the manifest does not name"
        elif words is None:
            yield f"the translation into {name}, which the manifest names, is missing"
        elif not isinstance(words, str) or hash_words(words) != manifest.translations[language]:
            yield f"the translation into {name} differs from the one in the manifest (SHA-256)"


_UNACKNOWLEDGED = """
    SELECT count(*) FROM aggregator_raw_report AS raw WHERE wave_id = %s AND NOT EXISTS (
        SELECT 1 FROM aggregator_spent_id AS spent
        WHERE spent.id = raw.id AND spent.wave_id = raw.wave_id)
"""


def count_missing(wave: Wave) -> int:
    """Return how many acknowledged reports are missing, or minus the number of extra reports."""
    acknowledged, accounted = count_reports(wave)
    return acknowledged - accounted


def check_reports(wave: Wave, *, accepted: int = 0) -> Iterator[Difference]:
    """Report missing reports unless exactly the `accepted` number is missing since a restore."""
    missing = count_missing(wave)
    with connection.cursor() as cursor:
        cursor.execute(_UNACKNOWLEDGED, [wave.pk])
        unacknowledged = int(cursor.fetchone()[0])
    if missing not in (0, accepted):
        acknowledged, _ = count_reports(wave)
        finding = (
            f"{acknowledged:,} reports were acknowledged, {acknowledged - missing:,} are sealed, "
            f"waiting or discarded: {abs(missing):,} {'missing' if missing > 0 else 'too many'}"
        )
        known = f", of which {accepted:,} are known to be lost" if accepted else ""
        yield _differ(wave, finding + known, RESTORED if missing > 0 else INTRUDER)
    if unacknowledged:
        finding = f"waiting reports whose ids were never marked as spent: {unacknowledged:,}"
        yield _differ(wave, finding, INTRUDER)


def _differ(wave: Wave, finding: str, remedy: str) -> Difference:
    return Difference(
        kind="reports", where=name_wave(wave), number=wave.pk, finding=finding, remedy=remedy
    )


def check_rows_file(wave: Wave) -> Iterator[Difference]:
    """Recompute the proposal for the file of rows, and check that the choice is within it."""
    stored = find_rows_file(wave)
    if stored is None:
        return
    proposal = compute_proposal(wave)
    proposed = write_background(proposal.background)
    computed = (proposed, proposal.smallest, proposal.has_files_of_blocks)
    finding = ""
    if computed != (stored.proposed, stored.smallest, stored.has_files_of_blocks):
        finding = "the proposal for the file of rows does not match the batches"
    elif stored.crosses_files and not proposal.crosses_files:
        finding = "blocks are compared with each other although too few people were asked both"
    elif not is_within(read_background(stored.chosen or []), proposal.background):
        finding = "the file of rows tells more people apart than was proposed"
    elif stored.broken_down is not None and stored.broken_down != compute_broken_down(wave, stored):
        finding = "the questions that are broken down do not follow from the batches"
    if finding:
        yield Difference(
            kind="rows",
            where=name_wave(wave),
            number=wave.pk,
            finding=finding,
            remedy=f"It is row {stored.pk} of aggregator_rows_file. {RESTORE}",
        )
