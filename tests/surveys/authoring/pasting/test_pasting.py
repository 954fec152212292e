"""Pasting questions into a draft: the preview, and whether exactly its questions are created."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from surveys.authoring.errors import BrokenRules, PreviewOutdated
from surveys.authoring.pasting.creating import create_pasted
from surveys.authoring.pasting.form import MAX_LENGTH, MAX_LINES
from surveys.authoring.pasting.preview import ASSUMED, ROUTING
from surveys.authoring.pasting.reading import Reading, read_paste
from surveys.authoring.rule_text import write_rule
from surveys.authoring.services import add_questions, edit_question
from surveys.models import MAX_QUESTIONS, Question, Survey
from tests.support.factories import QUESTIONS, make_survey, open_survey
from tests.support.fielding import at
from tests.support.reading import text_of, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
TEXT = "1. Do you smoke?\n2. How often?\n- Daily\n- Weekly\nif Q1 is yes\n3. Happy? (1 no - 5 yes)"
WORDS_OF_OURS = 60


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def preview(author: Client, survey: Survey, text: str) -> dict[str, str]:
    """Return what the form on the preview page would send."""
    answer = author.post(at("questions_paste", survey), {"text": text})
    assert answer.status_code == 200, text_of(answer)
    found = re.search(r'name="stamp" value="(\w+)"', answer.text)
    assert found is not None
    return {"text": text, "stamp": found[1], "create": "1"}


def create(survey: Survey, text: str) -> list[Question]:
    reading = read_paste(text, survey=survey)
    if not reading.contents:
        return []
    return create_pasted(survey=survey, text=text, stamp=reading.stamp)


def told(reading: Reading) -> list[str]:
    return [" ".join(filter(None, (row.became, row.note, row.problem))) for row in reading.rows]


def test_questions_are_created_as_the_preview_showed_them(author: Client, survey: Survey) -> None:
    sent = preview(author, survey, TEXT)
    assert survey.questions.count() == len(QUESTIONS), "a preview stores nothing"
    answer = author.post(at("questions_paste", survey), sent)
    assert answer.status_code == 302
    smoke, often, happy = survey.questions.all()[2:]
    assert answer["Location"] == f"{at('questions', survey)}#question-{smoke.pk}"
    assert (smoke.type, often.options, happy.high_label) == ("yes_no", ["Daily", "Weekly"], "yes")
    assert {one.flips for one in (smoke, often, happy)} == {25}
    assert write_rule(often.rule or {}, questions=[smoke, often]) == "Q1 is yes"
    assert "3 questions created." in text_of(author.get(at("questions", survey)))


def test_questions_refuse_as_the_survey_says(survey: Survey) -> None:
    survey.may_decline = True
    survey.save()
    added = create(survey, "# Read this\n1. Do you?\n2. What?\n- A\n- B\n- Prefer not to say")
    assert [question.refusal for question in added] == [False, True, True]
    assert added[2].options == ["A", "B"]


def test_pressing_twice_creates_nothing_twice(author: Client, survey: Survey) -> None:
    sent = preview(author, survey, TEXT)
    assert author.post(at("questions_paste", survey), sent).status_code == 302
    again = author.post(at("questions_paste", survey), sent)
    assert again.status_code == 422
    page = text_of(again)
    assert str(PreviewOutdated()) in page
    assert page.count("The draft already has this, as question") == 3
    assert 'name="create"' not in again.text
    assert survey.questions.count() == 5


def test_a_text_without_questions_creates_nothing(author: Client, survey: Survey) -> None:
    sent = preview(author, survey, "- only an answer")
    assert author.post(at("questions_paste", survey), sent).status_code == 422


@pytest.mark.parametrize("change", ["text", "settings", "question", "stamp"])
def test_only_what_was_shown_is_created(author: Client, survey: Survey, change: str) -> None:
    sent = preview(author, survey, TEXT)
    match change:
        case "text":
            sent["text"] += "\n4. More?"
        case "settings":
            Survey.objects.update(may_decline=True)
        case "question":
            edit_question(question=survey.questions.all()[0], text="Do you smoke?")
        case "stamp":
            del sent["stamp"]
    assert author.post(at("questions_paste", survey), sent).status_code == 422
    assert survey.questions.count() == len(QUESTIONS)


def test_a_launched_survey_keeps_its_questions_and_the_typed_text_is_shown(
    author: Client, survey: Survey
) -> None:
    sent = preview(author, survey, TEXT)
    open_survey(survey=survey)
    answer = author.post(at("questions_paste", survey), sent)
    assert answer.status_code == 409
    assert "2. How often?" in answer.text
    assert author.get(at("questions_paste", survey)).status_code == 409
    assert survey.questions.count() == len(QUESTIONS)


def test_the_limit_of_a_survey_holds_and_is_said(survey: Survey) -> None:
    text = "\n".join(f"{number}. Question {number}?" for number in range(1, 121))
    reading = read_paste(text, survey=survey)
    assert (len(reading.contents), reading.left_out) == (98, 22)
    assert str(MAX_QUESTIONS) in reading.rows[-1].problem
    assert len(create(survey, text)) == 98


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1. A?\n2. B? (if Q3 is yes)\n3. C?",
            "question 3 of the text does not come before this question.",
        ),
        ("1. A?\n2. B? (if Q7 is yes)", "the text has no question 7."),
        ("1. A?\n1. B?\n2. C? (if Q1 is yes)", "several questions in the text are numbered 1."),
        ("1. A\n2. B? (if Q1 is yes)", "question 1 of the text is left out."),
        ("1. A?\n2. B? (if Q1 is maybe)", "“maybe” is not an answer to Q3."),
        ("1. A?\n2. B? (if Q1 is Q2)", "a pasted rule can have only one condition."),
        ("1. A? (1-2)\n2. B? (if Q1 is one of 1, 2)", "would always be asked"),
    ],
)
def test_a_rule_that_cannot_exist_is_left_out_and_said(
    survey: Survey, text: str, expected: str
) -> None:
    reading = read_paste(text, survey=survey)
    [note] = [row.note for row in reading.rows if row.note.startswith("The rule is left out: ")]
    assert expected in note
    assert all(question.rule is None for question in create(survey, text))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("A?\nB? (if Q1 is Yes)", "Q3 is yes"),
        ("¿A?\n¿B? (if Q1 is sí)", "Q3 is yes"),
        ("1. A?\n- x y\n- z\n- w\n2. B? (if q1 is not “X Y”)", "not (Q3 is 1)"),
        ("1. A? (max 1)\n- x\n- z\n2. B? (if Q1 has z)", "Q3 has 2"),
        ("4. A? (1-5)\n9. B?\nask only if Q4 >= 4", "Q3 is one of 4, 5"),
        ("Q1a. A?\nQ1b. (if Q1A is yes) B?", "Q3 is yes"),
        ("1. Do you have children?\n2. B? (if Q1 is yes)", "Q2 is yes"),
    ],
)
def test_rules_use_the_numbers_and_the_answers_of_the_text(
    survey: Survey, text: str, rule: str
) -> None:
    added = create(survey, text)
    assert write_rule(added[-1].rule or {}, questions=list(survey.questions.all())) == rule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do you have children?", "The draft already has this, as question 2."),
        ("A?\na?", "The text already has this, as question 3."),
        ("x" * 1001 + "?", "The question has 1002 characters. Shorten it to 1000 or fewer."),
        ("A?\n- " + "x" * 201 + "\n- y", "Answer 1 has 201 characters"),
        ("A?\n- x\n- y\n- X", "Answer 3 is the same as answer 1."),
        ("A?\n" + "\n".join(f"- {n}" for n in range(65)), "There are 65 options."),
        ("A? (max 3)\n- x\n- y", "With 2 options, a limit of 3 changes nothing."),
        ("A?\n30 to 0 days", "The largest number must be above the smallest number"),
        ("A?\n-99 low to 5 high", "Enter a whole number from"),
        ("A\u202eB?", "invisible character that changes the order"),
        ("A\x07B?", "invisible control character"),
    ],
)
def test_the_checks_of_single_questions_apply(survey: Survey, text: str, expected: str) -> None:
    reading = read_paste(text, survey=survey)
    assert any(expected in row.problem for row in reading.rows), told(reading)
    created = survey.questions.count() + len(reading.contents)
    create(survey, text)
    assert survey.questions.count() == created


@pytest.mark.parametrize(
    ("text", "notes", "assumed"),
    [
        ("1. A?\n2. Any comments?\n3. B?\n- Yes\n- No", [ASSUMED, ASSUMED, ""], 2),
        ("1. A?\n\nSingle\n2. B? (0 to 9)", ["", "", ""], 0),
        (
            "1. A?\n- Yes\n- No -> go to 3\n2. B, if Q1 is yes?",
            [ROUTING, f"{ASSUMED} {ROUTING}"],
            1,
        ),
    ],
)
def test_what_was_assumed_is_said_and_counted(
    author: Client, survey: Survey, text: str, notes: list[str], assumed: int
) -> None:
    reading = read_paste(text, survey=survey)
    assert [row.note for row in reading.rows] == notes
    page = text_of(author.post(at("questions_paste", survey), {"text": text}))
    assert (f"{assumed} without answers, asked as yes or no." in page) == (assumed > 0)


def test_none_or_all_are_created(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = dict(read_paste(TEXT, survey=survey).contents)
    first, second, third = contents
    with pytest.raises(BrokenRules):  # in this order, the rule makes no sense
        add_questions(
            survey=survey,
            contents={first: contents[first], third: contents[third]}
            | {second: {**contents[second], "rule": {"name": first, "is": [9]}}},
        )
    assert survey.questions.count() == len(QUESTIONS)


@pytest.mark.parametrize("text", ["", " \r\n\t", "a\n" * MAX_LINES, "a" * (MAX_LENGTH + 1), "a\0"])
def test_texts_that_cannot_be_read_are_refused(author: Client, survey: Survey, text: str) -> None:
    answer = author.post(at("questions_paste", survey), {"text": text})
    assert answer.status_code == 422
    assert "There is a problem" in answer.text


def test_hostile_texts_are_shown_and_never_run(author: Client, survey: Survey) -> None:
    evil = "<script>alert(1)</script>?\n- <img src=x onerror=alert(1)>\n- =cmd|' /C calc'!A0\n"
    evil += "\n</textarea><b>bold</b>\n\n\u2067{{ 7654321*7654321 }}\n"
    answer = author.post(at("questions_paste", survey), {"text": evil})
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    assert not re.search(r"<(script|img|b)\b", main)
    assert "<img src=x onerror=alert(1)>" in words_of(answer).replace("&lt;", "<")
    assert main.count("</textarea>") == 1
    assert str(7654321**2) not in main


def test_no_page_has_many_words_of_ours(author: Client, survey: Survey) -> None:
    path = at("questions_paste", survey)
    for answer in (author.get(path), author.post(path, {"text": "x?\ny?\n- z"})):
        own = answer.text.partition("<h1>")[2].partition("</main>")[0]
        words = re.sub(r"<[^>]+>", " ", own).split()
        assert len([word for word in words if re.search(r"\w", word)]) <= WORDS_OF_OURS, words


def test_many_rules_are_checked_quickly(survey: Survey, django_assert_max_num_queries: Any) -> None:
    text = "\n".join(f"{n}. Is it {n}? (if Q{max(1, n - 1)} is yes)" for n in range(1, 99))
    with django_assert_max_num_queries(3):
        reading = read_paste(text, survey=survey)
    assert sum("only if" in line for line in told(reading)) == 97


ODDITIES = "\nA?\nB?\tx\ty\tz\n- Yes\n- No\n- a\nHead\n# T\nif Q1 is no\nif Q2 is 1\n0 to 9 days"
PIECES = st.sampled_from(f"{TEXT}{ODDITIES}\nDo you have children?\n(max 2)\n5. E?".split("\n"))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(PIECES | st.text(max_size=8), max_size=14).map("\n".join))
def test_created_questions_equal_the_previewed_ones(survey: Survey, text: str) -> None:
    with transaction.atomic():
        reading = read_paste(text, survey=survey)
        added = create(survey, text)
        assert len(added) == len(reading.contents)
        keys = {str(one.pk): key for key, one in zip(reading.contents, added, strict=True)}
        keys |= {str(one.pk): str(one.pk) for one in survey.questions.all()[: len(QUESTIONS)]}
        for question, content in zip(added, reading.contents.values(), strict=True):
            question.refresh_from_db()
            for name, value in content.items():
                stored = getattr(question, name) if name != "name" else ""  # suggested only then
                if name == "rule" and stored:
                    stored = re.sub(
                        r"'name': '(\d+)", lambda m: f"'name': '{keys[m[1]]}", str(stored)
                    )
                    value = str(value)
                assert stored == value, name
        again = read_paste(text, survey=survey)
        assert not any(row.became and row.became[0] == "Q" for row in again.rows)
        transaction.set_rollback(True)
