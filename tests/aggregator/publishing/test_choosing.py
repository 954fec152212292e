"""Choosing a release: the price by GET, the charge by POST, and nothing charged by mistake."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from aggregator.models import Release, ReleaseLedger
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey
from tests.support.fielding import sign_in
from tests.support.reading import words_of
from tests.support.waves import make_protected_wave, make_released_wave

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def address_of(survey: Survey, kind: str = "table") -> str:
    return f"/surveys/{survey.slug}/releases/new/{kind}"


@pytest.fixture
def wave() -> Wave:
    return make_released_wave()


@pytest.fixture
def client(wave: Wave) -> Client:
    return sign_in(wave.survey.owner)


def post(
    client: Client,
    wave: Wave,
    *,
    kind: str = "table",
    questions: Sequence[str] = ("q1",),
    epsilon: str = "50",
) -> HttpResponse:
    response = client.post(
        address_of(wave.survey, kind),
        {"questions": list(questions), "epsilon_hundredths": epsilon},
    )
    assert isinstance(response, HttpResponse)
    return response


def spent() -> int:
    return sum(ReleaseLedger.objects.values_list("spent_hundredths", flat=True))


# --- the price ------------------------------------------------------------------------------------


def test_a_table_starts_with_all_questions_and_the_usual_epsilon(
    client: Client, wave: Wave
) -> None:
    response = client.get(address_of(wave.survey))
    page, words = response.content.decode(), words_of(response)
    assert page.count("checked") == 3
    assert 'name="epsilon" value="1.00"' in page
    assert "Publish (spends 1.00)" in words
    assert "1.00 of 1.00 left now, 0.00 afterwards" in words
    assert 'name="people" value="1000"' in page
    assert Release.objects.count() == 0


def test_a_leader_starts_with_one_question_and_half(client: Client, wave: Wave) -> None:
    response = client.get(address_of(wave.survey, "leader"))
    assert response.content.decode().count("checked") == 1
    assert "Publish (spends 0.50)" in words_of(response)


def test_the_form_starts_with_what_is_left_if_that_is_less(client: Client, wave: Wave) -> None:
    post(client, wave, epsilon="80")
    assert "Publish (spends 0.20)" in words_of(client.get(address_of(wave.survey, "leader")))


def test_the_choice_is_in_the_address_and_priced(client: Client, wave: Wave) -> None:
    data = {"questions": ["q2"], "epsilon": "0.25", "people": "600"}
    response = client.get(address_of(wave.survey), data)
    words = words_of(response)
    assert response.content.decode().count("checked") == 1
    assert "A figure of 20 % in Q2" in words
    assert "Publication widens the interval by" in words
    assert "Took part ε = 0.25" in words
    assert "(server: 1.10)" in words
    assert "Readers see it from" in words


def test_a_release_that_shows_nothing_is_warned_of(client: Client, wave: Wave) -> None:
    data = {"questions": ["q1"], "epsilon": "0.05", "people": "100"}
    words = words_of(client.get(address_of(wave.survey), data))
    assert "Too much noise for 100 people." in words
    assert "It takes 200." in words
    assert "Spend ε = 0.10 or more" in words


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"epsilon": "0.50", "people": "100"}, "Choose at least one question."),
        ({"questions": ["q1"], "epsilon": "1.01", "people": "1"}, "a number from 0.01 to 1.00"),
        ({"questions": ["q1"], "epsilon": "0.005", "people": "1"}, "a number from 0.01 to 1.00"),
        ({"questions": ["q1"], "epsilon": "much", "people": "1"}, "a number from 0.01 to 1.00"),
        ({"questions": ["q9"], "epsilon": "0.5", "people": "1"}, "q9"),
        ({"questions": ["q1"], "epsilon": "0.5", "people": "0"}, "a whole number from 1"),
    ],
)
def test_a_wrong_choice_is_explained_and_has_no_button(
    client: Client, wave: Wave, data: dict[str, Any], message: str
) -> None:
    words = words_of(client.get(address_of(wave.survey), data))
    assert "There is a problem" in words
    assert message in words
    assert "Publish (spends" not in words


def test_there_is_no_other_kind(client: Client, wave: Wave) -> None:
    assert client.get(address_of(wave.survey, "sample")).status_code == 404
    assert post(client, wave, kind="sample").status_code == 404


# --- paying ---------------------------------------------------------------------------------------


def test_publishing_charges_once_and_leads_to_the_release(
    client: Client, wave: Wave, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="murmur.audit"):
        first = post(client, wave)
        again = post(client, wave)
    release = Release.objects.get()
    own = f"/surveys/{wave.survey.slug}/releases/{release.pk}"
    assert (first.status_code, first["Location"]) == (302, own)
    assert (again.status_code, again["Location"]) == (302, own)
    assert spent() == 50
    assert "Nothing was charged again." in words_of(client.get(own))
    lines = [record.getMessage() for record in caplog.records if record.name == "murmur.audit"]
    reserved = [line for line in lines if line.startswith("release-reserved")]
    own = f"account={wave.survey.owner.pk} survey={wave.survey.slug}"
    assert reserved == [f"release-reserved {own} release={release.pk} epsilon=0.50"]


def test_what_was_charged_is_said(client: Client, wave: Wave) -> None:
    words = words_of(client.get(post(client, wave)["Location"]))
    assert "ε = 0.50 was charged." in words


def test_more_than_is_left_is_refused_and_nothing_is_charged(client: Client, wave: Wave) -> None:
    post(client, wave, epsilon="80")
    response = post(client, wave, questions=["q2"], epsilon="30")
    assert response.status_code == 422
    assert "Nothing was charged." in words_of(response)
    assert spent() == 80
    assert Release.objects.count() == 1


def test_a_full_ledger_refuses_kindly(client: Client, wave: Wave) -> None:
    post(client, wave, epsilon="100")
    assert "The whole cap is spent" in words_of(client.get(address_of(wave.survey)))
    response = post(client, wave, questions=["q2"], epsilon="1")
    assert response.status_code == 422
    assert "Nothing was charged." in words_of(response)
    assert "The whole cap is spent" in words_of(response)


@pytest.mark.parametrize("epsilon", ["", "0", "-5", "1.5", "²", "9" * 400, "1" * 7])
def test_an_epsilon_that_is_no_count_of_hundredths_is_refused(
    client: Client, wave: Wave, epsilon: str
) -> None:
    response = post(client, wave, epsilon=epsilon)
    assert response.status_code == 422
    assert "ε must be at least 0.01" in words_of(response)
    assert spent() == 0


@pytest.mark.parametrize(
    ("kind", "questions", "message"),
    [
        ("table", [], "Choose at least one question."),
        ("table", ["q1", "q1"], "Choose each question once."),
        ("table", ["q7"], "no question q7"),
        ("leader", ["q1", "q2"], "Choose one question."),
        ("typical", ["q1"], "cannot be about question 1"),
    ],
)
def test_what_cannot_be_released_is_refused(
    client: Client, wave: Wave, kind: str, questions: list[str], message: str
) -> None:
    response = post(client, wave, kind=kind, questions=questions)
    assert response.status_code == 422
    assert message in words_of(response)
    assert (spent(), Release.objects.count()) == (0, 0)


def test_an_open_survey_releases_nothing() -> None:
    wave = make_protected_wave(rows=[b"\0\1\0"] * 40)
    client = sign_in(wave.survey.owner)
    assert "after the survey has closed" in words_of(client.get(address_of(wave.survey)))
    response = post(client, wave)
    assert response.status_code == 422
    assert "Releases are made after the survey has closed." in words_of(response)
    assert Release.objects.count() == 0


def test_a_survey_that_publishes_nothing_releases_nothing() -> None:
    wave = make_launched_survey()
    response = post(sign_in(wave.survey.owner), wave)
    assert response.status_code == 422
    assert "publishes nothing" in words_of(response)


def test_only_the_owner_can_publish(wave: Wave) -> None:
    stranger = sign_in(make_launched_survey().survey.owner)
    assert post(stranger, wave).status_code == 404
    assert post(Client(), wave)["Location"].startswith("/accounts/login/")
    assert Release.objects.count() == 0


def test_a_form_of_another_site_is_refused(wave: Wave) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(
        wave.survey.owner, backend="allauth.account.auth_backends.AuthenticationBackend"
    )
    assert post(client, wave).status_code == 403
    assert Release.objects.count() == 0
