"""Questions of one survey are inserted into a draft, with rules, names and facts: all or none."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from surveys.authoring import services
from surveys.authoring.services import add_question, launch_survey
from surveys.models import MAX_QUESTIONS, Question, Survey
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import at
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
HOSTILE = "<script>alert(1)</script>" + "w" * 900


@pytest.fixture
def draft(owner: User) -> Survey:
    return make_survey(owner=owner, questions=["Ever ill?"])


@pytest.fixture
def source(owner: User) -> Survey:
    """Open a survey: the second question depends on the first; the third asks for the same fact."""
    survey = make_survey(owner=owner, questions=["Ever ill?"])
    first = survey.questions.get()
    rule = {"name": str(first.pk), "is": [1]}
    options = [f"Option {number}" for number in range(1, 64)]
    add_question(survey=survey, type="choice", text=HOSTILE, options=options, rule=rule, flips=33)
    add_question(survey=survey, text="Ill at any time?", same_fact=first.pk)
    add_question(survey=survey, type="information", text="Nearly done.")
    open_survey(survey=survey)
    return survey


def show(author: Client, draft: Survey, source: Survey) -> dict[str, Any]:
    """Return what the page sends if nothing is ticked."""
    page = author.get(at("questions_insert", draft), {"survey": source.slug})
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    found = re.search(r'name="stamp" value="(\w+)"', page.text)
    assert found is not None
    return {"survey": source.slug, "stamp": found[1]}


def insert(author: Client, draft: Survey, sent: dict[str, Any], *rows: Question) -> Any:
    sent = {**sent, "questions": [row.pk for row in rows]}
    return author.post(at("questions_insert", draft), sent, follow=True)


def test_all_questions_come_with_their_rules_facts_and_free_names(
    author: Client, draft: Survey, source: Survey
) -> None:
    rows = list(source.questions.all())
    answer = insert(author, draft, show(author, draft, source), *rows)
    assert "4 questions inserted." in words_of(answer)
    old, first, second, third, text = draft.questions.all()
    assert (old.name, first.name) == ("ill", "ill_b")
    assert second.rule == {"name": str(first.pk), "is": [1]}
    assert (second.text, second.options, second.flips) == (HOSTILE, rows[1].options, 33)
    assert (third.same_fact, text.text) == (first.pk, "Nearly done.")
    assert list(source.questions.all()) == rows


def test_a_rule_whose_question_stays_behind_is_left_out_and_said(
    author: Client, draft: Survey, source: Survey
) -> None:
    _, second, third, _ = source.questions.all()
    answer = insert(author, draft, show(author, draft, source), second, third)
    assert "2 questions inserted. The rule of question 2 in that survey was left out" in words_of(
        answer
    )
    assert [(one.rule, one.same_fact) for one in draft.questions.all()[1:]] == [(None, None)] * 2


def test_pressing_twice_inserts_once(author: Client, draft: Survey, source: Survey) -> None:
    sent, row = show(author, draft, source), source.questions.all()[0]
    insert(author, draft, sent, row)
    again = insert(author, draft, sent, row)
    assert again.status_code == 422
    assert "the draft already has the questions" in words_of(again)
    assert re.search(rf'value="{row.pk}"[^>]*checked', again.text), "the tick is kept"
    assert draft.questions.count() == 2


def test_nothing_ticked_is_said(author: Client, draft: Survey, source: Survey) -> None:
    answer = insert(author, draft, show(author, draft, source))
    assert answer.status_code == 422
    assert "Tick at least one question." in words_of(answer)


def test_a_full_draft_stays_as_it_is(
    author: Client, draft: Survey, source: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_QUESTIONS", 4)
    answer = insert(author, draft, show(author, draft, source), *source.questions.all())
    assert f"{MAX_QUESTIONS} questions at most" in words_of(answer)
    assert draft.questions.count() == 1


def test_a_draft_that_was_opened_meanwhile_says_so(
    author: Client, draft: Survey, source: Survey
) -> None:
    sent, row = show(author, draft, source), source.questions.all()[0]
    launch_survey(survey=draft, acknowledged=("minimum_batch", "total_epsilon", "cap"))
    answer = insert(author, draft, sent, row)
    assert answer.status_code == 409
    assert "can no longer be changed" in words_of(answer)


def test_only_own_surveys_are_offered(author: Client, draft: Survey) -> None:
    other = make_survey(owner=make_user(), title="Of another account")
    make_survey(owner=draft.owner, title="Without questions", questions=[])
    page = author.get(at("questions_insert", draft))
    assert "You have no other survey with questions." in words_of(page)
    assert author.get(at("questions_insert", draft), {"survey": other.slug}).status_code == 422
