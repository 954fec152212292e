"""The cost of each worker job on the largest surveys: seconds and peak memory.

Each job runs in a fresh child of a process that has loaded a worker's modules, as in Celery.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from surveys.models import Wave

LIMIT_MB = 300
OPTIONS = 60
FLIPS = 45  # so that 99 questions stay below the largest total ε
REPORTS = 20_000
FILES = ("chart.180mm.svg", "chart.180mm.png", "chart.180mm.pdf", "report.pdf", "report.docx")
Jobs = Iterator[tuple[str, Callable[[], object]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 reports")
    reports = 2_000 if parser.parse_args().quick else REPORTS
    with tempfile.TemporaryDirectory(prefix="murmur-jobs-") as folder, _database(Path(folder)):
        result = {name: measure(job) for name, job in prepare_jobs(reports)}
    print(f"{'job':<34}{'seconds':>9}{'MB':>7}")
    for name, (seconds, peak) in result.items():
        print(f"{name:<34}{seconds:>9.1f}{peak:>7.0f}")
    worst = max(peak for _, peak in result.values())
    print(f"The limit is {LIMIT_MB} MB.")
    print(f"RESULT {json.dumps({'peak_mb': round(worst), 'limit_mb': LIMIT_MB})}")


@contextmanager
def _database(var: Path) -> Iterator[None]:
    os.environ |= {"MURMUR_VAR": str(var), "MURMUR_HTTPS": "false"}
    os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    import aggregator.tasks  # noqa: F401  as a worker does before it forks

    call_command("migrate", verbosity=0)
    yield
    connection.close()


def measure(job: Callable[[], object]) -> tuple[float, float]:
    """Run a job in a child; return its seconds and its peak memory in MB."""
    from django.db import connection

    connection.close()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            job()
            status = 0
        finally:
            os._exit(status)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit("The job failed.")
    return time.monotonic() - started, usage.ru_maxrss / 1000


def prepare_jobs(reports: int) -> Jobs:
    """Prepare and yield each job with its name."""
    yield "nothing", lambda: None
    for questions, kind in ((99, "choice"), (33, "choice"), (99, "yes_no")):
        wave = _open_survey(kind, questions, reports)
        yield from _jobs_of(wave, name=f"{questions} × {OPTIONS if kind == 'choice' else 'yes/no'}")


def _open_survey(kind: str, questions: int, reports: int) -> Wave:
    from accounts.models import User
    from scripts.benchmarks.grounds.mixed_survey import fill
    from surveys.authoring.services import add_question, launch_survey
    from surveys.lifecycle.services import close_wave
    from surveys.manifest.manifest import Limit
    from surveys.models import Question, Survey, Wave

    owner = User.objects.create_user(email=f"{questions}-{kind}@example.org", password=None)
    survey = Survey.objects.create_owned(owner, title="The largest survey")
    add_question(
        survey=survey,
        type=Question.Type.DECLARED,
        text="Where do you work?",
        options=["North", "East", "South", "West"],
    )
    for number in range(1, questions + 1):
        options = [f"Option {option} of question {number}" for option in range(1, OPTIONS + 1)]
        add_question(
            survey=survey,
            type=Question.Type(kind),
            text=f"What about number {number}?",
            flips=FLIPS,
            options=options if kind == "choice" else [],
        )
    wave = launch_survey(survey=survey, acknowledged=set(Limit))
    fill(wave, reports=reports, batch=reports // 2)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    return wave


def _jobs_of(wave: Wave, *, name: str) -> Jobs:
    from aggregator.background.rows_files import choose, make_rows_file
    from aggregator.comparisons.jobs import request_comparison, run_comparison
    from aggregator.exports.worker_files import find_recipe
    from aggregator.models import Comparison
    from aggregator.renderings.jobs import request_rendering, run_rendering
    from aggregator.renderings.recipes import NotRenderable
    from aggregator.results.display import find_view
    from aggregator.results.snapshots import newest_snapshot, update_snapshot

    yield f"estimate {name}", lambda: update_snapshot(wave_id=wave.pk)
    yield f"propose rows {name}", lambda: make_rows_file(wave_id=wave.pk)
    found = make_rows_file(wave_id=wave.pk)
    if found.chosen is None:
        choose(found, ())
    results = find_view(wave.survey).results
    snapshot = newest_snapshot(wave)
    assert results is not None
    assert snapshot is not None
    for file in FILES:
        recipe = find_recipe(file)
        assert recipe is not None
        try:
            inputs = recipe.find_inputs(results, file)
        except NotRenderable as refusal:
            print(f"{file} {name}: {refusal}")
            continue
        assert inputs is not None
        file_row = request_rendering(results=results, name=file, inputs=inputs)
        yield (
            f"{file} {name}",
            partial(run_rendering, rendering_id=file_row.pk, find_recipe=find_recipe),
        )
    if "yes/no" not in name:
        return
    names = [question.name for question in wave.description.questions]
    for kind, chosen in (
        (Comparison.Kind.PAIRS, []),
        (Comparison.Kind.TABLE, names[1:3]),
        (Comparison.Kind.REGRESSION, names[1:7]),
        (Comparison.Kind.BREAKDOWN, names[:1]),
    ):
        row = request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=chosen)
        yield f"{kind} {name}", partial(run_comparison, comparison_id=row.pk)
