"""The Data page: files, missing files, and the URLs for programs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from aggregator.comparisons.jobs import request_comparison, run_comparison
from aggregator.models import Comparison
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def data(survey: Survey) -> str:
    response = sign_in(survey.owner).get(reverse("aggregator:data", args=[survey.slug]))
    assert response.status_code == 200
    return response.text


def links(page: str, survey: Survey) -> set[str]:
    """Return the files to which the page links."""
    names = ("estimates_csv", "reports_csv", "codebook_csv")
    files = {*names, "coin_estimates_csv"}
    return {
        name
        for name in files
        if f'href="{reverse(f"aggregator:{name}", args=[survey.slug])}"' in page
    }


def test_a_draft_says_when_files_appear() -> None:
    page = data(make_survey())
    assert "This survey is a draft" in page
    assert "estimates.csv</a>" not in page.split('id="api"')[0]


def test_rows_are_offered_only_after_the_close() -> None:
    wave = make_launched_survey()
    send_people(wave, people=60)
    process(wave)
    page = data(wave.survey)
    assert links(page, wave.survey) == {"estimates_csv", "codebook_csv"}
    assert 'id="rows-come-later"' in page
    assert reverse("aggregator:methods_chapter", args=["files"]) in page
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    page = data(wave.survey)
    assert links(page, wave.survey) == {"estimates_csv", "reports_csv", "codebook_csv"}
    assert 'id="rows-come-later"' not in page


def test_the_number_of_reports_moves_only_at_a_look() -> None:
    wave = make_launched_survey()
    send_people(wave, people=60)
    process(wave)
    client = sign_in(wave.survey.owner)
    address = reverse("aggregator:data", args=[wave.survey.slug])
    before = text_of(client.get(address))
    assert "All files cover the 50 sealed reports" in before
    send_people(wave, people=9, seed=2)
    process(wave)
    assert text_of(client.get(address)) == before


def test_files_of_both_modes_stand_apart() -> None:
    wave = make_launched_survey(coins=True)
    coins = wave.survey.waves.manual().get()
    for number, each in enumerate((wave, coins)):
        send_people(each, people=40, seed=number)
        process(each)
    page = data(wave.survey)
    assert links(page, wave.survey) >= {"estimates_csv", "coin_estimates_csv"}
    assert reverse("aggregator:mode_comparison_csv", args=[wave.survey.slug]) in page


def test_finished_comparisons_are_listed_with_their_files() -> None:
    wave = make_launched_survey()
    send_people(wave, people=200)
    process(wave)
    comparison = request_comparison(
        wave=wave, snapshot=wave.snapshots.get(), kind=Comparison.Kind.TABLE, names=["q1", "q2"]
    )
    address = reverse("aggregator:comparison_csv", args=[wave.survey.slug, comparison.pk])
    assert address not in data(wave.survey)
    run_comparison(comparison_id=comparison.pk)
    assert address in data(wave.survey)


def test_the_guide_and_the_addresses_for_programs_are_linked() -> None:
    wave = make_launched_survey()
    page = data(wave.survey)
    assert f'href="{reverse("aggregator:api_guide")}"' in page
    for name in ("api_survey", "api_results", "api_reports_csv", "api_codebook_csv"):
        assert f'href="{reverse(f"aggregator:{name}", args=[wave.survey.slug])}"' in page
