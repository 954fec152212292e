"""Waves that keep half of their reports sealed, and the findings of verification."""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from django.test import override_settings

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports, unpack_reports
from aggregator.comparisons.claims import Claim, ask_to_open, stamp_claims
from aggregator.comparisons.opening import open_half
from aggregator.models import Batch, RawReport
from aggregator.upkeep.verification.run import Verification
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.question_types import QuestionType
from surveys.models import Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people
from tests.support.waves import make_wave


def make_divided_wave(*, people: int = 600, **settings: Any) -> Wave:
    """Make an ended wave that workers have processed; 600 people give more than 20 batches."""
    return divide(make_wave(sealed_half=True, **settings), people=people)


def divide(wave: Wave, *, people: int = 600) -> Wave:
    """Let people answer an open wave, then close it and process it."""
    send_people(wave, people=people)
    return end(wave)


def end(wave: Wave, *, rows: Iterable[bytes] = ()) -> Wave:
    """Store these raw reports too, then close the wave and process it."""
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=row) for row in rows
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    wave.refresh_from_db()
    return wave


def open_sealed_half(wave: Wave, *claims: Claim) -> None:
    """Ask for the test of claims that are written down, and open the half as a worker does."""
    ask_to_open(wave=wave, seen=stamp_claims(claims))
    with TemporaryDirectory() as folder, override_settings(RELEASES=Path(folder)):
        assert open_half(wave_id=wave.pk)


def open_wave_with_wards(**settings: Any) -> Wave:
    survey = make_survey(sealed_half=True, **settings)
    add_question(
        survey=survey, text="Ward?", type=QuestionType.DECLARED, options=["North", "South", "East"]
    )
    return open_survey(survey=survey)


def make_wave_with_wards() -> Wave:
    """Divide a wave in which 80 % of North and 20 % of South answer Yes to the first question."""
    generator = random.Random(20261128)
    rows = []
    for _ in range(1400):
        ward = generator.randrange(2)  # no one is in East
        truth = generator.random() < (0.8, 0.2)[ward]
        other = generator.random() < 0.5
        rows.append(bytes([truth != (generator.random() < 0.25), other, ward]))
    return end(open_wave_with_wards(), rows=rows)


def list_differences() -> list[str]:
    """List what verification finds, apart from the fact that no report here was acknowledged."""
    found = Verification().run(Wave.objects.all())
    return [str(one) for one in found if one.kind != "reports"]


def rewrite(batches: list[Batch], *, shift: int) -> None:
    """Shift every code in these batches, even declared ones; adjust hashes, counts and tables."""
    for batch in batches:
        manifest = batch.wave.description
        columns = Columns.of(manifest)
        codes = unpack_reports(bytes(batch.packed), size=batch.size, ks=columns.ks)
        shifted = (codes + shift) % np.array(columns.ks, dtype=np.uint8)
        packed = pack_reports([row.tobytes() for row in shifted], ks=columns.ks)
        batch.packed, batch.content_hash = packed, hashlib.sha256(packed).digest()
        batch.counts = count_codes(packed, size=batch.size, ks=columns.ks)
        batch.tables = count_tables(
            packed, size=batch.size, ks=columns.ks, tables=list_tables(manifest)
        )
        batch.save()
