"""The number of other surveys of the author that ask the same, on pages for respondents."""

from __future__ import annotations

import importlib
import re

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.simulation.rehearsal import open_rehearsal
from aggregator.upkeep.deleting import delete_survey
from surveys.asked_questions import AskedQuestion
from surveys.authoring.services import close_wave
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ASKED = re.compile(r'<main id="survey"[^>]* data-elsewhere="(\d+)"')


@pytest.fixture
def owner() -> User:
    return make_user()


def shown(survey: Survey, *, route: str = "surveys:respond", client: Client | None = None) -> int:
    page = (client or Client()).get(reverse(route, args=[survey.slug])).content.decode()
    found = ASKED.search(page)
    return int(found[1]) if found else 0


def test_the_page_follows_every_survey_that_opens_and_every_one_that_is_deleted(
    owner: User,
) -> None:
    first = make_launched_survey(owner=owner).survey
    assert shown(first) == 0
    second = make_launched_survey(owner=owner)
    assert (shown(first), shown(second.survey)) == (1, 1)
    make_launched_survey()  # somebody else's
    make_survey(owner=owner)  # a draft
    open_rehearsal(survey=first, people=20)
    assert shown(first) == 1
    close_wave(wave_id=second.pk, ending=Wave.Ending.OWNER)
    assert shown(first) == 1, "people may have answered it"
    delete_survey(survey=second.survey)
    assert shown(first) == 0
    assert set(AskedQuestion.objects.values_list("survey", flat=True)) >= {first.pk}
    assert not AskedQuestion.objects.filter(survey=second.survey_id).exists()


def test_the_single_file_and_the_preview_have_the_number_too(owner: User) -> None:
    make_launched_survey(owner=owner)
    survey = make_launched_survey(owner=owner).survey
    assert shown(survey, route="surveys:single_page") == 1
    author = sign_in(owner)
    assert shown(survey, route="surveys:preview", client=author) == 1
    assert shown(make_survey(owner=owner), route="surveys:preview", client=author) == 2
    other = make_survey(owner=owner, questions=("Another one?",))
    assert shown(other, route="surveys:preview", client=author) == 0


def test_the_label_gets_the_number_in_the_browser_and_with_coins(owner: User) -> None:
    wave = make_launched_survey(owner=owner, coins=True)
    make_launched_survey(owner=owner)
    for route in ("surveys:respond", "aggregator:coins"):
        response = Client().get(reverse(route, args=[wave.survey.slug]))
        assert response.status_code == 200
    assert shown(wave.survey) == 1


def test_a_rehearsal_has_no_rows(owner: User) -> None:
    survey = make_survey(owner=owner)
    wave = open_rehearsal(survey=survey, people=20)
    assert not AskedQuestion.objects.exists()
    assert wave.survey.asked_elsewhere == 0


# --- surveys that were launched before ------------------------------------------------------------


def test_the_migration_fills_in_launched_surveys_and_no_rehearsals(owner: User) -> None:
    waves = [make_launched_survey(owner=owner, coins=True) for _ in range(2)]
    close_wave(wave_id=waves[0].pk, ending=Wave.Ending.OWNER)
    open_rehearsal(survey=waves[0].survey, people=20)
    make_survey(owner=owner)
    before = set(AskedQuestion.objects.values_list("survey", "key"))
    assert len(before) == 4
    AskedQuestion.objects.all().delete()
    name = "surveys.migrations.0011_questions_of_launched_surveys"
    record = importlib.import_module(name).record
    for _ in range(2):  # twice does no harm
        record(apps, None)
        assert set(AskedQuestion.objects.values_list("survey", "key")) == before
    assert open_survey(survey=make_survey(owner=owner)).survey.asked_elsewhere == 2
