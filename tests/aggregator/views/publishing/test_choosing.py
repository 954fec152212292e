"""Choosing a release: GET shows the price, POST charges it, and nothing is charged by mistake."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.words import suggest_epsilon
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey, Wave
from surveys.releasing.choice import NotReleasable
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import words_of
from tests.support.waves import count_all, make_protected_wave, make_released_wave, send_many

AMOUNT = "Enter ε from 0.01 to 1.00, with at most two decimals."
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
    epsilon: str = "0.50",
    price: str = "",
) -> HttpResponse:
    """Press the button that publishes; `price` may belong to another choice."""
    data = {"questions": list(questions), "epsilon": epsilon, "people": "1000"}
    response = client.post(
        address_of(wave.survey, kind),
        data | {"price": price or find_digest(questions, epsilon, kind=kind)},
    )
    assert isinstance(response, HttpResponse)
    return response


def find_digest(questions: Sequence[str], epsilon: str, *, kind: str = "table") -> str:
    amount = round(100 * float(epsilon)) if epsilon.replace(".", "").isascii() else 0
    return ReleaseRequest(
        kind=ReleaseKind(kind) if kind in ReleaseKind.values else ReleaseKind.TABLE,
        questions=tuple(questions),
        epsilon_hundredths=amount,
    ).digest


def spent() -> int:
    return sum(ReleaseLedger.objects.values_list("spent_hundredths", flat=True))


def test_a_first_visit_suggests_a_choice_and_has_no_button_that_publishes(
    client: Client, wave: Wave
) -> None:
    response = client.get(address_of(wave.survey))
    page, words = response.content.decode(), words_of(response)
    assert page.count("checked") == 3
    assert 'name="epsilon" value="0.50"' in page
    assert 'name="people" value="1000"' in page
    assert "Show the price" in words
    assert "Publish (spends" not in words
    assert Release.objects.count() == 0


def test_a_leader_starts_with_one_question(client: Client, wave: Wave) -> None:
    response = client.get(address_of(wave.survey, "leader"))
    assert response.content.decode().count("checked") == 1
    assert 'name="epsilon" value="0.50"' in response.content.decode()


@pytest.mark.parametrize(
    ("kind", "left", "suggested"),
    [
        ("table", 300, 100),
        ("table", 100, 50),
        ("leader", 100, 50),
        ("median", 50, 25),
        ("table", 3, 1),
        ("table", 1, 1),
    ],
)
def test_what_is_suggested_leaves_something(kind: str, left: int, suggested: int) -> None:
    assert suggest_epsilon(ReleaseKind(kind), left=left) == suggested


def test_asking_for_the_price_leads_to_its_address(client: Client, wave: Wave) -> None:
    data = {"questions": ["q3", "q1"], "epsilon": "0,2", "people": "600"}
    response = client.post(address_of(wave.survey), data)
    address = f"{address_of(wave.survey)}?questions=q3&questions=q1&epsilon=0.20&people=600#price"
    assert (response.status_code, response["Location"]) == (302, address)
    assert "Publish (spends 0.20)" in words_of(client.get(address))
    assert spent() == 0


@pytest.mark.parametrize(
    ("questions", "epsilon"), [(("q1",), "0.50"), (("q1", "q2"), "0.25"), (("q3",), "0.25")]
)
def test_a_choice_that_was_changed_after_its_price_is_not_charged(
    client: Client, wave: Wave, questions: tuple[str, ...], epsilon: str
) -> None:
    shown = find_digest(("q1",), "0.25")
    response = post(client, wave, questions=questions, epsilon=epsilon, price=shown)
    assert response.status_code == 422
    words = words_of(response)
    assert "You changed the choice after its price was shown, so nothing was charged." in words
    assert f"Publish (spends {epsilon})" in words
    assert (spent(), Release.objects.count()) == (0, 0)
    # The new price belongs to the choice that is now shown.
    price = re.search(r'name="price"\s+value="(\w+)"', response.content.decode())
    assert price is not None
    assert post(client, wave, questions=questions, epsilon=epsilon, price=price[1])["Location"]
    assert Release.objects.get().request["questions"] == list(questions)


def test_another_number_of_people_changes_no_price(client: Client, wave: Wave) -> None:
    data = {"questions": ["q1"], "epsilon": "0.5", "people": "7"}
    data["price"] = find_digest(("q1",), "0.50")
    assert client.post(address_of(wave.survey), data).status_code == 302
    assert spent() == 50


def test_questions_that_are_not_offered_are_named_with_the_reason(client: Client) -> None:
    survey = make_survey(questions=["A?"], publication=Publication.PROTECTED)
    types = Question.Type
    add_question(survey=survey, type=types.NUMBER, text="Days?", minimum=0, maximum=30, unit="days")
    add_question(survey=survey, type=types.DECLARED, text="Where?", options=["A", "B"])
    wave = open_survey(survey=survey)
    send_many(wave, [b"\0\1\0"] * 40)
    count_all(wave)
    owner = sign_in(survey.owner)
    assert "Not offered" not in words_of(owner.get(address_of(survey)))
    words = words_of(owner.get(address_of(survey, "leader")))
    assert "Not offered: Q2, because a leader needs answers to choose from" in words


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
    assert "With fewer than 200, readers see no figure" in words
    assert "Spend ε = 0.10 or more" in words


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"epsilon": "0.50", "people": "100"}, "Choose at least one question."),
        (
            {"questions": ["q1"], "epsilon": "1.01", "people": "1"},
            AMOUNT,
        ),
        (
            {"questions": ["q1"], "epsilon": "0.005", "people": "1"},
            AMOUNT,
        ),
        (
            {"questions": ["q1"], "epsilon": "much", "people": "1"},
            AMOUNT,
        ),
        ({"questions": ["q9"], "epsilon": "0.5", "people": "1"}, "q9 cannot be in a table."),
        ({"questions": ["q1"], "epsilon": "0.5", "people": "0"}, "a whole number from 1"),
    ],
)
def test_a_wrong_choice_is_explained_and_has_no_button(
    client: Client, wave: Wave, data: dict[str, Any], message: str
) -> None:
    words = words_of(client.get(address_of(wave.survey), data))
    assert "There is a problem" in words
    assert message in words
    assert words.count(message) == 2  # at the top of the page and at the field
    assert "Publish (spends" not in words


def test_there_is_no_other_kind(client: Client, wave: Wave) -> None:
    assert client.get(address_of(wave.survey, "sample")).status_code == 404
    assert post(client, wave, kind="sample").status_code == 404


def test_publishing_charges_once_and_leads_to_the_release(
    client: Client,
    wave: Wave,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with (
        caplog.at_level(logging.INFO, logger="murmur.audit"),
        django_capture_on_commit_callbacks(execute=True),
    ):
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


def test_the_button_that_spends_the_rest_may_be_pressed_twice_too(
    client: Client, wave: Wave
) -> None:
    first = post(client, wave, epsilon="1.00")
    again = post(client, wave, epsilon="1.00")
    assert (first["Location"], first.status_code) == (again["Location"], again.status_code)
    assert spent() == 100
    # Another choice is refused, and so is the same choice if the figure was lost.
    assert post(client, wave, epsilon="0.50").status_code == 422
    assert post(client, wave, questions=["q1", "q2"], epsilon="1.00").status_code == 422
    changed = post(client, wave, questions=["q2"], epsilon="1", price=find_digest(["q1"], "1"))
    assert changed.status_code == 422
    Release.objects.update(state=Release.State.LOST)
    assert post(client, wave, epsilon="1.00").status_code == 422


def test_what_was_charged_is_said(client: Client, wave: Wave) -> None:
    words = words_of(client.get(post(client, wave)["Location"]))
    assert "ε = 0.50 was charged. The noise is being drawn" in words


def test_more_than_is_left_is_refused_and_nothing_is_charged(client: Client, wave: Wave) -> None:
    post(client, wave, epsilon="0.80")
    response = post(client, wave, questions=["q2"], epsilon="0.30")
    assert response.status_code == 422
    assert "Enter ε from 0.01 to 0.20" in words_of(response)
    assert spent() == 80
    assert Release.objects.count() == 1


def test_a_refusal_of_the_ledger_says_why_and_that_nothing_was_charged(
    client: Client, wave: Wave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest may be spent in another window after the price was read and before it is charged."""

    def refuse(**_: object) -> Release:
        raise NotReleasable("Nothing is left.")

    monkeypatch.setattr("aggregator.views.publishing.choosing.reserve_release", refuse)
    response = post(client, wave)
    assert response.status_code == 422
    assert "Nothing is left. Nothing was charged." in words_of(response)
    assert spent() == 0


def test_a_full_ledger_refuses_kindly(client: Client, wave: Wave) -> None:
    post(client, wave, epsilon="1.00")
    assert "The whole cap is spent" in words_of(client.get(address_of(wave.survey)))
    response = post(client, wave, questions=["q2"], epsilon="0.01")
    assert response.status_code == 422
    assert "nothing was charged" in words_of(response).lower()
    assert "The whole cap is spent" in words_of(response)


@pytest.mark.parametrize(
    "epsilon", ["", "0", "0.00", "-0.5", "1.5", "²", "٢", "9" * 400, "0.505", "0.5.", "1e-1", "nan"]
)
def test_an_epsilon_that_cannot_be_spent_is_refused(
    client: Client, wave: Wave, epsilon: str
) -> None:
    response = post(client, wave, epsilon=epsilon, price="0")
    assert response.status_code == 422
    assert "Enter ε from 0.01 to 1.00" in words_of(response)
    assert spent() == 0


@pytest.mark.parametrize(
    ("kind", "questions", "message"),
    [
        ("table", [], "Choose at least one question."),
        ("table", ["q1", "q1"], "Choose each question only once."),
        ("table", ["q7"], "q7 cannot be in a table."),
        ("leader", ["q7"], "q7 cannot be published this way."),
        ("median", ["q1"], "nothing was charged."),
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
    assert "after the survey closes" in words_of(client.get(address_of(wave.survey)))
    response = post(client, wave)
    assert response.status_code == 422
    assert "nothing was charged" in words_of(response).lower()
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
