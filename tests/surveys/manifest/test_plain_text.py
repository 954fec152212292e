"""Which texts ask the same, whatever their case, spaces, punctuation and lookalike letters."""

from __future__ import annotations

import hashlib
import json

import pytest
from confusable_homoglyphs.confusables import confusables_data
from hypothesis import given
from hypothesis import strategies as st

from surveys.manifest.plain_text import are_similar, differ_by_at_most, find_skeleton

DRIVEN = "Have you ever driven after drinking?"


@pytest.mark.parametrize(
    "text",
    [
        "have  you ever\ndriven after drinking",
        "HAVE YOU EVER DRIVEN AFTER DRINKING?",
        "Have you – ever – driven, after drinking…",
        "Ｈａｖｅ you ever driven after drinking？",  # fullwidth
        "Hаvе yоu еvеr drivеn аftеr drinking?",  # Cyrillic а, е, о
        "Ηave yοu ever driven after drinking?",  # Greek Η, ο
        "НАVЕ УОU ЕVЕR DRIVЕN АFТЕR DRINKING?",  # Cyrillic capitals
        "Have you ever dri\u200bven after drin\u00adking?",  # invisible
        "Have you ever driven\ufe0f after drinking?",
        "𝐇𝐚𝐯𝐞 you ever driven after drinking?",
        "Have you\U000e0100 ever\u2800 dri\u180bven after drin\U0001d159king?",  # invisible too
        "Have you ever drlven after dr1nkIng?",  # l, 1 and capital I for i
        "Have y0u ever driven after drinking? ★",
        "Have yօu ever driven after drinking?",  # Armenian օ
        "Ꮋave you ever driven after drinking?",  # Cherokee Ꮋ
        "ꓧave you ever driven after drinking?",  # Lisu ꓧ
        "Have you ever driveո after drinking?",  # Armenian ո
        "Have you ever ᴅʀɪᴠᴇɴ after drinking?",  # small capitals
        "Have yøu ẹver dri\u0323ven after dr|nking?",  # strokes, accents, a line
    ],
)
def test_these_texts_ask_the_same(text: str) -> None:
    assert find_skeleton(text) == find_skeleton(DRIVEN)
    assert are_similar(text, DRIVEN)


@pytest.mark.parametrize(
    "number",
    [
        *(
            "1. ",
            "12.",
            "2) ",
            "(3) ",
            "[3]",
            "4 – ",
            "4- ",
            "b) ",
            "B. ",
            "iv) ",
            "1. a) ",
            "1.2. ",
        ),
        *("5a) ", "Q3: ", "q3 ", "Question 3. ", "Quеstion 3 ", "Frage 3: ", "№ 3: ", "Вопрос 3. "),
        *("#3: ", "① ", "❶", "Ⓐ ", "1\ufe0f\u20e3 ", "１．", "٣) ", "1\u200b. ", "\u2022 1: "),
        *("#1 ", "A1. ", "B12) ", "Item 3: ", "Item 3 ", "1 of 10: ", "1/10 ", "(1/10) ", "3. 4. "),
        *(
            "Q3 ",
            "Question 3 of 10: ",
            "第3题：",
            "سؤال ٣: ",
            "II. ",
            "lO. ",
            "1_",
            "1st) ",
            "+ ",
            "→ ",
        ),
    ],
)
def test_a_number_in_front_makes_no_other_question(number: str) -> None:
    assert find_skeleton(number + DRIVEN) == find_skeleton(DRIVEN)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("У вас есть дети?", "у ВАС ЕСТЬ ДЕТИ"),
        ("Έχετε παιδί;", "έχετε παιδί"),
        ("Haben Sie ein Straßenauto?", "HABEN SIE EIN STRASSENAUTO?"),
        ("هَلْ سَرَقْتَ؟", "هل سرقـــت"),  # optional vowel marks, and a lengthened letter
    ],
)
def test_case_and_points_make_no_difference_in_other_scripts(one: str, other: str) -> None:
    assert find_skeleton(one) == find_skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DRIVEN, "Do you have children?"),
        ("Income > 1000?", "Income < 1000?"),
        ("More than 1 time?", "More than 10 times?"),
        ("2 children or more?", "3 children or more?"),
        ("1.5 litres?", "2.5 litres?"),
        ("5 – 10 glasses?", "7 – 10 glasses?"),
        ("U.S. citizen?", "E.S. citizen?"),
        ("3-year-old child?", "4-year-old child?"),
        ("10:30 or later?", "11:30 or later?"),
        ("1.", "2."),
        ("?", "!"),
        ("你有孩子吗？", "你有车吗？"),
        ("Did you drink 1 glass?", "Did you drink 2 glasses?"),
        ("Q1: Have you stolen?", "Q1: Have you lied?"),
        ("Over 1000 €?", "Over 1000 $?"),
        ("1/2 litre?", "1/4 litre?"),
        ("1 of 10 people?", "2 of 10 people?"),
        ("5 % of it?", "10 % of it?"),
        ("18+ films?", "21+ films?"),
        ("5 km: did you run?", "10 km: did you run?"),
        ("In 2020: did you vote?", "In 2021: did you vote?"),
        ("Grade 3: happy?", "Grade 4: happy?"),
        ("B12 taken?", "B6 taken?"),
        ("★", "★★"),
        # These marks are letters, or change the syllable.
        ("ไม้", "ไม่"),
        ("क्या चोरी की?", "क्या चोरी का?"),
        ("கா", "கி"),
        ("か", "が"),
        ("هل سألت؟", "هل شربت؟"),
        ("Παίζετε;", "Παίρνετε;"),
    ],
)
def test_these_texts_do_not(one: str, other: str) -> None:
    assert find_skeleton(one) != find_skeleton(other)


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        (DRIVEN, "After drinking, have you ever driven?", True),
        (DRIVEN, "Have you ever driven after drinking wine?", False),
        ("Did you steal in the last year?", "Did you steal in the past year?", True),
        ("Have you used heroin this year?", "Have you used cocaine this year?", False),
        ("Income > 1000?", "Income < 1000?", True),
        ("Ever?", "Even?", True),
        ("Red?", "Blue?", False),
    ],
)
def test_similar_texts_differ_in_few_letters_or_in_the_order_of_words(
    one: str, other: str, similar: bool
) -> None:
    assert are_similar(one, other) is similar
    assert are_similar(other, one) is similar


def test_the_confusables_are_those_that_stored_keys_were_made_with() -> None:
    """Other confusables need a migration, because the keys of reduced texts would change."""
    found = hashlib.sha256(json.dumps(confusables_data, sort_keys=True).encode()).hexdigest()
    assert found == "bf5e9c50227d95403d8edf2185a644d42dada609f3aee6f93b03827d1deb723d"


def count_differences(one: str, other: str) -> int:
    """Compute the edit distance with the usual table."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row[0] = row[0], number
        for place, against in enumerate(other, start=1):
            before, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, before + (letter != against)),
            )
    return row[-1]


@given(st.text("ab", max_size=8), st.text("abc", max_size=8), st.integers(1, 5))
def test_the_count_of_differences_is_the_edit_distance(one: str, other: str, most: int) -> None:
    assert differ_by_at_most(most, one, other) == (count_differences(one, other) <= most)
