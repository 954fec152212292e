"""Rules are chosen without scripts: ticked answers become the text that authors could type."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring.forms.rule_choice import GONE, TWICE
from surveys.authoring.rule_choice import MOST_CONDITIONS, read_conditions
from surveys.authoring.services import add_question
from surveys.models import Question, Survey
from tests.support.factories import make_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def survey(owner: User) -> Survey:
    survey = make_survey(owner=owner, questions=["Ever?"])
    options = [f"{HOSTILE} {number}" for number in range(1, 64)]
    add_question(survey=survey, type="choice", text="w" * 1000, options=options)
    add_question(survey=survey, type="several", text="Which?", options=["Red", "Green", "Blue"])
    add_question(survey=survey, type="number", text="How many?", minimum=0, maximum=9)
    return survey


def choose(survey: Survey, *chosen: tuple[int, str], **more: Any) -> dict[str, Any]:
    """Return what the page sends if these answers, given with question numbers, are ticked."""
    keys = [str(question.pk) for question in survey.questions.all()]
    ticked = [
        f"{row}.{keys[number - 1]}.{name}"
        for row, (number, names) in enumerate(chosen)
        for name in names.split()
    ]
    questions = [keys[number - 1] for number, _ in chosen]
    sent = {"rule_question": [*questions, ""], "rule_answer": ticked, "rule_shown": "", "rule": ""}
    return {"text": "Then?", "flips": "25", **sent, **more}


def post(author: Client, survey: Survey, sent: dict[str, Any]) -> Any:
    return author.post(f"{at('question_create', survey)}?type=yes_no", sent)


def rule_of(survey: Survey) -> Any:
    return survey.questions.get(position=5).rule


@pytest.mark.parametrize(
    ("chosen", "joint", "text"),
    [
        ([(1, "yes")], "and", "Q1 is yes"),
        ([(2, "1 63")], "and", "Q2 is one of 1, 63"),
        ([(3, "2")], "and", "Q3 has 2"),
        ([(3, "1 3")], "or", "Q3 has 1, 3"),
        ([(1, "no"), (2, "5")], "and", "Q1 is no and Q2 is 5"),
        ([(1, "no"), (3, "1 2"), (2, "5")], "or", "Q1 is no or Q3 has 1, 2 or Q2 is 5"),
    ],
)
def test_what_is_ticked_is_the_rule_and_is_ticked_again(
    author: Client, survey: Survey, chosen: list[tuple[int, str]], joint: str, text: str
) -> None:
    sent = choose(survey, *chosen, rule_joint=joint)
    assert post(author, survey, sent).status_code == 302
    typed = {"text": "Typed?", "flips": "25", "rule": text}
    assert post(author, survey, typed).status_code == 302
    chosen_one, typed_one = survey.questions.filter(position__gte=5)
    assert chosen_one.rule == typed_one.rule
    page = author.get(at("question_edit", survey, chosen_one.pk)).text
    assert f'name="rule_shown" value="{text}"' in page
    ticked = re.findall(r'name="rule_answer" value="([\d.a-z-]+)"[^>]*checked', page)
    assert ticked == sent["rule_answer"]


def test_the_answers_of_a_newly_chosen_question_and_the_sentence_come_without_scripts(
    author: Client, survey: Survey
) -> None:
    page = post(author, survey, choose(survey, (1, "yes"), (3, ""), cost="1"))
    assert page.status_code == 200
    assert "Asked only if Q1 is “Yes”." in words_of(page)
    assert re.findall(r'value="1\.\d+\.(\d)"', page.text) == ["1", "2", "3"]
    assert 'name="rule" value="Q1 is yes"' in page.text
    assert HOSTILE not in page.text
    assert survey.questions.count() == 4


def test_a_question_without_a_tick_is_refused_and_kept(author: Client, survey: Survey) -> None:
    answer = post(author, survey, choose(survey, (3, "")))
    assert answer.status_code == 422
    assert "Tick at least one answer to Q3" in words_of(answer)
    assert re.search(r'value="0\.\d+\.1"', answer.text), "its answers are there to tick"


def test_what_was_changed_counts_chosen_or_typed(author: Client, survey: Survey) -> None:
    post(author, survey, choose(survey, (1, "yes")))
    address = at("question_edit", survey, survey.questions.get(position=5).pk)
    shown = {"rule_shown": "Q1 is yes"}
    author.post(address, choose(survey, (1, "yes"), **shown, rule="not (Q1 is yes)"))
    assert "not" in rule_of(survey)
    page = author.get(address)
    assert "The rule was typed. Choosing a question here replaces it." in words_of(page)
    unchanged = {"rule_shown": "not (Q1 is yes)", "rule": "not (Q1 is yes)"}
    author.post(address, choose(survey, **unchanged))
    assert "not" in rule_of(survey), "nothing was chosen, so the typed rule stays"
    author.post(address, choose(survey, (3, "2"), **unchanged))
    assert rule_of(survey) == {"name": f"{survey.questions.get(position=3).pk}_2", "is": [1]}
    author.post(address, choose(survey, rule_shown="Q3 has 2", rule="Q3 has 2"))
    assert rule_of(survey) is None, "choosing no question removes the rule"


def test_both_at_once_is_refused_and_both_stay_on_the_page(author: Client, survey: Survey) -> None:
    sent = choose(survey, (1, "yes"), rule="Q3 has 1")
    for _ in range(2):
        answer = post(author, survey, sent)
        assert answer.status_code == 422
        assert TWICE in words_of(answer)
        assert 'name="rule" value="Q3 has 1"' in answer.text
        assert 'name="rule_shown" value=""' in answer.text
        assert re.search(r'value="0\.\d+\.yes"[^>]*checked', answer.text)


def test_a_question_that_was_deleted_meanwhile_is_said(author: Client, survey: Survey) -> None:
    sent = choose(survey, (1, "yes"))
    survey.questions.get(position=1).delete()
    answer = post(author, survey, sent)
    assert answer.status_code == 422
    assert GONE in words_of(answer)


def test_a_text_to_read_has_a_rule_by_choosing_too(author: Client, survey: Survey) -> None:
    sent = choose(survey, (1, "yes"))
    author.post(f"{at('question_create', survey)}?type=information", sent)
    assert rule_of(survey) == {"name": str(survey.questions.get(position=1).pk), "is": [1]}


@pytest.mark.parametrize(
    "text",
    [
        "not Q1 is yes",
        "Q1 is yes and (Q2 is 1 or Q3 has 1)",
        "Q9 is yes",
        "Q1 is",
        " or ".join(f"Q2 is {number}" for number in range(1, MOST_CONDITIONS + 2)),
    ],
)
def test_a_rule_that_cannot_be_chosen_is_none(survey: Survey, text: str) -> None:
    assert read_conditions(text, earlier=list(survey.questions.all())) is None


def test_only_earlier_questions_with_answers_can_be_chosen(author: Client, survey: Survey) -> None:
    page = author.get(f"{at('question_create', survey)}?type=yes_no").text
    menu = page.split('name="rule_question"')[1].split("</select>")[0]
    offered = re.findall(r'<option value="(\d*)"', menu)
    usable = Question.objects.filter(survey=survey).exclude(type="number")
    assert offered == ["", *(str(question.pk) for question in usable)]
