"""The time and the number of queries for a results page.

The first page shows a closed survey with 50 questions of all types and 10⁶ reports. The other pages
show 10⁴ reports, 10 questions or an open survey. The benchmark fails if the number of queries
depends on the questions or reports. Processes keep the blocks that they rendered last, so the first
request after a look takes longer and is measured separately.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.core.management import call_command

from scripts.stack.prepared import copy_empty_database, copy_static_files

if TYPE_CHECKING:
    from django.test import Client

    from surveys.models import Wave

QUESTIONS, FEW_QUESTIONS = 50, 10
REPORTS, QUICK_REPORTS, FEW_REPORTS = 1_000_000, 100_000, 10_000
REQUESTS, WARM_UP = 100, 10


@dataclass(frozen=True, kw_only=True)
class Case:
    questions: int
    reports: int
    is_open: bool = False

    @property
    def name(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"{self.questions} questions, {self.reports:,} reports, {state}"


WARM_UP_CASE = Case(questions=FEW_QUESTIONS, reports=1_000)


@dataclass(frozen=True, kw_only=True)
class Measured:
    case: Case
    first_ms: float  # CPU time of a page that this process has not rendered yet
    cpu_ms: float  # the median; on a busy machine, more reliable than elapsed time
    median_ms: float
    p95_ms: float
    queries: int
    kilobytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10⁵ reports instead of 10⁶")
    parser.add_argument("--page", default="results", help="the page of a survey to request")
    options = parser.parse_args()
    reports = QUICK_REPORTS if options.quick else REPORTS
    cases = [
        Case(questions=QUESTIONS, reports=reports),
        Case(questions=QUESTIONS, reports=FEW_REPORTS),
        Case(questions=FEW_QUESTIONS, reports=reports),
        Case(questions=QUESTIONS, reports=reports, is_open=True),
        Case(questions=FEW_QUESTIONS, reports=FEW_REPORTS, is_open=True),
    ]
    with tempfile.TemporaryDirectory(prefix="murmur-dashboard-") as folder:
        set_up(Path(folder))
        measure(WARM_UP_CASE, page=options.page)  # loads the templates
        measured = [measure(case, page=options.page) for case in cases]
    print_table(measured)
    fail_if_queries_differ(measured)
    largest, live = measured[0], measured[3]
    result = {
        "first_ms": largest.first_ms,
        "cpu_ms": largest.cpu_ms,
        "median_ms": largest.median_ms,
        "p95_ms": largest.p95_ms,
        "queries": largest.queries,
        "open_median_ms": live.median_ms,
        "open_queries": live.queries,
    }
    print(f"RESULT {json.dumps(result)}")


def set_up(var: Path) -> None:
    """Use a new database, and collect static files under the names that pages link to."""
    os.environ |= {"MURMUR_VAR": str(var), "MURMUR_HTTPS": "false"}
    os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    copy_static_files(var)
    copy_empty_database(var / "murmur.sqlite3")
    django.setup()
    logging.disable(logging.INFO)  # hides lines about sign-ins
    call_command("migrate", verbosity=0)


def measure(case: Case, *, page: str) -> Measured:
    wave = make_wave(case)
    client = sign_in(wave)
    address = f"/surveys/{wave.survey.slug}/{page}"
    (_, first), *later = time_requests(client, address)
    seconds = [elapsed for elapsed, _ in later]
    return Measured(
        case=case,
        first_ms=round(1000 * first, 1),
        cpu_ms=round(1000 * statistics.median(used for _, used in later), 1),
        median_ms=round(1000 * statistics.median(seconds), 1),
        p95_ms=round(1000 * statistics.quantiles(seconds, n=20)[-1], 1),
        queries=count_queries(client, address),
        kilobytes=round(len(client.get(address).content) / 1000, 1),
    )


def make_wave(case: Case) -> Wave:
    from accounts.models import User
    from aggregator.results.snapshots import update_snapshot
    from scripts.benchmarks.grounds.mixed_survey import fill, open_mixed_survey
    from surveys.lifecycle.services import close_wave
    from surveys.models import Wave

    owner, _ = User.objects.get_or_create(email="dashboard@example.org")
    wave = open_mixed_survey(owner=owner, questions=case.questions)
    fill(wave, reports=case.reports)
    if not case.is_open:
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    update_snapshot(wave_id=wave.pk)
    return wave


def sign_in(wave: Wave) -> Client:
    from django.test import Client
    from django.test.utils import override_settings

    client = Client(SERVER_NAME="localhost")
    backend = "allauth.account.auth_backends.AuthenticationBackend"
    with override_settings(AXES_ENABLED=False):  # axes counts failed sign-ins in Redis
        client.force_login(wave.survey.owner, backend=backend)
    return client


def time_requests(client: Client, address: str) -> Iterable[tuple[float, float]]:
    """Yield the elapsed and CPU seconds of the first request and of those after the warm-up."""
    for number in range(WARM_UP + REQUESTS):
        start, used = time.perf_counter(), time.process_time()
        response = client.get(address)
        elapsed, used = time.perf_counter() - start, time.process_time() - used
        if response.status_code != 200:
            raise SystemExit(f"{address} answered with {response.status_code}")
        if number == 0 or number >= WARM_UP:
            yield elapsed, used


def count_queries(client: Client, address: str) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return len(queries)


def print_table(measured: Iterable[Measured]) -> None:
    headings = f"{'first':>8}{'CPU':>8}{'median':>8}{'p95':>8}{'queries':>9}{'kB':>8}"
    print(f"{'milliseconds':<46}{headings}")
    for one in measured:
        print(
            f"{one.case.name:<46}{one.first_ms:>8.1f}{one.cpu_ms:>8.1f}{one.median_ms:>8.1f}"
            f"{one.p95_ms:>8.1f}{one.queries:>9}{one.kilobytes:>8.1f}"
        )


def fail_if_queries_differ(measured: Iterable[Measured]) -> None:
    for is_open in (False, True):
        found = {one.case.name: one.queries for one in measured if one.case.is_open == is_open}
        if len(set(found.values())) > 1:
            raise SystemExit(f"The number of queries depends on reports or questions: {found}")
