"""Planned comparisons: chosen in a draft, kept when it changes, and frozen when it opens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import NotDraft, NotLaunchable
from surveys.authoring.planned.card import build_card
from surveys.authoring.planned.form import ALREADY_PLANNED, TOO_MANY_PLANNED
from surveys.authoring.services import (
    add_question,
    copy_survey,
    drop_planned,
    edit_question,
    launch_survey,
    move_question,
    plan_comparison,
)
from surveys.comparing.choice import (
    DIFFERENT_QUESTIONS,
    SAME_QUESTION,
    TWO_QUESTIONS,
    UNKNOWN_QUESTION,
)
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Question, Survey
from surveys.models.planned_comparisons import MAX_PLANNED
from tests.support.deleting import delete_question
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import text_of

pytestmark = pytest.mark.django_db
WARDS = ["North", "South", "East"]


def make_study(**settings: Any) -> Survey:
    """Make a survey (Q1 and Q3: yes/no; Q2: a ward), with a plan to compare Q1 by Q2 (South)."""
    survey = make_survey(questions=[], **settings)
    add_question(survey=survey, text="Tired?")
    add_question(survey=survey, text="Which ward?", type=QuestionType.CHOICE, options=WARDS)
    add_question(survey=survey, text="Angry?")
    plan_comparison(survey=survey, names=("q1", "q2.1"))
    return survey


def planned_of(survey: Survey) -> list[tuple[str, ...]]:
    return list(build_manifest(survey=survey, wave_number=1).planned_comparisons)


def find(survey: Survey, number: int) -> Question:
    return survey.questions.get(position=number)


def test_a_plan_is_frozen_in_the_manifest() -> None:
    survey = make_study()
    wave = open_survey(survey=survey)
    content = json.loads(bytes(wave.manifest))
    assert content["planned_comparisons"] == [["q1", "q2.1"]]
    assert wave.description.planned_comparisons == (("q1", "q2.1"),)
    assert wave.planned_comparisons == 1
    assert serialize_manifest(wave.description) == bytes(wave.manifest)


def test_a_survey_without_a_plan_says_nothing_about_it() -> None:
    wave = open_survey(survey=make_survey())
    assert "planned_comparisons" not in json.loads(bytes(wave.manifest))
    assert parse_manifest(bytes(wave.manifest)).planned_comparisons == ()
    assert wave.planned_comparisons == 0


def test_the_wave_of_coins_plans_nothing() -> None:
    manifest = build_manifest(survey=make_study(coins=True), wave_number=1)
    coins = derive_coin_manifest(manifest)
    assert coins is not None
    assert coins.planned_comparisons == ()


def test_plans_follow_a_question_that_moves() -> None:
    survey = make_study()
    move_question(question=find(survey, 1), step=1)
    assert planned_of(survey) == [("q2", "q1.1")]


def test_plans_follow_an_answer_that_moves() -> None:
    survey = make_study()
    said = edit_question(question=find(survey, 2), options=["Centre", *WARDS])
    assert said == ""
    assert planned_of(survey) == [("q1", "q2.2")]


def test_a_reworded_answer_stays_planned() -> None:
    survey = make_study()
    assert edit_question(question=find(survey, 2), options=["North", "Southern", "East"]) == ""
    assert planned_of(survey) == [("q1", "q2.1")]


@pytest.mark.parametrize(
    "content",
    [
        {"options": ["North", "East"]},
        {"options": ["North", "East", "West", "Centre"]},
        {"type": QuestionType.YES_NO, "options": []},
        {"type": QuestionType.INFORMATION, "options": []},
    ],
)
def test_a_plan_goes_with_its_answer(content: dict[str, Any]) -> None:
    survey = make_study()
    said = edit_question(question=find(survey, 2), **content)
    assert "removed" in said
    assert planned_of(survey) == []


def test_two_plans_keep_apart_when_their_answers_trade_places() -> None:
    survey = make_study()
    plan_comparison(survey=survey, names=("q1", "q2.0"))
    edit_question(question=find(survey, 2), options=["South", "North", "East"])
    assert planned_of(survey) == [("q1", "q2.0"), ("q1", "q2.1")]


def test_a_plan_goes_with_its_question() -> None:
    survey = make_study()
    assert "removed" in delete_question(question=find(survey, 2))
    assert planned_of(survey) == []
    assert delete_question(question=find(survey, 2)) == ""


def test_a_copy_plans_the_same() -> None:
    survey = make_study()
    assert planned_of(copy_survey(survey=survey)) == [("q1", "q2.1")]


def test_a_plan_that_a_rule_made_impossible_is_named_and_prevents_the_opening() -> None:
    survey = make_study()
    plan_comparison(survey=survey, names=("q3", "q1"))
    first = find(survey, 1)
    edit_question(question=find(survey, 3), rule={"name": str(first.pk), "is": [1]})
    card = build_card(survey, build_manifest(survey=survey, wave_number=1))
    assert [bool(line.problem) for line in card.lines] == [False, True]
    with pytest.raises(NotLaunchable, match=r"planned comparison Q3 by Q1 .* decide whether Q3"):
        launch_survey(survey=survey)


def test_a_number_that_became_a_group_prevents_the_opening() -> None:
    survey = make_study()
    plan_comparison(survey=survey, names=("q1", "q3"))
    edit_question(
        question=find(survey, 3), type=QuestionType.NUMBER, minimum=0, maximum=10, text="Hours?"
    )
    with pytest.raises(NotLaunchable, match=r"Q1 by Q3 cannot be made.*is a number"):
        launch_survey(survey=survey)


def test_an_opened_survey_plans_nothing_more() -> None:
    survey = make_study()
    open_survey(survey=survey)
    with pytest.raises(NotDraft):
        plan_comparison(survey=survey, names=("q3", "q1"))
    with pytest.raises(NotDraft):
        drop_planned(survey=survey, pk=survey.planned_comparisons.get().pk)


def post(client: Client, survey: Survey, outcome: str, group: str, **more: str) -> Any:
    address = reverse("surveys:planned", args=[survey.slug])
    return client.post(address, {"outcome": outcome, "group": group, **more})


@pytest.mark.usefixtures("static_files")
def test_an_author_plans_and_removes_a_comparison() -> None:
    survey = make_study()
    client = sign_in(survey.owner)
    assert post(client, survey, "q3", "q1").status_code == 302
    assert planned_of(survey) == [("q1", "q2.1"), ("q3", "q1")]
    page = client.get(reverse("surveys:planned", args=[survey.slug]))
    assert "Q1 by Q2 (South)" in text_of(page)
    assert '<optgroup label="Q2 Which ward?">' in page.content.decode()
    assert "Q2 · South" in text_of(page)
    pk = survey.planned_comparisons.all()[0].pk
    for _ in range(2):  # the second press of the button finds nothing
        removed = client.post(reverse("surveys:planned_remove", args=[survey.slug, pk]))
        assert removed.status_code == 302
    assert planned_of(survey) == [("q3", "q1")]


@pytest.mark.usefixtures("static_files")
def test_a_regression_is_planned_and_follows_its_questions() -> None:
    survey = make_study()
    client = sign_in(survey.owner)
    # Predictors are in the order of the survey, whatever the order of the menus.
    assert post(client, survey, "q1", "q3", predictor_2="q2.all").status_code == 302
    again = post(client, survey, "q1", "q2.all", predictor_2="q3")
    assert ALREADY_PLANNED in text_of(again)
    same = post(client, survey, "q1", "q2.all", predictor_4="q2.1")
    assert SAME_QUESTION in text_of(same)
    assert planned_of(survey)[1:] == [("q1", "q2.all", "q3")]
    page = text_of(client.get(reverse("surveys:planned", args=[survey.slug])))
    assert "Q1 explained by Q2 (all answers) and Q3" in page
    move_question(question=find(survey, 1), step=1)
    assert planned_of(survey)[1:] == [("q2", "q1.all", "q3")]
    assert edit_question(question=find(survey, 1), options=["Centre", *WARDS]) == ""
    assert planned_of(copy_survey(survey=survey))[1:] == [("q2", "q1.all", "q3")]
    assert "removed" in edit_question(question=find(survey, 1), options=["North", "South"])
    assert planned_of(survey) == [("q2", "q1.1")]


@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    ("outcome", "group", "sentence"),
    [
        ("", "", TWO_QUESTIONS),
        ("q1", "", TWO_QUESTIONS),
        ("q1", "q1", DIFFERENT_QUESTIONS),
        ("q1", "q77", UNKNOWN_QUESTION),
        ("q1", "q2.1", ALREADY_PLANNED),
    ],
)
def test_a_bad_plan_is_refused_and_keeps_what_was_chosen(
    outcome: str, group: str, sentence: str
) -> None:
    survey = make_study()
    response = post(sign_in(survey.owner), survey, outcome, group)
    assert response.status_code == 422
    assert sentence in text_of(response)
    if outcome:
        assert '<option value="q1" selected>' in response.content.decode()
    assert len(planned_of(survey)) == 1


@pytest.mark.usefixtures("static_files")
def test_an_eleventh_plan_is_refused() -> None:
    survey = make_survey(questions=[f"Question {number}?" for number in range(1, 13)])
    for number in range(2, MAX_PLANNED + 2):
        plan_comparison(survey=survey, names=("q1", f"q{number}"))
    response = post(sign_in(survey.owner), survey, "q2", "q12")
    assert response.status_code == 422
    assert TOO_MANY_PLANNED in text_of(response)
    assert len(planned_of(survey)) == MAX_PLANNED


@pytest.mark.usefixtures("static_files")
def test_the_page_before_the_opening_lists_the_plan() -> None:
    survey = make_study()
    page = sign_in(survey.owner).get(reverse("surveys:launch", args=[survey.slug]))
    assert "Planned comparisons Q1 by Q2 (South)" in text_of(page)


@pytest.mark.usefixtures("static_files")
def test_menus_of_a_hundred_long_questions_stay_short() -> None:
    survey = make_survey(questions=["Q" * 999] * 1 + [f"{n} " + "x" * 900 for n in range(99)])
    client = sign_in(survey.owner)
    page = client.get(reverse("surveys:planned", args=[survey.slug])).content.decode()
    assert page.count("<optgroup") == 700
    assert len(page) < 200_000
    draft = client.get(reverse("surveys:questions", args=[survey.slug])).content.decode()
    assert draft.count("<optgroup") == 200


@pytest.mark.usefixtures("static_files")
def test_the_questions_of_an_open_survey_list_what_was_planned() -> None:
    survey = make_study()
    open_survey(survey=survey)
    page = sign_in(survey.owner).get(reverse("surveys:questions", args=[survey.slug]))
    assert "Planned comparisons Q1 by Q2 (South)" in text_of(page)


@pytest.mark.usefixtures("static_files")
def test_words_of_questions_and_answers_are_escaped_in_menus() -> None:
    survey = make_survey(questions=['A "quoted" <b>?'])
    add_question(survey=survey, text="X?", type=QuestionType.CHOICE, options=["<i>1</i>", "&"])
    html = (
        sign_in(survey.owner).get(reverse("surveys:planned", args=[survey.slug])).content.decode()
    )
    assert '<optgroup label="Q1 A &quot;quoted&quot; &lt;b&gt;?">' in html
    assert "Q2 · &lt;i&gt;1&lt;/i&gt;" in html


@pytest.mark.parametrize("questions", [0, 1])
def test_two_questions_are_needed_to_plan(questions: int) -> None:
    survey = make_survey(questions=["Tired?"][:questions])
    add_question(survey=survey, text="Hours?", type=QuestionType.NUMBER, minimum=0, maximum=9)
    if not questions:
        add_question(survey=survey, text="Days?", type=QuestionType.NUMBER, minimum=0, maximum=9)
    card = build_card(survey, build_manifest(survey=survey, wave_number=1))
    assert card.can_compare == bool(questions)
