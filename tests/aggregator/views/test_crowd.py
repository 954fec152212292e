"""Exact figures describe at least C reports: 3 × K, or the display minimum if that is more."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps

from aggregator.exports.reports import find_rows
from aggregator.results.display import Standing, find_view
from surveys.authoring.services import close_wave
from surveys.manifest.manifest import find_crowd
from surveys.models import Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import process, send_people

pytestmark = pytest.mark.django_db
MIGRATION = importlib.import_module("aggregator.migrations.0015_smallest_crowd")


def arrive(wave: Wave, people: int, *, seed: int = 1) -> None:
    send_people(wave, people=people, seed=seed)
    process(wave)


def close(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)


@pytest.mark.parametrize(("k", "minimum", "crowd"), [(50, 100, 150), (50, 200, 200), (10, 30, 30)])
def test_it_is_three_batches_or_the_display_minimum(k: int, minimum: int, crowd: int) -> None:
    assert find_crowd(minimum_batch=k, display_minimum=minimum) == crowd


@pytest.mark.parametrize(("people", "standing"), [(29, Standing.TOO_FEW), (30, Standing.SHOWN)])
def test_one_report_fewer_shows_nothing_however_the_survey_ended(
    people: int, standing: Standing
) -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, people)
    close(wave)
    view = find_view(wave.survey)
    assert view.standing is standing
    assert (view.results is not None) == (standing is Standing.SHOWN)


def test_a_random_subset_shows_its_total_only_until_the_close() -> None:
    wave = make_launched_survey(questions=tuple("abcd"), drawn=2)
    arrive(wave, 300)
    open_view = find_view(wave.survey)
    assert (open_view.standing, open_view.results) == (Standing.AT_CLOSE, None)
    assert open_view.snapshot is not None
    assert open_view.snapshot.total == 290
    close(wave)
    results = find_view(wave.survey).results
    assert results is not None
    assert all(question.total >= 30 for question in results.questions)


def test_what_an_earlier_version_showed_stays_until_there_is_a_crowd() -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, 22)
    shown = wave.snapshots.get()
    assert (shown.total, find_view(wave.survey).results) == (12, None)
    MIGRATION.keep_what_was_shown(apps, None)
    shown.refresh_from_db()
    assert shown.earlier_final is False
    arrive(wave, 12, seed=2)
    kept = find_view(wave.survey)
    assert kept.results is not None
    assert (kept.results.snapshot, kept.results.has_rows) == (shown, False)
    arrive(wave, 20, seed=3)
    assert find_view(wave.survey).results.snapshot.total == 44  # type: ignore[union-attr]


def test_rows_of_an_earlier_version_do_not_leave() -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, 20)
    close(wave)
    wave.snapshots.update(earlier_final=True)
    results = find_view(wave.survey).results
    assert results is not None
    with pytest.raises(ValueError, match="large enough"):
        find_rows(results)
