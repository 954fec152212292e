"""What the history says about a change to a draft."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from surveys.authoring.services import (
    add_question,
    add_translation,
    drop_planned,
    edit_question,
    move_question,
    plan_comparison,
    plan_release,
    remove_translation,
    save_draft,
    save_translation,
)
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import HistoryChanges, Survey
from tests.support.factories import make_survey

pytestmark = pytest.mark.django_db


def last(survey: Survey) -> list[list[Any]]:
    """Return the newest changes: name, value before and value after."""
    changes: list[list[Any]] = (
        HistoryChanges.objects.filter(slug=survey.slug).latest("number").changes
    )
    return changes


def test_the_history_says_what_differs_in_the_words_of_the_pages() -> None:
    survey = make_survey(questions=("Red?", "Green?"), publication=Publication.PROTECTED)
    red, green = survey.questions.all()
    edit_question(question=red, text="Pink?", flips=12)
    assert last(survey) == [
        ["question 1: text", "Red?", "Pink?"],
        ["question 1: flips", 25, 12],
    ]
    edit_question(question=green, rule={"name": str(red.pk), "is": [1]})
    assert last(survey) == [["question 2: rule", None, "Q1 is yes"]]
    edit_question(question=green, rule=None)
    plan_comparison(survey=survey, names=["q1", "q2"])
    planned = ["planned comparison", None, "question 1, question 2"]
    assert last(survey) == [planned]
    drop_planned(survey=survey, pk=survey.planned_comparisons.get().pk)
    assert last(survey) == [[planned[0], planned[2], None]]
    edit_question(question=green, type=QuestionType.DECLARED, options=["A", "B"])
    assert ["question 2: type", "Yes or no", "Background group (sent unprotected)"] in last(survey)
    move_question(question=green, step=-1)
    moved = ["order of questions", ["question 1", "question 2"], ["question 2", "question 1"]]
    assert last(survey) == [moved]
    survey.refresh_from_db()
    survey.closes_at = datetime(2030, 3, 31, 18, tzinfo=UTC)
    save_draft(survey=survey)
    assert last(survey)[0][0] == "Closing date"
    assert last(survey)[0][2] == "31 March 2030, 18:00 UTC"
    translation = add_translation(survey=survey, language="fr")
    assert last(survey) == [["language", None, "Français"]]
    save_translation(survey=survey, language="fr", texts={"Pink?": "Rose?"})
    assert last(survey) == [["Français: Pink?", None, "Rose?"]]
    remove_translation(translation=translation)
    assert last(survey) == [["language", "Français", None], ["Français: Pink?", "Rose?", None]]
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q2",), epsilon_hundredths=50)
    plan_release(survey=survey, request=request)
    assert last(survey) == [["planned release", None, "Table, question 2, ε 0.50"]]
    add_question(
        survey=survey, type=QuestionType.NUMBER, text="How many?", minimum=0, maximum=9, flips=25
    )
    assert ["question 3: minimum", None, 0] in last(survey)
