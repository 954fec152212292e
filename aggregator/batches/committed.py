"""Count all reports that the server has acknowledged, sealed or not.

All other counts wait until reports are sealed. Only alerts count earlier (decision 62), and they
store only whether the count passed a noisy threshold.
"""

from __future__ import annotations

from django.db import connection

from aggregator.batches.columns import Columns
from surveys.manifest.manifest import Manifest
from surveys.models import Wave


def count_committed(wave: Wave, manifest: Manifest, symbol: str) -> list[int]:
    """Return how often each code of a symbol was sent.

    The wave's row must be locked. Otherwise, reports sealed between the two statements would count
    twice or not at all.
    """
    place = next(place for place, one in enumerate(manifest.symbols) if one.name == symbol)
    columns = Columns.of(manifest)
    cells = [0] * manifest.symbols[place].k
    for counts in wave.batches.order_by().values_list("counts", flat=True).iterator():
        cells = [sum(pair) for pair in zip(cells, columns.read_counts(counts)[place], strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT substr(symbols, %s, 1) AS code, count(*) FROM aggregator_raw_report
            WHERE wave_id = %s GROUP BY code
            """,
            [place + 1, wave.pk],
        )
        for code, number in cursor.fetchall():
            # Other bytes mean that the person was not asked.
            if bytes(code)[0] < len(cells):
                cells[bytes(code)[0]] += number
    return cells
