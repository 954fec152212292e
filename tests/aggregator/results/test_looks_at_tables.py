"""Joint tables change at the looks of their questions, even if batches are older than tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Batch, Snapshot
from aggregator.results.looks import EVERYBODY, Replay
from aggregator.results.snapshots import METHOD_VERSION, update_snapshot
from aggregator.upkeep.verification.run import Verification
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Wave
from tests.aggregator.routed import ROUTED, SUBSET, draw_reports
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import send_people
from tests.support.verifying import find_differences

Counts = list[list[int]]
K = 10


def make_batch(manifest: Any, size: int, seed: int) -> tuple[Counts, Counts]:
    reports, columns = draw_reports(manifest, size=size, seed=seed), Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    tables = list_tables(manifest)
    return (
        count_codes(packed, size=size, ks=columns.ks),
        count_tables(packed, size=size, ks=columns.ks, tables=tables),
    )


def add_up(parts: Sequence[Sequence[int]]) -> list[int]:
    return [sum(cells) for cells in zip(*parts, strict=True)]


cases = st.tuples(
    st.sampled_from([ROUTED, SUBSET]),
    st.lists(st.integers(K, 40), min_size=1, max_size=12),
    st.integers(0, 12),
)


@given(cases)
def test_a_table_holds_the_batches_up_to_the_look_of_its_question(case: Any) -> None:
    manifest, sizes, cut = case
    batches = [make_batch(manifest, size, seed) for seed, size in enumerate(sizes)]
    whole = Replay(manifest)
    for number, batch in enumerate(batches, start=1):
        whole.take(number, *batch)
    for place, table in enumerate(list_tables(manifest)):
        part = EVERYBODY if manifest.drawn is None else (table.block or 0) + 1
        seen = [tables[place] for _, tables in batches[: whole.looks[part]]]
        assert whole.tables[place] == add_up([[0] * table.cells, *seen])

    # The result is the same if a worker stops after any batch and another continues.
    first = Replay(manifest)
    for number, batch in enumerate(batches[:cut], start=1):
        first.take(number, *batch)
    second = Replay(manifest)
    second.resume(
        looks=first.looks,
        counts=first.counts,
        tables=first.tables,
        total=first.total,
        totals=first.totals,
    )
    for number in range(min(first.looks) + 1, len(batches) + 1):
        second.take(number, *batches[number - 1])
    assert (second.looks, second.tables) == (whole.looks, whole.tables)


def make_routed_wave(*, drawn: int | None = None) -> Wave:
    """Open a survey with a rule in each of two blocks."""
    survey = make_survey(questions=(), drawn=drawn)
    for number in (1, 2):
        asked = add_question(survey=survey, text=f"Fact {number}?")
        add_question(
            survey=survey,
            type=Question.Type.CHOICE,
            text=f"Which of {number}?",
            options=["This", "That", "Neither"],
            refusal=number == 2,
            rule={"name": str(asked.pk), "is": [1]},
        )
    return open_survey(survey=survey)


def seal(wave: Wave, size: int) -> None:
    waiting = K if wave.batches.exists() else 0
    send_people(wave, people=size + K - waiting, seed=size)
    assert seal_next_batch(wave_id=wave.pk) is not None


def forget_tables() -> None:
    """Make batches and snapshots as they were before there were tables."""
    Batch.objects.update(tables=None)
    Snapshot.objects.update(tables=None, method_version=METHOD_VERSION - 1)


def sum_tables(wave: Wave, snapshot: Snapshot) -> Counts:
    """For each question, add up the tables of the batches that its look counts."""
    tables = list_tables(wave.description)
    return [
        add_up(
            [
                (batch.tables or [])[place]
                for batch in wave.batches.filter(
                    number__lte=snapshot.find_look(
                        EVERYBODY if wave.description.drawn is None else (table.block or 0) + 1
                    )
                )
            ]
        )
        for place, table in enumerate(tables)
    ]


SETTINGS = pytest.mark.parametrize("drawn", [None, 1], ids=["everyone", "subset"])


@pytest.mark.django_db
@SETTINGS
def test_sealing_counts_tables_and_a_snapshot_adds_them_up(drawn: int | None) -> None:
    wave = make_routed_wave(drawn=drawn)
    for size in (60, 15, 14, 13, 30):
        seal(wave, size)
        snapshot = update_snapshot(wave_id=wave.pk)
        assert snapshot is not None
        assert snapshot.tables == sum_tables(wave, snapshot)
    assert find_differences() == []
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert seal_next_batch(wave_id=wave.pk) is not None
    final = update_snapshot(wave_id=wave.pk)
    assert final is not None
    assert set(final.list_looks(1)) == {final.through_batch}
    assert final.tables == sum_tables(wave, final)
    assert find_differences() == []


@pytest.mark.django_db
@SETTINGS
def test_batches_and_snapshots_from_before_there_were_tables_are_counted_once(
    drawn: int | None,
) -> None:
    wave = make_routed_wave(drawn=drawn)
    for size in (60, 15, 14, 13):
        seal(wave, size)
        update_snapshot(wave_id=wave.pk)
    right = list(Batch.objects.order_by("number").values_list("tables", flat=True))
    before = Snapshot.objects.latest("through_batch")
    forget_tables()
    assert find_differences() == []
    update_snapshot(wave_id=wave.pk)
    after = Snapshot.objects.latest("through_batch")
    assert after.method_version == METHOD_VERSION
    assert (after.looks, after.counts, after.tables) == (before.looks, before.counts, before.tables)
    assert list(Batch.objects.order_by("number").values_list("tables", flat=True)) == right
    assert find_differences() == []

    # Right after the upgrade, a new batch changes only some of the parts.
    forget_tables()
    seal(wave, 12)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert snapshot.tables == sum_tables(wave, snapshot)
    assert find_differences() == []


@pytest.mark.django_db
def test_a_wave_from_before_there_were_looks_goes_on_with_all_its_tables() -> None:
    wave = make_routed_wave(drawn=1)
    for size in (60, 15):
        seal(wave, size)
        update_snapshot(wave_id=wave.pk)
    forget_tables()
    newest = Snapshot.objects.latest("through_batch")
    Snapshot.objects.update(looks=[])
    # The upgrade to looks did this, so that no page goes back to fewer reports.
    Snapshot.objects.update(looks_from=F("through_batch"), decided_through=F("through_batch"))
    replay = Replay(wave.description, looks_from=newest.through_batch)
    for batch in wave.batches.order_by("number"):
        replay.take(batch.number, batch.counts, replay.tables)
    Snapshot.objects.update(counts=replay.counts, total=replay.total)
    seal(wave, 30)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert snapshot.tables == sum_tables(wave, snapshot)
    last = Verification().run(Wave.objects.filter(pk=wave.pk))
    assert not [one for one in last if one.number == snapshot.through_batch]


def move_a_report(tables: Counts | None) -> Counts:
    assert tables is not None
    cells = tables[1]
    full = cells.index(max(cells))
    cells[full] -= 1
    cells[full - 1] += 1
    return tables


@pytest.mark.django_db
def test_verify_finds_a_changed_table() -> None:
    wave = make_routed_wave()
    for size in (60, 30):
        seal(wave, size)
        update_snapshot(wave_id=wave.pk)
    batch, snapshot = Batch.objects.get(number=1), Snapshot.objects.latest("through_batch")
    Batch.objects.filter(pk=batch.pk).update(tables=move_a_report(batch.tables))
    [found] = find_differences()
    assert "batch 1: its tables do not match its bytes" in found
    Batch.objects.filter(pk=batch.pk).update(tables=None)
    assert find_differences() == []
    Snapshot.objects.filter(pk=snapshot.pk).update(tables=move_a_report(snapshot.tables))
    [found] = find_differences()
    assert "snapshot through batch 2: its tables do not match the sum of its batches" in found
