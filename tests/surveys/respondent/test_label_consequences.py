"""The label's lines before the first question: in every survey, what they say must be true."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import inf
from random import Random

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.respondent.label.label import describe_protection, quote_label
from surveys.respondent.label.names import name_questions
from tests.support.factories import make_launched_survey
from tests.support.label import (
    MOSTLY,
    NO,
    NOBODY,
    OPENED,
    PARTLY,
    PROVE,
    RULE,
    SEE,
    TOGETHER,
    WEBSITE,
    describe,
    draw_manifest,
    lines,
    make,
    survey,
    text_of,
    warnings,
)


def test_the_picture_counts_the_least_of_all_questions() -> None:
    options = tuple(Option(code=code, text=f"Row {code}") for code in range(5))
    # t = 75 / 175, so each of the four other codes is sent 100 (1 - t) / 4 = 14.28 times in 100.
    mixed = describe(make("yes_no"), make("choice", options=options))
    assert lines(mixed) == [NO, NOBODY, OPENED]
    assert mixed.picture is not None
    assert mixed.picture.same == 1
    assert "gives each answer" in text_of(mixed)


def test_the_weakest_question_decides_and_is_named() -> None:
    strong, weak = make("yes_no"), make("yes_no", flips=5)
    assert lines(describe(strong, strong, weak)) == [
        f"{SEE} Mostly yes: Question 3.",
        f"{PROVE} Mostly yes. Up to 95 of 100 codes are the true answer.",
        OPENED,
    ]
    assert lines(describe(weak, weak))[0] == MOSTLY
    parent, child = make("yes_no"), make("yes_no", rule=RULE)
    # Two codes about the first answer give 3² / (1 + 3²); if all answers are related, three codes
    # give 3³ / (1 + 3³).
    assert lines(describe(parent, child, strong)) == [
        f"{SEE} Partly: “Driven?”. They could make a fair guess.",
        f"{PROVE} Partly. 97 of 100 guesses can be right.",
        OPENED,
    ]
    lights = describe(*[make("number", flips=8)] * 2)  # ε = 2.45 each, and 4.9 together
    assert lines(lights)[0] == PARTLY
    assert lines(lights)[1] == f"{PROVE} Partly. 99.3 of 100 guesses can be right."


def test_what_is_practically_certain_from_all_codes_is_denied_by_no_line() -> None:
    proof = f"{PROVE} Partly. Someone could make a good guess."
    four, five, fifteen = (describe(*[make("yes_no")] * number) for number in (4, 5, 15))
    assert lines(four) == [NO, NOBODY, OPENED]
    for label in (five, fifteen):
        assert lines(label) == [TOGETHER, proof, OPENED]
        assert "practically certain" in label.told_together
    assert fifteen.together[-1] == "That is more than Murmur advises."


def test_who_runs_the_website_is_told_below_and_before_start_where_a_code_tells_much() -> None:
    strong, weak = describe(make("yes_no")), describe(make("yes_no", flips=5))
    assert WEBSITE in strong.shows
    assert WEBSITE in weak.shows
    assert (warnings(strong), warnings(weak)) == ([], [WEBSITE])
    assert warnings(weak.on_paper) == []
    assert OPENED not in lines(weak.on_paper)


GUESS = r"(Someone could|[\d.]+ of 100 guesses|(Up to )?\d+ of 100 codes) "
CLAIMS = {
    "no": (r"No\. Hackers or courts with the database cannot either\.", r"No\."),
    "partly": (r"Partly(: .+)?\. They could ", rf"Partly\. {GUESS}"),
    "mostly": (r"Mostly yes(: .+)?\.", rf"Mostly yes\. {GUESS}"),
}


def list_worst(manifest: Manifest, level: str) -> list[ManifestQuestion]:
    """List the questions that a line of this level is about."""
    limit = {"no": inf, "partly": 2.0, "mostly": 2.45}[level]
    asked = [one for one in manifest.questions if one.is_scrambled]
    return [one for one in asked if manifest.statement_epsilon(one) > limit]


def test_no_line_of_2000_random_surveys_promises_more_than_its_weakest_question() -> None:
    random = Random(35)
    seen: Counter[str] = Counter()
    for _ in range(2000):
        manifest = draw_manifest(random)
        label = describe_protection(manifest)
        told = label.consequences
        [level] = {one.level for one in told[:2]}
        asked = [one for one in manifest.questions if one.is_scrambled]
        largest = max(manifest.statement_epsilon(one) for one in asked)
        # One code has ε = 2.00 at 12 flips, and ε = 2.45 at 8 flips. From ε = 4.6 on, a guess is
        # right 99 times in 100.
        assert (level == "no") == (largest <= 2.0 and manifest.drawn_epsilon < 4.6)
        assert (level == "mostly") == (largest > 2.45)
        # The words under the questions agree with the lines.
        words = {group.strength for group in label.groups}
        assert ("hardly" in words) == (level == "mostly")
        assert "light" not in words or level != "no"
        # The picture shows no more people in orange than would send the same code.
        if label.picture and label.picture.same:
            shares = [(1 - one.mechanism.threshold / 2**32) / (one.k - 1) for one in asked]
            assert label.picture.same <= 10 * min(shares) + 1e-6
        for line, claim in zip(told, CLAIMS[level], strict=False):
            assert line.question.endswith("?")
            assert re.match(claim, f"{line.answer} {line.sentence}"), line
        worst = list_worst(manifest, level)
        if worst and len(worst) < len(asked):
            assert told[0].answer.endswith(f": {name_questions(manifest, worst)}.")
        plain = [one for one in manifest.questions if one.is_declared]
        sent = f"Sent as it is: {name_questions(manifest, plain)}." if plain else ""
        assert told[0].exception == sent
        assert warnings(label) == ([] if level == "no" else [WEBSITE])
        seen[level] += 1
    print(seen)
    assert min(seen[level] for level in CLAIMS) > 200


@pytest.mark.django_db
def test_what_must_be_known_stands_before_start_and_the_rest_one_tap_below() -> None:
    wave = make_launched_survey()
    response = Client().get(reverse("surveys:respond", args=[wave.survey.slug]))
    before, _start, below = response.content.decode().partition('<button id="start"')
    with override("en"):
        label = describe_protection(wave.description)
    assert label.lead in before
    for one in label.consequences:
        assert f"<dt>{one.question}</dt>\n<dd><b>{one.answer}</b> {one.sentence}" in before
    assert 'id="label"' not in before
    assert all(told in below for told in (label.told_crowd, *label.shows, label.told_process))
    # The explanation of the process comes last.
    assert below.index(label.told_crowd) < below.index(label.told_process)


MADE_UP = "They could be made up."
FEW = "Your code hides among only 9 others, fewer than Murmur advises."
SHORT = "This survey ends after only 20 people, too few for exact results."


def test_a_usual_survey_has_no_warnings() -> None:
    for much in (5, 6):  # ε = 5.49 and 6.59
        label = describe(*[make("yes_no")] * much)
        assert [one.level for one in label.consequences] == ["partly", "partly", "yes"]
        assert warnings(label) == [WEBSITE]


@pytest.mark.parametrize("acknowledged", [(), ("cap", "minimum_batch", "total_epsilon")])
def test_small_groups_and_few_people_stand_first(acknowledged: tuple[str, ...]) -> None:
    small = survey(*[make("yes_no")] * 6, cap=20)
    small = replace(small, minimum_batch=10, acknowledged=acknowledged)
    label = describe_protection(small)
    assert warnings(label) == [WEBSITE, f"{FEW} {MADE_UP}", SHORT]
    quote = quote_label(small)
    assert quote is not None
    assert quote.label.warnings == label.warnings


def test_made_up_codes_stand_first_if_groups_are_small() -> None:
    usual = survey(make("yes_no"))
    few, short = replace(usual, minimum_batch=49), replace(usual, cap=149)
    among = "Your code hides among only 48 others, fewer than Murmur advises."
    assert warnings(describe_protection(few)) == [f"{among} {MADE_UP}"]
    ends = "This survey ends after only 149 people, too few for exact results."
    assert warnings(describe_protection(short)) == [ends]


def test_questions_of_other_surveys_stand_first() -> None:
    usual = survey(make("yes_no"))
    assert warnings(describe_protection(usual, asked_elsewhere=0)) == []
    [one] = warnings(describe_protection(usual, asked_elsewhere=1))
    assert one == (
        "The same question is asked in 1 other survey by this author. "
        "Answering both reveals more about you."
    )
    [several] = warnings(describe_protection(usual, asked_elsewhere=12))
    assert "The same questions are asked in 12 other surveys by this author." in several
