"""Authors and respondents read the same words about protection wherever they look."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from accounts.models import User
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.coins import derive_coin_manifest
from surveys.models import Question, Survey
from surveys.respondent.label.label import describe_protection
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import at
from tests.support.label import all_odds, lines
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
GUESSED = "Partly: “Have you ever driven after…”. They could make a fair guess."
FIVE_ROWS = ["Meals", "Medicine", "Books", "Heating", "Rent"]


def add_several(survey: Survey, *, flips: int = 25, **content: Any) -> Question:
    return add_question(
        survey=survey,
        text="What did you skip?",
        type=Question.Type.SEVERAL,
        options=FIVE_ROWS,
        flips=flips,
        **content,
    )


def read_everywhere(author: Client, survey: Survey) -> dict[str, str]:
    """Return the words that authors read before the launch, and respondents in the preview."""
    names = ("edit", "questions", "launch", "preview")
    read = {name: words_of(author.get(at(name, survey))) for name in names}
    return {"draft": read.pop("edit") + read.pop("questions"), **read}


def words_for_protection(text: str) -> list[str]:
    return re.findall(r"Protection: \w+|Hardly protected", text)


def sentences_of(survey: Survey) -> list[str]:
    """Return the label's lead, its lines, and its sentence about all answers together."""
    label = describe_protection(build_manifest(survey=survey, wave_number=1))
    return [label.lead, *lines(label), label.told_together]


def assert_same_words(pages: dict[str, str], survey: Survey, expected: set[str]) -> None:
    for name, text in pages.items():
        assert set(words_for_protection(text)) == expected, name
        for sentence in sentences_of(survey):
            assert sentence in text, name


def test_two_plain_questions_are_strong_on_every_page(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    pages = read_everywhere(author, survey)
    assert_same_words(pages, survey, {"Protection: strong"})
    for text in pages.values():
        assert "Can the researchers see my answers? No." in text
        assert (
            "With all codes about one answer, at most 75 in 100. "
            "If all your answers are related, at most 90 in 100." in text
        )
        assert "light" not in text.lower()
    assert "Respondents will read:" in pages["draft"]
    assert "Respondents will read:" in pages["launch"]


def test_one_rule_changes_the_words_on_every_page(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    parent = survey.questions.all()[0]
    rule = {"name": str(parent.pk), "is": [1]}
    add_question(survey=survey, text="Alone?", rule=rule)
    pages = read_everywhere(author, survey)
    assert_same_words(pages, survey, {"Protection: light", "Protection: strong"})
    for name, text in pages.items():
        assert words_for_protection(text).count("Protection: light") == 1, name
        assert GUESSED in text
        # Two codes, each with odds of 3 : 1, tell something about the first question.
        assert "With all codes about one answer, at most 90 in 100." in text


def test_the_cost_card_says_it_while_the_rule_is_typed(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner)
    posted = {"text": "Alone?", "flips": "25", "rule": "Q1 is yes", "cost": "1"}
    card = words_of(author.post(at("question_create", survey), posted))
    assert "raising Q1’s ε from 1.10 to 2.20 (“Protection: light” instead of" in card
    assert "Respondents will read: This device scrambles your answers" in card
    assert GUESSED in card
    parent = survey.questions.all()[0]
    add_question(survey=survey, text="Alone?", rule={"name": str(parent.pk), "is": [1]})
    for sentence in sentences_of(survey):
        assert sentence in card


def test_each_strength_is_offered_with_the_word_for_the_whole_question(
    author: Client, owner: User
) -> None:
    survey = make_survey(owner=owner, questions=())
    posted = {"text": "Which?", "options": "\n".join(FIVE_ROWS), "flips": "25", "cost": "1"}
    form = words_of(author.post(f"{at('question_create', survey)}?type=several", posted))
    assert "Two coins (25 of 100) , Hardly protected Of every" in form
    assert "Two coins (25 of 100): ε = 5.50" in form
    assert "Protection: strong" not in form.replace("40 of 100 , Protection: strong", "")


def test_six_questions_at_five_flips_do_not_sound_safe(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=[f"Number {n}?" for n in range(6)], flips=5)
    pages = read_everywhere(author, survey)
    assert_same_words(pages, survey, {"Hardly protected"})
    for text in pages.values():
        assert "Mostly yes. 95 of 100 codes are the true answer." in text
        assert "With all codes about one answer, at most 95 in 100." in text
        assert "If all your answers are related, at most 100 in 100: practically certain." in text
        assert "fair guess" not in text
        assert not re.search(r"\b5 send", text)
    above = make_survey(owner=owner, questions=[f"Number {n}?" for n in range(6)], flips=8)
    pages = read_everywhere(author, above)
    assert_same_words(pages, above, {"Protection: light"})
    for text in pages.values():
        assert "Partly. 92 of 100 codes are the true answer." in text


def test_a_question_with_five_rows_has_one_word_and_no_denial(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, questions=())
    add_several(survey)
    pages = read_everywhere(author, survey)
    assert_same_words(pages, survey, {"Hardly protected"})  # 5 ln 3 = 5.49
    for text in pages.values():
        assert "Mostly yes. 99.6 of 100 guesses can be right." in text
    label = describe_protection(build_manifest(survey=survey, wave_number=1))
    [odds] = all_odds(label)
    assert "25 send your code too. All rows together tell more." in odds.sentence
    assert not [line for line in lines(label) if "? No" in line]


def test_what_is_hardly_protected_is_named_among_other_questions(owner: User) -> None:
    survey = make_survey(owner=owner)
    add_several(survey)
    label = describe_protection(build_manifest(survey=survey, wave_number=1))
    assert [group.strength for group in label.groups] == ["strong", "hardly"]
    answers = [one.answer for one in label.consequences]
    assert answers == ["Mostly yes: Question 3.", "Mostly yes.", "Yes."]


def test_the_quote_is_in_the_language_of_its_readers(author: Client, owner: User) -> None:
    survey = make_survey(owner=owner, language="de")
    page = author.get(at("edit", survey)).text
    assert '<blockquote class="notice" lang="de" dir="ltr">' in page
    with override("de"):
        label = describe_protection(build_manifest(survey=survey, wave_number=1))
    assert label.lead in page
    assert label.told_together in page


def test_the_words_for_people_who_toss_coins_are_quoted_if_they_reveal_more(
    author: Client, owner: User
) -> None:
    survey = make_survey(
        owner=owner, questions=[f"Number {n}?" for n in range(6)], flips=40, coins=True
    )
    coins = derive_coin_manifest(build_manifest(survey=survey, wave_number=1))
    assert coins is not None
    text = words_of(author.get(at("launch", survey)))
    assert f"With two coins, they will read: {describe_protection(coins).lead}" in text
    assert describe_protection(coins).told_together in text
    # In the browser, 1.5⁶ / (1 + 1.5⁶) = 91.9 of 100.
    assert "If all your answers are related, at most 92 in 100." in text
    stronger = make_survey(owner=owner, flips=20, coins=True)
    assert "With two coins, they" not in words_of(author.get(at("launch", stronger)))


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (4, "If all your answers are related, at most 99 in 100."),  # 81/82 = 98.78
        (5, "If all your answers are related, at most 99.6 in 100: practically certain."),
    ],
)
def test_the_total_is_told_as_odds(questions: int, told: str) -> None:
    survey = make_survey(questions=[f"Number {n}?" for n in range(questions)])
    label = describe_protection(build_manifest(survey=survey, wave_number=1))
    assert label.together[2] == told
    # The label does not deny a guess that it calls practically certain.
    answers = [one.answer for one in label.consequences]
    assert answers[:2] == ["No." if questions == 4 else "Partly."] * 2


@pytest.mark.parametrize("total", [4.59, 4.6, 4.61])
def test_practically_certain_begins_at_its_total(
    total: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = build_manifest(survey=make_survey(), wave_number=1)
    monkeypatch.setattr(type(manifest), "drawn_epsilon", total)
    told = describe_protection(manifest).told_together
    assert ("practically certain" in told) == (total >= 4.6)


def test_a_survey_that_is_open_already_still_shows_its_page(client: Client) -> None:
    wave = make_launched_survey(questions=[f"Number {n}?" for n in range(6)], flips=5)
    text = words_of(client.get(reverse("surveys:respond", args=[wave.survey.slug])))
    assert "Mostly yes. 95 of 100 codes are the true answer." in text
    assert "practically certain" in text
