"""The privacy label: its numbers follow from k and T, and its words are those we chose."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import override

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import confidence_sequence
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.services import add_question
from surveys.manifest.languages import LANGUAGES
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.strength import LARGEST_TOTAL_EPSILON
from surveys.respondent.client_files import ENTRY, FOLDER, RANDOMIZER, client_files, page_script
from surveys.respondent.label.label import PrivacyLabel, describe_protection, quote_label
from surveys.respondent.parts import PARTS
from tests.support.factories import YES_NO, make_survey, open_survey
from tests.support.label import FORBIDDEN, LONGEST_SENTENCE, RULE, make, sentences, survey


def question(*, flips: int, options: tuple[Option, ...] = YES_NO) -> ManifestQuestion:
    mechanism = RandomizedResponse.from_flips(symbols=len(options), flips=flips)
    return ManifestQuestion(
        name="q1",
        type=QuestionType.YES_NO,
        text="Driven?",
        flips=flips,
        threshold=mechanism.threshold,
        options=options,
    )


def label_text(label: PrivacyLabel) -> str:
    return render_to_string("surveys/respondent/_respond_label.html", {"label": label})


@pytest.mark.parametrize(
    ("flips", "word", "see"),
    [
        (40, "strong", "No. They get a scrambled copy."),
        (25, "strong", "No. They get a scrambled copy."),
        (24, "medium", "No. They get a scrambled copy."),
        (12, "medium", "No. They get a scrambled copy."),
        (11, "light", "Mostly, yes. 89 of 100 codes are the true answer."),
        (5, "light", "Mostly, yes. 95 of 100 codes are the true answer."),
        (4, "hardly", "Mostly, yes. 96 of 100 codes are the true answer."),
    ],
)
def test_odds_strength_and_rows_follow_the_flips(flips: int, word: str, see: str) -> None:
    text = label_text(describe_protection(survey(question(flips=flips))))
    # Below 12 flips the sentence counts the codes that are kept.
    counted = f"Of every 100 people who answer No, {flips} send the same code as a Yes." in text
    assert counted == (flips >= 12)
    assert (f"{100 - flips} of 100 codes are the true answer." in text) == (flips < 12)
    assert ("Hardly protected" if word == "hardly" else f"Protection: {word}") in text
    assert see in text
    assert text.count("Mostly, yes.") == (3 if flips < 12 else 0)
    assert ("tosses two coins" in text) == (flips == 25)
    assert ("draws a number" in text) == (flips != 25)


@pytest.mark.parametrize("language", [code for code, _ in LANGUAGES])
@pytest.mark.parametrize("flips", [40, 25, 24, 12, 11, 5])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_label_computes_its_counts_from_the_threshold_in_every_language(
    k: int, flips: int, language: str
) -> None:
    """T = ⌊2³²(100−F)/(100−F+F(k−1))⌋; the other codes share the rest equally."""
    options = YES_NO if k == 2 else tuple(Option(code=i, text=f"Row {i}") for i in range(k))
    asked = question(flips=flips, options=options)
    threshold = 2**32 * (100 - flips) // (100 - flips + flips * (k - 1))
    assert asked.threshold == threshold
    each = Fraction(100 * (2**32 - threshold), 2**32 * (k - 1))
    with override(language):
        [odds] = describe_protection(survey(asked)).rows[2].odds
    if flips < 12:
        kept = math.ceil(Fraction(100 * threshold, 2**32))
        assert sorted(map(int, re.findall(r"\d+", odds.sentence))) == [kept, 100]
        assert odds.counted == (kept if k == 2 else 0)
    elif k == 2:
        assert (math.floor(each), odds.counted) == (flips, flips)
        assert re.findall(r"\d+", odds.sentence) == ["100", str(flips)]
    else:
        written = re.findall(r"\d+(?:[.,]\d)?", odds.sentence)
        numbers = sorted(Fraction(one.replace(",", ".")) for one in written)
        assert numbers == [Fraction(math.floor(10 * each), 10), 100]
        assert odds.counted == 0, "dots are of two codes"
    assert odds.strength == ("strong" if flips >= 25 else "medium" if flips >= 12 else "light")


@pytest.mark.parametrize("flips", [40, 25, 24, 12, 11, 5])
def test_the_picture_marks_as_many_dots_as_the_sentence_says(flips: int) -> None:
    [odds] = describe_protection(survey(question(flips=flips))).rows[2].odds
    dots = sum((int(length) + 9) // 10 for length in re.findall(r"h(\d+)", odds.dots.marked))
    assert dots == odds.counted == (flips if flips >= 12 else 100 - flips)
    assert str(dots) in odds.sentence
    assert sum((int(n) + 9) // 10 for n in re.findall(r"h(\d+)", odds.dots.all)) == 100


def test_numbers_come_from_the_threshold_and_never_promise_too_much() -> None:
    weaker = replace(question(flips=25), threshold=3 * 2**30 + 1)
    text = label_text(describe_protection(survey(weaker)))
    assert "24 send the same code as a Yes" in text
    assert "Protection: strong" in text  # ε is 1.0986 still
    assert "two coins" not in text
    weaker = replace(question(flips=25), threshold=2**32 * 7503 // 10_000)
    text = label_text(describe_protection(survey(weaker)))
    assert "Protection: medium" in text  # ln(7503 / 2497) = 1.1003
    assert "two coins" not in text


def test_a_question_with_more_options_mentions_each_other_code() -> None:
    options = tuple(Option(code=code, text=f"Row {code}") for code in range(5))
    label = describe_protection(survey(question(flips=25, options=options)))
    # t = 75 / 175, so each of the four others has 100 (1 - t) / 4 = 14.28 of 100.
    assert "Whatever you answer, each other answer’s code is sent 14.2 times in 100." in label_text(
        label
    )
    assert "two coins" not in label_text(label)
    assert "gives each answer" in label_text(label)


def test_questions_of_different_strength_are_told_apart() -> None:
    label = describe_protection(
        survey(question(flips=25), question(flips=5), question(flips=25), question(flips=25))
    )
    assert [odds.scope for odds in label.rows[2].odds] == ["Questions 1, 3 and 4", "Question 2"]
    assert [odds.strength for odds in label.rows[2].odds] == ["strong", "light"]
    assert label.rows[0].answers == (
        "No, with one exception.",
        "They get a scrambled copy.",
        "Question 2: 95 of 100 codes are the true answer.",
    )


def test_several_codes_reveal_more_than_one() -> None:
    assert describe_protection(survey(question(flips=25))).together == ()
    two = describe_protection(survey(question(flips=40), question(flips=40))).together
    better = "Someone who saw your codes could guess better: about one answer, from 50 to at most"
    assert two == (
        f"{better} 60 in 100.",
        # 1.5² / (1 + 1.5²) = 69.2 of 100
        "If all your answers hang together, at most 70 in 100.",
    )
    three = describe_protection(survey(*[question(flips=25)] * 3)).together
    # 3³ / (1 + 3³) = 96.4 of 100
    assert three == (
        f"{better} 75 in 100.",
        "If all your answers hang together, at most 97 in 100.",
    )


@pytest.mark.parametrize(
    ("flips", "cap", "people", "points"),
    [(25, 100, 100, 20), (25, 1537, 1537, 5), (40, 500, 500, 22)],
)
def test_the_label_says_how_precisely_people_can_be_counted(
    flips: int, cap: int, people: int, points: int
) -> None:
    exact = 100 * 1.96 * 0.5 / math.sqrt(people) / (1 - 2 * flips / 100)
    assert math.ceil(exact - 1e-6) == points
    text = label_text(describe_protection(survey(question(flips=flips), cap=cap)))
    assert f"With {people:,} people, that is give or take {points} points." in text


@pytest.mark.parametrize(
    ("concentration", "points"),
    [(None, 33), (40, 32), (150, 37)],
    ids=["as surveys older than the key promise", "for few people", "for an unknown number"],
)
def test_without_a_fixed_end_the_wider_interval_is_named(
    concentration: int | None, points: int
) -> None:
    # 50 of 100 codes, without a concentration: the sequence reaches from 18 to 82 %.
    ends = confidence_sequence(
        successes=50, total=100, other_probability=0.25, slope=0.5, concentration=concentration
    )
    assert points - 1 < 100 * (float(ends.high) - float(ends.low)) / 2 <= points
    manifest = replace(survey(question(flips=25)), concentration=concentration)
    text = label_text(describe_protection(manifest))
    assert f"With 100 people, that is give or take {points} points." in text


def test_the_label_says_if_nothing_could_be_learned() -> None:
    text = label_text(describe_protection(survey(question(flips=49))))
    assert "With only 100 people even that stays unclear." in text


# --- what remains -------------------------------------------------------------------------------


@pytest.mark.parametrize(("minimum", "others"), [(50, "49 others"), (10, "9 others")])
def test_the_label_says_who_a_code_hides_among_and_when_it_does_not(
    minimum: int, others: str
) -> None:
    manifest = replace(survey(question(flips=25)), minimum_batch=minimum)
    assert describe_protection(manifest).crowd == (
        "The people who run this survey could send made-up codes and so single yours out.",
        "Then only the scrambling protects you, with the odds above.",
        f"Otherwise your code is counted together with at least {others}.",
    )


def test_what_remains_is_one_tap_below_the_odds() -> None:
    label = describe_protection(survey(question(flips=25)))
    odds, below = label_text(label).split("<details><summary>What is not hidden?</summary>")
    assert "Of every 100 people" in odds
    assert label.told_crowd in below
    assert all(one in below for one in label.shows.answers)


def test_the_network_sees_how_long_people_took_and_so_where_answers_led_them() -> None:
    took = "How long you took, from opening this page until the code is sent."
    hint = "That time can hint at your answers: some lead to more questions."
    straight = describe_protection(survey(make("yes_no"), make("yes_no"))).shows.answers
    assert took in straight
    assert hint not in straight
    for branching in (survey(make("yes_no"), make("yes_no", rule=RULE)), survey(make("follow_up"))):
        shown = describe_protection(branching).shows.answers
        assert shown[shown.index(took) + 1] == hint
    by_hand = replace(survey(make("yes_no")), mode=Mode.MANUAL)
    assert took in describe_protection(by_hand).shows.answers


# --- what stands first ---------------------------------------------------------------------------

MADE_UP = "The people who run this survey could send made-up codes and so single yours out."
WARNINGS = {
    "total_epsilon": "All your answers together are less protected than Murmur advises.",
    "minimum_batch": "This survey counts codes in groups of only 10. At least 50 are usual.",
    "cap": "This survey ends after only 20 people, fewer than Murmur advises.",
}


def small(*acknowledged: str) -> Manifest:
    """Describe a survey beyond all limits, of which these were acknowledged."""
    asked = survey(*[question(flips=25)] * 6, cap=20)
    return replace(asked, minimum_batch=10, acknowledged=tuple(sorted(acknowledged)))


def test_the_label_of_a_usual_survey_starts_with_the_scrambling() -> None:
    label = describe_protection(survey(*[question(flips=25)] * 5))  # ε = 5.49
    assert label.warnings == ()
    assert label_text(label).index("You answer honestly.") < label_text(label).index(MADE_UP)
    assert "notice" not in label_text(label)


@pytest.mark.parametrize("limits", [(), ("cap",), ("minimum_batch", "total_epsilon"), WARNINGS])
def test_acknowledged_limits_stand_first_and_no_others(limits: tuple[str, ...]) -> None:
    label = describe_protection(small(*limits))
    assert label.warnings == (*(WARNINGS[name] for name in WARNINGS if name in limits), MADE_UP)
    first, _rest = label_text(label).split("You answer honestly.")
    assert all(one in first for one in label.warnings)
    quote = quote_label(small(*limits))
    assert quote is not None
    assert quote.warnings == " ".join(label.warnings)


def test_made_up_codes_stand_first_if_groups_are_small_or_much_is_told() -> None:
    usual = survey(*[question(flips=25)] * 5)
    few, much = replace(usual, minimum_batch=49), survey(*[question(flips=25)] * 6)
    short = replace(usual, cap=149, acknowledged=("cap",))
    assert describe_protection(few).warnings == (MADE_UP,)
    assert describe_protection(much).warnings == (MADE_UP,)
    assert MADE_UP not in describe_protection(short).warnings


def test_questions_of_other_surveys_stand_first() -> None:
    usual = survey(question(flips=25))
    assert describe_protection(usual, asked_elsewhere=0).warnings == ()
    assert describe_protection(usual, asked_elsewhere=1).warnings == (
        "The same question is asked in 1 other survey by this author. Answering both tells more.",
    )
    [several] = describe_protection(usual, asked_elsewhere=12).warnings
    assert several.startswith("The same questions are asked in 12 other surveys by this author.")


# --- words --------------------------------------------------------------------------------------


def respondent_templates() -> list[Path]:
    folder = settings.BASE_DIR / "templates" / "surveys" / "respondent"
    return [folder / "respond.html", *sorted(folder.glob("_respond_*.html"))]


def rendered_labels() -> Iterator[str]:
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(5))
    yield label_text(describe_protection(small(*WARNINGS), asked_elsewhere=2))
    for flips in (49, 40, 25, 24, 12, 11, 5, 4):
        yield label_text(describe_protection(survey(question(flips=flips))))
        yield label_text(describe_protection(survey(*[question(flips=flips)] * 3, cap=100_000)))
        yield label_text(describe_protection(survey(question(flips=flips, options=many))))


def module_strings() -> Iterator[str]:
    """Yield every string and template with a space in the modules: people may read these."""
    for path in sorted(FOLDER.rglob("*.js")):
        code = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        code = re.sub(r"new RangeError\([^;]*\);", "", code)  # only developers read these
        for text in re.findall(r'"([^"\n]*)"|`([^`]*)`', code):
            words = re.sub(r"\$\{[^}]*\}", "it", "".join(text))
            if " " in words:
                yield words


def test_no_text_for_respondents_contains_a_forbidden_word() -> None:
    texts = [path.read_text() for path in respondent_templates()]
    texts += [*rendered_labels(), *module_strings()]
    assert len(texts) > 40
    for text in texts:
        assert FORBIDDEN.search(text) is None, text


def test_sentences_are_short() -> None:
    shown = [sentence for html in rendered_labels() for sentence in sentences(html)]
    shown += [sentence for text in module_strings() for sentence in sentences(text)]
    for path in respondent_templates():
        body = re.sub(r"{% comment %}.*?{% endcomment %}", "", path.read_text(), flags=re.DOTALL)
        shown += list(sentences(body.partition("<body>")[2] or body))
    assert any("scramble your answer" in sentence for sentence in shown)
    for sentence in shown:
        assert len(sentence.split()) <= LONGEST_SENTENCE, sentence


def test_the_page_and_the_launch_agree_on_the_largest_total() -> None:
    module = client_files()[ENTRY].content.decode()
    assert f"const LARGEST_TOTAL = {LARGEST_TOTAL_EPSILON:.0f};" in module


@pytest.mark.django_db
def test_a_survey_that_browsers_would_refuse_cannot_be_opened() -> None:
    largest = make_survey(questions=[f"Driven {n * n}?" for n in range(18)])  # 18 × 1.0986 = 19.8
    assert find_launch_problems(survey=largest, now=timezone.now()) == []
    add_question(survey=largest, text="Children?")  # 20.9
    [problem] = find_launch_problems(survey=largest, now=timezone.now())
    assert "total ε of 20" in problem
    with pytest.raises(NotLaunchable):
        open_survey(survey=largest)


def test_styles_and_scripts_stay_within_their_size_limits() -> None:
    files = client_files().values()
    assert sum(len(file.compressed) for file in files if file.name.endswith(".css")) <= 10_000
    visit = [page_script(PARTS), client_files()[RANDOMIZER]]
    weight = sum(len(file.compressed) for file in visit)
    print(f"scripts: {weight:,} bytes")
    assert weight <= 12_500
