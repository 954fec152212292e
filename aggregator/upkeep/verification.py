"""Everything that is shown, computed again from the batches and compared with what is stored.

Reads in short statements and holds no transaction: batches never change, so sums over them can
be taken while reports arrive and others are sealed. Memory does not grow with their number.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isclose
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import count_codes, split_columns
from aggregator.batches.sealing import read_ledger
from aggregator.comparisons.analysis import analyse_table
from aggregator.comparisons.indicators import cross_tabulate_indicators, find_indicators
from aggregator.models import Batch, Comparison, Snapshot, Upkeep
from aggregator.results.estimates import compute_estimates
from aggregator.results.snapshots import METHOD_VERSION, ended_as_frozen
from surveys.manifest.languages import NAMES, hash_words
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest
from surveys.models import Wave

# A full batch of a hundred yes/no questions is 0.8 MB.
BATCHES_AT_ONCE = 16
# Another processor may round the last digits of a logarithm differently; the searches of a
# comparison carry that a little further.
ESTIMATE_TOLERANCE = 1e-13
COMPARISON_TOLERANCE = 1e-9
# A damaged database may differ everywhere; the table of upkeep is no place for all of it.
KEPT_FINDINGS = 1000
# Less than from one night to the next, more than the hours that a run may take.
VERIFIED_LATELY = timedelta(hours=12)
RESTORE = "Restore it from a backup, then run verify again."
Counts = list[list[int]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Something stored that is not what the batches say."""

    kind: str  # wave, reports, batch, snapshot or comparison
    where: str
    number: int  # of the batch, through-batch of the snapshot, primary key of others
    finding: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.finding}. {self.remedy}"


class Verification:
    """One run; counts what it has looked at."""

    def __init__(self) -> None:
        self.waves = self.batches = self.reports = self.snapshots = self.comparisons = 0

    def run(self, waves: QuerySet[Wave]) -> Iterator[Difference]:
        for pk in list(waves.values_list("pk", flat=True)):
            wave = Wave.objects.select_related("survey").filter(pk=pk).first()
            if wave is None:
                continue  # deleted meanwhile
            self.waves += 1
            yield from _check_reports(wave)
            manifest, broken = _check_manifest(wave)
            if broken:
                yield broken
            if manifest:
                check = _WaveCheck(wave, manifest)
                yield from check.run()
                self.batches += check.batches
                self.reports += check.reports
                self.snapshots += check.snapshots
                self.comparisons += check.comparisons


def claim_verification(*, now: datetime) -> bool:
    """Whether nobody began or ended a verification of everything lately; then it is ours.

    Each beat sends a message every night, and one of all workers is enough.
    """
    # Not before "now": a moment of the future is of a clock that was set back since.
    lately = Q(ended_at__gt=now - VERIFIED_LATELY, ended_at__lte=now)
    if Upkeep.objects.filter(lately, job=Upkeep.Job.VERIFY).exists():
        return False
    long_ago = datetime.fromtimestamp(0, UTC)
    claim = Upkeep(job=Upkeep.Job.VERIFY_CLAIM, ended_at=long_ago)
    Upkeep.objects.bulk_create([claim], ignore_conflicts=True)
    ours = Upkeep.objects.filter(job=claim.job).exclude(lately).update(ended_at=now)
    return ours == 1


def store_findings(differences: Sequence[Difference]) -> None:
    """Note when everything was verified, and what was found."""
    found = {
        "differences": [str(difference) for difference in differences[:KEPT_FINDINGS]],
        "count": len(differences),
    }
    Upkeep.objects.update_or_create(
        job=Upkeep.Job.VERIFY, defaults={"ended_at": timezone.now(), "found": found}
    )


def _name(wave: Wave) -> str:
    of_coins = ", two coins" if wave.mode == Wave.Mode.MANUAL else ""
    return f"Survey {wave.survey.slug}, wave {wave.number}{of_coins}"


# --- a wave as a whole ------------------------------------------------------------------------


def _check_manifest(wave: Wave) -> tuple[Manifest | None, Difference | None]:
    content = bytes(wave.manifest)
    finding = ""
    manifest = None
    if hashlib.sha256(content).digest() != bytes(wave.manifest_hash):
        finding = "the manifest is not the one that respondents agreed to (SHA-256)"
    try:
        manifest = parse_manifest(content)
    except (ValueError, KeyError, TypeError):
        finding = "the manifest cannot be read, so nothing else of this wave can be checked"
    if manifest and not finding:
        finding = "; ".join(_check_words(wave, manifest))
    if not finding:
        return manifest, None
    remedy = f"It is the row {wave.pk} of surveys_wave. {RESTORE}"
    return manifest, Difference(
        kind="wave", where=_name(wave), number=wave.pk, finding=finding, remedy=remedy
    )


def _check_words(wave: Wave, manifest: Manifest) -> Iterator[str]:
    """Say which words of other languages are not those whose hashes the manifest names."""
    stored = wave.words if isinstance(wave.words, dict) else {}
    for language in sorted({*stored, *manifest.translations}):
        name, words = NAMES.get(language, language), stored.get(language)
        if language not in manifest.translations:
            yield f"there are words in {name}, a language that the manifest does not name"
        elif words is None:
            yield f"the words in {name}, which the manifest names, are missing"
        elif not isinstance(words, str) or hash_words(words) != manifest.translations[language]:
            yield f"the words in {name} are not those that the manifest names (SHA-256)"


_UNACKNOWLEDGED = """
    SELECT count(*) FROM aggregator_raw_report AS raw WHERE wave_id = %s AND NOT EXISTS (
        SELECT 1 FROM aggregator_spent_id AS spent
        WHERE spent.id = raw.id AND spent.wave_id = raw.wave_id)
"""


def _check_reports(wave: Wave) -> Iterator[Difference]:
    acknowledged, found = read_ledger(wave)
    with connection.cursor() as cursor:
        cursor.execute(_UNACKNOWLEDGED, [wave.pk])
        unacknowledged = int(cursor.fetchone()[0])
    findings = []
    if found != acknowledged:
        many = abs(found - acknowledged)
        findings.append(
            f"{acknowledged:,} reports were acknowledged, {found:,} are sealed, waiting or "
            f"discarded: {many:,} {'missing' if found < acknowledged else 'too many'}"
        )
    if unacknowledged:
        findings.append(f"of the waiting reports, {unacknowledged:,} never had their ids spent")
    for finding in findings:
        yield Difference(
            kind="reports",
            where=_name(wave),
            number=wave.pk,
            finding=finding,
            remedy="Compare with a backup, and find out who else writes to this database.",
        )


# --- batches, and what was computed from them -----------------------------------------------------


class _WaveCheck:
    """Reads a wave's batches once, in order, and checks each result when its batches are read."""

    def __init__(self, wave: Wave, manifest: Manifest) -> None:
        self._wave, self._manifest = wave, manifest
        self._ks = Columns.of(manifest).ks
        self._sums: Counts = [[0] * k for k in self._ks]
        self.batches = self.reports = self.snapshots = self.comparisons = 0

    def run(self) -> Iterator[Difference]:
        # Results before batches: whatever they were computed from is then in the list.
        snapshots = deque(
            self._wave.snapshots.order_by("through_batch").values_list("through_batch", "pk")
        )
        comparisons = deque(self._open_comparisons())
        last = max(
            [through for through, _ in snapshots] + [row.through_batch for row in comparisons],
            default=0,
        )
        expected = 1
        for number, batch in self._read_batches():
            if number != expected:
                yield self._missing(expected, number - 1)
                return  # sums from here on would all be wrong, and say nothing new
            expected += 1
            yield from self._take(number, batch, comparisons)
            while snapshots and snapshots[0][0] == number:
                yield from self._check_snapshot(snapshots.popleft()[1])
            while comparisons and comparisons[0].through_batch == number:
                yield from comparisons.popleft().check(self._wave, self.reports)
                self.comparisons += 1
        if last >= expected:
            yield self._missing(expected, last)

    def _read_batches(self) -> Iterator[tuple[int, _StoredBatch]]:
        """Yield the batches in order of their numbers, a few at a time in memory."""
        keys = list(self._wave.batches.order_by("number").values_list("pk", flat=True))
        for start in range(0, len(keys), BATCHES_AT_ONCE):
            few = Batch.objects.filter(pk__in=keys[start : start + BATCHES_AT_ONCE])
            for batch in few.order_by("number"):
                yield batch.number, _StoredBatch(batch, self._ks)

    def _take(
        self, number: int, batch: _StoredBatch, comparisons: Sequence[_OpenComparison]
    ) -> Iterator[Difference]:
        self.batches += 1
        findings = batch.find(minimum=self._wave.minimum_batch)
        if findings:
            yield Difference(
                kind="batch",
                where=f"{_name(self._wave)}, batch {number}",
                number=number,
                finding="; ".join(findings),
                remedy=f"It is the row {batch.pk} of aggregator_batch. {RESTORE}",
            )
        counts = batch.counts_to_trust
        self.reports += sum(counts[0])
        self._sums = [
            [a + b for a, b in zip(x, y, strict=True)]
            for x, y in zip(self._sums, counts, strict=True)
        ]
        for comparison in comparisons:
            if findings:
                comparison.give_up_table()
            else:
                comparison.add(batch)

    def _missing(self, first: int, last: int) -> Difference:
        which = f"batch {first} is" if first == last else f"batches {first} to {last} are"
        return Difference(
            kind="batch",
            where=_name(self._wave),
            number=first,
            finding=f"{which} missing, so nothing that builds on them can be checked",
            remedy="Restore what is missing from a backup, then run verify again.",
        )

    def _check_snapshot(self, pk: int) -> Iterator[Difference]:
        # With its wave as it is now: one that closed since this began is final rightly.
        snapshot = Snapshot.objects.select_related("wave").filter(pk=pk).first()
        if snapshot is None:
            return  # replaced by newer ones meanwhile
        self.snapshots += 1
        findings = []
        if snapshot.total != sum(self._sums[0]):
            findings.append("its total is not that of its batches")
        if snapshot.counts != self._sums:
            findings.append("its counts are not the sums over its batches")
        if snapshot.method_version == METHOD_VERSION:
            estimates = compute_estimates(
                manifest=self._manifest,
                counts=self._sums,
                fixed_end=snapshot.final and ended_as_frozen(snapshot.wave),
            )
            if not _agree(snapshot.estimates, estimates, ESTIMATE_TOLERANCE):
                findings.append("its estimates are not those of its batches")
        if findings:
            yield Difference(
                kind="snapshot",
                where=f"{_name(self._wave)}, snapshot through batch {snapshot.through_batch}",
                number=snapshot.through_batch,
                finding="; ".join(findings),
                remedy=(
                    f"Delete the row {pk} of aggregator_snapshot and this wave's later ones; the "
                    "workers compute the newest again."
                ),
            )

    def _open_comparisons(self) -> list[_OpenComparison]:
        done = self._wave.comparisons.filter(
            state=Comparison.State.DONE, method_version=METHOD_VERSION
        )
        return [
            _OpenComparison(row, self._manifest) for row in done.order_by("through_batch", "pk")
        ]


class _StoredBatch:
    """One batch and what its bytes say."""

    def __init__(self, batch: Batch, ks: Sequence[int]) -> None:
        self.pk, self.packed, self.size = batch.pk, bytes(batch.packed), batch.size
        self._batch, self._ks = batch, ks
        self._sound = hashlib.sha256(self.packed).digest() == bytes(batch.content_hash)
        self.recounted: Counts | None
        try:
            self.recounted = count_codes(self.packed, size=self.size, ks=ks)
        except ValueError:  # the length does not fit the size
            self.recounted = None

    def find(self, *, minimum: int) -> list[str]:
        findings = []
        if self.size < minimum:
            findings.append(f"it holds {self.size} reports, fewer than the minimum of {minimum}")
        if not self._sound:
            findings.append("its bytes are not those that were sealed (SHA-256)")
        if self.recounted is None:
            findings.append(f"its bytes are not as many as {self.size} reports take")
            return findings
        if self.recounted != self._batch.counts:
            findings.append("its counts are not those of its bytes")
        if not rows_are_sorted(self.packed, size=self.size, ks=self._ks):
            findings.append("its reports are not in canonical order")
        return findings

    @property
    def counts_to_trust(self) -> Counts:
        """What to add up, so that one fault is not reported again by all that builds on it.

        The bytes are believed if their hash is right and the size is the one that was counted.
        """
        stored = self._batch.counts
        usable = _has_shape(stored, self._ks)
        fits = not usable or all(sum(cells) == self.size for cells in stored)
        if self.recounted and self._sound and fits:
            return self.recounted
        return stored if usable else [[0] * k for k in self._ks]


def _has_shape(counts: Any, ks: Sequence[int]) -> bool:
    return (
        isinstance(counts, list)
        and len(counts) == len(ks)
        and all(
            isinstance(cells, list)
            and len(cells) == k
            and all(isinstance(count, int) for count in cells)
            for cells, k in zip(counts, ks, strict=True)
        )
    )


def rows_are_sorted(packed: bytes, *, size: int, ks: Sequence[int]) -> bool:
    """Whether the reports stand in the order of their codes, the first question first."""
    tied = np.ones(size - 1, dtype=bool)  # with the next report, in all columns so far
    for k, column in zip(ks, split_columns(packed, size=size, ks=ks), strict=True):
        codes = np.unpackbits(column, count=size, bitorder="little") if k == 2 else column
        if (tied & (codes[:-1] > codes[1:])).any():
            return False
        tied &= codes[:-1] == codes[1:]
        if not tied.any():
            break
    return True


class _OpenComparison:
    """A finished comparison whose batches are being counted again.

    Tables are computed anew. Regressions and all pairs would take minutes; of them only the
    number of reports is checked.
    """

    def __init__(self, row: Comparison, manifest: Manifest) -> None:
        self._row, self._columns = row, Columns.of(manifest)
        self.through_batch = row.through_batch
        self._indicators = find_indicators(manifest, row.names)
        self._is_table = row.kind == Comparison.Kind.TABLE
        # Where some were not asked, a regression counts fewer reports than there are.
        self._has_total = row.kind == Comparison.Kind.PAIRS or not self._columns.mask_count
        self._counts: NDArray[np.int64] = np.zeros(
            [one.codes for one in self._indicators] if self._is_table else (), dtype=np.int64
        )

    def give_up_table(self) -> None:
        """A batch is wrong and was reported: of the table, too, check only how many it counts."""
        self._is_table = False

    def add(self, batch: _StoredBatch) -> None:
        if self._is_table:
            self._counts = self._counts + cross_tabulate_indicators(
                batch.packed, size=batch.size, columns=self._columns, indicators=self._indicators
            )

    def check(self, wave: Wave, reports: int) -> Iterator[Difference]:
        stored = self._row.result or {}
        if self._is_table:
            result = analyse_table(indicators=self._indicators, counts=self._counts)
            right = _agree(stored, json.loads(json.dumps(result)), COMPARISON_TOLERANCE)
        else:
            right = stored.get("n") == reports or not self._has_total
        if not right:
            yield Difference(
                kind="comparison",
                where=f"{_name(wave)}, comparison {self._row.pk} ({self._row})",
                number=self._row.pk,
                finding="its figures are not those of its batches",
                remedy=(
                    f"Delete the row {self._row.pk} of aggregator_comparison; whoever wants it "
                    "asks again."
                ),
            )


def _agree(stored: Any, computed: Any, tolerance: float) -> bool:
    """Whether two results out of JSON are the same, numbers up to the tolerance."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        return stored.keys() == computed.keys() and all(
            _agree(stored[key], computed[key], tolerance) for key in stored
        )
    if isinstance(stored, list) and isinstance(computed, list):
        return len(stored) == len(computed) and all(
            _agree(a, b, tolerance) for a, b in zip(stored, computed, strict=True)
        )
    if isinstance(stored, float) or isinstance(computed, float):
        numbers = isinstance(stored, int | float) and isinstance(computed, int | float)
        return numbers and isclose(stored, computed, rel_tol=tolerance, abs_tol=tolerance)
    return bool(stored == computed)
