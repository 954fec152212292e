"""Waves and reports for tests of intake, sealing and estimating."""

from __future__ import annotations

import secrets
from datetime import datetime

from accounts.models import User
from aggregator.intake.store import record_report
from aggregator.intake.wire import Upload
from surveys.models import Wave
from surveys.services import add_question, create_survey, launch_survey


def make_wave(
    *,
    questions: int = 3,
    minimum_batch: int = 10,
    display_minimum: int = 10,
    opens_at: datetime | None = None,
    closes_at: datetime | None = None,
    cap: int | None = None,
) -> Wave:
    owner, _ = User.objects.get_or_create(email="waves@example.org")
    survey = create_survey(
        owner=owner,
        title="Three questions",
        minimum_batch=minimum_batch,
        display_minimum=display_minimum,
        opens_at=opens_at,
        closes_at=closes_at,
        cap=cap,
    )
    for number in range(questions):
        add_question(survey=survey, text=f"Question {number + 1}?")
    return launch_survey(survey=survey)


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
