"""Every type of question on the respondent's page, and the path that rules determine."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.models import RawReport
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    NONE,
    PAID,
    READ,
    REFUSED,
    THINGS,
    TIRED,
    Do,
    ask,
    choose,
    make_branching_survey,
    type_in,
    walk_through,
)
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import CONFIRM, NEXT, SENT, Visitor, press, status, visiting
from tests.support.factories import make_survey, open_survey

LONG_WAY: dict[str, Do] = {
    MOVED: choose("Yes"),
    THINGS: choose("Friends", "A job"),
    LONELY: choose("Yes"),
    LONELY_STILL: choose("No"),
    HOURS: type_in("7"),
    TIRED: choose("4"),
    PAID: choose("Nobody"),
    GROUP: choose("Elsewhere"),
}


# Reads the names of the questions, then the class that draws the mark, the word for the strength,
# and the sentence.
READ_ODDS = """(blocks) => blocks.map((one) => [one.dataset.names,
    one.firstElementChild.className, one.firstElementChild.textContent,
    one.querySelector("p")?.textContent ?? ""])"""
BORDER = "(one) => getComputedStyle(one).borderTopColor"


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def checked_rows(page: Page) -> dict[str, str]:
    """Map the question to the answer in every row of the check page."""
    rows = page.locator("dl.checks > div")
    texts = [row.locator("dt, dd:nth-of-type(1)").all_inner_texts() for row in rows.all()]
    return {question: " ".join(answer.split()) for question, answer in texts}


def complain(page: Page) -> str:
    press(page, NEXT)
    summary = page.locator(".error-summary")
    expect(summary).to_be_focused()
    return summary.locator("a").inner_text()


@pytest.mark.parametrize("width", [320, pytest.param(390, marks=pytest.mark.long), 1280])
def test_a_visit_can_answer_every_type(
    chromium: Browser, live: LiveApplication, width: int
) -> None:
    wave = make_branching_survey()
    with visiting(chromium, live, viewport={"width": width, "height": 844}) as visitor:
        page = visitor.open(wave)
        expect(page.get_by_text("Up to 9 pages")).to_be_visible()
        fits = "document.documentElement.scrollWidth <= innerWidth"

        def and_it_fits(act: Do) -> Do:
            def look(page: Page) -> None:
                assert page.evaluate(fits)
                for box in page.locator(".choice, main > .button:visible").all():
                    size = box.bounding_box()
                    assert size is not None
                    assert min(size["width"], size["height"]) >= 44
                act(page)
                assert page.evaluate(fits)

            return look

        assert page.evaluate(fits)
        seen = walk_through(page, {text: and_it_fits(act) for text, act in LONG_WAY.items()})
        assert seen == [MOVED, "Please read", *list(LONG_WAY)[1:]]
        assert checked_rows(page) == {
            MOVED: "Yes Protection: light",
            THINGS: "Friends, A job Protection: light",
            LONELY: "Yes",
            LONELY_STILL: "No",
            HOURS: "7 hours",
            TIRED: "4",
            PAID: "Nobody",
            GROUP: "Elsewhere Not scrambled",
        }
        assert page.evaluate(fits)
        press(page, "Submit")
        expect(status(page)).to_have_text(SENT)
        symbols = json.loads(visitor.bodies()[0])["symbols"]
        # moved, gate, three things, lonely, hours, tired, paid, group
        assert len(symbols) == 10
        assert symbols[-1] == "B", "what is not scrambled is sent as it is"
        assert RawReport.objects.get().symbols[-1] == 1


def test_a_question_that_no_rule_asks_is_neither_shown_nor_listed(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    short = {**LONG_WAY, MOVED: choose("No"), LONELY: choose(REFUSED)}
    assert walk_through(page, short) == [MOVED, LONELY, TIRED, PAID, GROUP]
    assert list(checked_rows(page)) == [MOVED, LONELY, TIRED, PAID, GROUP]
    assert checked_rows(page)[LONELY] == REFUSED
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert len(json.loads(visitor.bodies()[0])["symbols"]) == 10


def test_each_scrambled_question_repeats_what_the_label_says_about_it(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    # The names of questions in the order of the label's sentences; a text to read has no name.
    odds = page.locator("#label .odds").evaluate_all(READ_ODDS)
    said = {name: words for names, *words in odds for name in names.split()}
    assert {(mark, word) for mark, word, _ in said.values()} > {("strong", "Protection: strong")}
    assert said.keys() == {"q1", "q2", "q3", "q4", "q5", "q6"}
    seen: dict[str, list[list[str]]] = {}

    def reading(text: str, act: Do) -> Do:
        def read(page: Page) -> None:
            lines = page.locator("fieldset .quiet").evaluate_all(READ_ODDS)
            seen[text] = [words for _, *words in lines]
            act(page)

        return read

    walk_through(page, {text: reading(text, act) for text, act in LONG_WAY.items()})
    names = dict(zip(LONG_WAY, ("q1", "q2", "q3", "q3", "q4", "q5", "q6", "q7"), strict=True))
    assert seen.pop(GROUP) == [], "it is sent as it is, which its notice says"
    told: set[str] = set()
    for text, [[mark, word, sentence]] in seen.items():
        full = said[names[text]]
        # Each sentence is shown once.
        assert [mark, word, sentence] == [*full[:2], "" if full[2] in told else full[2]]
        told.add(full[2])


def test_progress_names_the_most_pages_if_their_number_depends_on_answers(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    press(page, "Start")
    assert "Question" not in page.locator("main").inner_text().split("How your")[0]
    assert page.title() == "Survey"
    expect(page.locator(".eyebrow")).to_have_text("Page 1 of at most 9")
    press(page, "No")
    assert page.title() == "Survey", "the history stores it"
    expect(page.locator(".eyebrow")).to_have_text("Page 2 of at most 7")


def test_a_changed_answer_shows_and_hides_dependent_questions(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    walk_through(page, LONG_WAY)

    def change(text: str, row: str) -> None:
        page.get_by_role("link", name=f"Change the answer to: {text}").click()
        press(page, row)

    change(MOVED, "No")
    assert heading(page) == "Check your answers"
    assert list(checked_rows(page)) == [MOVED, LONELY, LONELY_STILL, TIRED, PAID, GROUP]
    change(MOVED, "Yes")
    assert heading(page) == "Please read"
    press(page, NEXT)
    assert heading(page) == THINGS
    assert page.locator(":checked").count() == 0, "the answer was dropped when it closed"
    choose("A garden")(page)
    press(page, NEXT)
    assert heading(page) == "Check your answers"
    assert HOURS not in checked_rows(page)
    change(LONELY, "No")
    assert LONELY_STILL not in checked_rows(page)
    change(MOVED, REFUSED)
    assert heading(page) == HOURS
    assert page.locator("input:not([name])").input_value() == ""
    page.go_back()
    assert heading(page) == MOVED
    press(page, REFUSED)
    assert heading(page) == HOURS


def test_the_history_after_submit_does_not_show_the_path(visitor: Visitor) -> None:
    lengths = set()
    for way in (LONG_WAY, {**LONG_WAY, MOVED: choose("No"), LONELY: choose("No")}):
        page = visitor.open(make_branching_survey())
        walk_through(page, way)
        press(page, "Submit")
        expect(status(page)).to_have_text(SENT)
        lengths.add(page.evaluate("[history.length, history.state].join()"))
    assert len(lengths) == 1


def test_none_of_these_and_a_refusal_exclude_other_answers(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    press(page, "Start")
    press(page, "Yes")
    press(page, NEXT)
    assert heading(page) == THINGS
    expect(page.locator("fieldset")).to_have_accessible_description(
        re.compile(r"Choose at most 2\.$")
    )
    assert complain(page) == ("Choose one or more answers, “None of these” or “Prefer not to say”.")
    rows = page.locator(".choice")
    assert rows.all_inner_texts() == ["Friends", "A garden", "A job", NONE, REFUSED]

    def ticked() -> list[str]:
        return [row.inner_text() for row in rows.all() if row.locator(":checked").count()]

    expect(page.locator(".choice + .or + .choice")).to_have_text(NONE)
    choose("Friends", "A garden", "A job")(page)
    assert complain(page) == "You chose 3. Choose at most 2."
    choose(NONE)(page)
    assert ticked() == [NONE]
    choose(REFUSED)(page)
    assert ticked() == [REFUSED]
    choose("A job")(page)
    assert ticked() == ["A job"]
    choose(NONE)(page)
    press(page, NEXT)
    assert heading(page) == LONELY
    page.get_by_role("link", name="Back").click()
    assert ticked() == [NONE]


def test_a_number_must_be_whole_and_in_range(visitor: Visitor) -> None:
    survey = make_survey(title="Sleep", questions=())
    ask(survey, HOURS, type="number", minimum=-3, maximum=24, unit="hours", refusal=True)
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    line = page.get_by_label("A whole number from −3 to 24 hours")
    assert line.get_attribute("aria-invalid") is None
    expect(page.locator(".number + .or + .choice")).to_have_text(REFUSED)
    usual = line.evaluate(BORDER)
    for wrong in ("", "25", "-4", "7.5", "seven", "1e1", "7 hours"):
        line.fill(wrong)
        assert complain(page) == "Type a whole number from −3 to 24."
        expect(line).to_have_attribute("aria-invalid", "true")
        expect(line).to_have_accessible_description("Type a whole number from −3 to 24.")
    assert line.evaluate(BORDER) != usual
    page.locator(".error-summary a").click()
    expect(line).to_be_focused()
    choose(REFUSED)(page)
    expect(line).to_have_value("")
    line.fill(" −3 ")
    expect(page.get_by_label(REFUSED)).not_to_be_checked()
    press(page, NEXT)
    assert checked_rows(page) == {HOURS: "−3 hours"}
    page.get_by_role("link", name="Change").click()
    expect(line).to_have_value("-3")
    line.fill("٢٣")  # as an Arabic keyboard writes 23
    press(page, NEXT)
    assert checked_rows(page) == {HOURS: "23 hours"}
    page.get_by_role("link", name="Change").click()
    choose(REFUSED)(page)
    press(page, NEXT)
    assert checked_rows(page) == {HOURS: REFUSED}
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.get().symbols[0] in range(3)


def test_a_scale_says_what_its_ends_mean_on_the_page_and_in_the_answers(
    visitor: Visitor,
) -> None:
    survey = make_survey(title="Sleep", questions=())
    ends = {"low_label": "Never", "high_label": "Always"}
    ask(survey, "Rested?", type="scale", minimum=0, maximum=10, refusal=True, **ends)
    ask(survey, "Calm?", type="scale", minimum=1, maximum=7, **ends)
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    rows = [" ".join(row.split()) for row in page.locator(".scale .choice").all_inner_texts()]
    assert rows == ["0 Never", *map(str, range(1, 10)), "10 Always"]
    page.get_by_role("checkbox", name=CONFIRM).click()
    assert complain(page) == "Choose one answer."
    press(page, "10 Always")
    assert page.title() == "Error: Survey"
    press(page, NEXT)
    tops = {box.bounding_box()["y"] for box in page.locator(".scale .choice").all()}  # type: ignore[index]
    assert len(tops) == 1, "seven points fit beside each other on a phone"
    press(page, "1 Never")
    press(page, NEXT)
    assert checked_rows(page) == {"Rested?": "10 (Always)", "Calm?": "1 (Never)"}


# The appearance of a warning: its colour and its mark.
LOOK = """(one) => {
    const { clipPath, backgroundColor, blockSize } = getComputedStyle(one, "::before");
    return [getComputedStyle(one).color, clipPath, backgroundColor, blockSize];
}"""
AS_THEY_ARE = "When you press Submit, answers marked “Not scrambled” are sent as they are."
OTHERS = "This page scrambles the others."


@pytest.mark.parametrize(
    ("group", "said", "marks"),
    [
        ("In a town", f"{AS_THEY_ARE} {OTHERS}", ["Not scrambled", "Hardly protected"]),
        ("Elsewhere", AS_THEY_ARE, ["Not scrambled"]),  # no scrambled question is asked
    ],
)
def test_the_check_takes_no_warning_back(
    visitor: Visitor, group: str, said: str, marks: list[str]
) -> None:
    survey = make_survey(title="Moving", questions=())
    first = ask(survey, GROUP, type="declared", options=["In a town", "Elsewhere"])
    rule = {"name": f"{first.pk}", "is": [0]}
    ask(survey, MOVED, type="yes_no", flips=5, rule=rule)
    ask(survey, LONELY, type="follow_up", follow_up=LONELY_STILL, rule=rule)
    page = visitor.open(open_survey(survey=survey))
    warned = page.locator(".told .but").evaluate(LOOK)
    yes = choose("Yes")
    walk_through(page, {GROUP: choose(group), MOVED: yes, LONELY: yes, LONELY_STILL: yes})
    assert page.locator("main > p").first.inner_text() == f"Not sent yet. {said}"
    assert page.locator(".checks :is(b, h2)").all_inner_texts() == marks
    assert page.locator(".checks .but").evaluate(LOOK) == warned
    page.get_by_role("link", name=f"Change the answer to: {GROUP}").click()
    asked = "This question is not scrambled. Your answer is sent as it is."
    expect(page.locator("fieldset")).to_have_accessible_description(asked)
    assert page.locator("#hint").evaluate(LOOK) == warned


def test_the_check_says_that_only_codes_are_sent_where_all_answers_are_scrambled(
    visitor: Visitor,
) -> None:
    survey = make_survey(title="Moving", questions=(MOVED,))
    page = visitor.open(open_survey(survey=survey))
    walk_through(page, {MOVED: choose("Yes")})
    expect(page.locator("main > p").first).to_have_text(
        "Not sent yet. When you press Submit, this page scrambles your answers. "
        "Only the code is sent."
    )
    assert page.locator(".checks :is(b, h2)").count() == 0


def test_every_type_can_be_answered_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    keys = {
        MOVED: ("Space",),
        "Please read": ("Enter",),
        THINGS: ("Space", "Tab", "Space", "Enter"),
        LONELY: ("Enter",),
        LONELY_STILL: ("Tab", "Enter"),
        HOURS: ("8", "Enter"),
        TIRED: ("Tab", "Tab", "Space"),
        PAID: ("Tab", "Enter"),
        GROUP: ("Space",),
    }
    for text, presses in keys.items():
        assert heading(page) == text
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        page.keyboard.press("Tab")
        for key in presses:
            page.keyboard.press(key)
    assert checked_rows(page) == {
        MOVED: "Yes Protection: light",
        THINGS: "Friends, A garden Protection: light",
        LONELY: "Yes",
        LONELY_STILL: "No",
        HOURS: "8 hours",
        TIRED: "3",
        PAID: "Somebody else",
        GROUP: "In a town Not scrambled",
    }
    assert READ not in checked_rows(page)


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("Help\n\nCall us.\n\nAt night too.", "Help", "Call us.\n\nAt night too."),
        ("Help\nCall us.\n\nAt night too.", "Please read", "Help\nCall us.\n\nAt night too."),
        ("Help", "Help", ""),
        ("Take your time.", "Please read", "Take your time."),
    ],
    ids=["heading", "paragraph", "line", "sentence"],
)
def test_the_first_line_of_a_text_is_its_heading_if_it_stands_apart(
    visitor: Visitor, text: str, title: str, body: str
) -> None:
    survey = make_survey()
    ask(survey, text, type="information")
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    for _ in range(2):
        press(page, "No")
    assert heading(page) == title
    assert page.locator(".intro").inner_text() == body.strip()
    # Murmur's own words are in the page's language; the author's words keep their own language.
    assert page.locator("h1 [lang]").count() == (title == "Help")
