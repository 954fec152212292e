"""The same page is open in two windows: saving the second never silently undoes the first."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.forms import model_to_dict
from django.http import QueryDict
from django.test import Client

from accounts.models import User
from surveys.authoring.errors import Overtaken
from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.services import (
    add_question,
    add_translation,
    edit_question,
    list_content,
)
from surveys.authoring.stamps import stamp_question
from surveys.definition.exporting import export_definition
from surveys.definition.parsing import parse_definition
from surveys.definition.replacing import hash_definition, replace_draft
from surveys.manifest.manifest import Publication
from surveys.models import Question, Survey
from surveys.models.settings import SettingsPage
from tests.support.factories import QUESTIONS, make_survey
from tests.support.fielding import at
from tests.support.question_forms import GOOD
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
OVERTAKEN = "This was changed by someone else, or in another window"


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def open_form(author: Client, path: str) -> dict[str, str]:
    """Return the fields that a window with the current form would send."""
    page = author.get(path).text
    found = re.search(r'name="stamp" value="([^"]+)"', page)
    assert found is not None
    return {"stamp": found[1]}


@pytest.fixture
def question(survey: Survey) -> Question:
    return survey.questions.all()[0]


def choose(answer: Any, **theirs: str) -> dict[str, str]:
    """Return what the merge page sends: the typed values, except for the fields named as theirs."""
    assert answer.status_code == 422
    assert OVERTAKEN in text_of(answer)
    shown = {one.choice: "mine" for one in answer.context["differences"]}
    for name in shown:
        assert f'name="{name}" value="theirs"' in answer.text
    typed = answer.context["form"].data.dict()
    return {**typed, **shown, **theirs, "stamp": answer.context["stamp"]}


def all_theirs(answer: Any) -> dict[str, str]:
    return {one.choice: "theirs" for one in answer.context["differences"]}


def test_a_question_saved_in_another_window_is_merged_field_by_field(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    first, second = open_form(author, path), open_form(author, path)
    theirs = {"text": "First?", "flips": 40, "name": "theirs", "short_label": "<b>"}
    assert author.post(path, {**first, **theirs}).status_code == 302
    mine = {"text": "Second?", "flips": 25, "name": "ours", "short_label": "Mine"}
    answer = author.post(path, {**second, **mine})
    assert [(one.label, one.mine, one.theirs) for one in answer.context["differences"]] == [
        ("Question", "Second?", "First?"),
        ("How strongly is each answer protected?", "Two coins (25 of 100)", "40 of 100"),
        ("Name in files (optional)", "ours", "theirs"),
        ("Short label in files (optional)", "Mine", "<b>"),
    ]
    assert "Yours Second? Theirs First?" in text_of(answer)
    assert "<b>" not in answer.text
    question.refresh_from_db()
    assert (question.text, question.flips) == ("First?", 40)
    sent = choose(answer, **{"keep-flips": "theirs", "keep-name": "theirs"})
    # Another person saves first again. The choices stay as they were.
    edit_question(question=question, text="Third?")
    answer = author.post(path, sent)
    assert [one.choice for one in answer.context["differences"]] == [
        "keep-text",
        "keep-short_label",
    ]
    assert author.post(path, choose(answer)).status_code == 302
    question.refresh_from_db()
    assert (question.text, question.flips, question.short_label) == ("Second?", 40, "Mine")
    assert question.name == "theirs"
    # If the same form is sent again, as after a double click, it counts as saved.
    assert author.post(path, {**mine, **second, "flips": 40, "name": "theirs"}).status_code == 302


def preselected(answer: Any) -> dict[str, str]:
    return dict(re.findall(r'name="keep-(\S+)" value="(mine|theirs)"[^>]* checked', answer.text))


def test_whoever_changed_a_field_is_preselected_and_nothing_typed_later_is_lost(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    stored = {"type": "yes_no", "text": question.text, "flips": "25", "name": question.name}
    window = open_form(author, path)
    edit_question(question=question, text="First?", flips=40, short_label="Theirs", refusal=True)
    mine = {**stored, **window, "text": "Second?", "name": "ours"}
    answer = author.post(path, mine)
    assert preselected(answer) == {
        "text": "mine",
        "flips": "theirs",
        "refusal": "theirs",
        "name": "mine",
        "short_label": "theirs",
    }
    chosen = choose(answer, **{f"keep-{name}": who for name, who in preselected(answer).items()})
    # The label is edited before the choice is sent. Meanwhile, another person saves once more.
    edit_question(question=question, unit="", text="Third?", short_label="Theirs again")
    answer = author.post(path, {**chosen, "short_label": "Edited"})
    assert preselected(answer) == {"text": "mine", "name": "mine", "short_label": "mine"}
    assert author.post(path, choose(answer)).status_code == 302
    question.refresh_from_db()
    assert (question.text, question.flips, question.refusal) == ("Second?", 40, True)
    assert (question.name, question.short_label) == ("ours", "Edited")
    # A type that others changed counts as theirs, too, unless this window chose one.
    window = open_form(author, path)
    author.post(path, {**GOOD["scale"], "type": "scale"})
    stored = {"type": "yes_no", "text": "Second?", "flips": "40", "refusal": "on", "name": "ours"}
    answer = author.post(path, {**stored, **window, "short_label": "Edited"})
    assert preselected(answer)["type"] == "theirs"
    assert author.post(path, {**choose(answer), **all_theirs(answer)}).status_code == 302
    assert survey.questions.get(pk=question.pk).type == "scale"


def test_a_question_of_another_type_is_mine_or_theirs(author: Client, survey: Survey) -> None:
    for kind, typed in GOOD.items():
        other = "scale" if kind != "scale" else "choice"
        question = add_question(survey=survey, text="Q?", type="yes_no")
        path, stamp = at("question_edit", survey, question.pk), stamp_question(question)
        questions = list(survey.questions.all())
        rule = "Q1 is Yes" if kind not in ("declared", "information") else ""
        data = QueryDict(mutable=True)
        data.update({**typed, "rule": rule, "refusal": "on", "name": f"{kind}_name"})
        form = QUESTION_FORMS[kind](data, questions=questions, question=question)
        assert form.is_valid(), form.errors
        edit_question(question=question, **form.content())
        question.refresh_from_db()
        before = list_content(question)
        mine = {**GOOD[other], "stamp": stamp, "type": other, "text": "Mine?", "name": "mine"}
        answer = author.post(path, mine)
        assert answer.context["differences"][0].theirs == question.get_type_display()
        assert author.post(path, choose(answer, **all_theirs(answer))).status_code == 302
        question.refresh_from_db()
        assert list_content(question) == before
        question.delete()
    assert author.post(path, choose(answer)).status_code == 409
    question = add_question(survey=survey, text="Q?", options=["A", "B"], type="choice", rule=None)
    mine = {**GOOD["scale"], "type": "scale", "text": "Mine?", "stamp": "overtaken"}
    path = at("question_edit", survey, question.pk)
    assert author.post(path, choose(author.post(path, mine))).status_code == 302
    question.refresh_from_db()
    assert (question.type, question.text, question.options) == ("scale", "Mine?", [])


def test_a_rule_is_merged_as_a_whole(author: Client, survey: Survey) -> None:
    first, second = survey.questions.all()
    path = at("question_edit", survey, second.pk)
    stamp = open_form(author, path)
    edit_question(question=second, rule={"name": str(first.pk), "is": [1]})
    mine = {"text": second.text, "flips": 25, "name": second.name, **stamp}
    chosen = {"rule_shown": "", "rule_question": first.pk, "rule_answer": f"0.{first.pk}.no"}
    answer = author.post(path, {**mine, **chosen})
    [rule] = answer.context["differences"]
    assert (rule.mine, rule.theirs) == ("Q1 is no", "Q1 is yes")
    assert author.post(path, choose(answer, **{"keep-rule": "theirs"})).status_code == 302
    second.refresh_from_db()
    assert second.rule == {"name": str(first.pk), "is": [1]}


def test_a_question_that_was_deleted_leaves_what_was_typed(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    stamp = open_form(author, path)
    question.delete()
    answer = author.post(path, {**stamp, "text": "A long thought?", "flips": 25})
    assert answer.status_code == 409
    assert "This question was deleted while you were editing it." in text_of(answer)
    assert "A long thought?" in answer.text
    assert author.get(path).status_code == 404


def test_a_program_that_replaces_the_draft_is_told_apart_like_a_colleague(
    author: Client, survey: Survey, question: Question
) -> None:
    path = at("question_edit", survey, question.pk)
    stamp = open_form(author, path)
    content = export_definition(survey)
    changed = parse_definition(content.replace(question.text.encode(), b"By a program?"))
    replace_draft(survey=survey, definition=changed, read={hash_definition(content)})
    answer = author.post(path, {**stamp, "text": "By hand?", "flips": 25, "name": question.name})
    [text] = answer.context["differences"]
    assert (text.mine, text.theirs) == ("By hand?", "By a program?")
    # The page was saved after the program read the survey, so the program is refused.
    assert author.post(path, choose(answer)).status_code == 302
    with pytest.raises(Overtaken):
        replace_draft(survey=survey, definition=changed, read={hash_definition(content)})


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
    assert "Title Yours On the road Theirs New title" in text_of(answer)
    assert "Closing message (optional) Yours empty Theirs Thanks." in text_of(answer)
    survey.refresh_from_db()
    assert (survey.title, survey.introduction) == ("New title", "")
    assert author.post(path, choose(answer, **{"keep-title": "theirs"})).status_code == 302
    survey.refresh_from_db()
    assert (survey.title, survey.introduction) == ("New title", "Typed later")
    assert survey.closing_message == ""


@pytest.mark.parametrize("page", SettingsPage)
def test_every_setting_can_stay_as_somebody_else_saved_it(
    author: Client, survey: Survey, page: SettingsPage
) -> None:
    path = at("settings_page", survey, page)
    stamp = open_form(author, path)
    changed = {
        "title": "Theirs", "language": "fr", "organization": "Theirs", "minimum_age": 18,
        "opens_at": datetime(2099, 1, 2, 3, 4, tzinfo=UTC), "delete_on": date(2099, 3, 1),
        "closes_at": datetime(2099, 2, 2, 3, 4, tzinfo=UTC), "people_expected": 400,
        "publication": Publication.PROTECTED, "release_epsilon_hundredths": 55,
        "may_decline": not survey.may_decline, "coins": False, "display_minimum": 90,
        "sealed_half": True,
    }  # fmt: skip
    Survey.objects.filter(pk=survey.pk).update(**changed)
    survey.refresh_from_db()
    before = model_to_dict(survey)
    mine = {"title": "Mine", "language": "en", "publication": "none"}
    answer = author.post(path, {**mine, "minimum_batch": 10, "display_minimum": 20, **stamp})
    assert answer.context["differences"]
    assert author.post(path, choose(answer, **all_theirs(answer))).status_code == 302
    survey.refresh_from_db()
    assert model_to_dict(survey) == before


def test_a_translation_saved_in_another_window_is_not_lost(author: Client, survey: Survey) -> None:
    add_translation(survey=survey, language="fr")
    path = at("translation", survey, "fr")
    [name] = re.findall(r'name="(words-\w+)"', author.get(path).text)[:1]
    first, second = open_form(author, path), open_form(author, path)
    assert author.post(path, {**first, name: "Premier"}).status_code == 302
    answer = author.post(path, {**second, name: "Deuxième"})
    assert answer.status_code == 422
    assert "Title Yours Deuxième Theirs Premier" in text_of(answer)
    assert list(survey.translations.get().texts.values()) == ["Premier"]
    for choice, kept in (("theirs", "Premier"), ("mine", "Deuxième")):
        sent = choose(answer, **{f"keep-{name}": choice})
        assert author.post(path, {**sent, "stamp": open_form(author, path)["stamp"]})
        assert list(survey.translations.get().texts.values()) == [kept]


def test_going_back_and_adding_again_does_not_add_a_question_twice(
    author: Client, survey: Survey
) -> None:
    path = at("question_create", survey)
    typed = {**open_form(author, f"{path}?type=yes_no"), **GOOD["yes_no"]}
    assert author.post(f"{path}?type=yes_no", typed).status_code == 302
    answer = author.post(f"{path}?type=yes_no", typed)
    assert answer.status_code == 422
    number = len(QUESTIONS) + 1
    assert f"The survey already has what you entered, as question {number}." in text_of(answer)
    assert survey.questions.count() == number
    again = re.search(r'name="stamp" value="([^"]+)"', answer.text)
    assert again is not None
    assert author.post(f"{path}?type=yes_no", typed | {"stamp": again[1]}).status_code == 302


def test_another_question_added_meanwhile_changes_nothing(author: Client, survey: Survey) -> None:
    path = f"{at('question_create', survey)}?type=yes_no"
    typed = {**open_form(author, path), **GOOD["yes_no"]}
    add_question(survey=survey, text="Another?")
    assert author.post(path, typed).status_code == 302
