"""Manifests of drafts with questions of all types: bytes, symbols, blocks, ε and broken rules."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from math import log
from typing import Any

import pytest

from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.authoring.drafts import build_manifest, build_questions
from surveys.authoring.errors import BrokenRules, NotLaunchable
from surveys.authoring.rule_checks import find_rule_problems
from surveys.authoring.services import (
    add_question,
    copy_survey,
    edit_question,
    move_question,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.serialization import hash_manifest, parse_manifest, serialize_manifest
from surveys.models import Question, Survey
from surveys.planning.question_facts import list_facts
from tests.support.deleting import delete_question
from tests.support.factories import YES_NO, make_survey, make_user, open_survey
from tests.support.manifests import make_manifest

T = Question.Type
LN3 = log(3)


def add(survey: Survey, type_: str = "yes_no", text: str = "", **content: Any) -> Question:
    text = text or f"Question {survey.questions.count() + 1}?"
    return add_question(survey=survey, text=text, type=type_, **content)


def is_yes(question: Question) -> dict[str, Any]:
    return {"name": str(question.pk), "is": [1]}


@pytest.fixture
def survey(db: None) -> Survey:
    return Survey.objects.create_owned(make_user(), title="Everything")


@pytest.fixture
def everything(survey: Survey) -> Survey:
    """Make a survey with questions of every type, with and without refusals and rules."""
    q1 = add(survey)
    q2 = add(survey, "choice", options=["A", "B", "C"], refusal=True)
    add(survey, "scale", minimum=1, maximum=5, low_label="never", high_label="always")
    q4 = add(survey, "several", options=["A", "B", "C", "D", "E"], limit=2, refusal=True)
    add(survey, "number", minimum=-5, maximum=100, unit="hours", rule=is_yes(q1))
    add(survey, "follow_up", follow_up="And then?", flips=12)
    add(survey, "declared", options=["North", "South"])
    add(survey, "information", rule={"name": f"{q4.pk}_2", "is": [1]})
    add(survey, "scale", minimum=0, maximum=10, refusal=True)
    rule = {"all": [{"name": f"{q4.pk}_1", "is": [1]}, {"not": {"name": str(q2.pk), "is": [0]}}]}
    add(survey, "several", options=["A", "B"], rule=rule, flips=40)
    return survey


def manifest_of(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


def test_the_bytes_of_a_yes_no_survey_never_change() -> None:
    """These bytes were written before other types existed, and old fingerprints must stay valid."""
    questions = tuple(
        ManifestQuestion(
            name=f"q{number}",
            type=QuestionType.YES_NO,
            text=text,
            flips=flips,
            threshold=RandomizedResponse.from_flips(symbols=2, flips=flips).threshold,
            options=YES_NO,
        )
        for number, (text, flips) in enumerate(
            [("Have you ever driven after drinking?", 25), ("Haben Sie Kinder? „Ja“", 5)], 1
        )
    )
    content = serialize_manifest(
        make_manifest(
            *questions,
            introduction="Hello",
            minimum_batch=50,
            display_minimum=100,
            closes=datetime(2027, 3, 31, 18, tzinfo=UTC),
            cap=2000,
        )
    )
    assert hash_manifest(content).hex() == (
        "bdc371a17044cb7641d0ca24adce013d1fbd4fe78059cd5363e0d5c83294d643"
    )


def test_drafts_with_yes_no_questions_contain_no_new_keys(db: None) -> None:
    content = json.loads(serialize_manifest(manifest_of(make_survey())))
    assert "drawn" not in content
    assert set(content["questions"][0]) == {
        "flips",
        "k",
        "name",
        "options",
        "text",
        "threshold",
        "type",
        "var",
    }


def test_every_type_survives_being_frozen(everything: Survey) -> None:
    everything.drawn = 2
    everything.save()
    manifest = manifest_of(everything)
    content = serialize_manifest(manifest)
    assert parse_manifest(content) == manifest
    wave = open_survey(survey=everything)
    assert bytes(wave.manifest) == content
    assert hashlib.sha256(content).digest() == bytes(wave.manifest_hash)


def test_each_type_is_described_as_the_browser_expects_it(everything: Survey) -> None:
    content = json.loads(serialize_manifest(manifest_of(everything)))
    questions = {question["name"]: question for question in content["questions"]}
    assert questions["q2"]["options"] == [
        {"code": 0, "text": "A"},
        {"code": 1, "text": "B"},
        {"code": 2, "text": "C"},
    ]
    assert (questions["q2"]["k"], questions["q2"]["refusal"]) == (4, True)
    assert questions["q2"]["threshold"] == 2**32 * 75 // (75 + 25 * 3)
    assert [option["code"] for option in questions["q3"]["options"]] == [0, 1, 2, 3, 4]
    assert [option["text"] for option in questions["q3"]["options"]] == ["1", "2", "3", "4", "5"]
    assert (questions["q3"]["low_label"], questions["q3"]["high_label"]) == ("never", "always")
    assert [option["code"] for option in questions["q4"]["options"]] == [1, 2, 3, 4, 5]
    assert (questions["q4"]["k"], questions["q4"]["limit"]) == (2, 2)
    assert questions["q4"]["gate_threshold"] == 3 * 2**30
    assert questions["q5"] == {
        "name": "q5",
        "var": "question_e",
        "type": "number",
        "text": "Question 5?",
        "options": [],
        "k": 3,
        "flips": 25,
        "threshold": 2**32 * 3 // 5,
        "minimum": -5,
        "maximum": 100,
        "unit": "hours",
        "rule": {"name": "q1", "is": [1]},
    }
    assert (questions["q6"]["k"], questions["q6"]["follow_up"]) == (3, "And then?")
    assert questions["q7"] == {
        "name": "q7",
        "var": "question_g",
        "type": "declared",
        "text": "Question 7?",
        "options": [{"code": 0, "text": "North"}, {"code": 1, "text": "South"}],
        "k": 2,
    }
    assert questions["t1"] == {
        "name": "t1",
        "type": "information",
        "text": "Question 8?",
        "rule": {"name": "q4_2", "is": [1]},
    }
    assert (questions["q8"]["k"], questions["q8"]["options"]) == (3, [])
    assert questions["q9"]["rule"] == {
        "all": [{"name": "q4_1", "is": [1]}, {"not": {"name": "q2", "is": [0]}}]
    }
    assert "refusal" not in questions["q9"]


def test_symbols_are_listed_in_the_order_in_which_they_are_sent(everything: Survey) -> None:
    manifest = manifest_of(everything)
    assert [(symbol.name, symbol.k, symbol.block) for symbol in manifest.symbols] == [
        ("q1", 2, 0),
        ("q2", 4, 1),
        ("q3", 5, 2),
        ("q4_gate", 2, 1),
        *((f"q4_{item}", 2, 1) for item in range(1, 6)),
        ("q5", 3, 0),
        ("q6", 3, 3),
        ("q7", 2, None),
        ("q8", 3, 4),
        ("q9_gate", 2, 1),
        ("q9_1", 2, 1),
        ("q9_2", 2, 1),
    ]
    assert manifest.block_count == 5
    assert [symbol.threshold is None for symbol in manifest.symbols].count(True) == 1


def test_epsilon_is_the_sum_of_what_can_differ(everything: Survey) -> None:
    manifest = manifest_of(everything)
    by_name = {question.name: question for question in manifest.questions}
    epsilons = {name: question.epsilon for name, question in by_name.items()}
    strong = log(60 / 40)
    expected = {
        "q1": LN3,
        "q2": LN3,
        "q3": LN3,
        "q4": 5 * LN3,  # at most two of five: four items and the gate can differ
        "q5": LN3,
        "q6": log(88 / 12),
        "q7": 0,
        "t1": 0,
        "q8": LN3,
        "q9": 3 * strong,
    }
    assert epsilons == pytest.approx(expected, abs=1e-6)
    assert manifest.epsilon == pytest.approx(sum(expected.values()), abs=1e-6)
    # The statement includes everything that depends on the question.
    assert manifest.statement_epsilon(by_name["q1"]) == pytest.approx(2 * LN3, abs=1e-6)
    assert manifest.statement_epsilon(by_name["q2"]) == pytest.approx(LN3 + 3 * strong, abs=1e-6)
    assert manifest.statement_epsilon(by_name["q9"]) == pytest.approx(3 * strong, abs=1e-6)


@pytest.mark.parametrize("drawn", [1, 2, 3, 4])
def test_the_total_of_a_random_subset_is_that_of_the_most_expensive_one(
    everything: Survey, drawn: int
) -> None:
    everything.drawn = drawn
    blocks = [
        2 * LN3,  # q1 and q5
        6 * LN3 + 3 * log(60 / 40),  # q2, q4 and q9
        LN3,  # q3
        log(88 / 12),  # q6
        LN3,  # q8
    ]
    dearest = sorted(blocks)[-drawn:]
    assert manifest_of(everything).epsilon == pytest.approx(sum(dearest), abs=1e-6)


def test_blocks_do_not_depend_on_how_rules_chain(survey: Survey) -> None:
    a, b, c = add(survey), add(survey), add(survey)
    d = add(survey, rule={"any": [is_yes(a), is_yes(c)]})
    add(survey, rule=is_yes(d))
    assert manifest_of(survey).blocks == {"q1": 0, "q2": 1, "q3": 0, "q4": 0, "q5": 0}
    assert b.pk  # the question between them has its own block


def test_everyone_is_asked_everything_if_too_few_blocks_are_left(survey: Survey) -> None:
    survey.drawn = 2
    survey.save()
    add(survey)
    add(survey)
    manifest = manifest_of(survey)
    assert manifest.drawn is None
    assert manifest.epsilon == pytest.approx(2 * LN3)
    with pytest.raises(NotLaunchable, match="2 of 2 blocks"):
        open_survey(survey=survey)


def test_a_survey_without_scrambled_questions_is_not_launched(survey: Survey) -> None:
    add(survey, "declared", options=["North", "South"])
    add(survey, "information")
    assert manifest_of(survey).epsilon == 0
    with pytest.raises(NotLaunchable, match="No question is scrambled"):
        open_survey(survey=survey)


def test_a_draft_with_points_that_files_reserve_is_not_launched(survey: Survey) -> None:
    """Earlier versions let authors write such a draft."""
    scale = add(survey, "scale", minimum=-97, maximum=-93)
    with pytest.raises(NotLaunchable, match="Question 1 has points of −90 or lower"):
        open_survey(survey=survey)
    edit_question(question=scale, minimum=-89, maximum=-85)
    open_survey(survey=survey)


def problems_of(*questions: Question) -> list[tuple[int, str]]:
    """List the primary key of each question with a problem, and the problem."""
    return [(int(problem.key), problem.text) for problem in find_rule_problems(questions)]


def test_a_circular_rule_is_reported() -> None:
    first = Question(pk=1, type=T.YES_NO, rule={"name": "2", "is": [1]})
    second = Question(pk=2, type=T.YES_NO, rule={"name": "1", "is": [1]})
    [(number, text)] = problems_of(first, second)
    assert number == 1
    assert text == (
        "Question 1 depends on question 2, so question 1 must come after it. "
        "Change the rule of question 1 first."
    )


def test_a_question_cannot_depend_on_itself() -> None:
    alone = Question(pk=1, type=T.YES_NO, rule={"name": "1", "is": [1]})
    assert problems_of(alone) == [
        (1, "Question 1 cannot depend on its own answer. Change its rule.")
    ]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"all": [{"name": "1", "is": [0]}, {"name": "1", "is": [1]}]}, "would never be asked"),
        ({"all": [{"name": "2", "is": [1]}, {"name": "1", "is": [0]}]}, "would never be asked"),
        ({"any": [{"name": "1", "is": [0]}, {"name": "1", "is": [1]}]}, "would always be asked"),
        ({"not": {"all": [{"name": "1", "is": [0]}, {"name": "2", "is": [0]}]}}, "always be asked"),
        ({"all": [{"name": "3_1", "is": [1]}, {"name": "3_2", "is": [1]}]}, "would never be asked"),
        ({"name": "9", "is": [1]}, "depends on a question that would be gone"),
        ({"name": "1", "is": [2]}, "depends on an answer to question 1, which would be gone"),
        ({"name": "3_4", "is": [1]}, "depends on answer 4 of question 3, which would be gone"),
    ],
)
def test_rules_that_make_no_sense_are_found(rule: dict[str, Any], words: str) -> None:
    earlier = (
        Question(pk=1, type=T.YES_NO),
        Question(pk=2, type=T.YES_NO, rule={"name": "1", "is": [1]}),
        Question(pk=3, type=T.SEVERAL, options=["A", "B", "C"], limit=1),
    )
    [(number, problem)] = problems_of(*earlier, Question(pk=4, type=T.YES_NO, rule=rule))
    assert number == 4
    assert words in problem
    assert "Question 4" in problem


def test_a_refusal_can_make_a_rule_fail() -> None:
    rule = {"any": [{"name": "1", "is": [0]}, {"name": "1", "is": [1]}]}
    child = Question(pk=2, type=T.YES_NO, rule=rule)
    assert problems_of(Question(pk=1, type=T.YES_NO, refusal=True), child) == []


def test_after_a_broken_rule_only_certain_problems_are_reported() -> None:
    broken = Question(pk=1, type=T.YES_NO, rule={"name": "7", "is": [1]})
    behind = Question(pk=2, type=T.YES_NO, rule={"name": "1", "is": [1]})
    assert [number for number, _ in problems_of(broken, behind)] == [1]


def test_every_order_that_breaks_a_rule_is_refused_and_nothing_is_changed(survey: Survey) -> None:
    parent = add(survey, text="Parent?")
    add(survey, text="Alone?")
    child = add(survey, text="Child?", rule=is_yes(parent))
    assert move_question(question=child, step=-1)
    with pytest.raises(BrokenRules, match="Question 2 depends on question 1"):
        move_question(question=child, step=-1)
    with pytest.raises(BrokenRules, match="Question 2 depends on question 1"):
        move_question(question=parent, step=1)
    with pytest.raises(BrokenRules, match="Question 2 depends on question 1, which"):
        delete_question(question=Question.objects.get(pk=parent.pk))
    assert list(survey.questions.values_list("text", flat=True)) == ["Parent?", "Child?", "Alone?"]
    assert [q.position for q in survey.questions.all()] == [1, 2, 3]


OPTIONS = ["A", "B", "C"]


@pytest.mark.parametrize("order", list(permutations(OPTIONS)))
def test_answers_that_rules_name_keep_their_places(survey: Survey, order: tuple[str, ...]) -> None:
    parent = add(survey, "choice", options=OPTIONS)
    add(survey, rule={"name": str(parent.pk), "is": [1]})
    if order[1] == "B":
        edit_question(question=parent, options=list(order))
    else:
        with pytest.raises(BrokenRules, match="depends on the answer “B” to this question"):
            edit_question(question=parent, options=list(order))
    parent.refresh_from_db()
    assert parent.options[1] == "B"


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"options": ["A", "Bee", "C"]}, ""),  # an answer is reworded
        ({"options": ["A", "B", "C", "D"]}, ""),
        ({"options": ["A", "B"]}, ""),
        ({"options": ["B", "C"]}, "the answer “B”"),
        ({"options": ["A"]}, "would be gone"),
        ({"type": "several"}, "the answer “B”"),
        ({"type": "declared"}, "the answer “B”"),
        ({"text": "Else?", "flips": 5, "refusal": True}, ""),
    ],
)
def test_an_edit_must_not_change_the_meaning_of_other_rules(
    survey: Survey, changes: dict[str, Any], refused: str
) -> None:
    parent = add(survey, "choice", options=OPTIONS)
    child = add(survey, rule={"name": str(parent.pk), "is": [1]})
    if refused:
        with pytest.raises(BrokenRules, match=refused):
            edit_question(question=parent, **changes)
    else:
        edit_question(question=parent, **changes)
    parent.refresh_from_db()
    assert (parent.options == OPTIONS and parent.type == "choice") or not refused
    child.refresh_from_db()
    assert child.rule == {"name": str(parent.pk), "is": [1]}


def test_a_scale_whose_rules_name_points_keeps_its_first_point(survey: Survey) -> None:
    parent = add(survey, "scale", minimum=1, maximum=5)
    add(survey, rule={"name": str(parent.pk), "is": [4]})
    with pytest.raises(BrokenRules, match="the answer “5”"):
        edit_question(question=parent, minimum=0)
    parent.refresh_from_db()
    edit_question(question=parent, maximum=6)


def test_a_copy_asks_the_same_questions_under_its_own_rules(everything: Survey) -> None:
    everything.drawn, everything.people_expected = 3, 200
    everything.save()
    copied = copy_survey(survey=everything)
    first, second = (build_questions(list(one.questions.all())) for one in (everything, copied))
    assert first == second
    assert (copied.drawn, copied.people_expected) == (3, 200)
    delete_question(question=everything.questions.get(position=10))
    assert manifest_of(copied).questions == second


def test_questions_are_numbered_as_respondents_count_and_texts_among_themselves(
    survey: Survey,
) -> None:
    add(survey, "information", text="Read this.")
    first = add(survey)
    add(survey, "information", text="And this.", rule=is_yes(first))
    add(survey, rule=is_yes(first))
    manifest = manifest_of(survey)
    assert [(one.name, one.number, one.called) for one in manifest.questions] == [
        ("t1", 1, "text 1"),
        ("q1", 1, "question 1"),
        ("t2", 2, "text 2"),
        ("q2", 2, "question 2"),
    ]
    assert [facts.rule for facts in list_facts(manifest)] == ["", "", "Q1 is “Yes”", "Q1 is “Yes”"]


def test_a_frozen_survey_keeps_its_names_and_is_numbered_as_respondents_count() -> None:
    """Question names once counted texts as well; the files of such a survey keep their columns."""
    text = ManifestQuestion(name="q1", type=QuestionType.INFORMATION, text="Read this.")
    where = ManifestQuestion(
        name="q2", type=QuestionType.DECLARED, text="Where?", options=(Option(code=0, text="Here"),)
    )
    behind = replace(where, name="q3", rule={"name": "q2", "is": [0]})
    manifest = make_manifest(text, where, behind, minimum_batch=50, display_minimum=100)
    assert [(one.name, one.number) for one in manifest.questions[1:]] == [("q2", 1), ("q3", 2)]
    assert list_facts(manifest)[2].rule == "Q1 is “Here”"
