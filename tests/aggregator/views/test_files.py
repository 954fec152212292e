"""The URL of a file returns the file, a waiting page without a script, or a reason."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aggregator.exports import worker_files
from aggregator.models import Rendering, Upkeep
from aggregator.renderings import jobs
from aggregator.renderings.jobs import GAVE_UP, run_rendering
from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.display import Results
from aggregator.results.snapshots import METHOD_VERSION
from surveys.leases import MAX_ATTEMPTS
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_user
from tests.support.fielding import field, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
NAME = "test.180mm.pdf"
NOT_ANSWERING = "is not answering"


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a kind of file that is quick to make."""

    def find_inputs(results: Results, name: str) -> str | None:
        if name == "test-q9.pdf":
            raise NotRenderable("Too few people were asked Q9.")
        return "1" if name == NAME else None

    recipe = Recipe(find_inputs=find_inputs, render=lambda results, name: b"%PDF-1.7")
    monkeypatch.setitem(worker_files.RECIPES, "test", recipe)


@pytest.fixture
def survey() -> Survey:
    return field(make_launched_survey(), yes=[80, 100], total=200)


def get(survey: Survey, name: str = NAME, **query: object) -> Any:
    address = reverse("aggregator:file", args=[survey.slug, name])
    return sign_in(survey.owner).get(address, query_params=query)


def work() -> None:
    run_rendering(rendering_id=Rendering.objects.get().pk, find_recipe=worker_files.find_recipe)


def note_sweep(**ago: float) -> None:
    ended_at = timezone.now() - timedelta(**ago)
    Upkeep.objects.update_or_create(job=Upkeep.Job.SWEEP, defaults={"ended_at": ended_at})


def test_the_page_waits_without_a_script_until_the_file_is_made(survey: Survey) -> None:
    waiting = get(survey)
    assert waiting.status_code == 202
    assert "<script" not in waiting.content.decode()
    seconds, address = waiting["Refresh"].split("; url=")
    assert int(seconds) > 0
    assert NOT_ANSWERING not in text_of(waiting)
    work()
    ready = sign_in(survey.owner).get(address)
    address = ready["Refresh"].removeprefix("0; url=")
    assert f'href="{address}"' in ready.text
    done = sign_in(survey.owner).get(address)
    assert (done.status_code, done.content) == (200, b"%PDF-1.7")
    assert done["Content-Type"] == "application/pdf"
    assert re.fullmatch(
        rf'attachment; filename="{survey.slug}_w1_[0-9a-f]{{8}}_{NAME}"',
        done["Content-Disposition"],
    )
    assert "Refresh" not in done


def test_after_ten_seconds_the_page_says_that_no_worker_answers(survey: Survey) -> None:
    waited, pages = 0, []
    while waited <= 12:
        page = get(survey, waited=waited)
        pages.append((waited, NOT_ANSWERING in text_of(page)))
        waited = int(page["Refresh"].rpartition("=")[2])
    assert pages[-1][1]
    assert all(says == (waited >= 10) for waited, says in pages)
    work()
    assert get(survey, waited=waited).status_code == 200


def test_a_busy_worker_is_not_called_away(survey: Survey) -> None:
    note_sweep(seconds=3)
    words = text_of(get(survey, waited=12))
    assert NOT_ANSWERING not in words
    assert "Other work comes first." in words
    note_sweep(minutes=3)
    assert NOT_ANSWERING in text_of(get(survey, waited=12))


def test_a_file_that_workers_of_another_version_never_make_ends_the_waiting(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited, loads = 0, 0
    while True:
        note_sweep(seconds=3)
        page = get(survey, waited=waited)
        with monkeypatch.context() as other:
            other.setattr(jobs, "METHOD_VERSION", METHOD_VERSION + 1)
            work()
        assert not Rendering.objects.exists()
        if "Refresh" not in page:
            break
        waited, loads = int(page["Refresh"].rpartition("=")[2]), loads + 1
    assert loads < 50
    assert "restart all of Murmur’s programs" in text_of(page)
    address = reverse("aggregator:file", args=[survey.slug, NAME])
    assert f'href="{address}">Try again' in page.text
    assert "Refresh" in get(survey)


@pytest.mark.parametrize("waited", ["-1", "x", "99999", "¹"])
def test_an_invented_wait_is_no_wait(survey: Survey, waited: str) -> None:
    assert NOT_ANSWERING not in text_of(get(survey, waited=waited))


@pytest.mark.parametrize("name", ["test.pdf", "test-x.180mm.pdf", "other.pdf", "test.180mm.exe"])
def test_a_name_that_no_file_has_is_not_found_and_makes_no_row(survey: Survey, name: str) -> None:
    assert get(survey, name).status_code == 404
    assert not Rendering.objects.exists()


def test_without_results_there_is_a_page_that_says_why() -> None:
    survey = field(make_launched_survey(display_minimum=1000), yes=[80, 100], total=200)
    page = get(survey)
    assert page.status_code == 409
    assert "Too few responses to show" in text_of(page)
    assert not Rendering.objects.exists()


def test_a_file_that_the_results_do_not_allow_is_refused_with_a_sentence(survey: Survey) -> None:
    page = get(survey, "test-q9.pdf")
    assert page.status_code == 409
    assert "Too few people were asked Q9." in text_of(page)
    assert not Rendering.objects.exists()


def test_a_file_that_a_worker_gave_up_is_made_again_on_request(survey: Survey) -> None:
    get(survey)
    Rendering.objects.update(
        state=Rendering.State.FAILED, problem=GAVE_UP, attempts=MAX_ATTEMPTS + 1
    )
    page = get(survey)
    assert page.status_code == 503
    assert GAVE_UP in text_of(page)
    assert "Refresh" not in page
    assert get(survey, again="").status_code == 202
    work()
    assert get(survey).status_code == 200


def test_only_the_owner_gets_it(survey: Survey) -> None:
    address = reverse("aggregator:file", args=[survey.slug, NAME])
    assert sign_in(make_user()).get(address).status_code == 404
    assert Client().get(address).status_code == 302
    assert not Rendering.objects.exists()


CHOICE = {"chart": "chart-q1", "width": "85", "axis": "max", "format": "pdf"}


def choose(survey: Survey, **choice: str) -> Any:
    address = reverse("aggregator:choose_chart", args=[survey.slug])
    return sign_in(survey.owner).get(address, query_params={**CHOICE, **choice})


def test_a_choice_leads_to_the_file_of_its_mode(survey: Survey) -> None:
    name = "chart-q1.85mm.max.pdf"
    assert choose(survey)["Location"] == reverse("aggregator:file", args=[survey.slug, name])
    of_coins = choose(survey, mode="manual")
    assert of_coins["Location"] == reverse("aggregator:coin_file", args=[survey.slug, name])


@pytest.mark.parametrize(
    "choice",
    [{"chart": ""}, {"width": "1"}, {"axis": "all"}, {"format": "gif"}, {"chart": "../chart"}],
)
def test_a_choice_that_the_form_does_not_offer_is_not_found(
    survey: Survey, choice: dict[str, str]
) -> None:
    assert choose(survey, **choice).status_code == 404


def test_the_data_page_offers_the_charts_that_exist(survey: Survey) -> None:
    address = reverse("aggregator:data", args=[survey.slug])
    page = sign_in(survey.owner).get(address, query_params={"chart": "chart-q2"}).content.decode()
    assert re.findall(r'<option value="(chart[^"]*)"( selected)?>', page) == [
        ("chart", ""),
        ("chart-q1", ""),
        ("chart-q2", " selected"),
    ]


def test_the_charts_of_coins_are_files_of_their_own() -> None:
    wave = make_launched_survey(coins=True)
    manual = wave.survey.waves.get(mode=Wave.Mode.MANUAL)
    survey = field(manual, yes=[80, 100], total=200)
    address = reverse("aggregator:coin_file", args=[survey.slug, "chart.180mm.svg"])
    client = sign_in(survey.owner)
    assert client.get(address).status_code == 202
    work()
    done = client.get(address)
    assert (done.status_code, done["Content-Type"]) == (200, "image/svg+xml")
    assert "_w1_coins_" in done["Content-Disposition"]
    assert get(survey, "chart.180mm.svg").status_code == 409  # nobody answered in the browser
