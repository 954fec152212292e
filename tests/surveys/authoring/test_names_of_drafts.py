"""Authors see, change and use the variable names of their drafts."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from surveys.authoring.errors import BrokenRules
from surveys.authoring.services import add_question, add_questions, edit_question
from surveys.models import Question, Survey
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.question_forms import GOOD
from tests.support.reading import words_of as words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


@pytest.fixture
def survey() -> Survey:
    return make_survey(questions=["Do you smoke?"])


@pytest.fixture
def author(survey: Survey) -> Client:
    return sign_in(survey.owner)


def address(survey: Survey, question: Question | None = None) -> str:
    if question is None:
        return f"/surveys/{survey.slug}/questions/new?type=yes_no"
    return f"/surveys/{survey.slug}/questions/{question.pk}/edit"


def test_an_author_names_a_question_and_changes_its_name(author: Client, survey: Survey) -> None:
    posted = {**GOOD["yes_no"], "name": "phq9_a", "short_label": "Little interest"}
    assert author.post(address(survey), posted).status_code == 302
    question = survey.questions.get(position=2)
    assert (question.name, question.short_label) == ("phq9_a", "Little interest")
    page = author.get(address(survey, question)).content.decode()
    assert 'value="phq9_a"' in page
    assert "phq9_a" in words(author.get(f"/surveys/{survey.slug}/questions"))
    assert author.post(address(survey, question), {**posted, "name": ""}).status_code == 302
    question.refresh_from_db()
    assert question.name == "item_a"  # the first name is suggested again


@pytest.mark.parametrize("name", ["smoke", "Two words", "phq9_1", "data", "<b>", "a" * 300, "q2"])
def test_a_wrong_name_is_shown_again_with_one_that_would_be_right(
    author: Client, survey: Survey, name: str
) -> None:
    page = author.post(address(survey), {**GOOD["yes_no"], "name": name})
    assert page.status_code == 422
    assert "is possible" in words(page)
    assert "<b>" not in page.content.decode()
    assert survey.questions.count() == 1


def test_a_name_outlives_another_text_and_a_form_without_it(author: Client, survey: Survey) -> None:
    question = survey.questions.get()
    question.source_name = "SMOKE-1"
    question.save()
    posted = {**GOOD["choice"], "text": "Do you drink?"}
    assert author.post(f"{address(survey, question)}?type=choice", posted).status_code == 302
    question.refresh_from_db()
    assert (question.text, question.name) == ("Do you drink?", "smoke")
    assert question.source_name == "SMOKE-1"
    author.post(f"{address(survey, question)}?type=information", GOOD["information"])
    question.refresh_from_db()
    assert (question.name, question.source_name, question.short_label) == ("", "", "")


def test_names_that_were_chosen_come_before_suggested_ones(survey: Survey) -> None:
    contents = {"1": {"text": "Drink?"}, "2": {"text": "Wine?", "name": "drink"}}
    added = add_questions(survey=survey, contents=contents)  # type: ignore[arg-type]
    assert [one.name for one in added] == ["drink_b", "drink"]
    with pytest.raises(BrokenRules, match="named “drink”"):
        add_question(survey=survey, text="Beer?", name="drink")
    with pytest.raises(BrokenRules, match="named “drink”"):
        edit_question(question=added[0], name="drink")
    contents = {"1": {"text": "A?", "name": "twice"}, "2": {"text": "B?", "name": "twice"}}
    with pytest.raises(BrokenRules):
        add_questions(survey=survey, contents=contents)  # type: ignore[arg-type]
    assert survey.questions.count() == 3


def test_the_database_refuses_the_same_name_in_other_letters(survey: Survey) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        survey.questions.create(position=2, text="Q?", name="SMOKE")
    make_survey(questions=["Do you smoke?"])  # another survey may have the same name
    for position in (2, 3):
        survey.questions.create(position=position, text="Q?", name="")


def test_the_form_of_a_text_has_no_name(author: Client, survey: Survey) -> None:
    page = author.get(f"/surveys/{survey.slug}/questions/new?type=information")
    assert "Names in files" not in words(page)
    assert "Names in files" in words(author.get(address(survey)))


def test_rules_may_use_names(author: Client, survey: Survey) -> None:
    posted = {**GOOD["yes_no"], "text": "A pipe?", "rule": "smoke is yes and not (Smoke is no)"}
    assert author.post(address(survey), posted).status_code == 302
    question, first = survey.questions.get(position=2), survey.questions.get(position=1)
    key = str(first.pk)
    assert question.rule == {"all": [{"name": key, "is": [1]}, {"not": {"name": key, "is": [0]}}]}
    page = author.post(address(survey), {**posted, "rule": "wine is yes"})
    assert "not “wine”" in words(page)


def test_an_opened_survey_shows_its_names(author: Client, survey: Survey) -> None:
    open_survey(survey=survey)
    assert "smoke" in words(author.get(f"/surveys/{survey.slug}/questions")).split()
