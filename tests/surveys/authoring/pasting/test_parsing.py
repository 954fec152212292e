"""What pasted text becomes: a table of realistic examples, and arbitrary text."""

from __future__ import annotations

import time

import pytest
from django.utils.translation import gettext, override
from hypothesis import given
from hypothesis import strategies as st

from surveys.authoring.forms import QUESTION_FORMS
from surveys.authoring.pasting import parsing
from surveys.authoring.pasting.details import Range, find_range, mentions_routing, split_details
from surveys.authoring.pasting.lines import split_lines, split_mark
from surveys.authoring.pasting.parsing import UNMARKED, PastedQuestion, parse_pasted
from surveys.authoring.pasting.wordings import is_none, is_refusal
from surveys.manifest.questions import NONE_TEXT, REFUSED_TEXT

WORD = (
    "\ufeffSleep and work\r\n\r\n1.\tDo you sleep well?\r\n2.\tHow often are you tired?\r\n"
    "\ta.\tNever\r\n\tb.\tOften\r\n\r\n3.\u00a0\u00a0Which of “these” help?\u00a0(max. 2)\r\n"
    "\uf0b7\tTea\r\no\tCoffee\r\n§\r\n"
)
EXCEL = (
    "No.\tQuestion\tA\tB\tC\n1\tDo you smoke?\tYes\tNo\t\n2\tI like my job\t1 never – 5 always\n"
    '3\tWhat do you drink?\tTea\t\t"A ""dry"" one"\tchoose all that apply\n'
    "4\tHow many?\t0 to 30 days\tif Q1 is yes\n\tand\tmore\n"
)
BROKEN_CELLS = 'n\tx\n"Do you\nsmoke?"\tYes\tNo\n2\tWhich?\t"Beer\n\nWine"\tmax 2'
GERMAN = (
    "Frage 1: Rauchen Sie?\nJa\nNein\n\n2) Wie oft?\n– nie\n– selten\nMehrfachnennungen möglich"
)
SPANISH = (
    "1. ¿Fuma?\n• Sí\n• No\n2. ¿Cuántos días bebió?\n0 to 7 días\n"
    "3. ¿Qué bebe? (máx. 2)\n- Té\n- Agua"
)
ARABIC = "١. هل تدخن؟\n- نعم\n- لا\n\u200f2. كم مرة؟\n- أبدا\n- دائما"

HEADINGS = (
    "1. A?\n- Yes\n- No\n\nB. Your health\n2. B?\na) x\nb) y\n\nc) z\n\nC) Drugs\nD) Work\n"
    "3. C?\n\n(i) x\n(ii) y\n\nI. Work\n4. D?\n* x\n* y\n5. E?\n- x\n- y\n\n* Required\n"
    "6. F?\n\nB. Work"
)
TWO_STYLES = (
    "Frage 3: Welche?\n- a\n- b\n- c\n4. Wie sehr? (1 = gar nicht, 10 = sehr)\n"
    "Frage 5: Wo?\n1. a\n2. b\n3. Wie sehr? (1 = kaum, 10 = sehr)"
)


def describe(question: PastedQuestion) -> tuple[str, ...]:
    """Return the question's type, text and answers; or "left out", its text and the reason."""
    if question.problem:
        return ("left out", question.text, question.problem)
    return (question.type, question.text, *question.options)


CASES: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "a list from Word": (
        WORD,
        [
            ("information", "Sleep and work"),
            ("yes_no", "Do you sleep well?"),
            ("choice", "How often are you tired?", "Never", "Often"),
            ("several", "Which of “these” help?", "Tea", "Coffee"),
            ("information", "§"),
        ],
    ),
    "rows from Excel": (
        EXCEL,
        [
            ("yes_no", "Do you smoke?", "Yes", "No"),
            ("scale", "I like my job", "1 never – 5 always"),
            ("several", "What do you drink?", "Tea", 'A "dry" one'),
            ("choice", "How many?", "0 to 30 days", "and", "more"),
        ],
    ),
    "cells with line breaks": (
        BROKEN_CELLS,
        [
            ("left out", "n", parsing.ONE_ANSWER),
            ("yes_no", "Do you smoke?", "Yes", "No"),
            ("several", "Which?", "Beer", "Wine"),
        ],
    ),
    "German": (
        GERMAN,
        [("yes_no", "Rauchen Sie?", "Ja", "Nein"), ("several", "Wie oft?", "nie", "selten")],
    ),
    "Spanish": (
        SPANISH,
        [
            ("yes_no", "¿Fuma?", "Sí", "No"),
            ("number", "¿Cuántos días bebió?"),
            ("several", "¿Qué bebe?", "Té", "Agua"),
        ],
    ),
    "Arabic": (
        ARABIC,
        [("yes_no", "هل تدخن؟", "نعم", "لا"), ("choice", "كم مرة؟", "أبدا", "دائما")],
    ),
    "other answers to choose from": (
        "Q1 Do you?\n1. Yes\n2. No\n3. Maybe\nQ2. Are you?\nA. One\nB. Two",
        [("choice", "Do you?", "Yes", "No", "Maybe"), ("choice", "Are you?", "One", "Two")],
    ),
    "nothing is guessed": (
        "1. Do you smoke? Yes / No\n2. How often? No; yes\nHow are you?\nGood\nBad\n1.5 litres?",
        [
            ("left out", "Do you smoke? Yes / No", parsing.NO_ANSWERS),
            ("left out", "How often? No; yes", parsing.NO_ANSWERS),
            ("left out", "How are you?", UNMARKED),
            ("yes_no", "1.5 litres?"),
        ],
    ),
    "texts to read": (
        "Welcome.\nIt is short.\n\n# Part 1\n1. Yes?\nYes\nNo\nPart 2\n2. No?\n- Yes\n- No\nBye",
        [
            ("information", "Welcome.\nIt is short."),
            ("information", "Part 1"),
            ("yes_no", "Yes?", "Yes", "No"),
            ("information", "Part 2"),
            ("yes_no", "No?", "Yes", "No"),
            ("information", "Bye"),
        ],
    ),
    "answers without a question": (
        "- One\n\nHow tired are you\n- Not\n- Very\n1.\n2. Why?\n- \n- One",
        [
            ("left out", "How tired are you", parsing.NO_MARK),
            ("left out", "", parsing.NO_TEXT),
            ("left out", "Why?", parsing.ONE_ANSWER),
        ],
    ),
    "two lines of a question": (
        "1. In the last month,\nhow often did you cry? [choose up to 2]\n- A\n- B\n- C",
        [("several", "In the last month, how often did you cry?", "A", "B", "C")],
    ),
    "bulleted questions": (
        "•Do you smoke?\n• Do you drink?",
        [("yes_no", "Do you smoke?"), ("yes_no", "Do you drink?")],
    ),
    "contradictions": (
        "1. A? (1-5)\n- x\n- y\n2. B? (max 2)\n3. C? (0 to 9 days) (1 to 5)",
        [
            ("left out", "A?", parsing.TWO_RANGES),
            ("left out", "B?", parsing.NO_ANSWERS),
            ("left out", "C?", parsing.TWO_RANGES),
        ],
    ),
    "answers that look like details": (
        "A?\n- Never\n- Up to 3 times\n- Several\nB?\tMax 2\tMore\nC?\nNever\n1 to 3 times\nOften",
        [
            ("choice", "A?", "Never", "Up to 3 times", "Several"),
            ("choice", "B?", "Max 2", "More"),
            ("left out", "C?", UNMARKED),
        ],
    ),
    "boxes to tick": (
        "1. Do you smoke? ☐ Yes ☐ No\n2. Which?\n☐ Beer ☐ Wine\n☐Other\n3. Days (0 to 7 days)",
        [
            ("yes_no", "Do you smoke?", "Yes", "No"),
            ("choice", "Which?", "Beer", "Wine", "Other"),
            ("number", "Days"),
        ],
    ),
    "question marks inside": (
        "Do you smoke? Yes / No\n\n# Why? So.",
        [("information", "Why? So.")],
    ),
    "refusals": (
        "1. Do you?\n- Yes\n- No\n- Prefer not to say",
        [("yes_no", "Do you?", "Yes", "No")],
    ),
    "answers without marks after an empty line": (
        "1. Your marital status?\n\nSingle\nMarried\n\n2. How often?\n\n- Daily\n- Never",
        [
            ("left out", "Your marital status?", UNMARKED),
            ("choice", "How often?", "Daily", "Never"),
        ],
    ),
    "answers in one line": (
        "1. Sex?\n1, Male | 2, Female\n2. Sex?\nMale, Female\n3. How often?\nNever / Often\n4. A?",
        [
            ("left out", "Sex?", UNMARKED),
            ("left out", "Sex?", UNMARKED),
            ("left out", "How often?", UNMARKED),
            ("yes_no", "A?"),
        ],
    ),
    "answers numbered like questions": (
        "1. Your sex?\n1. Male\n2. How often?\n(0) Never\n3. Any comments?\n4. Is it?",
        [
            ("left out", "Your sex?", UNMARKED),
            ("left out", "Male", parsing.NO_ANSWERS),
            ("left out", "How often?", UNMARKED),
            ("left out", "Never", parsing.NO_ANSWERS),
            ("yes_no", "Any comments?"),
            ("yes_no", "Is it?"),
        ],
    ),
    "headings with a letter or an asterisk": (
        HEADINGS,
        [
            ("yes_no", "A?", "Yes", "No"),
            ("choice", "B?", "x", "y", "z"),
            ("choice", "C?", "x", "y"),
            ("choice", "D?", "x", "y"),
            ("choice", "E?", "x", "y"),
            ("left out", "F?", UNMARKED),
        ],
    ),
    "rules in front": (
        "2. (if Q1 = x) How often?\n3. [Ask if Q1 = x]: Where?\n(if Q1 is yes) Why?\n4. (1-5) Why?",
        [("yes_no", text) for text in ("How often?", "Where?", "Why?", "(1-5) Why?")],
    ),
    "columns that are neither questions nor answers": (
        "Question\tType\tOptions\nAge?\tnumber\t18-99\n\n1. A?",
        [("yes_no", "A?")],
    ),
    "columns of answers": (
        "Nr\tFrage\tAntwort 1\tOption B\t3\n1\tWas?\tx\ty",
        [("choice", "Was?", "x", "y")],
    ),
    "Spanish numbers": ("1.- ¿Fuma?\n2.-¿Bebe?", [("yes_no", "¿Fuma?"), ("yes_no", "¿Bebe?")]),
    "Chinese": (
        "1、性别？\nA、男\nB、女\n\nC、其他\n2．吸烟吗？\nA.是\nB.否\n（3）年龄（0 到 99）",
        [
            ("choice", "性别？", "男", "女", "其他"),
            ("yes_no", "吸烟吗？", "是", "否"),
            ("left out", "年龄（0 到 99）", parsing.NO_ANSWERS),
        ],
    ),
    "Arabic with dashes": (
        "١- هل تدخن؟\nأ- نعم\nب- لا\n٢-كم مرة؟\nأ-أبدا\n\nب-دائما",
        [("yes_no", "هل تدخن؟", "نعم", "لا"), ("choice", "كم مرة؟", "أبدا", "دائما")],
    ),
    "Google Forms": (
        "1. Do you smoke? *\n2. Your age? (0 to 99) *\n3. Why?*",
        [("yes_no", "Do you smoke?"), ("number", "Your age?"), ("yes_no", "Why?")],
    ),
    "a question after three answers": (
        TWO_STYLES,
        [
            ("choice", "Welche?", "a", "b", "c"),
            ("scale", "Wie sehr?"),
            ("choice", "Wo?", "a", "b"),
            ("scale", "Wie sehr?"),
        ],
    ),
    "markup": (
        "<b onclick=x>Hi</b>?\n=1+1?",
        [("yes_no", "<b onclick=x>Hi</b>?"), ("yes_no", "=1+1?")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pasted_texts_become_what_they_look_like(name: str) -> None:
    text, expected = CASES[name]
    assert [describe(question) for question in parse_pasted(text).questions] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 never – 5 always", (1, 5, "never", "always", "", True)),
        ("1 never - 5 always", (1, 5, "never", "always", "", True)),
        ("1 = non-smoker to 7 = heavy", (1, 7, "non-smoker", "heavy", "", True)),
        ("1 (never) — 5 (always)", (1, 5, "never", "always", "", True)),
        ("−2 bad to 2 good", (-2, 2, "bad", "good", "", True)),
        ("0 to 30 days", (0, 30, "", "", "days", False)),
        ("0 days to 30 days", (0, 30, "", "", "days", False)),
        ("1-5", (1, 5, "", "", "", True)),
        ("0 bis 100", (0, 100, "", "", "", False)),
        ("1990–1999", (1990, 1999, "", "", "", False)),
        ("0 à 60 ans", (0, 60, "", "", "ans", False)),
        ("18 a 99", (18, 99, "", "", "", False)),
        ("1 nunca a 5 siempre", (1, 5, "nunca", "siempre", "", True)),
        ("0 إلى 10", (0, 10, "", "", "", True)),
        ("0到10", (0, 10, "", "", "", True)),
        ("1 = never, 5 = always", (1, 5, "never", "always", "", True)),
        ("1=从不，5=总是", (1, 5, "从不", "总是", "", True)),
        ("1 = male, 2 = female", None),
        ("1 = never, 2 = rarely, 3 = often", None),
        ("from 1 to 5", None),
        ("5 days", None),
    ],
)
def test_ranges(text: str, expected: tuple[object, ...] | None) -> None:
    found = find_range(text)
    assert expected == (
        found
        and (found.low, found.high, found.low_label, found.high_label, found.unit, found.is_scale)
    )
    assert found is None or isinstance(found, Range)


@pytest.mark.parametrize(
    ("line", "label", "rest"),
    [
        ("1- Is it?", "1", "Is it?"),
        ("3/ Is it?", "3", "Is it?"),
        ("Q05a. Is it?", "5a", "Is it?"),
        ("A1. Is it?", "a1", "Is it?"),
        ("12-month use?", None, "12-month use?"),
        ("3/4 of a litre?", None, "3/4 of a litre?"),
        ("1- 5", None, "1- 5"),
        ("B12?", None, "B12?"),
    ],
)
def test_numbers_in_front(line: str, label: str | None, rest: str) -> None:
    mark, found = split_mark(line)
    assert (mark.label, found) == (label, rest)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ar", "zh-hans"])
def test_words_of_the_page_are_known_in_every_language(language: str) -> None:
    with override(language):
        assert is_refusal(gettext(REFUSED_TEXT))
        assert is_none(gettext(NONE_TEXT))


@pytest.mark.parametrize(
    ("refusal", "none"),
    [
        ("I prefer not to say.", "None"),
        ("Prefer not to answer", "None of the above"),
        ("Keine Angabe", "Keine davon"),
        ("Je préfère ne pas répondre", "Aucune de ces réponses"),
        ("Prefiero no contestar", "Ninguna de las anteriores"),
        ("أفضّل ألا أجيب", "لا شيء مما سبق"),
        ("不愿回答", "以上都不是"),
    ],
)
def test_refusals_and_none(refusal: str, none: str) -> None:
    text = f"A? (all that apply)\n- x\n- y\n- {none}\n- {refusal}"
    [question] = parse_pasted(text).questions
    assert (question.options, question.refusal, question.none_left_out) == (["x", "y"], True, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No -> go to 3", True),
        ("No → 3", True),
        ("No, go to Q3", True),
        ("If Q1 is yes, why?", True),
        ("Do you go to two doctors?", False),
    ],
)
def test_routing(text: str, expected: bool) -> None:
    assert mentions_routing(split_details(text)[0]) == expected


def test_every_type_of_pasted_question_has_a_form() -> None:
    assert set(QUESTION_FORMS) > {"yes_no", "choice", "several", "scale", "number", "information"}


ODDITIES = "\n- \n1.\n# A\nif Q1 is yes\n(max 2)\n1 a – 5 b\nWhy?\nText\n\u202ex?"
ODDITIES += "\n\n* Note\nB. b\nQuestion\tType\tOptions"
PIECES = st.sampled_from("\n".join((WORD, EXCEL, BROKEN_CELLS, GERMAN, ODDITIES)).split("\n"))
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=25).map("\n".join)


@given(text=TEXTS)
def test_every_line_is_accounted_for_exactly_once(text: str) -> None:
    pasted = parse_pasted(text)
    filled = [n for n, line in enumerate(split_lines(text), start=1) if line.strip()]
    assert [line.number for line in pasted.lines] == filled
    for line in pasted.lines:
        assert (line.question is None) == (line.role in ("heads", "unclear"))
        assert (line.problem != "") == (line.role == "unclear")
    with_lines = {line.question for line in pasted.lines if line.question is not None}
    assert with_lines == set(range(len(pasted.questions)))


@pytest.mark.parametrize(
    "unit",
    ["a", "1-", "? ", "(", '"\t', "1 a – ", "1 = a, ", "(if Q1)", "- \n", "x\t", "(1-5)", ")?"],
)
def test_long_texts_are_parsed_in_linear_time(unit: str) -> None:
    started = time.process_time()
    parse_pasted("1. " + unit * (60_000 // len(unit)))
    assert time.process_time() - started < 5
