"""Exact figures describe at least C reports: 3 × K, or the display minimum if that is more."""

from __future__ import annotations

import re

import pytest
from django.db.models import F

from aggregator.charts.questions import make_figure
from aggregator.exports.estimates import stream_estimates
from aggregator.exports.reports import find_rows
from aggregator.results.blocks import list_blocks
from aggregator.results.display import Standing, find_view
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import NOT_DRAWN, find_crowd
from surveys.models import Wave
from tests.support.breakdowns.waves import send_rows
from tests.support.factories import make_launched_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.reading import text_of

pytestmark = pytest.mark.django_db


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


@pytest.mark.usefixtures("static_files")
def test_pages_say_too_few_only_once_all_reports_are_counted() -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, 22)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    client, root = sign_in(wave.survey.owner), f"/surveys/{wave.survey.slug}"
    for says, other in (("being counted", "closed with fewer"), ("closed with fewer", "counted")):
        for page in ("/results", "/data", "/compare"):
            shown = text_of(client.get(f"{root}{page}"))
            assert says in shown, page
            assert other not in shown, page
        process(wave)


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


FEW = 17  # people asked the third block; the crowd is 30


@pytest.mark.usefixtures("static_files")
def test_nothing_is_shown_about_a_block_of_fewer_people() -> None:
    wave = make_launched_survey(
        questions=("Ill?", "Late?", "Sad?"), drawn=1, minimum_batch=10, display_minimum=10
    )
    rows = []
    for place, people in enumerate((64, 46, FEW)):
        codes = [NOT_DRAWN] * 3
        for number in range(people):
            codes[place] = number % 2
            rows.append(bytes(codes))
    send_rows(wave, rows)
    close(wave)
    snapshot = wave.snapshots.get()
    snapshot.estimates[2]["alarm"] = True
    snapshot.save()
    results = find_view(wave.survey).results
    assert results is not None
    assert not results.alarms
    client, root = sign_in(wave.survey.owner), f"/surveys/{wave.survey.slug}"
    api = client.get(f"/api/surveys/{wave.survey.slug}/results").json()
    last = api["questions"][2]
    assert (last["n"], last["alarm"], last["estimates"]) == (None, False, [])
    [_, *lines] = stream_estimates(results)
    assert not any(b",q3," in line for line in lines)
    figure = make_figure(results, list_blocks(results), ends_at_data=False, part=(1, 1))
    assert "46 to 64 of 127 randomized reports" in str(figure)
    for page in ("/results", "/report", "/data", "/compare"):
        response = client.get(f"{root}{page}")
        shown = text_of(response)
        assert response.status_code == 200
        assert not re.search(rf"\b{FEW}\b|asked in 0|Do not use", shown), page


def test_what_an_earlier_version_showed_stays_until_there_is_a_crowd() -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, 22)
    shown = wave.snapshots.get()
    assert (shown.total, find_view(wave.survey).results) == (12, None)
    wave.snapshots.update(earlier_final=F("final"))  # as the upgrade to this version did
    shown.refresh_from_db()
    assert shown.earlier_final is False
    arrive(wave, 12, seed=2)
    kept = find_view(wave.survey)
    assert kept.results is not None
    assert (kept.results.snapshot, kept.results.has_rows) == (shown, False)
    arrive(wave, 20, seed=3)
    assert find_view(wave.survey).results.snapshot.total == 44  # type: ignore[union-attr]


def test_blocks_that_an_earlier_version_showed_move_once_at_the_close() -> None:
    wave = make_launched_survey(questions=tuple("abcd"), drawn=2)
    arrive(wave, 300)
    wave.snapshots.update(earlier_final=F("final"))  # as the upgrade to this version did
    shown = wave.snapshots.get()
    arrive(wave, 300, seed=2)
    assert wave.snapshots.count() > 1
    assert find_view(wave.survey).results.snapshot == shown  # type: ignore[union-attr]
    close(wave)
    assert find_view(wave.survey).results.snapshot.total == 600  # type: ignore[union-attr]


def test_rows_of_an_earlier_version_do_not_leave() -> None:
    wave = make_launched_survey(minimum_batch=10, display_minimum=10)
    arrive(wave, 20)
    close(wave)
    wave.snapshots.update(earlier_final=True)
    results = find_view(wave.survey).results
    assert results is not None
    with pytest.raises(ValueError, match="large enough"):
        find_rows(results)
