"""The privacy label: its numbers follow from k and T, and its words are fixed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import clopper_pearson
from privacy.shares.looks import repeated_level
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.services import add_question
from surveys.manifest.languages import LANGUAGES
from surveys.manifest.modes import Mode
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.strength import LARGEST_TOTAL_EPSILON
from surveys.models.stored_texts import squeeze
from surveys.respondent.client_files import (
    ENTRY,
    FOLDER,
    RANDOMIZER,
    client_files,
    page_script,
    page_style,
)
from surveys.respondent.label.label import describe_protection
from surveys.respondent.parts import PARTS
from tests.support.factories import YES_NO, make_survey, open_survey
from tests.support.label import (
    FORBIDDEN,
    LONGEST_SENTENCE,
    MOSTLY,
    NO,
    NOBODY,
    OPENED,
    PARTLY,
    PROVE,
    RULE,
    WEBSITE,
    all_odds,
    describe,
    lines,
    make,
    sentences,
    survey,
    text_of,
    warnings,
)


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


@pytest.mark.parametrize(
    ("flips", "word", "level"),
    [
        (40, "strong", "no"),
        (25, "strong", "no"),
        (24, "medium", "no"),
        (12, "medium", "no"),
        (11, "light", "partly"),
        (8, "light", "partly"),
        (7, "hardly", "mostly"),
        (5, "hardly", "mostly"),
    ],
)
def test_lines_odds_and_strength_follow_the_flips(flips: int, word: str, level: str) -> None:
    label = describe(question(flips=flips))
    # Below 12 flips, the sentence counts the codes that are kept.
    if level == "no":
        odds = f"Of 100 people who answer No, {flips} send the same code as a Yes."
        expected = [NO, NOBODY, OPENED]
    else:
        odds = f"{100 - flips} of 100 codes are the true answer."
        sight, answer = {"partly": (PARTLY, "Partly."), "mostly": (MOSTLY, "Mostly yes.")}[level]
        expected = [sight, f"{PROVE} {answer} {odds}", OPENED]
    assert lines(label) == expected
    assert warnings(label) == ([] if level == "no" else [WEBSITE])
    assert [one.level for one in label.consequences] == [level] * 2 + ["yes"]
    assert label.lead.startswith(
        f"This device {'scrambles' if level == 'no' else 'changes few of'}"
    )
    [group] = label.groups
    assert (group.strength, [one.sentence for one in group.odds]) == (word, [odds])
    assert group.protection == ("Hardly protected" if word == "hardly" else f"Protection: {word}")
    assert ("tosses two coins" in label.told_process) == (flips == 25)
    assert ("draws a number" in label.told_process) == (flips != 25)


@pytest.mark.parametrize("language", [code for code, _ in LANGUAGES])
@pytest.mark.parametrize("flips", [40, 25, 24, 12, 11, 5])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_label_computes_its_counts_from_the_threshold_in_every_language(
    k: int, flips: int, language: str
) -> None:
    """T = ⌊2³²(100−F)/(100−F+F(k−1))⌋; the other codes share the remainder equally."""
    options = YES_NO if k == 2 else tuple(Option(code=i, text=f"Row {i}") for i in range(k))
    asked = question(flips=flips, options=options)
    threshold = 2**32 * (100 - flips) // (100 - flips + flips * (k - 1))
    assert asked.threshold == threshold
    each = Fraction(100 * (2**32 - threshold), 2**32 * (k - 1))
    counted = math.ceil(Fraction(100 * threshold, 2**32)) if flips < 12 else math.floor(each)
    with override(language):
        label = describe(asked)
    [group] = label.groups
    [odds] = group.odds
    assert sorted(map(int, re.findall(r"\d+", odds.sentence))) == [counted, 100]
    assert k > 2 or flips < 12 or counted == flips
    word = {5: "hardly", 11: "light"}.get(flips)
    assert group.strength == (word or ("strong" if flips >= 25 else "medium"))


CHANCE = "By chance, about {} of 10 people with another answer {} your code."
NOT_ONE = "Of 10 people with another answer, not even one sends your code too."


@pytest.mark.parametrize(
    ("flips", "same", "said"),
    [
        (40, 4, CHANCE.format(4, "send")),
        (25, 2, CHANCE.format(2, "send")),
        (19, 1, CHANCE.format(1, "sends")),
        (11, 1, CHANCE.format(1, "sends")),
        (9, 0, NOT_ONE),
        (5, 0, NOT_ONE),
    ],
)
def test_of_ten_people_only_those_who_send_the_same_are_orange(
    flips: int, same: int, said: str
) -> None:
    """Counts are rounded down, so the picture promises no more than the mechanism keeps."""
    label = describe(question(flips=flips))
    assert label.picture is not None
    assert (label.picture.same, label.picture.sentence) == (same, said)
    html = text_of(label)
    assert html.count("<svg") == 1
    orange = re.findall(r"<g>(.*?)</g>", html)
    # A dash begins at 0, 10, 20 and so on.
    lengths = [int(one) for path in orange for one in re.findall(r"h(\d+)", path)]
    assert [(length + 9) // 10 for length in lengths] == [same] * (2 if same else 0)


def test_there_is_no_picture_where_it_would_promise_too_much() -> None:
    together = describe(question(flips=25), replace(make("yes_no", rule=RULE), flips=25))
    assert together.picture is None  # two codes tell something about one answer
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(20))
    strong = describe(question(flips=25, options=many)).picture
    assert strong is not None
    # t = 75 / 550, so each of the 19 others is sent 4.5 times in 100.
    said = "Of 100 people with another answer, on average at least 4 send your code too."
    assert (strong.same, strong.sentence) == (None, said)


def test_numbers_come_from_the_threshold_and_never_promise_too_much() -> None:
    weaker = replace(question(flips=25), threshold=3 * 2**30 + 1)
    text = text_of(describe(weaker))
    assert "24 send the same code as a Yes" in text
    assert "Protection: strong" in text  # ε is still 1.0986
    assert "two coins" not in text
    weaker = replace(question(flips=25), threshold=2**32 * 7503 // 10_000)
    text = text_of(describe(weaker))
    assert "Protection: medium" in text  # ln(7503 / 2497) = 1.1003
    assert "two coins" not in text


def test_less_than_one_of_100_is_counted_of_1000() -> None:
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(64))
    # t = 98 / 224, and each of the 63 others is sent 0.89 times in 100.
    [odds] = all_odds(describe(question(flips=2, options=many)))
    assert odds.sentence == (
        "Of 1,000 people with another answer, on average at least 8 send your code too."
    )


def test_questions_of_different_strength_are_told_apart() -> None:
    label = describe(question(flips=25), question(flips=5), question(flips=25), question(flips=25))
    assert [group.strength for group in label.groups] == ["strong", "hardly"]
    assert [odds.scope for odds in all_odds(label)] == ["Questions 1, 3 and 4", "Question 2"]
    assert [odds.names for odds in all_odds(label)] == [("q1", "q3", "q4"), ("q2",)]
    assert label.consequences[0].answer == "Mostly yes: Question 2."


def test_several_codes_reveal_more_than_one() -> None:
    assert describe(question(flips=25)).together == ()
    guess = "A guess between two answers is right 50 times in 100."
    assert describe(question(flips=40), question(flips=40)).together == (
        guess,
        "With all codes about one answer, at most 60 in 100.",
        # 1.5² / (1 + 1.5²) = 69.2 of 100
        "If all your answers are related, at most 70 in 100.",
    )
    assert describe(*[question(flips=25)] * 3).together == (
        guess,
        "With all codes about one answer, at most 75 in 100.",
        # 3³ / (1 + 3³) = 96.4 of 100
        "If all your answers are related, at most 97 in 100.",
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
    text = text_of(describe_protection(survey(question(flips=flips), cap=cap)))
    assert f"With {people:,} people, that is give or take {points} of 100." in text


@pytest.mark.parametrize(("expected", "looks"), [(None, [0.1]), (200, [0.1, 0.2, 0.3, 0.4, 0.5])])
def test_without_a_fixed_end_the_wider_interval_is_named(
    expected: int | None, looks: list[float]
) -> None:
    ends = clopper_pearson(
        successes=50,
        total=100,
        other_probability=0.25,
        slope=0.5,
        level=repeated_level(0.95, times=looks),
    )
    points = math.ceil(50 * float(ends.high - ends.low))
    assert points > 20  # with a fixed end
    manifest = replace(survey(question(flips=25)), people_expected=expected)
    text = text_of(describe_protection(manifest))
    assert f"With 100 people, that is give or take {points} of 100." in text


def test_the_label_says_if_nothing_could_be_learned() -> None:
    text = text_of(describe_protection(survey(question(flips=49))))
    assert "With only 100 people even that stays unclear." in text


@pytest.mark.parametrize(("minimum", "others"), [(50, "49 others"), (10, "9 others")])
def test_the_label_says_who_a_code_hides_among_and_when_it_does_not(
    minimum: int, others: str
) -> None:
    manifest = replace(survey(question(flips=25)), minimum_batch=minimum)
    assert describe_protection(manifest).crowd == (
        f"Your code is counted together with at least {others}.",
        "The researchers could add made-up codes to single out yours.",
        "Then only the scrambling protects you.",
    )


def test_the_network_sees_how_long_people_took_and_so_where_answers_led_them() -> None:
    took = "How long you took, from opening this page until the code is sent."
    hint = "That time can hint at your answers: some lead to more questions."
    straight = describe(make("yes_no"), make("yes_no")).shows
    assert took in straight
    assert hint not in straight
    for branching in (survey(make("yes_no"), make("yes_no", rule=RULE)), survey(make("follow_up"))):
        shown = describe_protection(branching).shows
        assert shown[shown.index(took) + 1] == hint
    by_hand = replace(survey(make("yes_no")), mode=Mode.MANUAL)
    assert took in describe_protection(by_hand).shows


def test_a_shared_device_keeps_nothing_and_the_label_says_so() -> None:
    own = survey(make("yes_no"))
    keeps = "That this browser took part. It may keep the questions and your code, but no answers."
    nothing = "This browser keeps no answers, and your code only if it could not be sent at once."
    assert keeps in describe_protection(own).shows
    shared = describe_protection(replace(own, shared_devices=True))
    assert nothing in shared.process
    assert keeps not in shared.shows


def respondent_templates() -> list[Path]:
    folder = settings.BASE_DIR / "templates" / "surveys" / "respondent"
    return [folder / "respond.html", *sorted(folder.glob("_*.html"))]


def rendered_labels() -> Iterator[str]:
    many = tuple(Option(code=code, text=f"Row {code}") for code in range(5))
    small = replace(survey(*[question(flips=25)] * 6, cap=20), minimum_batch=10)
    yield text_of(describe_protection(small, asked_elsewhere=2))
    for flips in (49, 40, 25, 24, 12, 11, 5, 4):
        yield text_of(describe_protection(survey(question(flips=flips))))
        yield text_of(describe_protection(survey(*[question(flips=flips)] * 3, cap=100_000)))
        yield text_of(describe_protection(survey(question(flips=flips, options=many))))


def module_strings() -> Iterator[str]:
    """Yield every string and template with a space in the modules: people may read these."""
    for path in sorted(FOLDER.rglob("*.js")):
        code = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        code = re.sub(r"new RangeError\([^;]*\);", "", code)  # only developers read these texts
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
    assert f"const LARGEST_TOTAL={LARGEST_TOTAL_EPSILON:.0f};" in module


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
    assert len(squeeze(page_style(PARTS).content)) <= 5_000
    visit = [page_script(()), client_files()[RANDOMIZER]]
    weight = sum(len(squeeze(file.content)) for file in visit)
    print(f"scripts: {weight:,} bytes")
    assert weight <= 12_500
