"""The time and memory needed for reports.csv of a closed wave.

The waves have 100 questions and full batches. The first has neither declared questions nor random
subsets, the second has two declared questions in the file, and the third has random subsets and a
file for each block.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
import numpy as np
from django.core.management import call_command

if TYPE_CHECKING:
    from surveys.models import Wave

QUESTIONS, REPORTS = 100, 1_000_000
QUICK_REPORTS = 131_072
BATCH = 65_536
DRAWN = 8
SURVEYS: dict[str, dict[str, int]] = {
    "plain": {},
    "background": {"declared": 2},
    "block": {"drawn": DRAWN},
}


def set_up(folder: str) -> None:
    os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder, 'export.sqlite3')}"
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", verbosity=0)


def open_wave(*, declared: int = 0, drawn: int | None = None) -> Wave:
    """Open a survey with declared questions, or with random subsets of `drawn` questions."""
    from accounts.models import User
    from surveys.authoring.services import add_question, launch_survey
    from surveys.manifest.manifest import Limit
    from surveys.models import Question, Survey

    owner = User.objects.create(email=f"export{User.objects.count()}@example.org")
    survey = Survey.objects.create_owned(owner, title="Export", minimum_batch=50, drawn=drawn)
    for number in range(QUESTIONS - declared):
        add_question(survey=survey, text=f"Question {number}?", flips=48)
    for text in ("Where?", "When?")[:declared]:
        options = [f"{text} {number}" for number in range(8)]
        add_question(survey=survey, type=Question.Type.DECLARED, text=text, options=options)
    return launch_survey(survey=survey, acknowledged=set(Limit))


def fill(wave: Wave, *, reports: int) -> None:
    """Fill the wave with random reports in full batches, and close it."""
    from aggregator.batches.columns import Columns
    from aggregator.batches.packing import pack_reports
    from aggregator.models import Batch
    from aggregator.results.snapshots import update_snapshot
    from surveys.lifecycle.services import close_wave
    from surveys.models import Wave

    layout, generator = Columns.of(wave.description), np.random.default_rng(16)
    for number, start in enumerate(range(0, reports, BATCH), start=1):
        size = min(BATCH, reports - start)
        matrix = generator.integers(0, layout.ks, size=(size, len(layout.ks)), dtype=np.uint8)
        if layout.mask_count:
            draws = generator.random((size, layout.mask_count)).argsort(axis=1) < DRAWN
            matrix[:, : layout.mask_count] = draws
            for place, mask in zip(layout.places, layout.masks, strict=True):
                if mask is not None:
                    matrix[:, place] *= draws[:, mask]
        counts = [
            np.bincount(column, minlength=k).tolist()
            for column, k in zip(matrix.T, layout.ks, strict=True)
        ]
        packed = pack_reports([row.tobytes() for row in matrix], ks=layout.ks)
        Batch.objects.create(
            wave=wave, number=number, size=size, packed=packed, counts=counts,
            content_hash=secrets.token_bytes(32),
        )  # fmt: skip
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    update_snapshot(wave_id=wave.pk)


def measure(wave: Wave) -> dict[str, Any]:
    """Propose and accept a background, then write the file or the first block's file."""
    from aggregator.background.rows_files import accept_proposal, make_rows_file
    from aggregator.exports.reports import find_rows
    from aggregator.results.display import find_view

    results = find_view(wave.survey).results
    assert results is not None
    start = time.perf_counter()
    rows_file = make_rows_file(wave_id=wave.pk)
    proposing = time.perf_counter() - start
    accept_proposal(rows_file)
    found = find_rows(results, number="1" if rows_file.has_files_of_blocks else "")
    start = time.perf_counter()
    parts = found.stream()
    next(parts)
    sent = rows = 0
    first = 0.0
    for part in parts:
        first = first or time.perf_counter() - start
        sent += len(part)
        rows += part.count(b"\n")
    seconds = time.perf_counter() - start
    tracemalloc.start()
    for _ in found.stream():
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "rows": rows,
        "columns": len(found.columns) + 1,
        "seconds_to_propose": round(proposing, 2),
        "seconds": round(seconds, 2),
        "rows_per_second": round(rows / seconds),
        "megabytes_per_second": round(sent / seconds / 1e6),
        "seconds_to_first_row": round(first, 2),
        "peak_megabytes": round(peak / 1e6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="131,072 reports instead of 10⁶")
    reports = QUICK_REPORTS if parser.parse_args().quick else REPORTS
    result: dict[str, Any] = {"reports": reports}
    with tempfile.TemporaryDirectory(prefix="murmur-export-") as folder:
        set_up(folder)
        for name, settings in SURVEYS.items():
            wave = open_wave(**settings)
            fill(wave, reports=reports)
            result[name] = measure(wave)
            print(name, result[name])
    print(f"RESULT {json.dumps(result)}")
