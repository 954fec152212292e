"""Sweeps find due work by indexes on both databases, however many settled rows there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from aggregator.batches.closing import close_due_waves
from aggregator.models import (
    Batch,
    Comparison,
    RawReport,
    Release,
    Rendering,
    RowsFile,
    Snapshot,
)
from aggregator.results.snapshots import METHOD_VERSION
from aggregator.upkeep.deletion_dates import is_deletion_mail_due
from aggregator.upkeep.due import find_due_work
from scripts.attacks.linker.server import Server, django_on
from surveys.models import Wave, today
from tests.support.waves import make_wave

WAVES, ROWS_PER_WAVE, RAW_REPORTS = 200, 40, 8_000
INDEX = re.compile(r"(?:INDEX|Index(?: Only)? Scan using|Bitmap Index Scan on) (\w+)")
WHOLE = re.compile(r"(?:SCAN|Seq Scan on) (\w+)\b(?! USING)")
QUEUES = {f"aggregator_{table}" for table in ("rendering", "comparison", "release")}
GROWING = QUEUES | {f"aggregator_{table}" for table in ("raw_report", "batch", "snapshot")}
DUE = {f"{table}_due" for table in QUEUES | {"surveys_wave", "surveys_wave_delete"}}
MAILS = {"surveys_survey_mail_due"}
COVERING = {"aggregator_snapshot_due", "aggregator_batch_sizes", "aggregator_comparison_planned"}


def fill() -> None:
    """Store many settled waves with all that belongs to them, and two open ones."""
    capped = make_wave(cap=1000)
    waiting = make_wave(minimum_batch=RAW_REPORTS, display_minimum=RAW_REPORTS)
    RawReport.objects.bulk_create(
        RawReport(id=number.to_bytes(32, "big"), wave=waiting, symbols=b"")
        for number in range(RAW_REPORTS)
    )
    _count(capped, size=10, final=False)
    first = Wave.objects.get(pk=make_wave().pk)
    for number in range(WAVES):
        first.pk, first.manifest_hash = None, number.to_bytes(32, "big")
        first.number, first.planned_comparisons = number + 10, 2
        first.state, first.ending, first.closed_at = "closed", "owner", first.launched_at
        first.save(force_insert=True)
        _settle(first)
    assert capped.is_open


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _count(wave: Wave, *, size: int, final: bool) -> None:
    """Store batches of this size, and the snapshot that counts all of them."""
    Batch.objects.bulk_create(
        Batch(
            wave=wave,
            number=number,
            size=size,
            packed=b"",
            content_hash=b"",
            counts=[],
            tables=[],
        )
        for number in range(1, ROWS_PER_WAVE + 1)
    )
    Snapshot.objects.create(
        wave=wave,
        through_batch=ROWS_PER_WAVE,
        decided_through=ROWS_PER_WAVE,
        method_version=METHOD_VERSION,
        final=final,
        total=size * ROWS_PER_WAVE,
        counts=[],
        estimates=[{"name": f"q{place}", "value": place / 7} for place in range(40)],
    )


def _settle(wave: Wave) -> None:
    through: dict[str, Any] = {"wave": wave, "through_batch": ROWS_PER_WAVE}
    _count(wave, size=1000, final=True)
    RowsFile.objects.create(
        wave=wave, proposed=[], smallest=0, has_files_of_blocks=False, chosen=[]
    )
    rows = range(ROWS_PER_WAVE)
    Rendering.objects.bulk_create(
        Rendering(**through, final=True, name=f"{row}", inputs="", state="done", content=b"x")
        for row in rows
    )
    Comparison.objects.bulk_create(
        Comparison(
            **through,
            method_version=METHOD_VERSION,
            kind="table",
            names=[f"{row}"],
            planned=row < 2,
            state="done",
            result={},
        )
        for row in rows
    )
    Release.objects.bulk_create(
        Release(
            **through,
            key=f"{wave.pk} {row}",
            kind="table",
            request={},
            request_hash=f"{row}",
            mechanism="laplace",
            scale="2",
            epsilon_hundredths=1,
            state="drawn",
            result={},
            public_from=today(),
        )
        for row in rows
    )


@contextmanager
def noting_statements() -> Iterator[list[tuple[str, Any]]]:
    """Record all statements as they are sent, together with their parameters."""
    found: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield found


def plan_sweep() -> list[str]:
    """Return the lines of the query plans of all statements with which a sweep finds work."""
    with noting_statements() as statements:
        assert find_due_work() == []
        close_due_waves()
        assert not is_deletion_mail_due()
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    lines = []
    with connection.cursor() as cursor:
        for sql, params in statements:
            cursor.execute(f"{explain} {sql}", params)
            lines += [str(row[-1]) for row in cursor.fetchall()]
    return lines


def assert_found_by_indexes(
    lines: list[str], *, expected: set[str], never_read_whole: set[str]
) -> None:
    used = {name for line in lines for name in INDEX.findall(line)}
    assert used >= expected, "\n".join(lines)
    whole = {name for line in lines for name in WHOLE.findall(line)}
    assert not whole & never_read_whole, "\n".join(lines)


@pytest.mark.django_db
def test_on_sqlite_a_sweep_finds_due_rows_by_indexes() -> None:
    """Murmur never runs ANALYZE, but the operator of a server may."""
    fill()
    for _ in range(2):
        lines = plan_sweep()
        # In query plans, the table of a subquery is called U0.
        whole = GROWING | {"surveys_wave", "U0"}
        assert_found_by_indexes(lines, expected=DUE | COVERING | MAILS, never_read_whole=whole)
        analyze()


@pytest.mark.django_db(transaction=True)
def test_on_postgresql_a_sweep_finds_due_rows_by_indexes(postgres_server: Server) -> None:
    with django_on(postgres_server.application_url):
        fill()
        analyze()
        lines = plan_sweep()
    # Which index covers a query depends on how many pages were vacuumed.
    assert_found_by_indexes(lines, expected=DUE, never_read_whole=GROWING)
