"""The lines before the first question: the answer first, true of every survey."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from surveys.manifest.questions import Option
from surveys.respondent.label.label import describe_protection, quote_label
from tests.support.factories import make_launched_survey
from tests.support.label import (
    MOSTLY,
    NO,
    OPENED,
    PARTLY,
    RULE,
    describe,
    lines,
    make,
    survey,
    text_of,
)


def test_the_line_on_proof_counts_the_least_of_all_questions() -> None:
    options = tuple(Option(code=code, text=f"Row {code}") for code in range(5))
    # t = 75 / 175, so each of the four others has 100 (1 - t) / 4 = 14.28 of 100.
    mixed = describe(make("yes_no"), make("choice", options=options))
    least = "Of 100 people with another answer, on average at least 14 send your code too."
    assert lines(mixed)[2] == f"No. Nobody can prove what you answered. {least}"
    assert mixed.consequences[2].counted == 14
    two = describe(make("yes_no"), make("yes_no", flips=12))
    assert "Of 100 people with another answer, on average at least 12 send" in lines(two)[2]
    assert "gives each answer" in text_of(mixed)


def test_the_lines_are_those_of_at_least_half_of_the_questions() -> None:
    strong, weak = make("yes_no"), make("yes_no", flips=5)
    assert lines(describe(strong, strong, weak))[:2] == NO
    half = describe(strong, weak)
    assert lines(half)[:2] == MOSTLY
    assert lines(half)[2] == "Mostly yes. Up to 95 of 100 codes are the true answer."
    assert "Mostly readable" not in text_of(half)
    parent, child = make("yes_no"), make("yes_no", rule=RULE)
    assert lines(describe(parent, child)) == [
        *PARTLY,
        "Partly. Your codes together allow a fair guess, not a proof.",
        OPENED,
    ]
    three = describe(parent, child, strong)
    assert lines(three)[:2] == NO
    assert lines(three)[4] == "But Partly readable: “Driven?”."


def test_what_is_practically_certain_is_not_denied() -> None:
    four, five, six = (describe(*[make("yes_no")] * number) for number in (4, 5, 6))
    odds = "Of 100 people who answer No, 25 send the same code as a Yes."
    assert lines(four)[2] == f"No. Nobody can prove what you answered. {odds}"
    assert lines(five)[2] == f"Partly. {odds} Your codes together tell more."
    assert lines(six)[2] == f"Partly. {odds} Your codes together tell more."
    assert lines(six)[:2] == NO
    assert six.together[-1] == "That is more than Murmur advises."
    assert five.together[-1].endswith("practically certain.")
    assert (four.denies_proof, five.denies_proof) == (True, False)
    light = make("number", flips=6)  # ε = 2.76
    assert lines(describe(light))[2].endswith("allow a fair guess, not a proof.")
    certain = "Partly. A guess from your codes can be right 99.6 times in 100."
    assert lines(describe(light, light))[2] == certain


@pytest.mark.django_db
def test_what_must_be_known_stands_before_start_and_the_rest_one_tap_below() -> None:
    wave = make_launched_survey()
    response = Client().get(reverse("surveys:respond", args=[wave.survey.slug]))
    before, _start, below = response.content.decode().partition('<button id="start"')
    with override("en"):
        label = describe_protection(wave.description)
    assert label.lead in before
    assert all(one.answer in before and one.sentences[0] in before for one in label.consequences)
    assert 'id="label"' not in before
    assert all(told in below for told in (label.told_crowd, *label.shows, label.told_process))
    # How it works comes last.
    assert below.index(label.told_crowd) < below.index(label.told_process)


# --- what stands first ---------------------------------------------------------------------------

MADE_UP = "They could be made up."
FEW = "Your code hides among only 9 others, fewer than Murmur advises."
SHORT = "This survey ends after only 20 people, too few for exact results."
HOW_LONG = "Yes. Others can see how long this page was open."


def test_a_usual_survey_has_no_warnings() -> None:
    label = describe(*[make("yes_no")] * 5)  # ε = 5.49
    assert [one.level for one in label.consequences] == ["no", "no", "partly", "yes"]
    assert lines(label)[3] == OPENED


@pytest.mark.parametrize("acknowledged", [(), ("cap", "minimum_batch", "total_epsilon")])
def test_small_groups_and_much_told_stand_first(acknowledged: tuple[str, ...]) -> None:
    small = survey(*[make("yes_no")] * 6, cap=20)
    small = replace(small, minimum_batch=10, acknowledged=acknowledged)
    label = describe_protection(small)
    assert lines(label)[3:] == [HOW_LONG, f"But {FEW} {MADE_UP} {SHORT}"]
    quote = quote_label(small)
    assert quote is not None
    assert quote.label.consequences == label.consequences


def test_made_up_codes_stand_first_if_groups_are_small_or_much_is_told() -> None:
    usual = survey(*[make("yes_no")] * 5)
    few, much = replace(usual, minimum_batch=49), survey(*[make("yes_no")] * 6)
    short = replace(usual, cap=149)
    among = "Your code hides among only 48 others, fewer than Murmur advises."
    assert lines(describe_protection(few))[3:] == [HOW_LONG, f"But {among} {MADE_UP}"]
    among = "Your code hides among 49 others."
    assert lines(describe_protection(much))[3:] == [HOW_LONG, f"But {among} {MADE_UP}"]
    ends = "This survey ends after only 149 people, too few for exact results."
    assert lines(describe_protection(short))[3:] == [OPENED, f"But {ends}"]


def test_questions_of_other_surveys_stand_first() -> None:
    usual = survey(make("yes_no"))
    assert len(describe_protection(usual, asked_elsewhere=0).consequences) == 4
    assert lines(describe_protection(usual, asked_elsewhere=1))[4] == (
        "But The same question is asked in 1 other survey by this author. "
        "Answering both tells more."
    )
    several = lines(describe_protection(usual, asked_elsewhere=12))[4]
    assert "The same questions are asked in 12 other surveys by this author." in several
