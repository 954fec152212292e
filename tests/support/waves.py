"""Waves and reports for tests of intake, sealing and estimating."""

from __future__ import annotations

import secrets
from typing import Any

from aggregator.intake.store import record_report
from aggregator.intake.wire import Upload
from surveys.models import Wave
from tests.support.factories import make_launched_survey


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
