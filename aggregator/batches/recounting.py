"""Count the joint tables of batches that were sealed before joint tables existed."""

from __future__ import annotations

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from surveys.models import Wave


def recount_tables(wave: Wave, *, after: int) -> None:
    """Count the missing tables of each batch separately, so that a stopped worker loses nothing."""
    # This uses isnull, because a comparison with None would look for the JSON value null.
    uncounted = wave.batches.filter(number__gt=after, tables__isnull=True).order_by("number")
    keys = list(uncounted.values_list("pk", flat=True))
    if not keys:
        return
    manifest = wave.description
    ks, tables = Columns.of(manifest).ks, list_tables(manifest)
    for pk in keys:
        packed, size = wave.batches.values_list("packed", "size").get(pk=pk)
        counted = count_tables(bytes(packed), size=size, ks=ks, tables=tables)
        wave.batches.filter(pk=pk).update(tables=counted)
