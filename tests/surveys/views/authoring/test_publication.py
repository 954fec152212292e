"""Authors choose a publication, see it frozen, and can withdraw the public page."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from django.test import Client

from surveys.authoring.errors import NotLaunchable
from surveys.authoring.services import launch_survey
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.models import Survey
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import at, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
EXACT = Publication.EXACT
POSTED = {"release_epsilon": "2.5", "release_delta_nanos": "5"}


def privacy_page(survey: Survey) -> str:
    return at("settings_page", survey, "privacy")


def read(client: Client, name: str, survey: Survey, *more: str) -> str:
    return " ".join(client.get(at(name, survey, *more)).content.decode().split())


@pytest.mark.parametrize("chosen", Publication)
def test_the_settings_store_what_is_published(chosen: Publication) -> None:
    survey = make_survey()
    author = sign_in(survey.owner)
    answer = author.post(privacy_page(survey), {**POSTED, "publication": chosen.value})
    assert answer.status_code == 302
    survey.refresh_from_db()
    assert survey.publication == chosen
    is_protected = chosen is Publication.PROTECTED
    assert survey.release_epsilon_hundredths == (250 if is_protected else 100)
    assert survey.release_delta_nanos == (5 if is_protected else 1000)
    page = read(author, "settings_page", survey, "privacy")
    [radio] = re.findall(r'<input[^>]*name="publication"[^>]*checked[^>]*>', page)
    assert f'value="{chosen.value}"' in radio
    assert f'name="release_epsilon" value="{"2.50" if is_protected else "1.00"}"' in page


def test_a_limit_that_changed_in_a_second_window_is_told() -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    author = sign_in(survey.owner)
    page = author.get(privacy_page(survey))
    stamp = page.context["stamp"]
    posted = {**POSTED, "publication": "protected", "stamp": stamp}
    Survey.objects.filter(pk=survey.pk).update(release_epsilon_hundredths=70)
    answer = author.post(privacy_page(survey), posted)
    assert answer.status_code == 422
    assert "0.70" in answer.content.decode()


@pytest.mark.parametrize("typed", ["", "everything", "Protected"])
def test_no_other_kind_of_publication_can_be_chosen(typed: str) -> None:
    survey = make_survey()
    answer = sign_in(survey.owner).post(privacy_page(survey), {**POSTED, "publication": typed})
    assert answer.status_code == 422
    survey.refresh_from_db()
    assert survey.publication == Publication.NONE


def test_the_page_that_opens_a_survey_says_what_is_published() -> None:
    said = "the results, after the close: estimates for everyone together"
    exact, nothing = make_survey(publication=EXACT), make_survey()
    assert said in read(sign_in(exact.owner), "launch", exact)
    assert said not in read(sign_in(nothing.owner), "launch", nothing)


def test_the_page_that_opens_a_protected_survey_says_what_its_figures_may_reveal() -> None:
    survey = make_survey(
        publication=Publication.PROTECTED, release_epsilon_hundredths=70, release_delta_nanos=250
    )
    author = sign_in(survey.owner)
    page = read(author, "launch", survey)
    assert "protected figures, after the close" in page
    assert "ε = 0.70, δ = 2.5 · 10⁻⁷" in page
    assert "cannot be opened yet" not in page


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"closes_at": None}, "needs a closing date"),
        ({"cap": 500}, "cannot close after a number of people"),
        (
            {"people_expected": 300_000},
            "δ can be at most 333 billionths.",
        ),
    ],
)
def test_a_protected_survey_opens_only_if_its_end_does_not_tell_how_many_came(
    changed: dict[str, object], problem: str
) -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    Survey.objects.filter(pk=survey.pk).update(**changed)
    author = sign_in(survey.owner)
    page = read(author, "launch", survey)
    assert "cannot be opened yet" in page
    assert problem in page
    survey.refresh_from_db()
    with pytest.raises(NotLaunchable):
        launch_survey(survey=survey)
    Survey.objects.filter(pk=survey.pk).update(publication=EXACT)
    assert problem not in read(author, "launch", survey)


@pytest.mark.parametrize("page", ["edit", "launch"])
def test_no_page_offers_a_protected_survey_to_end_by_a_number(page: str) -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    Survey.objects.filter(pk=survey.pk).update(closes_at=None)
    author = sign_in(survey.owner)
    assert "or a number of people" not in read(author, page, survey)
    Survey.objects.filter(pk=survey.pk).update(publication=EXACT)
    assert "or a number of people" in read(author, page, survey)


@pytest.mark.parametrize("invented", ["demo", "rehearsal"])
def test_invented_people_need_no_closing_date(invented: str) -> None:
    survey = make_survey(publication=Publication.PROTECTED, people_expected=300_000)
    Survey.objects.filter(pk=survey.pk).update(closes_at=None, cap=300_000, **{invented: True})
    survey.refresh_from_db()
    assert launch_survey(survey=survey).description.publishes_releases


@pytest.mark.parametrize("chosen", Publication)
def test_closing_by_hand_says_what_the_moment_shows(chosen: Publication) -> None:
    survey = make_launched_survey(publication=chosen).survey
    page = read(sign_in(survey.owner), "close", survey)
    assert ("closing time shows readers" in page) == (chosen is Publication.PROTECTED)


@pytest.mark.parametrize("closes", [False, True], ids=["open", "closed"])
def test_the_overview_leads_to_the_page_of_figures(closes: bool) -> None:
    wave = make_launched_survey(publication=Publication.PROTECTED)
    if closes:
        close_wave(wave_id=wave.pk, ending=wave.Ending.OWNER)
    page = read(sign_in(wave.survey.owner), "edit", wave.survey)
    assert "the figures that you release" in page
    assert ("once the survey has closed" in page) != closes


def test_the_owner_switches_the_page_off_and_on_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    survey = make_launched_survey(publication=EXACT).survey
    author, switch = sign_in(survey.owner), at("public_results", survey)
    assert 'value="off"' in read(author, "edit", survey)
    with (
        caplog.at_level(logging.INFO, logger="murmur.audit"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        for _ in range(2):  # a second click does not switch the page on again
            assert author.post(switch, {"switch": "off"}).status_code == 302
    survey.refresh_from_db()
    assert survey.public_results_off
    page = read(author, "edit", survey)
    assert 'value="on"' in page
    assert "is switched off" in page
    author.post(switch, {"switch": "on"})
    survey.refresh_from_db()
    assert not survey.public_results_off
    line = f"public-results-off account={survey.owner.pk} survey={survey.slug}"
    assert line in [record.getMessage() for record in caplog.records]


def test_nothing_can_be_switched_where_nothing_is_published() -> None:
    survey = make_launched_survey().survey
    author = sign_in(survey.owner)
    assert "Public results" not in read(author, "edit", survey)
    assert author.post(at("public_results", survey), {"switch": "off"}).status_code == 404
    survey.refresh_from_db()
    assert not survey.public_results_off


def test_the_switch_needs_a_form_token() -> None:
    survey = make_launched_survey(publication=EXACT).survey
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(survey.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert strict.post(at("public_results", survey), {"switch": "off"}).status_code == 403
