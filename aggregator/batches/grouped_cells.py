"""Count how often each code was sent in each group, for planned tables by groups.

The cells are counted from batches when such a table is drawn. If there are too few reports for a
batch, the cells are counted when the survey closes, and only the counts are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import read_columns
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Wave

# Maps each symbol of a table to the counts in the first group, then in the second, and so on.
Cells = dict[str, list[int]]


def list_grouped(manifest: Manifest) -> tuple[ReleaseRequest, ...]:
    """List the planned tables by groups."""
    return tuple(one for one in manifest.planned_releases or () if one.group)


def count_batch(packed: bytes, *, size: int, manifest: Manifest, request: ReleaseRequest) -> Cells:
    """Count packed reports. One more report adds 1 to one cell of each symbol that it has."""
    layout = Columns.of(manifest)
    read = read_columns(packed, size=size, ks=layout.ks)
    named = list(zip(manifest.symbols, layout.places, layout.masks, strict=True))
    ((own, column),) = ((one, place) for one, place, _ in named if one.name == request.group)
    groups = read(column).astype(np.uint16)
    found = {}
    for symbol, place, mask in named:
        if symbol.question not in request.questions:
            continue
        cells = groups * np.uint16(symbol.k) + read(place)
        asked = cells if mask is None else cells[read(mask) == 1]
        found[symbol.name] = np.bincount(asked, minlength=own.k * symbol.k).tolist()
    return found


def count_sealed(wave: Wave, request: ReleaseRequest, *, through_batch: int) -> Cells:
    """Count all reports that were sealed up to a batch."""
    manifest = wave.description
    batches = wave.batches.filter(number__lte=through_batch).values_list("packed", "size")
    total: Cells = {}
    for packed, size in batches.iterator(chunk_size=1):
        for name, cells in count_batch(
            bytes(packed), size=size, manifest=manifest, request=request
        ).items():
            before = total.get(name, [0] * len(cells))
            total[name] = [one + more for one, more in zip(before, cells, strict=True)]
    return total


def split_groups(cells: Cells, *, groups: int) -> Iterator[Cells]:
    """Yield the cells of each group."""
    for group in range(groups):
        yield {
            name: counts[group * (len(counts) // groups) :][: len(counts) // groups]
            for name, counts in cells.items()
        }
