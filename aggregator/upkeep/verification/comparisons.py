"""Check a finished comparison while its batches are counted again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aggregator.background.rows_files import find_rows_file
from aggregator.batches.columns import Columns
from aggregator.comparisons.breakdown.computing import GroupCounter, compute_breakdown
from aggregator.comparisons.counting import cross_tabulate_indicators
from aggregator.comparisons.jobs import compute_table, find_declared, find_first_batch
from aggregator.comparisons.standing import is_of_survey
from aggregator.comparisons.stored import UnreadableResult, read_result, write_result
from aggregator.models import Comparison
from aggregator.results.snapshots import list_looks_before_close, list_told
from aggregator.upkeep.verification.batches import StoredBatch
from aggregator.upkeep.verification.differences import Difference, agree, name_wave
from surveys.comparing.indicators import find_indicators, list_names
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

# A different processor may round the last digits differently, and the search for a maximum
# increases the difference a little.
COMPARISON_TOLERANCE = 1e-9
REQUEST_AGAIN = "Delete row {row} of aggregator_comparison; the comparison can be requested again."
# Nobody can request a claim's test again. If its row were deleted, the claim would never be tested.
TEST_AGAIN = (
    "In row {row} of aggregator_comparison, set state to 'waiting' and result to NULL; a worker "
    "then tests the claim again on the same reports."
)


class OpenComparison:
    """A finished comparison whose batches are being counted again.

    Tables and breakdowns are computed again. Regressions and all pairs would take minutes, so only
    their names and numbers of reports are checked.
    """

    def __init__(self, row: Comparison, manifest: Manifest) -> None:
        self._row, self._columns = row, Columns.of(manifest)
        self.first_batch, self.through_batch = find_first_batch(row), row.through_batch
        self._manifest = manifest
        self._has_known_names = is_of_survey(row, manifest)
        self._indicators = find_indicators(manifest, row.names) if self._has_known_names else []
        as_table = (Comparison.Kind.TABLE, Comparison.Kind.CLAIM)
        self._is_table = self._has_known_names and row.kind in as_table
        self._declared = find_declared(row, manifest)
        self._groups = GroupCounter(manifest, self._declared) if self._declared else None
        # If some people were not asked, a regression counts fewer reports than the batches hold.
        everyone = (Comparison.Kind.PAIRS, Comparison.Kind.BREAKDOWN)
        self._has_total = row.kind in everyone or not self._columns.mask_count
        self._counts: NDArray[np.int64] = np.zeros(
            [one.codes for one in self._indicators] if self._is_table else (), dtype=np.int64
        )

    def give_up_table(self) -> None:
        """Check only the number of reports, because a faulty batch has already been reported."""
        self._is_table, self._groups = False, None

    def add(self, batch: StoredBatch) -> None:
        if self._is_table:
            self._counts = self._counts + cross_tabulate_indicators(
                batch.packed, size=batch.size, columns=self._columns, indicators=self._indicators
            )
        if self._groups is not None:
            self._groups.add(batch.packed, size=batch.size)

    def check(self, wave: Wave, reports: int) -> Iterator[Difference]:
        if not self._is_right(wave, reports):
            is_claim = self._row.kind == Comparison.Kind.CLAIM
            yield Difference(
                kind="comparison",
                where=f"{name_wave(wave)}, comparison {self._row.pk} ({self._row})",
                number=self._row.pk,
                finding="its figures do not match its batches",
                remedy=(TEST_AGAIN if is_claim else REQUEST_AGAIN).format(row=self._row.pk),
            )

    def _is_right(self, wave: Wave, reports: int) -> bool:
        if self._declared and self._groups:
            rows_file = find_rows_file(wave)
            if rows_file is None:
                return False
            broken_down = compute_breakdown(
                manifest=self._manifest,
                question=self._declared,
                rows_file=rows_file,
                counts=self._groups.result(),
                told=list_told(wave),
                shown_at=list_looks_before_close(wave),
            )
            return agree(self._row.result, write_result(broken_down), COMPARISON_TOLERANCE)
        if self._is_table:
            result = compute_table(self._row, self._indicators, self._counts)
            return agree(self._row.result, write_result(result), COMPARISON_TOLERANCE)
        names = list_names(self._manifest)
        try:
            stored = read_result(self._row.kind, self._row.result, indicators=names)
        except UnreadableResult:
            return False
        has_known_names = self._has_known_names or self._declared is not None
        return has_known_names and (stored.n == reports or not self._has_total)
