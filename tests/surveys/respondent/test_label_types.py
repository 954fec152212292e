"""The privacy label for all types of question: every sentence uses the actual k and T."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.respondent.label.label import PrivacyLabel, describe_protection
from surveys.respondent.label.names import name_questions
from tests.support.label import (
    FORBIDDEN,
    LONGEST_SENTENCE,
    MOSTLY,
    NO,
    OPENED,
    PARTLY,
    PROVE,
    RULE,
    THREE,
    all_odds,
    lines,
    make,
    sentences,
    survey,
    text_of,
)

ROUNDED = "Your number is turned into one of two codes by chance."
OF_100 = "Of 100 people with another {}, on average at least {} send your code too."
GUESS = "A guess between two answers is right 50 times in 100."
ABOUT_ONE = "With all codes about one answer, at most {} in 100."


def label(*questions: ManifestQuestion, drawn: int | None = None) -> PrivacyLabel:
    return describe_protection(replace(survey(*questions, cap=10_000), drawn=drawn))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        # k = 2: T = 3/4. k = 3: T = 75/125, the others 20 in 100 each. k = 4: 75/150, 16.66 each.
        (make("yes_no"), "Of 100 people who answer No, 25 send the same code as a Yes."),
        (make("yes_no", refusal=True), OF_100.format("answer", 20)),
        (make("choice"), OF_100.format("answer", 20)),
        (make("choice", refusal=True), OF_100.format("answer", 16)),
        (make("scale"), OF_100.format("answer", 20)),
        (make("choice", options=THREE[:2]), OF_100.format("answer", 25)),
        (make("follow_up"), OF_100.format("answer", 20)),
        (make("number"), f"{ROUNDED} {OF_100.format('number', 25)}"),
        (make("number", refusal=True), f"{ROUNDED} {OF_100.format('number', 20)}"),
        (make("scale", options=(), minimum=0, maximum=10), f"{ROUNDED} Of 100 people"),
        (make("several"), f"For each row: o{OF_100[1:].format('answer', 25)}"),
        (make("several", refusal=True), "Whether you answer at all is scrambled too."),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_each_type_has_its_own_sentence(question: ManifestQuestion, sentence: str) -> None:
    [group] = label(question).groups
    [odds] = group.odds
    assert sentence in odds.sentence
    # Three rows, or three rows and a gate: 3 ln 3 = 3.3 or more.
    assert group.strength == ("hardly" if question.has_items else "strong")
    assert odds.scope == ""


@pytest.mark.parametrize("kind", ["yes_no", "choice", "scale", "several", "number", "follow_up"])
@pytest.mark.parametrize("flips", [1, 3, 5, 9, 12, 24, 25, 40, 49])
@pytest.mark.parametrize("refusal", [False, True])
def test_no_number_promises_more_than_what_runs(kind: str, flips: int, refusal: bool) -> None:
    """Whatever the answer is, every code is sent at least as often as the sentence says."""
    question = make(kind, flips=flips, refusal=refusal)
    [odds] = all_odds(label(question))
    kept = 100 * question.mechanism.threshold / 2**32
    least = (100 - kept) / (question.k - 1)
    numbers = [int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", odds.sentence)]
    if "of 100 codes" in odds.sentence:
        assert kept <= numbers[0] < kept + 1
        assert numbers[1:] == [100]
    else:
        people, count = numbers
        assert 0 < count <= least * people / 100 + 1e-6
        assert count + 1 > least * people / 100


def test_questions_of_one_kind_share_a_sentence_under_their_numbers() -> None:
    described = label(make("yes_no"), make("number"), make("yes_no"), make("number"))
    assert [odds.scope for odds in all_odds(described)] == [
        "Questions 1 and 3",
        "Questions 2 and 4",
    ]


def test_a_question_that_is_not_scrambled_is_named() -> None:
    described = label(make("yes_no"), make("yes_no"), make("declared"))
    assert lines(described)[0] == f"{NO} Sent as it is: Question 3."
    assert described.unscrambled == "Sent as it is: Question 3."
    assert "only" not in " ".join(lines(described))
    assert all_odds(described)[0].scope == ""
    two = label(make("yes_no"), make("declared"), make("declared"))
    assert lines(two)[0] == f"{NO} Sent as it is: Questions 2 and 3."
    light = label(make("yes_no", flips=5), make("declared"))
    assert lines(light) == [
        f"{MOSTLY} Sent as it is: Question 2.",
        f"{PROVE} Mostly yes. 95 of 100 codes are the true answer.",
        OPENED,
    ]


def test_questions_are_quoted_where_pages_are_counted_instead() -> None:
    asked = make("yes_no"), make("declared", text="Where do you work?")
    quoted = "Sent as it is: “Where do you work?”."
    assert lines(label(make("information"), *asked))[0] == f"{NO} {quoted}"
    agreed = replace(survey(*asked), consent="Yes?")
    assert lines(describe_protection(agreed))[0] == f"{NO} {quoted}"
    # The form for coins numbers its questions nevertheless.
    by_hand = replace(agreed, mode=Mode.MANUAL)
    assert lines(describe_protection(by_hand))[0] == f"{NO} Sent as it is: Question 2."


def test_a_quote_is_as_long_as_it_takes_to_tell_questions_apart() -> None:
    long, longer = "Did you drink last night?", "Did you drink last night? Or today?"
    other = "Did you drink last night? Or earlier?"
    questions = [make("yes_no", text=text, rule=RULE) for text in (long, longer, other)]
    manifest = survey(make("yes_no", text="Old?"), *questions)
    told = f"“{long}”, “{longer}”, “{other}”"
    assert name_questions(manifest, manifest.questions[1:]) == told


def test_the_label_explains_rules_and_what_they_cost_the_parent() -> None:
    told = "Which questions you see depends on your answers, but the code looks the same."
    alone = label(make("yes_no"), make("yes_no"))
    assert told not in alone.process
    described = label(
        make("yes_no", text="Have you ever driven after drinking at a party?"),
        make("yes_no", text="Alone?", rule=RULE),
    )
    assert told in described.process
    strong, light = described.groups
    # Questions are not numbered here, so the label quotes them.
    assert light.odds[0].scope == "“Have you ever driven after…”"
    assert strong.odds[0].scope == "“Alone?”"
    # Both codes reveal something about the first: 100 / (1 + 3²) = 10 of 100.
    assert "The codes of other questions tell about this answer too." in light.odds[0].sentence
    assert (strong.strength, light.strength) == ("strong", "light")
    assert label(make("follow_up")).process[-1] == told


def test_the_label_explains_a_subset_with_its_numbers() -> None:
    four = [make("yes_no") for _ in range(4)]
    assert (
        "You are asked 2 of 4 questions, drawn by chance on this device."
        in label(*four, drawn=2).process
    )
    tied = label(*four, make("yes_no", rule=RULE), drawn=1)
    assert (
        "You are asked 1 of 4 groups of questions, drawn by chance on this device." in tied.process
    )
    assert "Which questions were drawn for you." in tied.shows
    # The largest group has two codes about one answer; the label speaks of that answer only.
    assert tied.together == (
        GUESS,
        ABOUT_ONE.format(90),
    )
    assert label(*four, drawn=2).together == (
        GUESS,
        ABOUT_ONE.format(75),
        "If all your answers are related, at most 90 in 100.",
    )
    assert label(*four, drawn=1).together == ()


def test_the_sentence_on_all_answers_counts_codes_and_uses_the_real_total() -> None:
    # A gate and three rows, all about one question: 3⁴ / (1 + 3⁴) = 98.8 of 100
    assert label(make("several", refusal=True)).together == (
        GUESS,
        ABOUT_ONE.format(99),
    )
    # 1.5² / (1 + 1.5²) = 69.2 of 100: two of three rows can differ.
    assert label(make("several", flips=40, limit=1)).together == (
        GUESS,
        ABOUT_ONE.format(70),
    )
    # An answer that is not scrambled does not count as a code.
    assert label(make("yes_no"), make("declared")).together == ()


def test_the_sentence_on_what_can_be_learned_has_the_right_words() -> None:
    def finding(*questions: ManifestQuestion) -> str:
        return label(*questions).told_finding

    assert finding(make("yes_no")).startswith("The share of everyone who says Yes.")
    assert finding(make("several")).startswith("The share of everyone who gives each answer.")
    assert finding(make("number")).startswith("The average of the numbers that people give.")
    assert finding(make("number")).endswith("give or take 2 % of the range.")
    both = finding(make("yes_no"), make("number"))
    assert "says Yes. The average" in both
    assert both.endswith("2 of 100.")
    assert finding(make("yes_no", refusal=True)).endswith("of 100 at best.")


def test_a_number_is_never_called_the_true_answer() -> None:
    """The code only shows to which end the number was rounded."""
    described = label(make("number", flips=8))
    [odds] = all_odds(described)
    assert odds.sentence.endswith("by chance. Then 92 of 100 codes stay as they are.")
    assert lines(described)[0] == PARTLY
    described = label(make("number", flips=4))
    assert lines(described)[:2] == [
        MOSTLY,
        f"{PROVE} Mostly yes. 96 of 100 guesses can be right.",
    ]
    assert (described.picture, described.lead) == (None, "")


def test_with_many_codes_few_of_them_are_the_true_answer() -> None:
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(40))
    described = label(make("choice", options=many, flips=4))
    # t = 96 / (96 + 4 · 39) = 38 of 100, but against any other answer the odds are 96 : 4.
    [odds] = all_odds(described)
    assert odds.sentence == OF_100.replace("send", "sends").format("answer", 1)
    assert lines(described)[1] == f"{PROVE} Mostly yes. 96 of 100 guesses can be right."


def test_questions_of_different_numbers_of_codes_share_a_line() -> None:
    described = label(make("yes_no", flips=5), make("choice", flips=5), make("yes_no"))
    # 95 of 100, and 95 / (95 + 2 · 5) = 90.5
    guess = "Mostly yes. Up to 95 of 100 codes are the true answer."
    assert lines(described)[1] == f"{PROVE} {guess}"


def labels() -> Iterator[PrivacyLabel]:
    kinds = ("yes_no", "choice", "scale", "several", "number", "follow_up")
    for flips in (49, 25, 12, 5, 4):
        every = [make(kind, flips=flips) for kind in kinds]
        refusing = [make(kind, flips=flips, refusal=True) for kind in kinds]
        asked_if = [make(kind, flips=flips, rule=RULE, text="very " * 100) for kind in kinds]
        yield label(*every, make("declared"), make("information"))
        yield label(*refusing, make("declared"), make("declared"), drawn=2)
        yield label(make("yes_no", refusal=True), *asked_if, *every, make("declared"), drawn=3)


def test_no_survey_produces_a_forbidden_word_or_a_long_sentence() -> None:
    for described in labels():
        html = text_of(described)
        assert FORBIDDEN.search(html) is None
        for sentence in sentences(html):
            assert len(sentence.split()) <= LONGEST_SENTENCE or "“" in sentence, sentence


@pytest.mark.parametrize("drawn", [None, 5])
def test_a_draft_that_cannot_be_launched_yet_has_a_label(drawn: int | None) -> None:
    assert text_of(label(make("declared"), make("information"), drawn=drawn))
    assert text_of(label(make("yes_no"), make("declared"), drawn=drawn))
