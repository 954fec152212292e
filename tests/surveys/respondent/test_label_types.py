"""The privacy label for all types of question: every sentence uses the real k and T."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.respondent.label.label import PrivacyLabel, describe_protection
from tests.support.label import FORBIDDEN, LONGEST_SENTENCE, RULE, THREE, make, sentences


def label(*questions: ManifestQuestion, drawn: int | None = None) -> PrivacyLabel:
    manifest = Manifest(
        survey="abc",
        wave=1,
        title="On the road",
        introduction="",
        language="en",
        minimum_batch=50,
        display_minimum=100,
        opens=None,
        closes=None,
        cap=10_000,
        drawn=drawn,
        questions=tuple(
            replace(each, name=f"q{number}") for number, each in enumerate(questions, start=1)
        ),
    )
    return describe_protection(manifest)


def text_of(described: PrivacyLabel) -> str:
    return render_to_string("surveys/respondent/_respond_label.html", {"label": described})


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        # k = 2: T = 3/4. k = 3: T = 75/125, the others 20 each. k = 4: 75/150, 16.66 each.
        (make("yes_no"), "Of every 100 people who answer No, 25 send the same code as a Yes."),
        (make("yes_no", refusal=True), "each other answer’s code is sent 20 times in 100."),
        (make("choice"), "each other answer’s code is sent 20 times in 100."),
        (make("choice", refusal=True), "each other answer’s code is sent 16.6 times in 100."),
        (make("scale"), "each other answer’s code is sent 20 times in 100."),
        (
            make("choice", options=THREE[:2]),
            "Whatever you answer, the other answer’s code is sent 25 times in 100.",
        ),
        (make("follow_up"), "each other answer’s code is sent 20 times in 100."),
        (
            make("number"),
            "into one of two codes by chance. Then the other code is sent 25 times in 100.",
        ),
        (make("number", refusal=True), "Then each other code is sent 20 times in 100."),
        (make("scale", options=(), minimum=0, maximum=10), "Your number is turned into one"),
        (
            make("several"),
            "For each row, whether you select it or not, the other code is sent 25 times in 100.",
        ),
        (make("several", refusal=True), "Whether you answer at all is scrambled too."),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_each_type_has_its_own_sentence(question: ManifestQuestion, sentence: str) -> None:
    [odds] = label(question).rows[2].odds
    assert sentence in odds.sentence
    # Three rows, or three rows and a gate: 3 ln 3 = 3.3 or more.
    assert odds.strength == ("hardly" if question.has_items else "strong")
    assert odds.scope == ""
    assert odds.counted == (25 if question.k == 2 else 0)


def test_questions_of_one_kind_share_a_sentence_under_their_numbers() -> None:
    described = label(
        make("yes_no"), make("information"), make("number"), make("yes_no"), make("number")
    )
    assert [odds.scope for odds in described.rows[2].odds] == [
        "Questions 1 and 3",
        "Questions 2 and 4",
    ]


def test_a_question_that_is_not_scrambled_is_named_wherever_it_matters() -> None:
    described = label(make("yes_no"), make("information"), make("yes_no"), make("declared"))
    assert "Question 3 is not scrambled: your answer is sent as it is." in described.process
    for row in described.rows[:3]:
        assert row.answers[0] == "No, with one exception."
        assert row.answers[-1] == "Question 3 can be read as it is."
    assert "only" not in described.rows[1].answers[1]
    assert described.rows[2].odds[0].scope == ""
    two = label(make("yes_no"), make("declared"), make("declared"))
    assert "Questions 2 and 3 are not scrambled: your answers are sent as they are." in two.process
    assert two.rows[0].answers[0] == "No, with 2 exceptions."
    light = label(make("yes_no", flips=5), make("declared"))
    assert light.rows[0].answers == (
        "Mostly, yes.",
        "95 of 100 codes are the true answer.",
        "Question 2 can be read as it is.",
    )
    tied = label(make("yes_no"), make("yes_no", rule=RULE), make("declared"))
    assert tied.rows[0].answers[0] == "Not directly, with one exception."


def test_the_label_explains_rules_and_what_they_cost_the_parent() -> None:
    told = "Which questions you see depends on your answers, but the code looks the same."
    alone = label(make("yes_no"), make("yes_no"))
    assert told not in alone.process
    described = label(
        make("yes_no", text="Have you ever driven after drinking at a party?"),
        make("yes_no", text="Alone?", rule=RULE),
    )
    assert told in described.process
    first, second = described.rows[2].odds
    # Pages have no numbers here, so the label uses words.
    assert first.scope == "“Have you ever driven after drinking…”"
    assert second.scope == "“Alone?”"
    # Both codes reveal something about the first: 100 / (1 + 3²) = 10 of 100.
    assert "The codes of other questions tell about this answer too." in first.sentence
    assert (first.strength, second.strength) == ("light", "strong")
    assert described.rows[0].answers[0] == "Not directly."
    assert label(make("follow_up")).process[-1] == told


def test_the_label_explains_a_subset_with_its_numbers() -> None:
    four = [make("yes_no") for _ in range(4)]
    assert (
        "You are asked 2 of 4 questions, drawn by chance on your phone or computer."
        in label(*four, drawn=2).process
    )
    tied = label(*four, make("yes_no", rule=RULE), drawn=1)
    assert (
        "You are asked 1 of 4 groups of questions, drawn by chance on your phone or computer."
        in tied.process
    )
    assert "Which questions were drawn for you." in tied.shows.answers
    better = "Someone who saw your codes could guess better: about one answer, from 50 to at most"
    # The largest group has two codes about one answer; everything is said about that one.
    assert tied.together == (f"{better} 90 in 100.",)
    assert label(*four, drawn=2).together == (
        f"{better} 75 in 100.",
        "If all your answers hang together, at most 90 in 100.",
    )
    assert label(*four, drawn=1).together == ()


def test_the_sentence_on_all_answers_counts_codes_and_uses_the_real_total() -> None:
    better = "Someone who saw your codes could guess better: about one answer, from 50 to at most"
    # A gate and three rows, all about one question: 3⁴ / (1 + 3⁴) = 98.8 of 100
    assert label(make("several", refusal=True)).together == (f"{better} 99 in 100.",)
    # 1.5² / (1 + 1.5²) = 69.2 of 100: two of three rows can differ.
    assert label(make("several", flips=40, limit=1)).together == (f"{better} 70 in 100.",)
    # An answer that is not scrambled does not count as a code.
    assert label(make("yes_no"), make("declared")).together == ()


@pytest.mark.parametrize(
    ("questions", "length"),
    [
        ([make("yes_no"), make("information")], "1 question"),
        ([make("yes_no"), make("declared")], "2 questions"),
        ([make("yes_no"), make("yes_no", rule=RULE)], "Up to 2 questions"),
        ([make("follow_up")], "Up to 2 questions"),
    ],
    ids=str,
)
def test_the_opening_says_how_many_questions_there_are(
    questions: list[ManifestQuestion], length: str
) -> None:
    assert label(*questions).length == length


def test_a_subset_counts_its_largest_part() -> None:
    tied = [make("yes_no"), make("yes_no", rule=RULE), make("yes_no"), make("declared")]
    assert label(*tied, drawn=1).length == "Up to 3 questions"


def test_the_sentence_on_what_can_be_learned_has_the_right_words() -> None:
    def finding(*questions: ManifestQuestion) -> str:
        return " ".join(label(*questions).rows[3].answers)

    assert finding(make("yes_no")).startswith("The share of everyone who says Yes.")
    assert finding(make("several")).startswith("The share of everyone who gives each answer.")
    assert finding(make("number")).startswith("The average of the numbers that people give.")
    assert finding(make("number")).endswith("give or take 2 % of the range.")
    both = finding(make("yes_no"), make("number"))
    assert "says Yes. The average" in both
    assert both.endswith("2 points.")
    assert finding(make("yes_no", refusal=True)).endswith("points at best.")


def test_a_number_is_never_called_the_true_answer() -> None:
    """Its code says which end it was rounded to."""
    described = label(make("number", flips=5))
    [odds] = described.rows[2].odds
    assert odds.sentence.endswith("by chance. Then 95 of 100 codes stay as they are.")
    assert described.rows[0].answers[0] == "Not directly."
    described = label(make("number", flips=4))
    assert described.rows[0].answers == (
        "Mostly, yes.",
        "With all the codes, a guess goes from 50 to at most 96 in 100.",
    )


def test_with_many_codes_few_of_them_are_the_true_answer() -> None:
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(40))
    described = label(make("choice", options=many, flips=4))
    # t = 96 / (96 + 4 · 39) = 38 of 100, but against any other answer it is 96 : 4.
    [odds] = described.rows[2].odds
    assert "each other answer’s code is sent 1.5 times in 100." in odds.sentence
    assert described.rows[0].answers == (
        "Mostly, yes.",
        "With all the codes, a guess goes from 50 to at most 96 in 100.",
    )


def test_questions_of_different_numbers_of_codes_share_a_sentence() -> None:
    described = label(make("yes_no", flips=5), make("choice", flips=5), make("yes_no"))
    # 95 of 100, and 95 / (95 + 2 · 5) = 90.5
    assert "Questions 1 and 2: Up to 95 of 100 codes are the true answer." in (
        described.rows[0].answers
    )


# --- words ---------------------------------------------------------------------------------------


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
