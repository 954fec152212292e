"""Checks of a wave as a whole: its manifest, its translations and its number of reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from django.db import connection

from aggregator.background.levels import is_within, read_background, write_background
from aggregator.background.rows_files import compute_proposal, find_rows_file
from aggregator.batches.sealing import read_ledger
from aggregator.comparisons.jobs import compute_broken_down
from aggregator.upkeep.verification.differences import RESTORE, Difference, name_wave
from surveys.manifest.languages import NAMES, hash_words
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest
from surveys.models import Wave


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
        finding = "; ".join(_check_words(wave, manifest))
    if not finding:
        return manifest, None
    remedy = f"It is row {wave.pk} of surveys_wave. {RESTORE}"
    return manifest, Difference(
        kind="wave", where=name_wave(wave), number=wave.pk, finding=finding, remedy=remedy
    )


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


def check_reports(wave: Wave) -> Iterator[Difference]:
    acknowledged, accounted = read_ledger(wave)
    with connection.cursor() as cursor:
        cursor.execute(_UNACKNOWLEDGED, [wave.pk])
        unacknowledged = int(cursor.fetchone()[0])
    findings = []
    if accounted != acknowledged:
        many = abs(accounted - acknowledged)
        findings.append(
            f"{acknowledged:,} reports were acknowledged, {accounted:,} are sealed, waiting or "
            f"discarded: {many:,} {'missing' if accounted < acknowledged else 'too many'}"
        )
    if unacknowledged:
        findings.append(f"waiting reports whose ids were never marked as spent: {unacknowledged:,}")
    for finding in findings:
        yield Difference(
            kind="reports",
            where=name_wave(wave),
            number=wave.pk,
            finding=finding,
            remedy="Compare with a backup, and find out who else writes to this database.",
        )


def check_rows_file(wave: Wave) -> Iterator[Difference]:
    """Compute the proposal for the file of rows again, and check that the choice is within it."""
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
