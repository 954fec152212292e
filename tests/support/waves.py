"""Waves and reports for tests of intake, sealing and estimating."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from aggregator.batches.sealing import seal_next_batch
from aggregator.intake.store import record_report
from aggregator.intake.wire import Upload
from aggregator.results.snapshots import update_snapshot
from surveys.authoring.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.models import Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import prepare_rows


def make_wave(*, questions: int = 3, **settings: Any) -> Wave:
    """Open a survey with this many questions, called "Question 1?" and so on."""
    texts = [f"Question {number}?" for number in range(1, questions + 1)]
    return make_launched_survey(questions=texts, **settings)


def send(wave: Wave, symbols: bytes, *, report_id: bytes | None = None) -> None:
    record_report(
        Upload(
            manifest_hash=bytes(wave.manifest_hash),
            report_id=report_id or secrets.token_bytes(32),
            symbols=symbols,
        )
    )


def send_many(wave: Wave, rows: list[bytes]) -> None:
    for row in rows:
        send(wave, row)


def make_protected_wave(*, rows: Sequence[bytes] = (), **settings: Any) -> Wave:
    """Open a survey that publishes protected releases only; it closes tomorrow."""
    tomorrow = timezone.now() + timedelta(days=1)
    usual: dict[str, Any] = {"closes_at": tomorrow, "people_expected": 1000}
    wave = make_wave(publication=Publication.PROTECTED, **usual | settings)
    send_many(wave, list(rows))
    return wave


def make_released_wave(*, rows: Sequence[bytes] = (), **settings: Any) -> Wave:
    """Make a wave as above that has ended, with all of its reports counted."""
    wave = make_protected_wave(rows=rows or [b"\0\1\0", b"\1\1\0"] * 20, **settings)
    count_all(wave)
    return wave


def count_all(wave: Wave) -> None:
    """Close a wave, seal its reports and count them."""
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    while seal_next_batch(wave_id=wave.pk):
        pass
    update_snapshot(wave_id=wave.pk)
    prepare_rows(wave)
    wave.refresh_from_db()
