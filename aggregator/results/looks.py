"""Decide, batch by batch, at which looks the results of an open wave are updated.

Reports that arrive between two looks change nothing that anybody sees. At each look, at least K
reports and at least a tenth of all reports are new. To read one report from the difference between
two looks, a researcher must therefore surround it with that many invented reports. This is
expensive where many people answer. The attack works if nobody else answers in between
(scripts/attacks/researcher).

All questions that everyone is asked are updated at the same look, and so is the number of reports.
Where each person is asked only some blocks of questions, each block has separate looks.
"""

from __future__ import annotations

from collections.abc import Sequence

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import list_tables
from surveys.manifest.manifest import Manifest

EVERYBODY = 0  # the part that all people are asked; block number b is part b + 1


def find_part(manifest: Manifest, block: int | None) -> int:
    """Return the part that symbols of this block belong to."""
    return EVERYBODY if block is None or manifest.drawn is None else block + 1


def reports_needed(*, seen: int, least: int) -> int:
    """Return how many new reports the next look needs, after a look at `seen` reports.

    A tenth of all reports must be new: 10·new ≥ seen + new, so new ≥ seen / 9.
    """
    return max(least, -(-seen // 9))


def list_least(manifest: Manifest) -> tuple[int, ...]:
    """List the least number of new reports for each part's look.

    This number is K, or a tenth of the expected reports if that is more. Only the drawn share of
    the expected people is asked each block.
    """
    expected = manifest.people_expected or 0
    shares = [(1, 1)]
    if manifest.drawn is not None:
        shares += [(manifest.drawn, manifest.block_count)] * manifest.block_count
    return tuple(
        max(manifest.minimum_batch, -(-expected * drawn // (10 * blocks)))
        for drawn, blocks in shares
    )


class Replay:
    """Takes a wave's batches in order and makes each part's look as soon as it is due.

    `counts` and `tables` hold the counts of each column and of each joint table as of the look of
    its part. `total` is the number of reports as of the look at the questions for everybody, and
    `totals` lists this number for all looks so far. The result depends only on the batches, and not
    on whether they are taken one at a time or all at once.
    """

    def __init__(self, manifest: Manifest, *, looks_from: float = 0) -> None:
        self._looks_from = looks_from
        columns, tables = Columns.of(manifest), list_tables(manifest)
        self._least = list_least(manifest)
        self._parts = [find_part(manifest, block) for block in columns.blocks]
        self._table_parts = [find_part(manifest, table.block) for table in tables]
        self.looks = [0] * len(self._least)
        self.counts = [[0] * k for k in columns.ks]
        self.tables = [[0] * table.cells for table in tables]
        self.total = 0
        self.totals: list[int] = []
        self._new = [[0] * k for k in columns.ks]
        self._new_tables = [[0] * table.cells for table in tables]
        self._new_total = 0

    def resume(
        self,
        *,
        looks: Sequence[int],
        counts: Sequence[Sequence[int]],
        tables: Sequence[Sequence[int]],
        total: int,
        totals: Sequence[int],
    ) -> None:
        """Continue after these looks; the next batch is the one after the earliest of them."""
        self.looks, self.total, self.totals = list(looks), total, list(totals)
        self.counts = [list(cells) for cells in counts]
        self.tables = [list(cells) for cells in tables]

    @property
    def through_batch(self) -> int:
        """The batch of the newest look, or 0 before the first look."""
        return max(self.looks)

    def take(
        self, number: int, counts: Sequence[Sequence[int]], tables: Sequence[Sequence[int]]
    ) -> None:
        """Add a batch to the parts whose last look is older, and make the looks that are due."""
        for column, (part, cells) in enumerate(zip(self._parts, counts, strict=True)):
            if number > self.looks[part]:
                self._new[column] = _add(self._new[column], cells)
        for place, (part, cells) in enumerate(zip(self._table_parts, tables, strict=True)):
            if number > self.looks[part]:
                self._new_tables[place] = _add(self._new_tables[place], cells)
        if number > self.looks[EVERYBODY]:
            self._new_total += sum(counts[0])
        for part in range(len(self.looks)):
            if number > self.looks[part] and self._is_due(part, number):
                self._look(part, number)
                if part == EVERYBODY:
                    self.totals.append(self.total)

    def look_at_all(self, number: int) -> None:
        """Count everything, once the wave is closed and no report waits to be sealed.

        This does not count as a look, because the person who closes a wave has seen only the last
        look.
        """
        for part in range(len(self.looks)):
            self._look(part, number)

    def _is_due(self, part: int, number: int) -> bool:
        """Return whether a part's look is due; blocks wait for the first look of EVERYBODY."""
        if number <= self._looks_from:
            return True
        seen, new = self._count_reports(part)
        is_first = part != EVERYBODY and not self.looks[EVERYBODY]
        return not is_first and new >= reports_needed(seen=seen, least=self._least[part])

    def _count_reports(self, part: int) -> tuple[int, int]:
        """Return how many reports of a part were seen at its last look, and how many are new."""
        if part == EVERYBODY:
            return self.total, self._new_total
        mask = part - 1  # the masks are the first columns
        return self.counts[mask][1], self._new[mask][1]

    def _look(self, part: int, number: int) -> None:
        self.looks[part] = number
        for column, own in enumerate(self._parts):
            if own == part:
                self.counts[column] = _add(self.counts[column], self._new[column])
                self._new[column] = [0] * len(self._new[column])
        for place, own in enumerate(self._table_parts):
            if own == part:
                self.tables[place] = _add(self.tables[place], self._new_tables[place])
                self._new_tables[place] = [0] * len(self._new_tables[place])
        if part == EVERYBODY:
            self.total += self._new_total
            self._new_total = 0


def _add(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]
