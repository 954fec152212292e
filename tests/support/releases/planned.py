"""Planned releases, reserved and drawn as workers do."""

from __future__ import annotations

from aggregator.models import Release
from aggregator.releases.drawing import draw_release, find_releases_to_draw
from aggregator.releases.ledger import reserve_planned
from surveys.models import Wave


def draw_all(wave: Wave) -> list[Release]:
    reserve_planned(wave_id=wave.pk)
    for release in find_releases_to_draw():
        assert draw_release(release.pk)
    return list(wave.releases.order_by("pk"))
