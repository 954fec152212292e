"""The number of people with each combination of drawn blocks and declared answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import read_columns
from aggregator.models import Batch
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave

BATCHES_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Combinations:
    """The combinations of masks and declared codes that occur, one per row."""

    masks: NDArray[np.uint8]
    declared: NDArray[np.uint8]
    people: NDArray[np.int64]  # the number of people with each combination

    @property
    def parts(self) -> list[int | None]:
        """The blocks of a random subset, or a single None if no blocks are drawn at random."""
        return [*range(self.masks.shape[1])] or [None]

    def find_asked(self, part: int | None) -> NDArray[np.bool_]:
        """Return which combinations contain people who were asked a block."""
        if part is None:
            return np.ones(len(self.people), dtype=np.bool_)
        asked: NDArray[np.bool_] = self.masks[:, part] == 1
        return asked

    def count(self, place: int, k: int, *, part: int | None = None) -> list[int]:
        """Count people by their answer to a declared question, overall or within one block."""
        people = np.where(self.find_asked(part), self.people, 0)
        counts = np.bincount(self.declared[:, place], weights=people, minlength=k)
        return [int(count) for count in counts]


def list_declared(manifest: Manifest) -> list[ManifestQuestion]:
    return [question for question in manifest.questions if question.is_declared]


def count_combinations(
    wave: Wave, manifest: Manifest, *, batches: QuerySet[Batch] | None = None
) -> Combinations:
    """Count all sealed reports of a wave, or only the reports in some of its batches."""
    layout = Columns.of(manifest)
    places = {
        symbol.name: place for symbol, place in zip(manifest.symbols, layout.places, strict=True)
    }
    declared = [places[question.name] for question in list_declared(manifest)]
    columns = [*range(layout.mask_count), *declared]
    rows = np.empty((0, len(columns)), dtype=np.uint8)
    people = np.empty(0, dtype=np.int64)
    chosen = wave.batches.all() if batches is None else batches
    keys = list(chosen.values_list("pk", flat=True))
    for start in range(0, len(keys), BATCHES_AT_ONCE):
        few = Batch.every.filter(pk__in=keys[start : start + BATCHES_AT_ONCE])
        more = [_read_combinations(one, layout.ks, columns) for one in few]
        rows, people = _add_up(
            np.concatenate([rows, *more]),
            np.concatenate([people, *(np.ones(len(one), dtype=np.int64) for one in more)]),
        )
    return Combinations(
        masks=rows[:, : layout.mask_count],
        declared=rows[:, layout.mask_count :],
        people=people,
    )


def _read_combinations(
    batch: Batch, ks: Sequence[int], columns: Sequence[int]
) -> NDArray[np.uint8]:
    if not columns:
        return np.empty((batch.size, 0), dtype=np.uint8)
    read = read_columns(bytes(batch.packed), size=batch.size, ks=ks)
    return np.stack([read(column) for column in columns], axis=1)


def _add_up(
    rows: NDArray[np.uint8], people: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    if not rows.shape[1]:
        return rows[:1], people.sum(keepdims=True)
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=people, minlength=len(distinct))
    return distinct, sums.astype(np.int64)
