"""If a worker is killed at any moment of any job, the next one finds complete data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from aggregator import tasks
from aggregator.background.rows_files import make_rows_file
from aggregator.batches.sealing import count_acknowledged, seal_next_batch
from aggregator.comparisons.claims import Claim, add_claim, ask_to_open, list_tested, stamp_claims
from aggregator.comparisons.planned import request_planned
from aggregator.exports.worker_files import find_recipe
from aggregator.models import (
    Batch,
    Comparison,
    RawReport,
    Rendering,
    RowsFile,
    SealedHalf,
    Snapshot,
)
from aggregator.renderings.jobs import request_rendering
from aggregator.results.display import find_view
from aggregator.results.groups import halves
from aggregator.results.snapshots import update_snapshot
from aggregator.upkeep.due import WorkKind, find_due_work
from surveys.authoring.services import plan_comparison
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.deaths import Moment, killed
from tests.support.factories import make_survey, open_survey
from tests.support.halves import end, open_wave_with_wards
from tests.support.waves import send_many

pytestmark = pytest.mark.django_db(transaction=True)
HALF_MOMENTS: list[Moment] = [5, "before the commit", "after the commit"]
PEOPLE = 60
FILE = "chart.180mm.svg"
# Moments before and after each of a job's first seven statements, and its first commit.
MOMENTS: list[Moment] = [
    *(number for statement in range(1, 8) for number in (statement, -statement)),
    *("before the commit", "after the commit"),
]


def closed_wave() -> Wave:
    survey = make_survey(questions=["Ill?", "Tired?", "Sad?"], minimum_batch=10, display_minimum=10)
    plan_comparison(survey=survey, names=("q1", "q2"))
    wave = open_survey(survey=survey)
    send_many(wave, [bytes([row % 2, row % 3 == 0, row % 5 == 0]) for row in range(PEOPLE)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    return wave


def sealed_wave() -> Wave:
    wave = closed_wave()
    assert seal_next_batch(wave_id=wave.pk)
    return wave


def estimated_wave() -> Wave:
    wave = sealed_wave()
    update_snapshot(wave_id=wave.pk)
    return wave


def wave_with_rows() -> Wave:
    wave = estimated_wave()
    make_rows_file(wave_id=wave.pk)
    return wave


def compared_wave() -> Wave:
    wave = wave_with_rows()
    request_planned(wave_id=wave.pk)
    return wave


def wave_with_a_file() -> Wave:
    wave = estimated_wave()
    results, recipe = find_view(wave.survey).results, find_recipe(FILE)
    assert results is not None
    assert recipe is not None
    inputs = recipe.find_inputs(results, FILE)
    assert inputs is not None
    request_rendering(results=results, name=FILE, inputs=inputs)
    return wave


# Releases are drawn once or never: tests/aggregator/releases/several_processes/test_killed.py.
DUE: dict[WorkKind, Callable[[], Wave]] = {
    WorkKind.SEAL: closed_wave,
    WorkKind.ESTIMATE: sealed_wave,
    WorkKind.ROWS: estimated_wave,
    WorkKind.PLAN: wave_with_rows,
    WorkKind.COMPARE: compared_wave,
    WorkKind.RENDER: wave_with_a_file,
}


def work_until_nothing_is_due() -> None:
    for _ in range(len(WorkKind)):
        for model in (Comparison, Rendering):
            model.objects.update(leased_until=None)
        due = find_due_work()
        for item in due:
            task, _priority = tasks._TASKS[item.kind]
            task(item.subject)
        if not due:
            return
    assert find_due_work() == []


def assert_complete(wave: Wave) -> None:
    assert count_acknowledged(wave) == PEOPLE
    assert not RawReport.objects.filter(wave=wave).exists()
    assert [batch.size for batch in Batch.objects.filter(wave=wave)] == [PEOPLE]
    [snapshot] = Snapshot.objects.filter(wave=wave)
    assert (snapshot.total, snapshot.final) == (PEOPLE, True)
    assert RowsFile.objects.filter(wave=wave).count() == 1
    [comparison] = Comparison.objects.filter(wave=wave)
    assert comparison.state == Comparison.State.DONE
    for rendering in Rendering.objects.filter(wave=wave):
        assert rendering.state == Rendering.State.DONE


@pytest.mark.parametrize("kind", DUE)
def test_a_worker_killed_at_any_moment_of_a_job_loses_nothing(
    kind: WorkKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Messages are lost too, so only the rows show what is due.
    monkeypatch.setattr(tasks.estimate_wave, "apply_async", lambda *_, **__: None)
    ends: list[str] = []
    for moment in MOMENTS:
        wave = DUE[kind]()
        [due] = [item for item in find_due_work() if item.kind is kind]
        with killed(moment) as ended:
            tasks._TASKS[kind][0](due.subject)
        ends += ended
        work_until_nothing_is_due()
        assert_complete(wave)
    assert len(ends) >= len(MOMENTS) // 3  # short jobs end before the later moments


def list_sides() -> list[tuple[int, bool]]:
    """List the side of every batch, or nothing before the halves are drawn."""
    is_drawn = SealedHalf.objects.exists()
    return list(Batch.every.order_by("pk").values_list("pk", "is_held")) if is_drawn else []


def test_halves_are_drawn_once_and_claims_about_groups_tested_once_whoever_dies(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path  # records the test, even if a backup seals the half again
    monkeypatch.setattr(halves, "EQUATIONS_OF_A_CLAIM", 0)
    rows = [bytes([row % 2, row % 3 == 0, row // 3 % 2]) for row in range(300)]
    wave = end(open_wave_with_wards(people_expected=400), rows=rows)
    for moment in HALF_MOMENTS:
        SealedHalf.objects.all().delete()
        Batch.every.update(is_held=False)
        Snapshot.objects.all().delete()
        with killed(moment) as ended:
            tasks.estimate_wave(wave.pk)
        assert ended == ["committed" if moment == "after the commit" else "undone"]
        drawn = list_sides()
        work_until_nothing_is_due()
        half = SealedHalf.objects.get()
        assert (half.has_groups, half.through_batch) == (True, wave.batches.count())
        assert drawn in ([], list_sides())
        [snapshot] = Snapshot.objects.all()
        assert (snapshot.is_half, snapshot.through_batch) == (True, half.through_batch)
    claims = [Claim(names=("q1", "q3.0"), is_higher=True, than=than) for than in (30, None)]
    for claim in claims:
        add_claim(wave=wave, claim=claim)
    sides, verdicts = list_sides(), []
    for moment in HALF_MOMENTS:
        with killed(moment) as ended:
            ask_to_open(wave=wave, seen=stamp_claims(claims))
        if ended == ["undone"]:
            ask_to_open(wave=wave, seen=stamp_claims(claims))
        with killed(moment) as ended:
            tasks.open_sealed_half(wave.pk)
        if ended == ["undone"]:
            assert (list_sides(), Comparison.objects.exists()) == (sides, False)
        tasks.open_sealed_half(wave.pk)  # does nothing if this was done already
        with killed(moment):
            tasks.compare(Comparison.objects.get().pk)
        work_until_nothing_is_due()
        assert Comparison.objects.count() == 1
        half.refresh_from_db()
        verdicts.append(list_tested(half, wave.description))
        assert [(one.verdict, one.finding) for one in verdicts[-1]] == [
            (one.verdict, one.finding) for one in verdicts[0]
        ]
        assert all(one.verdict for one in verdicts[-1])
        # Seal the half again.
        SealedHalf.objects.update(asked_on=None, opened_on=None)
        Batch.every.filter(number__gt=half.through_batch).update(is_held=True)
        for rows_of in (Comparison.objects, RowsFile.objects, Snapshot.objects.filter(final=True)):
            rows_of.all().delete()
