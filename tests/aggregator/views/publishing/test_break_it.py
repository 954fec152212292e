"""The page of attacks: it shows only invented answers, only to the owner, and spends nothing."""

from __future__ import annotations

import re

import pytest
from django.http import HttpResponse

from accounts.models import User
from aggregator.models import Release, ReleaseLedger
from aggregator.simulation.demo import field_demo, is_invented
from aggregator.simulation.demo_surveys import OPEN, REDBOOK
from aggregator.simulation.rehearsal import open_rehearsal
from aggregator.views.publishing.break_it import EPSILONS
from surveys.manifest.manifest import Publication
from surveys.models import Survey, Wave
from tests.support.breakdowns.waves import (
    field_people,
    finish,
    make_closed_wave,
    make_grouped_survey,
)
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]

PEOPLE = 600


def open_page(survey: Survey, *, user: User | None = None, query: str = "") -> HttpResponse:
    client = sign_in(user or survey.owner)
    return client.get(f"/surveys/{survey.slug}/break-it{query}")  # type: ignore[return-value]


def rehearse(survey: Survey, *, people: int = PEOPLE) -> Wave:
    return field_people(open_rehearsal(survey=survey, people=people), people=people)


def test_a_rehearsal_is_attacked_in_three_ways() -> None:
    response = open_page(rehearse(make_grouped_survey()).survey)
    assert response.status_code == 200
    words = words_of(response)
    for title in ("Subtract two figures", "Look for one person", "Solve for everybody"):
        assert title in words
    assert "more than 74 times in 100 about whether a person took part" in words
    assert "more than 89 times in 100 about an answer that is sent as it is" in words
    assert "names the one that the person gave 82 % of the time" in words
    assert "So publish releases, not exact figures." in words
    assert "Here, " in words
    assert "still-scrambled" not in response.content.decode()


def test_a_demo_is_attacked_and_its_codes_hide_answers() -> None:
    wave = field_demo(REDBOOK, owner=make_user())
    send_people(wave, people=PEOPLE)
    response = open_page(finish(wave, ending=Wave.Ending.CAP).survey)
    assert response.status_code == 200
    words = words_of(response)
    assert "even a successful attack finds only a code" in words
    assert "about a person’s code , whatever" in words
    assert "So publish releases" not in words
    assert "Share of codes found" in words


@pytest.mark.parametrize(
    ("epsilon", "bound", "of_answers"),
    [
        ("0.1", "53", "55"),
        ("0.5", "63", "74"),
        ("1", "74", "89"),
        ("2", "89", "99"),
        ("9", "74", "89"),
        ("", "74", "89"),
    ],
)
def test_the_chosen_epsilon_decides_and_others_count_as_one(
    epsilon: str, bound: str, of_answers: str
) -> None:
    survey = rehearse(make_grouped_survey()).survey
    response = open_page(survey, query=f"?epsilon={epsilon}")
    words = words_of(response)
    assert f"more than {bound} times in 100 about whether a person took part" in words
    assert f"more than {of_answers} times in 100 about an answer" in words
    assert ("Choose one of these values of ε. The page shows ε = 1." in words) == (epsilon == "9")
    (checked,) = re.findall(r'value="([\d.]+)"\s+checked', response.content.decode())
    assert checked == (epsilon if epsilon in EPSILONS else "1")


def test_every_bar_says_how_often_the_attacker_is_right() -> None:
    response = open_page(rehearse(make_grouped_survey()).survey)
    html = response.content.decode()
    bars = re.findall(
        r'attack-(exact|release|guessing)">.*?width="([\d.]+)%".*?attack-right">(\d+)', html, re.S
    )
    assert [kind for kind, _, _ in bars] == [
        *("exact", "release", "guessing"),
        *("exact", "release", "guessing"),
        *("exact", "exact", "release", "guessing"),
    ]
    for kind, length, text in bars:
        assert round(float(length)) == int(text)
        if kind != "release":
            assert text == {"exact": "100", "guessing": "50"}[kind]
        else:
            assert 45 < float(length) <= 73.2


def test_a_survey_of_real_people_is_not_attacked_even_after_its_close() -> None:
    wave = make_closed_wave()
    response = open_page(wave.survey, query="?epsilon=2")
    assert response.status_code == 403
    words = words_of(response)
    assert "“Break it” needs invented answers" in words
    assert f"manage.py rehearse {wave.survey.slug}" in words
    assert "attack-bar" not in response.content.decode()


def test_the_demo_that_anyone_may_answer_is_not_attacked() -> None:
    survey = field_demo(OPEN, owner=make_user()).survey
    assert not is_invented(survey)
    assert open_page(survey).status_code == 403


def test_a_draft_and_a_survey_with_the_title_of_a_demo_are_not_attacked() -> None:
    assert open_page(make_survey()).status_code == 403
    assert open_page(make_survey(title=REDBOOK.title)).status_code == 403


def test_the_refusal_links_to_a_rehearsal_of_the_survey_and_to_the_owner_s_demos() -> None:
    survey = make_grouped_survey()
    open_survey(survey=survey)
    rehearsal = rehearse(survey).survey
    demo = field_demo(REDBOOK, owner=survey.owner).survey
    field_demo(OPEN, owner=survey.owner)
    other = rehearse(make_grouped_survey()).survey  # somebody else's
    html = open_page(survey).content.decode()
    assert re.findall(r'/surveys/(\w+)/break-it"', html) == [rehearsal.slug, demo.slug]
    assert other.slug not in html


def test_an_open_rehearsal_is_not_attacked_before_it_is_counted() -> None:
    wave = open_rehearsal(survey=make_grouped_survey(), people=PEOPLE)
    send_people(wave, people=PEOPLE - 100)
    process(wave)
    response = open_page(wave.survey)
    assert response.status_code == 200
    assert "nothing-to-attack" in response.content.decode()
    assert "attack-bar" not in response.content.decode()


def test_only_the_owner_attacks() -> None:
    survey = rehearse(make_grouped_survey()).survey
    assert open_page(survey, user=make_user()).status_code == 404


def test_an_attack_spends_and_stores_nothing() -> None:
    survey = rehearse(make_grouped_survey()).survey
    for epsilon in EPSILONS:
        open_page(survey, query=f"?epsilon={epsilon}")
    assert not Release.objects.exists()
    assert not ReleaseLedger.objects.exists()


def test_the_page_is_the_same_at_every_visit() -> None:
    survey = rehearse(make_grouped_survey()).survey
    first, second = (words_of(open_page(survey, query="?epsilon=0.5")) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("is_real", [False, True])
def test_the_data_page_links_to_the_attacks_on_invented_answers_only(is_real: bool) -> None:
    survey = make_grouped_survey()
    wave = open_survey(survey=survey) if is_real else open_rehearsal(survey=survey, people=PEOPLE)
    html = sign_in(survey.owner).get(f"/surveys/{wave.survey.slug}/data").content.decode()
    assert ("/break-it" in html) is not is_real


@pytest.mark.parametrize(
    ("cap", "text", "choices"),
    [
        (200, "2", ["0.1", "0.5", "1", "2"]),
        (150, "1.5", ["0.1", "0.5", "1", "1.5", "2"]),
    ],
)
def test_protected_figures_are_attacked_at_their_cap_under_the_tab_of_releases(
    cap: int, text: str, choices: list[str]
) -> None:
    survey = make_grouped_survey(
        publication=Publication.PROTECTED, release_epsilon_hundredths=cap, release_delta_nanos=1000
    )
    survey = rehearse(survey).survey
    response = open_page(survey)
    html, words = response.content.decode(), words_of(response)
    (current,) = re.findall(r'aria-current="true">(\w+)', html)
    assert current == "Releases"
    assert f'class="back-link" href="/surveys/{survey.slug}/releases"' in html
    assert re.findall(r'name="epsilon"\s+value="([\d.]+)"', html) == choices
    assert re.findall(r'value="([\d.]+)"\s+checked', html) == [text]
    assert words.count("this survey’s cap") == 1
    assert f"With a release at ε = {text}, no attacker" in words
    assert "With a release at ε = 1, no" in words_of(open_page(survey, query="?epsilon=1"))


def test_exact_results_lead_back_to_the_data() -> None:
    survey = rehearse(make_grouped_survey()).survey
    html = open_page(survey).content.decode()
    assert f'class="back-link" href="/surveys/{survey.slug}/data"' in html
    assert "this survey’s cap" not in html
