"""Several questions of a draft at once: moved, changed, deleted, and restored."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring import selection
from surveys.authoring.services import (
    add_question,
    edit_question,
    plan_comparison,
    plan_release,
)
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Question, Survey
from tests.support.factories import make_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
LETTERS = "ABCDEF"


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner, questions=[f"{letter}?" for letter in LETTERS])


def order(survey: Survey) -> str:
    questions = list(survey.questions.all())
    assert [one.position for one in questions] == list(range(1, len(questions) + 1))
    return "".join(question.text[0] for question in questions)


def find(survey: Survey, letters: str) -> list[int]:
    return [survey.questions.get(text=f"{letter}?").pk for letter in letters]


def do(author: Client, survey: Survey, letters: str, action: str, **more: Any) -> Any:
    sent = {"question": find(survey, letters), "action": action, **more}
    return author.post(at("questions_selected", survey), sent)


def undo(author: Client, survey: Survey) -> Any:
    """Press the undo button that the page offers; if there is none, send an empty stamp."""
    form = author.get(at("questions", survey)).text.partition(at("questions_restore", survey))[2]
    found = re.search(r'name="stamp" value="(\w+)"', form.split("</form>")[0])
    return author.post(at("questions_restore", survey), {"stamp": found[1] if found else ""})


def rows(survey: Survey) -> list[dict[str, Any]]:
    found = Question.objects.filter(survey=survey).order_by("position")
    return [dict(row) for row in found.values()]


@pytest.mark.parametrize(
    ("letters", "after", "becomes"),
    [
        ("F", "", "FABCDE"),
        ("DB", "", "BDACEF"),
        ("AB", "F", "CDEFAB"),
        ("AF", "C", "BCAFDE"),
        ("BC", "A", "ABCDEF"),
        (LETTERS, "", LETTERS),
    ],
)
def test_questions_move_together_in_their_order(
    author: Client, survey: Survey, letters: str, after: str, becomes: str
) -> None:
    behind = find(survey, after)[0] if after else ""
    answer = do(author, survey, letters, "move", after=behind)
    assert answer["Location"].endswith(f"#select-{find(survey, letters)[0]}")
    assert order(survey) == becomes


@pytest.mark.parametrize(
    ("letters", "sent", "told"),
    [
        ("", {"action": "delete"}, "Select at least one question."),
        ("AB", {"action": "move", "after": "A"}, "after one that is not selected"),
        ("B", {"action": "move", "after": "C"}, "Question 3 depends on question 2"),
        ("B", {"action": "delete"}, "question 2, which would be gone"),
        ("A", {"action": "explode"}, "Press one of the buttons."),
        ("A", {"action": "strength", "flips": "0"}, "There is no such strength."),
        ("A", {"action": "strength"}, "Choose one of the strengths in the list."),
    ],
)
def test_what_cannot_be_done_changes_nothing_and_keeps_the_selection(
    author: Client, survey: Survey, letters: str, sent: dict[str, str], told: str
) -> None:
    rule = {"name": str(find(survey, "B")[0]), "is": [1]}
    survey.questions.filter(text="C?").update(rule=rule)
    before = rows(survey)
    sent = dict(sent)
    if sent.get("after"):
        sent["after"] = str(find(survey, sent["after"])[0])
    answer = do(author, survey, letters, **sent)
    assert answer.status_code == 422
    assert told in words_of(answer)
    ticked = re.findall(r'value="(\d+)" id="select-\d+" form="selection" checked', answer.text)
    assert ticked == [str(pk) for pk in find(survey, letters)]
    assert rows(survey) == before


def test_a_question_that_was_deleted_in_another_window_is_said(
    author: Client, survey: Survey
) -> None:
    keys = find(survey, "AB")
    do(author, survey, "B", "delete")
    sent = {"question": keys, "action": "strength", "flips": 40}
    answer = author.post(at("questions_selected", survey), sent)
    assert answer.status_code == 422
    assert "A selected question was deleted in another window." in words_of(answer)
    assert {question.flips for question in survey.questions.all()} == {25}


def test_strength_and_declining_are_set_for_the_selected_that_have_them(
    author: Client, survey: Survey
) -> None:
    add_question(survey=survey, type="declared", text="G?", options=["North", "South"])
    add_question(survey=survey, type="choice", text="H?", options=["Yes", "Prefer not to say"])
    add_question(survey=survey, type="information", text="I?")
    assert do(author, survey, "AGHI", "strength", flips=40).status_code == 302
    page = author.get(at("questions", survey))
    assert "2 questions were changed. Q7 is not scrambled." in words_of(page)
    assert do(author, survey, "AGHI", "declining", declining="on").status_code == 302
    page = author.get(at("questions", survey))
    assert "2 questions were changed. Q8 cannot offer “Prefer not to say”" in words_of(page)
    found = {one.text[0]: (one.flips, one.refusal) for one in survey.questions.all()}
    plain = (25, False)
    changed = {"A": (40, True), "G": (25, True), "H": (40, False)}
    assert found == dict.fromkeys("BCDEFI", plain) | changed
    do(author, survey, "AB", "declining", declining="")
    assert not survey.questions.get(text="A?").refusal


def test_a_deletion_is_undone_with_rules_and_plans(author: Client, owner: User) -> None:
    survey = make_survey(
        owner=owner,
        questions=[f"{letter}?" for letter in LETTERS],
        publication=Publication.PROTECTED,
    )
    rule = {"name": str(find(survey, "B")[0]), "is": [1]}
    survey.questions.filter(text="D?").update(rule=rule, refusal=True, flips=33)
    plan_comparison(survey=survey, names=["q1", "q2"])
    for names in (("q2",), ("q1", "q2")):
        plan_release(
            survey=survey,
            request=ReleaseRequest(kind=ReleaseKind.TABLE, questions=names, epsilon_hundredths=50),
        )

    def everything() -> list[Any]:
        plans = (survey.planned_comparisons, survey.planned_releases)
        return [rows(survey), *(list(one.order_by("pk").values()) for one in plans)]

    before = everything()
    answer = do(author, survey, "BDF", "delete")
    assert answer["Location"].endswith("#undo")
    assert order(survey) == "ACE"
    told = words_of(author.get(at("questions", survey)))
    assert "3 questions were deleted. A planned comparison was removed" in told
    assert undo(author, survey).status_code == 302
    assert everything() == before
    assert "3 questions are back." in words_of(author.get(at("questions", survey)))
    assert undo(author, survey).status_code == 422, "once"


def test_all_questions_can_be_deleted_and_brought_back(author: Client, survey: Survey) -> None:
    do(author, survey, LETTERS, "delete")
    assert not survey.questions.exists()
    undo(author, survey)
    assert order(survey) == LETTERS


def test_a_name_that_another_question_has_by_now_gets_a_letter(
    author: Client, survey: Survey
) -> None:
    name = survey.questions.get(text="B?").name
    do(author, survey, "B", "delete")
    survey.questions.filter(text="A?").update(name=name)
    undo(author, survey)
    assert survey.questions.get(text="B?").name == f"{name}_b"


def test_a_deletion_is_not_undone_in_a_draft_that_changed_since(
    author: Client, survey: Survey
) -> None:
    do(author, survey, "B", "delete")
    add_question(survey=survey, text="G?")
    page = author.get(at("questions", survey))
    assert at("questions_restore", survey) not in page.text
    answer = undo(author, survey)
    assert answer.status_code == 422
    assert "it can no longer be undone" in words_of(answer)
    assert order(survey) == "ACDEFG"


def test_a_deletion_is_not_undone_where_its_rule_would_mean_another_answer(
    author: Client, survey: Survey
) -> None:
    """A page proposes this: delete the questions that depend on an answer, then move the answer."""
    options = ["Never", "Often"]
    asked = add_question(survey=survey, type=QuestionType.CHOICE, text="G?", options=options)
    add_question(survey=survey, text="H?", rule={"name": str(asked.pk), "is": [1]})
    do(author, survey, "H", "delete")
    asked.refresh_from_db()
    edit_question(question=asked, options=options[::-1])
    assert undo(author, survey).status_code == 422


def test_a_deletion_of_another_draft_is_not_undone_here(
    author: Client, owner: User, survey: Survey
) -> None:
    other = make_survey(owner=owner)
    do(author, survey, "B", "delete")
    assert at("questions_restore", other) not in author.get(at("questions", other)).text
    assert undo(author, other).status_code == 422


def test_more_text_than_a_session_keeps_is_not_deleted_at_once(
    author: Client, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "MOST_KEPT", 1000)
    answer = do(author, survey, LETTERS, "delete")
    assert answer.status_code == 422
    assert "Select fewer questions." in words_of(answer)
    assert order(survey) == LETTERS


@pytest.mark.parametrize(
    ("letter", "direction", "held"),
    [("C", "up", "up"), ("B", "up", "down"), ("E", "down", "up"), ("A", "down", "down")],
)
def test_a_move_leads_back_to_its_button(
    author: Client, survey: Survey, letter: str, direction: str, held: str
) -> None:
    [pk] = find(survey, letter)
    answer = author.post(at("question_move", survey, pk), {"direction": direction})
    assert answer["Location"].endswith(f"#{held}-{pk}")
    assert f'id="{held}-{pk}"' in author.get(at("questions", survey)).text
