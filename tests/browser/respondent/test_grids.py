"""Questions asked together, and long scores: rows on a page, with one answer and code each."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.every_type import REFUSED, ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import NEXT, SENT, Visitor, go_back, press, status, visiting
from tests.support.factories import make_survey, open_survey

ROWS = "Please answer each question."
CHECK = "Check your answers"
TABLE = """() => {
    const [first, second] = [...document.querySelectorAll(".item")].slice(0, 2);
    const place = (row) => row.querySelectorAll("input")[1].getBoundingClientRect().left;
    const text = first.querySelector("legend").getBoundingClientRect();
    const box = first.querySelector("input").getBoundingClientRect();
    return {
      beside: box.top < text.bottom,
      aligned: place(first) === place(second),
      named: second.querySelector(".choice span").getBoundingClientRect().height > 0,
      fits: document.documentElement.scrollWidth <= innerWidth,
    };
}"""

TOPS = "(boxes) => boxes.map((one) => one.getBoundingClientRect().top)"


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def rows(page: Page) -> list[str]:
    return page.locator(".item legend > span:first-child").all_inner_texts()


def choose(page: Page, answer: str) -> None:
    for row in page.locator(".item").all():
        row.get_by_label(answer, exact=True).check()


def walk(page: Page, answer: str) -> int:
    """Give the same answer in all rows of all pages; return the number of pages."""
    pages = 0
    while heading(page) != CHECK:
        pages += 1
        choose(page, answer)
        press(page, NEXT)
    return pages


def make_rows() -> Wave:
    """Make two rows with refusal and different protection, and two that depend on the first."""
    survey = make_survey(title="Rows", questions=())
    first = ask(survey, "Stolen?", type="yes_no", refusal=True, flips=45)
    ask(survey, "Lied?", type="yes_no", refusal=True, flips=10, together=True)
    then = {"type": "yes_no", "rule": {"name": f"{first.pk}", "is": [1]}}
    ask(survey, "Stolen much?", **then)
    ask(survey, "Stolen twice?", **then, together=True)
    return open_survey(survey=survey)


def make_long_score() -> Wave:
    survey = make_survey(title="Score", questions=())
    items = [f"Item {number}x" for number in range(1, 10)]
    scale = {"scored_items": items, "scored_options": ["0 Never", "1 Often"], "output": "total"}
    ask(survey, "Lately …", type="score", refusal=True, **scale)
    return open_survey(survey=survey)


def test_45_yes_no_questions_take_seven_pages(visitor: Visitor) -> None:
    survey = make_survey(questions=[f"Number {number}?" for number in range(45)], flips=49)
    survey.questions.filter(position__gt=1).update(together=True)
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    assert page.locator(".eyebrow").inner_text().startswith("Page 1 of 7 · Minutes left")
    assert walk(page, "Yes") == 7
    assert page.locator("dl.checks > div").count() == 45
    submit = page.get_by_role("button", name="Submit").first
    box = submit.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 844  # on the first screen
    submit.click()
    expect(status(page)).to_have_text(SENT)
    assert len(json.loads(visitor.bodies()[0])["symbols"]) == 45


@pytest.mark.parametrize(
    ("width", "height"),
    [
        pytest.param(320, 844, marks=pytest.mark.long),
        (1280, 800),
        pytest.param(844, 340, marks=pytest.mark.long),
    ],
)
def test_rows_are_asked_as_cards_or_a_table_and_checked_as_questions(
    chromium: Browser, live: LiveApplication, width: int, height: int
) -> None:
    is_wide = width > 600
    with visiting(chromium, live, viewport={"width": width, "height": height}) as visitor:
        page = visitor.open(make_rows())
        page.get_by_role("button", name="Start").focus()
        for _ in range(3):  # the key is held down
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        assert page.locator(".error-summary").count() == 0
        assert (heading(page), rows(page)) == (ROWS, ["Stolen?", "Lied?"])
        assert page.locator("#odds").count() == 0  # each row has its own odds
        expect(page.get_by_role("group", name="Stolen?")).to_contain_text("strong")
        # No earlier page had either way of scrambling, so this page states both in full.
        assert page.locator(".item legend p").count() == 2
        expect(page.get_by_role("group", name="Lied?")).to_contain_text("light")
        shown = page.evaluate(TABLE)
        assert shown == {
            "beside": is_wide,
            "aligned": True,
            "named": not is_wide or height < 400,
            "fits": True,
        }
        page.get_by_role("group", name="Stolen?").get_by_role("radio", name="Yes").check()
        press(page, NEXT)
        page.locator(".error-summary a").click()
        missing = page.get_by_role("group", name="Lied?").get_by_role("radio")
        expect(missing.first).to_be_focused()
        assert find_violations(page) == []
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(missing.nth(2)).to_be_checked()
        press(page, NEXT)
        assert rows(page) == ["Stolen much?", "Stolen twice?"]
        choose(page, "No")
        press(page, NEXT)
        told = page.locator("dl.checks dd:first-of-type").all_inner_texts()
        assert [one.split("\n")[0] for one in told] == ["Yes", REFUSED, "No", "No"]
        page.get_by_role("link", name="Change the answer to: Lied?").click()
        assert rows(page) == ["Stolen?", "Lied?"]
        assert page.locator(".item :checked").count() == 2
        choose(page, "No")  # so that neither dependent row is asked
        press(page, NEXT)
        assert page.locator("dl.checks > div").count() == 2
        press(page, "Submit")
        expect(status(page)).to_have_text(SENT)
        assert len(json.loads(visitor.bodies()[0])["symbols"]) == 4


def test_many_answers_leave_the_column_where_the_page_is_wide(
    chromium: Browser, live: LiveApplication
) -> None:
    """Pages of rows have the title of their section, or a title for screen readers only."""
    survey = make_survey(title="Rows", language="ar", questions=())
    scale = {"type": "scale", "minimum": 0, "maximum": 10, "low_label": "a", "high_label": "b c"}
    for text, more in (("One?", {}), ("Two?", {"together": True})):
        ask(survey, text, **scale, **more)
    ask(survey, "Team", type="information")
    for text, more in (("Three?", {}), ("Four?", {"together": True})):
        ask(survey, text, type="choice", options=list("abcdefg"), **more)
    with visiting(chromium, live, viewport={"width": 1280, "height": 800}) as visitor:
        page = visitor.open(open_survey(survey=survey))
        page.locator("#start").click()
        title = page.get_by_role("heading", level=1)
        expect(title.locator(".visually-hidden")).to_have_count(1)
        expect(title).to_be_focused()
        for width, is_table in ((1280, True), (1100, False), (320, False)):  # 320 is 400 % zoom
            page.set_viewport_size({"width": width, "height": 800})
            tops = page.locator(".item:first-of-type input").evaluate_all(TOPS)
            assert (len(set(tops)) == 1) == is_table
            assert page.evaluate(TABLE)["fits"]
        assert find_violations(page) == []
        choose(page, "3")
        page.locator("main > .button").click()
        page.locator("main > .button").click()
        assert (heading(page), rows(page)) == ("Team", ["Three?", "Four?"])


def test_all_answers_to_rows_look_the_same_from_outside(
    chromium: Browser, live: LiveApplication
) -> None:
    """After Yes, two more rows are asked; only the duration of the visit can show this."""
    wave, seen = make_rows(), []
    for answer in ("Yes", "No", REFUSED):
        with visiting(chromium, live) as visitor:
            page = visitor.open(wave)
            press(page, "Start")
            choose(page, answer)
            press(page, NEXT)
            assert walk(page, "Yes") == (answer == "Yes")
            press(page, "Submit")
            expect(status(page)).to_have_text(SENT)
            asked = [(one.method, one.url) for one in visitor.requests]
            title, entries = page.title(), page.evaluate("history.length")
            seen.append((asked, len(visitor.bodies()[0]), title, entries))
    assert seen[0] == seen[1] == seen[2]


def test_a_long_score_has_several_pages_and_one_code(visitor: Visitor) -> None:
    page = visitor.open(make_long_score())
    press(page, "Start")
    assert rows(page) == [f"Item {number}x" for number in range(1, 6)]
    choose(page, "Often")
    press(page, NEXT)
    assert rows(page) == [f"Item {number}x" for number in range(6, 10)]
    go_back(page)
    assert page.locator(".item :checked").count() == 5
    press(page, NEXT)
    choose(page, "Never")
    press(page, NEXT)
    assert "Total: 5" in page.locator("dl.checks").inner_text()
    page.locator("dl.checks .again").first.click()  # the first page changes the total
    page.locator(".item").first.get_by_label("Never").check()
    press(page, NEXT)
    assert "Total: 4" in page.locator("dl.checks").inner_text()
    page.locator("dl.checks .again").last.click()
    page.get_by_label(REFUSED).check()  # for the whole score
    press(page, NEXT)
    assert page.locator("dl.checks").inner_text().count(REFUSED) == 2
    page.locator("dl.checks .again").last.click()
    choose(page, "Often")
    press(page, NEXT)  # so the other page of the score has no answers
    assert rows(page)[0] == "Item 1x"
    choose(page, "Never")
    press(page, NEXT)
    assert "Total: 4" in page.locator("dl.checks").inner_text()
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert len(json.loads(visitor.bodies()[0])["symbols"]) == 1


def test_the_check_opens_the_section_of_the_row_that_was_changed(visitor: Visitor) -> None:
    survey = make_survey(questions=[f"Number {number}?" for number in range(1, 22)], flips=49)
    survey.questions.filter(position__range=(2, 12)).update(together=True)
    page = visitor.open(open_survey(survey=survey))
    press(page, "Start")
    for _ in range(2):  # six rows on each page
        choose(page, "Yes")
        press(page, NEXT)
    for _ in range(9):
        press(page, "Yes")
    page.locator(".folded summary").nth(1).click()
    page.get_by_role("link", name="Change the answer to: Number 11?").click()
    assert rows(page)[0] == "Number 7?"
    press(page, NEXT)
    opened = page.locator(".folded details[open] summary").all_inner_texts()
    assert opened == ["Questions 11–20 (10)"]
