"""Check everything that was computed from a wave's batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from copy import deepcopy
from math import inf

from django.db.models import F

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import list_tables
from aggregator.models import Batch, Comparison, Snapshot
from aggregator.results.estimating import compute_estimates
from aggregator.results.looks import Replay
from aggregator.results.snapshots import METHOD_VERSION, compute_told, list_shown_looks
from aggregator.upkeep.verification.batches import StoredBatch
from aggregator.upkeep.verification.comparisons import OpenComparison
from aggregator.upkeep.verification.differences import RESTORE, Difference, agree, name_wave
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

# A full batch of a hundred yes/no questions is 0.8 MB.
BATCHES_AT_ONCE = 16
# A different processor may round the last digits of a logarithm differently.
ESTIMATE_TOLERANCE = 1e-13


class WaveCheck:
    """Reads a wave's batches once, in order, and checks each result after its batches."""

    def __init__(self, wave: Wave, manifest: Manifest) -> None:
        self._wave, self._manifest = wave, manifest
        self._ks = Columns.of(manifest).ks
        self._tables = list_tables(manifest)
        # The keys are the batches after which looks are decided. They are above 0 if the wave is
        # older than looks.
        self._replays: dict[float, Replay] = {}
        self.batches = self.reports = self.snapshots = self.comparisons = 0

    def run(self) -> Iterator[Difference]:
        # Read the results before the list of batches, so that the list contains every batch that
        # they count.
        rows = self._wave.snapshots.order_by("through_batch")
        snapshots = deque(rows.values_list("through_batch", "pk"))
        decided = rows.filter(looks_from__lt=F("through_batch"))
        self._replays = {
            looks_from: Replay(self._manifest, looks_from=looks_from)
            for looks_from in (inf, *decided.values_list("looks_from", flat=True))
        }
        comparisons = deque(self._open_comparisons())
        last = max(
            [through for through, _ in snapshots] + [row.through_batch for row in comparisons],
            default=0,
        )
        expected = 1
        for number, batch in self._read_batches():
            if number != expected:
                yield self._missing(expected, number - 1)
                return  # all later sums would be wrong for the same reason
            expected += 1
            yield from self._take(number, batch, comparisons)
            while snapshots and snapshots[0][0] == number:
                yield from self._check_snapshot(snapshots.popleft()[1])
            while comparisons and comparisons[0].through_batch == number:
                yield from comparisons.popleft().check(self._wave, self.reports)
                self.comparisons += 1
        if last >= expected:
            yield self._missing(expected, last)

    def _read_batches(self) -> Iterator[tuple[int, StoredBatch]]:
        """Yield the batches in the order of their numbers, with only a few in memory."""
        own = Batch.every.filter(wave=self._wave)
        keys = list(own.order_by("number").values_list("pk", flat=True))
        for start in range(0, len(keys), BATCHES_AT_ONCE):
            few = Batch.every.filter(pk__in=keys[start : start + BATCHES_AT_ONCE])
            for batch in few.order_by("number"):
                yield batch.number, StoredBatch(batch, self._ks, self._tables)

    def _take(
        self, number: int, batch: StoredBatch, comparisons: Sequence[OpenComparison]
    ) -> Iterator[Difference]:
        self.batches += 1
        faults = batch.find_faults(minimum=self._wave.minimum_batch)
        if faults:
            yield Difference(
                kind="batch",
                where=f"{name_wave(self._wave)}, batch {number}",
                number=number,
                finding="; ".join(faults),
                remedy=f"It is row {batch.pk} of aggregator_batch. {RESTORE}",
            )
        counts, tables = batch.counts_to_trust
        self.reports += sum(counts[0])
        for replay in self._replays.values():
            replay.take(number, counts, tables)
        for comparison in comparisons:
            if faults:
                comparison.give_up_table()
            elif number >= comparison.first_batch:
                comparison.add(batch)

    def _missing(self, first: int, last: int) -> Difference:
        which = f"batch {first} is" if first == last else f"batches {first} to {last} are"
        return Difference(
            kind="batch",
            where=name_wave(self._wave),
            number=first,
            finding=f"{which} missing, so nothing computed from them can be checked",
            remedy="Restore what is missing from a backup, then run verify again.",
        )

    def _check_snapshot(self, pk: int) -> Iterator[Difference]:
        # Also read the wave's current state. If the wave closed during the run, its snapshot may be
        # final.
        snapshot = Snapshot.objects.select_related("wave").filter(pk=pk).first()
        if snapshot is None:
            return  # replaced by newer ones during the run
        self.snapshots += 1
        faults = list(self._find_faults(snapshot))
        if faults:
            yield Difference(
                kind="snapshot",
                where=f"{name_wave(self._wave)}, snapshot through batch {snapshot.through_batch}",
                number=snapshot.through_batch,
                finding="; ".join(faults),
                remedy=(
                    f"Delete row {pk} of aggregator_snapshot and this wave's later ones; the "
                    "workers then compute the newest again."
                ),
            )

    def _find_faults(self, snapshot: Snapshot) -> Iterator[str]:
        replay = self._find_replay(snapshot)
        if snapshot.list_looks(len(replay.looks)) != replay.looks:
            yield "its looks do not follow from its batches"
        if snapshot.total != replay.total:
            yield "its total does not match its batches"
        if snapshot.counts != replay.counts:
            yield "its counts do not match the sum of its batches"
        if snapshot.method_version == METHOD_VERSION:
            if snapshot.totals != replay.totals:
                yield "the numbers of reports at its looks do not follow from its batches"
            if snapshot.tables != replay.tables:
                yield "its tables do not match the sum of its batches"
            if snapshot.final and list(compute_told(snapshot.wave)) != snapshot.told:
                yield "the background questions whose sizes it shows do not follow from its batches"
            estimates = compute_estimates(
                manifest=self._manifest,
                counts=replay.counts,
                tables=replay.tables,
                shown_at=list_shown_looks(snapshot.wave, replay.totals, final=snapshot.final),
                told=snapshot.told,
            )
            computed = [result.to_json() for result in estimates]
            if not agree(snapshot.estimates, computed, ESTIMATE_TOLERANCE):
                yield "its estimates do not match its batches"

    def _find_replay(self, snapshot: Snapshot) -> Replay:
        """Return the expected counts of a snapshot; final and half snapshots show all batches."""
        replay = self._replays.get(snapshot.looks_from, self._replays[inf])
        if snapshot.final or snapshot.is_half:
            replay = deepcopy(replay)
            replay.look_at_all(snapshot.through_batch)
        return replay

    def _open_comparisons(self) -> list[OpenComparison]:
        done = self._wave.comparisons.filter(
            state=Comparison.State.DONE, method_version=METHOD_VERSION
        )
        rows = done.order_by("through_batch", "pk")
        return [OpenComparison(row, self._manifest) for row in rows]
