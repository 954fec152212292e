"""Charts: the newest snapshot of a wave, rendered by a worker and kept for page and download."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from aggregator.models import Chart, Snapshot
from aggregator.results.charts.chart import render_chart
from aggregator.results.snapshots import UnreadableSnapshotError, newest_snapshot
from surveys.models import Survey, Wave


def update_chart(
    *, wave_id: int, find_truth: Callable[[Survey], Mapping[str, float]]
) -> Chart | None:
    """Render the newest snapshot; return None while there are too few responses to show.

    `find_truth` returns the true values where they are known, as in a demo.
    """
    wave = Wave.objects.select_related("survey").get(pk=wave_id)
    snapshot = newest_snapshot(wave)
    if snapshot is None or snapshot.total < wave.display_minimum:
        return None
    try:
        specification, svg, png = render_chart(wave, snapshot, truth=find_truth(wave.survey))
    except UnreadableSnapshotError:
        return None  # due again once the snapshot has been recomputed
    chart, _ = Chart.objects.update_or_create(
        wave=wave,
        defaults={
            "through_batch": snapshot.through_batch,
            "final": snapshot.final,
            "specification": specification,
            "svg": svg,
            "png": png,
        },
    )
    return chart


def find_waves_to_render() -> QuerySet[Wave]:
    """Find waves whose newest snapshot may be shown but is not the one in the chart."""
    newest = Snapshot.objects.filter(wave=OuterRef("pk")).order_by("-through_batch")
    return (
        Wave.objects.annotate(
            seen_batch=Subquery(newest.values("through_batch")[:1]),
            seen_final=Subquery(newest.values("final")[:1]),
            seen_total=Subquery(newest.values("total")[:1]),
        )
        .filter(seen_total__gte=F("display_minimum"))
        .exclude(Q(chart__through_batch=F("seen_batch")) & Q(chart__final=F("seen_final")))
        .order_by("pk")
    )
