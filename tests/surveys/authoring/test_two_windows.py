"""The same page open in two windows: the second to be saved never undoes the first silently."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring.services import add_question, add_translation
from surveys.models import Question, Survey
from tests.support.factories import QUESTIONS, make_survey
from tests.support.fielding import at
from tests.support.question_forms import GOOD
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
OVERTAKEN = "This was changed in another window"


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def open_form(author: Client, path: str) -> dict[str, str]:
    """Return what a window that shows this form would send."""
    page = author.get(path).text
    found = re.search(r'name="stamp" value="(\w+)"', page)
    assert found is not None
    return {"stamp": found[1]}


@pytest.fixture
def question(survey: Survey) -> Question:
    return survey.questions.all()[0]


def test_a_question_saved_in_another_window_is_shown_before_it_is_replaced(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    first, second = open_form(author, path), open_form(author, path)
    assert author.post(path, {**first, "text": "First?", "flips": 40}).status_code == 302
    answer = author.post(path, {**second, "text": "Second?", "flips": 25})
    assert answer.status_code == 422
    page = text_of(answer)
    assert OVERTAKEN in page
    assert "Saved in the other window Question First?" in page
    assert "Second?" in answer.text
    question.refresh_from_db()
    assert (question.text, question.flips) == ("First?", 40)
    # The page has the newer stamp, so saving again replaces the other version.
    again = re.search(r'name="stamp" value="(\w+)"', answer.text)
    assert again is not None
    typed = {"stamp": again[1], "text": "Second?", "flips": 25}
    assert author.post(path, typed).status_code == 302
    question.refresh_from_db()
    assert (question.text, question.flips) == ("Second?", 25)


def test_a_mistake_in_between_does_not_hide_the_other_window(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    first, second = open_form(author, path), open_form(author, path)
    author.post(path, {**first, "text": "First?", "flips": 25})
    answer = author.post(path, {**second, "text": "", "flips": 25})
    assert answer.status_code == 422
    assert f'name="stamp" value="{second["stamp"]}"' in answer.text
    assert OVERTAKEN in author.post(path, {**second, "text": "Second?", "flips": 25}).text


def test_a_form_from_before_the_upgrade_is_saved(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    assert author.post(path, {"text": "Old form?", "flips": 25}).status_code == 302


def test_settings_saved_in_another_window_are_not_reverted(author: Client, survey: Survey) -> None:
    path = at("settings", survey)
    settings = {"title": survey.title, "language": "en"}
    first, second = open_form(author, path), open_form(author, path)
    changed = {**settings, **first, "title": "New title", "closing_message": "Thanks."}
    assert author.post(path, changed).status_code == 302
    answer = author.post(path, {**settings, **second, "introduction": "Typed later"})
    assert answer.status_code == 422
    page = text_of(answer)
    assert OVERTAKEN in page
    assert "Title New title" in page
    assert "Closing message (optional) Thanks." in page
    assert "Typed later" in page
    survey.refresh_from_db()
    assert (survey.title, survey.introduction) == ("New title", "")


def test_a_translation_saved_in_another_window_is_not_lost(author: Client, survey: Survey) -> None:
    add_translation(survey=survey, language="fr")
    path = at("translation", survey, "fr")
    [name] = re.findall(r'name="(words-\w+)"', author.get(path).text)[:1]
    first, second = open_form(author, path), open_form(author, path)
    assert author.post(path, {**first, name: "Premier"}).status_code == 302
    answer = author.post(path, {**second, name: "Deuxième"})
    assert answer.status_code == 422
    assert "Title Premier" in text_of(answer)
    assert "Deuxième" in answer.text
    assert list(survey.translations.get().texts.values()) == ["Premier"]


def test_going_back_and_adding_again_does_not_add_a_question_twice(
    author: Client, survey: Survey
) -> None:
    path = at("question_create", survey)
    typed = {**open_form(author, f"{path}?type=yes_no"), **GOOD["yes_no"]}
    assert author.post(f"{path}?type=yes_no", typed).status_code == 302
    answer = author.post(f"{path}?type=yes_no", typed)
    assert answer.status_code == 422
    number = len(QUESTIONS) + 1
    assert f"The survey already has this, as question {number}." in text_of(answer)
    assert survey.questions.count() == number
    again = re.search(r'name="stamp" value="(\w+)"', answer.text)
    assert again is not None
    assert author.post(f"{path}?type=yes_no", typed | {"stamp": again[1]}).status_code == 302


def test_another_question_added_meanwhile_changes_nothing(author: Client, survey: Survey) -> None:
    path = f"{at('question_create', survey)}?type=yes_no"
    typed = {**open_form(author, path), **GOOD["yes_no"]}
    add_question(survey=survey, text="Another?")
    assert author.post(path, typed).status_code == 302
