"""Questions that their author asks together: which of them fit, and what becomes of the setting."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from surveys.authoring.drafts import build_manifest
from surveys.authoring.inserting import insert_questions
from surveys.authoring.pasting.parsing import parse_pasted
from surveys.authoring.selection import (
    delete_questions,
    move_questions,
    restore_questions,
    set_together,
)
from surveys.authoring.services import copy_survey, edit_question
from surveys.authoring.stamps import stamp_insertion
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.grids import count_pages, fits, list_grids
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Question, Survey
from surveys.respondent.label.length import describe_length
from tests.support.browser.every_type import ask
from tests.support.factories import make_survey
from tests.support.fielding import sign_in
from tests.support.label import RULE, make
from tests.support.label import survey as describe
from tests.support.reading import words_of

DIFFERENT: list[dict[str, Any]] = [
    {"type": "follow_up"},
    {"type": "scale", "minimum": 1, "maximum": 5},
    {"refusal": True},
    {"rule": RULE},
]


def marks(survey: Survey) -> list[bool]:
    return [one.together for one in build_manifest(survey=survey, wave_number=1).questions]


@pytest.mark.parametrize("other", DIFFERENT)
def test_rows_share_their_type_answers_declining_and_rule(other: dict[str, Any]) -> None:
    more = {**other}
    different = make(more.pop("type", "yes_no"), **more)
    assert not fits(make("yes_no"), different)
    assert not fits(different, make("yes_no"))
    assert fits(make("yes_no", flips=25), make("yes_no", flips=40))
    assert fits(make("yes_no", rule=RULE), make("yes_no", rule=RULE))
    assert not fits(make("information"), make("information"))


@pytest.mark.parametrize(
    ("rows", "pages"), [(1, 1), (2, 1), (7, 1), (8, 2), (14, 2), (15, 3), (45, 7)]
)
def test_a_page_has_at_most_seven_rows(rows: int, pages: int) -> None:
    assert count_pages([make("yes_no")] * rows) == pages


def test_45_yes_no_questions_and_5_others_take_12_pages() -> None:
    rows = [make("yes_no", together=number > 0) for number in range(45)]
    others = [make(kind) for kind in ("number", "several", "scale", "choice", "declared")]
    assert describe_length(describe(*rows, *others)).startswith("12 pages,")


@pytest.fixture
def survey(db: None) -> Survey:
    """Make four yes/no questions; each of the last three shares a page with the one before."""
    survey = make_survey(questions=["A?"], coins=True)
    for text in ("B?", "C?", "D?"):
        ask(survey, text, type="yes_no", flips=25, together=True)
    return survey


def test_a_mark_is_in_the_manifest_only_where_it_has_an_effect(survey: Survey) -> None:
    first, second, third, _ = survey.questions.all()
    manifest = build_manifest(survey=survey, wave_number=1)
    content = serialize_manifest(manifest)
    assert parse_manifest(content) == manifest
    questions = json.loads(content)["questions"]
    assert [one.get("together") for one in questions] == [None, True, True, True]
    assert [len(grid) for grid in list_grids(manifest.questions)] == [4]
    assert describe_length(manifest).startswith("1 page,")
    # Coins are tossed for one question after the other.
    coins = derive_coin_manifest(manifest)
    assert coins is not None
    assert not any(one.together for one in coins.questions)
    # Each question is still a separate block.
    assert manifest.block_count == 4
    edit_question(question=third, refusal=True)
    assert marks(survey) == [False, True, False, False]
    edit_question(question=third, refusal=False)
    move_questions(survey=survey, keys={second.pk}, after=None)
    assert marks(survey) == [False, False, True, True]
    assert [one.together for one in survey.questions.all()] == [True, False, True, True]
    deletion = delete_questions(survey=survey, keys={first.pk, second.pk})
    assert marks(survey) == [False, True]
    restore_questions(survey=survey, deletion=deletion, stamp=deletion["stamp"])
    assert marks(survey) == [False, False, True, True]


def test_several_are_put_together_at_once_and_apart_again(survey: Survey) -> None:
    keys = [one.pk for one in survey.questions.all()]
    assert len(set_together(survey=survey, keys=keys, together=False).changed) == 3
    assert marks(survey) == [False] * 4
    Question.objects.filter(pk=keys[1]).update(refusal=True)
    placed = set_together(survey=survey, keys=keys[:3], together=True)
    assert (placed.changed, placed.left) == ((), (2, 3))
    Question.objects.filter(pk=keys[1]).update(refusal=False)
    assert set_together(survey=survey, keys=keys[1:], together=True).changed == (3, 4)
    assert marks(survey) == [False, False, True, True]


def test_pasted_questions_can_stand_together() -> None:
    pasted = parse_pasted("1. A?\n2. B? (ask together)\n3. Do you live alone?\n- Together\n- Alone")
    assert [one.together for one in pasted.questions] == [False, True, False]
    assert pasted.questions[1].text == "B?"


def test_copies_keep_the_mark_and_a_part_of_a_grid_begins_a_new_one(survey: Survey) -> None:
    assert marks(copy_survey(survey=survey)) == [False, True, True, True]
    target = make_survey(questions=["Before?"], owner=survey.owner)
    keys = [one.pk for one in survey.questions.all()]
    stamp = stamp_insertion(list(target.questions.all()), source=list(survey.questions.all()))
    insert_questions(survey=target, source=survey, keys=set(keys[2:]), stamp=stamp)
    assert marks(target) == [False, False, True]


@pytest.mark.usefixtures("static_files")
def test_the_pages_of_a_draft_say_what_stands_together(survey: Survey) -> None:
    client = sign_in(survey.owner)
    last = survey.questions.last()
    assert last is not None
    Question.objects.filter(pk=last.pk).update(refusal=True)
    words = words_of(client.get(reverse("surveys:questions", args=[survey.slug])))
    assert words.count("On one page with the question before") == 2
    assert words.count("Alone: does not fit") == 1
    at = reverse("surveys:question_edit", args=[survey.slug, last.pk])
    assert "Ask together with the question before" in words_of(client.get(at))
    client.post(at, {"text": "D?", "flips": "25", "type": "yes_no"})
    assert marks(survey) == [False, True, True, False]
    keys = [str(one.pk) for one in survey.questions.all()]
    chosen = {"question": keys, "action": "together", "together": "on"}
    at = reverse("surveys:questions_selected", args=[survey.slug])
    assert "1 question was changed." in words_of(client.post(at, chosen, follow=True))
    assert marks(survey) == [False, True, True, True]
