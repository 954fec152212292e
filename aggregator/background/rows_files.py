"""The file of rows as a row of the database: proposed by a worker, chosen once by the owner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest
from numpy.typing import NDArray

from aggregator.background.conditions import Combinations, list_declared
from aggregator.background.levels import (
    Background,
    is_within,
    read_background,
    write_background,
)
from aggregator.background.proposing import Proposal, propose
from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import read_columns
from aggregator.models import Batch, Comparison, RowsFile, Snapshot
from surveys.manifest.manifest import BATCHES_IN_CROWD, Manifest
from surveys.models import Wave

BATCHES_AT_ONCE = 64


class AlreadyChosenError(Exception):
    """The owner chose the background of these rows before, perhaps in another window."""


def find_waves_without_rows_file() -> QuerySet[Wave]:
    """Find waves whose rows may leave, and for which no background was proposed."""
    last = Snapshot.objects.filter(wave=OuterRef("pk"), final=True).order_by("-through_batch")
    return (
        Wave.objects.closed()
        .filter(mode=Wave.Mode.ELECTRONIC, rows_file=None)
        .annotate(last=Subquery(last.values("total")[:1]))
        .filter(last__gte=Greatest("display_minimum", BATCHES_IN_CROWD * F("minimum_batch")))
        .order_by("pk")
    )


def make_rows_file(*, wave_id: int) -> RowsFile:
    """Propose the background of a wave's rows. With nothing to choose it is chosen at once."""
    wave = Wave.objects.get(pk=wave_id)
    proposal = compute_proposal(wave)
    proposed = write_background(proposal.background)
    made, _ = RowsFile.objects.get_or_create(
        wave=wave,
        defaults={
            "proposed": proposed,
            "smallest": proposal.smallest,
            "has_files_of_blocks": proposal.has_files_of_blocks,
            "chosen": None if proposed else [],
        },
    )
    return made


def compute_proposal(wave: Wave) -> Proposal:
    """Propose a background from a closed wave's batches; verifying calls it too."""
    manifest = wave.description
    return propose(manifest, count_combinations(wave, manifest))


def count_combinations(wave: Wave, manifest: Manifest) -> Combinations:
    """Count how many people have each combination of drawn blocks and declared answers."""
    layout = Columns.of(manifest)
    places = {
        symbol.name: place for symbol, place in zip(manifest.symbols, layout.places, strict=True)
    }
    declared = [places[question.name] for question in list_declared(manifest)]
    columns = [*range(layout.mask_count), *declared]
    rows = np.empty((0, len(columns)), dtype=np.uint8)
    people = np.empty(0, dtype=np.int64)
    keys = list(wave.batches.values_list("pk", flat=True))
    for start in range(0, len(keys), BATCHES_AT_ONCE):
        few = Batch.objects.filter(pk__in=keys[start : start + BATCHES_AT_ONCE])
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


def find_rows_file(wave: Wave) -> RowsFile | None:
    """Return what is proposed or chosen; None until a worker has proposed it."""
    return RowsFile.objects.filter(wave=wave).first()


def find_background(wave: Wave) -> Background | None:
    """Return the chosen background, which may be empty; None until there is a choice."""
    found = find_rows_file(wave)
    return None if found is None or found.chosen is None else read_background(found.chosen)


@transaction.atomic(durable=True)
def choose(rows_file: RowsFile, background: Background) -> None:
    """Store the owner's choice: the proposal or a coarser set, once and for ever.

    Planned comparisons that waited for it are requested by the next sweep.
    """
    if not is_within(background, read_background(rows_file.proposed)):
        raise ValueError("background must tell nothing apart that was not proposed")
    chosen = write_background(background)
    if not RowsFile.objects.filter(pk=rows_file.pk, chosen__isnull=True).update(chosen=chosen):
        raise AlreadyChosenError
    Comparison.objects.filter(
        wave=rows_file.wave_id, planned=True, state=Comparison.State.FAILED
    ).delete()


def accept_proposal(rows_file: RowsFile) -> None:
    """Choose all that is proposed, unless there is a choice already."""
    if rows_file.chosen is None:
        choose(rows_file, read_background(rows_file.proposed))
