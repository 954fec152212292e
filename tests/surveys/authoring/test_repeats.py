"""Questions that ask for the same thing twice, in one survey or in several surveys of an author."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import find_launch_problems, list_warnings
from surveys.authoring.repeats import MOST_NAMED, Repeat, find_repeats
from surveys.authoring.services import add_question, copy_survey, edit_question
from surveys.models import Role, Survey, Wave
from surveys.models.asked_questions import AskedQuestion
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
DRIVEN = "Have you ever driven after drinking?"
FULLWIDTH = "ＨＡＶＥ  you еvеr driven – after drinking"  # with two Cyrillic letters
NEARLY = "Have you ever driven after drinking it?"
OPTIONS = ["Bus", "Bike", "Car"]


def repeats(*questions: dict[str, Any]) -> list[tuple[int, int, bool]]:
    survey = make_survey(questions=())
    for question in questions:
        add_question(survey=survey, **question)
    found = find_repeats(build_manifest(survey=survey, wave_number=1))
    return [(one.first, one.second, one.is_equal) for one in found]


def problems_of(survey: Survey) -> list[str]:
    return find_launch_problems(survey=survey, now=timezone.now())


def warnings_of(survey: Survey) -> list[str]:
    survey.organization, survey.quick_exit = "Murmur demo", False  # warnings about repeats remain
    return list_warnings(survey=survey, manifest=build_manifest(survey=survey, wave_number=1))


CHOICE = {"text": "How do you get here?", "type": "choice", "options": OPTIONS}
TWO_POINTS = {"type": "scale", "minimum": 0, "maximum": 1, "low_label": "never"}
FOLLOW_UP = {"text": "Ever?", "type": "follow_up", "follow_up": DRIVEN}


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ([{"text": DRIVEN}, {"text": FULLWIDTH}], [(1, 2, True)]),
        ([{"text": DRIVEN}, {"text": NEARLY}], [(1, 2, False)]),
        ([{"text": DRIVEN}, {"text": "Children?"}, {"text": DRIVEN}], [(1, 3, True)]),
        ([{"text": DRIVEN}] * 3, [(1, 2, True), (1, 3, True)]),
        # A refusal, a rule or another strength does not make it a different question.
        ([{"text": DRIVEN}, {"text": DRIVEN, "refusal": True, "flips": 40}], [(1, 2, True)]),
        ([CHOICE, {**CHOICE, "options": ["car", "BUS", "bike"]}], [(1, 2, True)]),
        ([CHOICE, {**CHOICE, "options": ["Bus", "Train"]}], [(1, 2, False)]),
        ([CHOICE, {**CHOICE, "type": "several"}], [(1, 2, True)]),
        ([{"text": f"1. {DRIVEN}"}, {"text": f"Q2: {DRIVEN}"}], [(1, 2, True)]),
        ([{"text": DRIVEN}, {"text": DRIVEN, **TWO_POINTS}], [(1, 2, True)]),
        ([{"text": DRIVEN}, {"text": DRIVEN, **TWO_POINTS, "type": "number"}], [(1, 2, True)]),
        ([{"text": DRIVEN}, {"text": DRIVEN, **TWO_POINTS, "maximum": 2}], [(1, 2, False)]),
        # A follow-up counts as a question like any other.
        ([{"text": DRIVEN}, FOLLOW_UP], [(1, 2, True)]),
        ([{"text": "Ever?"}, FOLLOW_UP], [(1, 2, True)]),
    ],
)
def test_a_repeated_question_is_found(
    questions: list[dict[str, Any]], expected: list[tuple[int, int, bool]]
) -> None:
    assert repeats(*questions) == expected


@pytest.mark.parametrize(
    "questions",
    [
        [{**FOLLOW_UP, "text": DRIVEN}],
        [{**CHOICE, "type": "several", "options": [DRIVEN, FULLWIDTH]}],
        [{**CHOICE, "type": "declared"}, {**CHOICE, "type": "declared"}],
        [{**CHOICE, "type": "declared"}, CHOICE],
        [{"text": DRIVEN, "type": "information"}] * 2,
        [{"text": DRIVEN, "type": "information"}, {"text": DRIVEN}],
    ],
    ids=["its own follow-up", "a grid", "declared", "declared and not", "texts", "text and not"],
)
def test_what_reveals_nothing_more_is_no_repeat(questions: list[dict[str, Any]]) -> None:
    assert repeats(*questions) == []


@pytest.mark.long
def test_a_hundred_different_questions_of_a_thousand_letters_are_compared() -> None:
    survey = make_survey(questions=())
    for number in range(100):
        add_question(survey=survey, text=f"{number:03}" + "ab" * 490 + f"{number:03}" * 3)
    found = find_repeats(build_manifest(survey=survey, wave_number=1))
    assert not any(one.is_equal for one in found)


def test_an_equal_question_is_refused_and_the_draft_says_so_at_once(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, questions=(DRIVEN, FULLWIDTH))
    [problem] = problems_of(survey)
    assert problem.startswith("Question 2 asks the same as question 1.")
    assert problem in words_of(author.get(reverse("surveys:edit", args=[survey.slug])))
    with pytest.raises(NotLaunchable):
        open_survey(survey=survey)
    assert survey.is_draft()


def test_a_similar_question_is_named_and_does_not_prevent_the_opening(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, questions=(DRIVEN, NEARLY))
    assert problems_of(survey) == []
    [warning] = warnings_of(survey)
    assert warning.startswith("Question 2 resembles question 1.")
    for page in ("edit", "launch"):
        assert warning in words_of(author.get(reverse(f"surveys:{page}", args=[survey.slug])))
    assert open_survey(survey=survey).is_open


@pytest.mark.parametrize("text", [DRIVEN, NEARLY])
def test_questions_marked_as_the_same_fact_are_no_repeat(text: str) -> None:
    survey = make_survey(questions=(DRIVEN, text, text))
    first, second, third = survey.questions.all()
    edit_question(question=second, same_fact=first.pk)
    assert find_repeats(build_manifest(survey=survey, wave_number=1)) == [
        Repeat(first=1 if text == DRIVEN else 2, second=3, is_equal=True)
    ]
    edit_question(question=third, same_fact=second.pk)  # and so the same fact as the first
    assert problems_of(survey) == warnings_of(survey) == []


def test_the_draft_names_the_authors_other_surveys(author: Client, owner: User) -> None:
    titles = [f"Survey {number}" for number in range(MOST_NAMED + 2)]
    for title in titles:
        make_launched_survey(owner=owner, title=title, questions=(FULLWIDTH,))
    survey = make_survey(owner=owner, questions=("Children?", DRIVEN))
    [warning] = warnings_of(survey)
    assert warning.startswith("Question 2 is also asked in your surveys “Survey 4”, “Survey 3”")
    assert "and 2 more" in warning
    assert warning in words_of(author.get(reverse("surveys:edit", args=[survey.slug])))


def test_drafts_rehearsals_and_surveys_of_others_are_not_named(owner: User) -> None:
    make_launched_survey(questions=(DRIVEN,))
    make_survey(owner=owner, questions=(DRIVEN,))
    make_launched_survey(owner=owner, questions=(DRIVEN,), rehearsal=True)
    make_launched_survey(owner=owner, questions=("Children?",))
    assert warnings_of(make_survey(owner=owner, questions=(DRIVEN,))) == []


@pytest.mark.long
def test_a_survey_that_was_copied_a_hundred_times_counts_its_copies_with_few_queries(
    owner: User, django_assert_num_queries: Any
) -> None:
    first = make_survey(owner=owner, questions=[f"{word}?" for word in ("Red", "Blue", "Green")])
    open_survey(survey=first)
    for _ in range(100):
        open_survey(survey=copy_survey(survey=first))
    copied = copy_survey(survey=first)
    wave = Wave.objects.get(survey=first)
    with django_assert_num_queries(3):  # the survey, its people, and their other surveys
        assert wave.count_elsewhere() == 100
    warnings = warnings_of(copied)
    [warning] = warnings
    assert warning.startswith("All questions are also asked in your surveys “Copy of ")
    assert "and 98 more" in warning


def test_one_question_in_common_is_enough_and_counts_once(owner: User) -> None:
    first = make_launched_survey(owner=owner, questions=("Red?", "Blue?"))
    assert first.count_elsewhere() == 0
    other = make_launched_survey(owner=owner, questions=("Green?", "BLUE", "Red"))
    make_launched_survey(owner=owner, questions=("Green?",))
    assert (first.count_elsewhere(), other.count_elsewhere()) == (1, 2)
    # Coins are a second wave of the same survey.
    coins = make_launched_survey(owner=owner, questions=("Yellow?",), coins=True)
    assert coins.count_elsewhere() == 0
    assert AskedQuestion.objects.filter(survey=coins.survey).count() == 1


def test_questions_are_named_together_where_the_same_surveys_ask_them(owner: User) -> None:
    make_launched_survey(owner=owner, title="First", questions=("Red?", "Blue?", "Green?"))
    make_launched_survey(owner=owner, title="Second", questions=("Green?",))
    survey = make_survey(owner=owner, questions=("Red?", "Green?", "Blue?", "Dark?"))
    starts = [warning.split(".")[0] for warning in warnings_of(survey)]
    assert starts == [
        "Questions 1 and 3 are also asked in your survey “First”",
        "Question 2 is also asked in your surveys “Second” and “First”",
    ]


def test_surveys_of_colleagues_are_counted_and_not_named(owner: User) -> None:
    colleague = make_user()
    hidden = make_launched_survey(owner=colleague, title="Canary", questions=(DRIVEN,))
    make_launched_survey(owner=owner, title="Mine", questions=(DRIVEN,))
    survey = make_survey(owner=owner, questions=(DRIVEN,))
    survey.memberships.create(account=colleague, role=Role.VIEWER)
    [said] = warnings_of(survey)
    assert "in your survey “Mine” and 1 survey of colleagues." in said
    hidden.survey.memberships.create(account=owner, role=Role.VIEWER)
    [said] = warnings_of(survey)
    assert "“Canary”" in said
