"""Questions that their author marked as asking for the same fact count as one statement."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import BrokenRules, Overtaken
from surveys.authoring.services import (
    add_question,
    copy_survey,
    delete_draft,
    edit_question,
    move_question,
)
from surveys.authoring.stamps import stamp_question
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.languages import translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Question, Survey
from surveys.planning.question_costs import find_question_cost
from surveys.respondent.label.odds import word_of
from tests.support.deleting import delete_question
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
COINS = log(3)
TEXTS = ("Ever driven after drinking?", "Children?", "Ever drunk before you drove?")


@pytest.fixture
def survey(owner: User) -> Survey:
    """Make a survey in which Q3 asks for the same fact as Q1."""
    survey = make_survey(owner=owner, questions=TEXTS)
    first, _, third = survey.questions.all()
    edit_question(question=third, same_fact=first.pk)
    return survey


def manifest_of(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


def epsilons(manifest: Manifest) -> list[float]:
    return [manifest.statement_epsilon(question) for question in manifest.questions]


def fill(survey: Survey, pk: int | None = None) -> str:
    name = "question_create" if pk is None else "question_edit"
    path = reverse(f"surveys:{name}", args=[survey.slug] if pk is None else [survey.slug, pk])
    return f"{path}?type=yes_no"


def test_each_statement_is_the_sum_and_the_total_stays(survey: Survey) -> None:
    manifest = manifest_of(survey)
    assert epsilons(manifest) == pytest.approx([2 * COINS, COINS, 2 * COINS], abs=1e-6)
    assert manifest.epsilon == manifest_of(make_survey(questions=TEXTS)).epsilon
    words = [word_of(manifest, question) for question in manifest.questions]
    assert words == ["light", "strong", "light"]


def test_what_depends_on_either_counts_for_both(survey: Survey) -> None:
    first = survey.questions.first()
    assert first is not None
    add_question(survey=survey, text="Last year?", rule={"name": str(first.pk), "is": [1]})
    assert epsilons(manifest_of(survey)) == pytest.approx(
        [3 * COINS, COINS, 3 * COINS, COINS], abs=1e-6
    )


def test_authors_read_what_both_codes_reveal(survey: Survey, owner: User) -> None:
    manifest = manifest_of(survey)
    costs = [find_question_cost(manifest, question) for question in manifest.questions]
    assert [cost.lines for cost in costs if cost is not None] == [
        ("Q3 asks for the same fact: together ε = 2.20.",),
        (),
        ("Q1 asks for the same fact: together ε = 2.20.",),
    ]
    page = words_of(sign_in(owner).get(reverse("surveys:questions", args=[survey.slug])))
    assert "Asks for the same fact as Q1." in page
    assert page.count("Protection: light") == 2


def test_a_line_names_what_depends_on_the_fact_too(survey: Survey) -> None:
    first, second, third = survey.questions.all()
    edit_question(question=second, same_fact=first.pk)
    add_question(survey=survey, text="Last year?", rule={"name": str(third.pk), "is": [1]})
    manifest = manifest_of(survey)
    cost = find_question_cost(manifest, manifest.questions[0])
    assert cost is not None
    [line] = cost.lines
    assert line == (
        "Q2 and Q3 ask for the same fact, and Q4 also reveals something about it: together "
        "ε = 4.40."
    )


def test_it_is_frozen_and_left_out_where_there_is_none(survey: Survey) -> None:
    content = bytes(open_survey(survey=survey).manifest)
    questions = json.loads(content)["questions"]
    assert [question.get("same_fact") for question in questions] == [None, None, "q1"]
    assert serialize_manifest(parse_manifest(content)) == content
    assert epsilons(parse_manifest(content)) == epsilons(manifest_of(survey))


def test_a_copy_names_its_own_question(survey: Survey) -> None:
    copied = copy_survey(survey=survey)
    first, _, third = copied.questions.all()
    assert third.same_fact == first.pk
    assert manifest_of(copied).questions == manifest_of(survey).questions


def test_a_translation_keeps_it(survey: Survey) -> None:
    survey.translations.create(language="fr", texts={TEXTS[2]: "Et vous ?"})
    translated = translate_manifest(manifest_of(survey), "fr", json.dumps({TEXTS[2]: "Et vous ?"}))
    assert translated.questions[2].text == "Et vous ?"
    assert translated.questions[2].same_fact == "q1"


def test_coins_name_the_first_question_about_the_fact_that_they_ask(owner: User) -> None:
    survey = make_survey(owner=owner, questions=(), coins=True)
    options = ["Often", "Never"]
    first = add_question(survey=survey, text="How often?", type="choice", options=options)
    second = add_question(survey=survey, text="Ever?", same_fact=first.pk)
    add_question(survey=survey, text="At all?", same_fact=second.pk)
    add_question(survey=survey, text="Children?")
    manifest = manifest_of(survey)
    coins = derive_coin_manifest(manifest)
    assert coins is not None
    assert [(one.name, one.same_fact) for one in coins.questions] == [
        ("q2", ""),
        ("q3", "q2"),
        ("q4", ""),
    ]
    assert epsilons(coins) == pytest.approx([2 * COINS, 2 * COINS, COINS], abs=1e-6)
    assert [manifest.coin_statement_epsilon(one) for one in manifest.questions] == epsilons(coins)[
        :1
    ] + epsilons(coins)


def test_of_a_random_subset_only_what_one_person_can_be_asked_counts(survey: Survey) -> None:
    survey.drawn = 1
    survey.save()
    assert epsilons(manifest_of(survey)) == pytest.approx([COINS] * 3, abs=1e-6)
    survey.drawn = 2
    survey.save()
    assert epsilons(manifest_of(survey)) == pytest.approx([2 * COINS, COINS, 2 * COINS], abs=1e-6)


def change(survey: Survey, number: int, **content: Any) -> None:
    edit_question(question=survey.questions.get(position=number), **content)


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda survey: delete_question(question=survey.questions.first()), "would be gone"),
        (
            lambda survey: [
                move_question(question=survey.questions.get(text=TEXTS[2]), step=-1)
                for _ in range(2)
            ],
            "must come after it",
        ),
        (lambda survey: change(survey, 1, type="information"), "would not be scrambled"),
        (lambda survey: change(survey, 3, type="information"), "not scrambled itself"),
        (lambda survey: change(survey, 1, same_fact=survey.questions.last().pk), "come after it"),
        (lambda survey: change(survey, 2, same_fact=10**9), "a question that would be gone"),
    ],
    ids=["delete", "move", "another type", "its own type", "a later one", "one of another survey"],
)
def test_a_change_that_breaks_it_is_refused_and_undone(
    survey: Survey, act: Any, problem: str
) -> None:
    with pytest.raises(BrokenRules, match=problem):
        act(survey)
    left = Survey.objects.get(pk=survey.pk)
    first, _, third = left.questions.order_by("pk")
    assert (first.same_fact, third.same_fact) == (None, first.pk)
    assert [one.type for one in left.questions.all()] == ["yes_no"] * 3
    assert len(set(manifest_of(left).facts.values())) == 2


def test_a_question_of_another_survey_cannot_be_named(survey: Survey) -> None:
    other = make_survey(questions=("Red?",)).questions.get()
    with pytest.raises(BrokenRules, match="a question that would be gone"):
        change(survey, 2, same_fact=other.pk)


def test_questions_between_can_be_deleted_and_moved(survey: Survey) -> None:
    move_question(question=survey.questions.get(position=2), step=-1)
    assert manifest_of(survey).questions[2].same_fact == "q2"
    delete_question(question=survey.questions.get(text="Children?"))
    assert [one.same_fact for one in manifest_of(survey).questions] == ["", "q1"]


def test_the_mark_belongs_to_what_a_form_shows(survey: Survey) -> None:
    third = survey.questions.get(position=3)
    stamp = stamp_question(third)
    change(survey, 3, same_fact=None)
    with pytest.raises(Overtaken):
        edit_question(question=third, stamp=stamp, text="Other words?")


def test_a_draft_with_it_can_be_deleted(survey: Survey) -> None:
    delete_draft(survey=survey)
    assert not Question.objects.exists()


def test_the_form_offers_the_earlier_scrambled_questions_only(owner: User) -> None:
    survey = make_survey(owner=owner, questions=())
    author = sign_in(owner)
    assert 'name="same_fact"' not in author.get(fill(survey)).text
    add_question(survey=survey, text="North or south?", type="declared", options=["N", "S"])
    assert 'name="same_fact"' not in author.get(fill(survey)).text
    first = add_question(survey=survey, text="Red?")
    later = add_question(survey=survey, text="Blue?")
    page = author.get(fill(survey)).text
    assert f'<option value="{first.pk}">Q2: Red?</option>' in page
    assert f'<option value="{later.pk}">Q3: Blue?</option>' in page
    assert "North or south" not in page.split('name="same_fact"')[1].split("</select>")[0]
    # No question precedes the first.
    assert 'name="same_fact"' not in author.get(fill(survey, first.pk)).text


def test_an_author_marks_and_unmarks_a_question(owner: User) -> None:
    survey = make_survey(owner=owner, questions=TEXTS)
    first, _, third = survey.questions.all()
    author = sign_in(owner)
    posted = {"text": TEXTS[2], "flips": "25", "same_fact": str(first.pk)}
    assert author.post(fill(survey, third.pk), posted).status_code == 302
    third.refresh_from_db()
    assert third.same_fact == first.pk
    assert f'value="{first.pk}" selected' in author.get(fill(survey, third.pk)).text
    assert author.post(fill(survey, third.pk), {**posted, "same_fact": ""}).status_code == 302
    third.refresh_from_db()
    assert third.same_fact is None


def test_the_cost_follows_while_the_author_writes(owner: User) -> None:
    survey = make_survey(owner=owner, questions=TEXTS[:1])
    first = survey.questions.get()
    posted = {"text": "Ever?", "flips": "25", "same_fact": str(first.pk), "cost": "1"}
    page = sign_in(owner).post(fill(survey), posted, headers={"HX-Request": "true"})
    assert "Q1 asks for the same fact: together ε = 2.20." in words_of(page)
    assert survey.questions.count() == 1


@pytest.mark.parametrize("forged", ["0", "-1", "x", "999999999999999999999", "own", "later"])
def test_a_forged_choice_is_refused(owner: User, forged: str) -> None:
    survey = make_survey(owner=owner, questions=TEXTS)
    _, second, third = survey.questions.all()
    value = {"own": str(second.pk), "later": str(third.pk)}.get(forged, forged)
    posted = {"text": TEXTS[1], "flips": "25", "same_fact": value}
    refused = sign_in(owner).post(fill(survey, second.pk), posted)
    assert refused.status_code == 422
    assert "Choose one of the earlier questions in the list." in words_of(refused)
    second.refresh_from_db()
    assert second.same_fact is None
