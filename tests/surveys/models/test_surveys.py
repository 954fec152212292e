"""What the database itself refuses, and the bytes of the manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from surveys.authoring.errors import NotDraft, NotLaunchable, TooManyQuestions
from surveys.authoring.services import (
    add_question,
    copy_survey,
    delete_draft,
    edit_question,
    move_question,
    save_draft,
)
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.services import close_wave, state_people_invited
from surveys.manifest.serialization import parse_manifest
from surveys.models import MAX_QUESTIONS, Question, Survey, Wave
from tests.support.deleting import delete_question
from tests.support.factories import open_survey
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "change",
    [
        {"manifest": b"{}"},
        {"manifest_hash": bytes(32)},
        {"minimum_batch": 11},
        {"display_minimum": 500},
        {"cap": 100},
        {"number": 2},
        {"planned_comparisons": 1},
        {"delete_on": "2099-01-01"},
    ],
)
def test_the_database_refuses_to_change_a_launched_wave(change: dict[str, object]) -> None:
    wave = make_wave()
    with pytest.raises(DatabaseError, match="a launched wave cannot change"), transaction.atomic():
        Wave.objects.filter(pk=wave.pk).update(**change)


def test_a_wave_may_still_be_closed() -> None:
    wave = make_wave()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    wave.refresh_from_db()
    assert (wave.state, wave.ending) == (Wave.State.CLOSED, Wave.Ending.OWNER)
    assert wave.closed_at is not None
    with pytest.raises(NotOpen):
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)


@pytest.mark.parametrize(
    "change",
    [
        {"minimum_batch": 9},
        {"display_minimum": 9},
        {"cap": 5},
        {"people_expected": 9},
        {"people_invited": 0},
    ],
)
def test_the_database_refuses_thresholds_below_their_floors(change: dict[str, int]) -> None:
    survey = make_wave().survey
    with pytest.raises(IntegrityError), transaction.atomic():
        Survey.objects.filter(pk=survey.pk).update(**change)


@pytest.mark.parametrize("flips", [0, 50])
def test_the_database_refuses_a_strength_out_of_range(flips: int) -> None:
    survey = copy_survey(survey=make_wave().survey)
    with pytest.raises(IntegrityError), transaction.atomic():
        survey.questions.update(flips=flips)


def test_the_manifest_is_canonical_and_its_hash_is_over_its_bytes() -> None:
    wave = make_wave(questions=2, cap=1000)
    content = bytes(wave.manifest)
    parsed = json.loads(content)
    canonical = json.dumps(parsed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert content == canonical.encode()
    assert hashlib.sha256(content).digest() == bytes(wave.manifest_hash)
    assert hashlib.sha256(content).hexdigest() == wave.manifest_hash_hex
    assert parsed["questions"][0] == {
        "flips": 25,
        "k": 2,
        "name": "q1",
        "options": [{"code": 1, "text": "Yes"}, {"code": 0, "text": "No"}],
        "text": "Question 1?",
        "threshold": 3221225472,
        "type": "yes_no",
        "var": "question_a",
    }
    assert (parsed["cap"], parsed["closes"], parsed["minimum_batch"]) == (1000, None, 10)


def test_the_number_of_people_invited_is_stated_at_any_time_and_stays_with_its_survey() -> None:
    survey = make_wave().survey
    state_people_invited(survey=survey, people=500)
    survey.refresh_from_db()
    assert survey.people_invited == 500
    assert copy_survey(survey=survey).people_invited is None


def test_the_number_of_people_expected_is_frozen_only_if_the_author_gave_one() -> None:
    with_number, without = make_wave(people_expected=500), make_wave()
    assert json.loads(bytes(with_number.manifest))["people_expected"] == 500
    assert with_number.description.people_expected == 500
    assert "people_expected" not in json.loads(bytes(without.manifest))
    assert without.description.people_expected is None


def test_the_manifest_contains_no_float() -> None:
    def refuse(text: str) -> float:
        raise AssertionError(f"a float in the manifest: {text}")

    json.loads(bytes(make_wave().manifest), parse_float=refuse)


def test_a_manifest_of_an_unknown_format_is_refused() -> None:
    content = bytes(make_wave().manifest).replace(b'"format":1', b'"format":2')
    with pytest.raises(ValueError, match="manifest format must be 1, got 2"):
        parse_manifest(content)


def test_two_surveys_with_the_same_words_have_different_manifests() -> None:
    assert bytes(make_wave().manifest_hash) != bytes(make_wave().manifest_hash)


def test_a_launched_survey_refuses_every_edit() -> None:
    survey = make_wave().survey
    question = survey.questions.first()
    assert question is not None
    edits: list[Callable[[], object]] = [
        lambda: save_draft(survey=survey),
        lambda: add_question(survey=survey, text="More?"),
        lambda: edit_question(question=question, text="Other?", flips=5),
        lambda: delete_question(question=question),
        lambda: move_question(question=question, step=1),
        lambda: delete_draft(survey=survey),
        lambda: open_survey(survey=survey),
    ]
    for edit in edits:
        with pytest.raises(NotDraft):
            edit()
    assert [q.text for q in survey.questions.all()] == [f"Question {n}?" for n in (1, 2, 3)]


def test_questions_move_and_leave_no_gaps() -> None:
    survey = copy_survey(survey=make_wave(questions=4).survey)
    first, second, _, _ = survey.questions.all()
    assert move_question(question=first, step=1)
    assert not move_question(question=second, step=-1)  # the second question has become the first
    delete_question(question=first)
    assert list(survey.questions.values_list("position", "text")) == [
        (1, "Question 2?"),
        (2, "Question 3?"),
        (3, "Question 4?"),
    ]


def test_a_survey_has_a_maximum_number_of_questions() -> None:
    survey = copy_survey(survey=make_wave(questions=1).survey)
    for _ in range(MAX_QUESTIONS - 1):
        add_question(survey=survey, text="Again?")
    with pytest.raises(TooManyQuestions, match="100 questions at most"):
        add_question(survey=survey, text="One more?")


def test_a_survey_without_questions_cannot_be_launched() -> None:
    survey = copy_survey(survey=make_wave(questions=1).survey)
    survey.questions.all().delete()
    with pytest.raises(NotLaunchable, match="has no questions"):
        open_survey(survey=survey)


GOOD_QUESTIONS: tuple[dict[str, object], ...] = (
    {"type": "scale", "minimum": -1, "maximum": 5},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "declared", "options": ["A", "B"]},
    {"type": "declared", "options": ["A", "B"], "refusal": True},
    {"type": "information", "rule": {"name": "1", "is": [1]}},
    {"type": "yes_no", "refusal": True, "rule": {"name": "1", "is": [1]}},
)


def store_question(**content: object) -> Question:
    survey = copy_survey(survey=make_wave(questions=1).survey)
    return survey.questions.create(position=2, text="Q?", **content)


@pytest.mark.parametrize("content", GOOD_QUESTIONS)
def test_the_database_accepts_questions_of_all_types(content: dict[str, object]) -> None:
    question = store_question(**content)
    question.refresh_from_db()
    assert {name: getattr(question, name) for name in content} == content


@pytest.mark.parametrize(
    "content",
    [
        {"type": "scale"},
        {"type": "scale", "minimum": 1},
        {"type": "number", "minimum": 5, "maximum": 5},
        {"type": "number", "minimum": 5, "maximum": 4},
        {"type": "information", "refusal": True},
        {"type": "declared", "options": ["A", "B"], "rule": {"name": "1", "is": [1]}},
    ],
)
def test_the_database_refuses_questions_that_cannot_be_asked(content: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        store_question(**content)
