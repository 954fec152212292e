"""Authors choose what is published, see it frozen, and can take the public page back."""

from __future__ import annotations

import logging

import pytest
from django.test import Client
from django.urls import reverse

from surveys.manifest.manifest import Publication
from surveys.models import Survey
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
EXACT = Publication.EXACT


def at(name: str, survey: Survey) -> str:
    return reverse(f"surveys:{name}", args=[survey.slug])


def read(client: Client, name: str, survey: Survey) -> str:
    return " ".join(client.get(at(name, survey)).content.decode().split())


@pytest.mark.parametrize("chosen", Publication)
def test_the_settings_store_what_is_published(chosen: Publication) -> None:
    survey = make_survey()
    posted = {"title": "Roads", "language": "en", "minimum_batch": 10, "display_minimum": 10}
    author = sign_in(survey.owner)
    answer = author.post(at("settings", survey), {**posted, "publication": chosen.value})
    assert answer.status_code == 302
    survey.refresh_from_db()
    assert survey.publication == chosen


@pytest.mark.parametrize("typed", ["", "everything", "Protected"])
def test_no_other_kind_of_publication_can_be_chosen(typed: str) -> None:
    survey = make_survey()
    posted = {"title": "Roads", "language": "en", "minimum_batch": 10, "display_minimum": 10}
    answer = sign_in(survey.owner).post(
        at("settings", survey), {**posted, "publication": typed, "title": "Roads"}
    )
    assert answer.status_code == 422
    survey.refresh_from_db()
    assert survey.publication == Publication.NONE


def test_the_page_that_opens_a_survey_says_what_is_published() -> None:
    said = "the results, after the close: estimates for everyone together"
    exact, nothing = make_survey(publication=EXACT), make_survey()
    assert said in read(sign_in(exact.owner), "launch", exact)
    assert said not in read(sign_in(nothing.owner), "launch", nothing)


def test_the_owner_switches_the_page_off_and_on_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    survey = make_launched_survey(publication=EXACT).survey
    author, switch = sign_in(survey.owner), at("public_results", survey)
    assert 'value="off"' in read(author, "edit", survey)
    with caplog.at_level(logging.INFO, logger="murmur.audit"):
        for _ in range(2):  # a second click does not switch it on again
            assert author.post(switch, {"switch": "off"}).status_code == 302
    survey.refresh_from_db()
    assert survey.public_results_off
    page = read(author, "edit", survey)
    assert 'value="on"' in page
    assert "is switched off" in page
    author.post(switch, {"switch": "on"})
    survey.refresh_from_db()
    assert not survey.public_results_off
    line = f"public-results-off account={survey.owner_id} survey={survey.slug}"
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
