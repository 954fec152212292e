"""People go back from everywhere, press twice, rotate, change the language and print."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, ViewportSize, expect

from aggregator.models import RawReport
from scripts.benchmarks.grounds.five_surveys import make_mine
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    PAID,
    THINGS,
    TIRED,
    choose,
    make_branching_survey,
    type_in,
    walk_through,
)
from tests.support.browser.visit import CHOSEN, NEXT, SENT, Visitor, go_back, status

LANDSCAPE: ViewportSize = {"width": 844, "height": 390}
A4 = 718  # pixels between the usual margins
CHECK = "Check your answers"
ANSWERS = {
    MOVED: choose("Yes"),
    THINGS: choose("Friends", "A job"),
    LONELY: choose("Yes"),
    LONELY_STILL: choose("No"),
    HOURS: type_in("7"),
    TIRED: choose("3"),
    PAID: choose("I"),
    GROUP: choose("In a town"),
}
# Reads what the person has chosen or typed on the page that is shown, or the check page's rows.
READ_STATE = """() => [...document.querySelectorAll("main :is(input, button), dl.checks > div")]
    .map((one) => one.type === "text" ? one.value
      : one.type === "button" ? one.ariaPressed === "true" : (one.checked ?? one.innerText))"""

# Finds texts that a person can open on the screen, but that are missing or do not fit on paper.
FIND_UNPRINTED = """() => {
    const isMeant = (one) => !one.closest("[hidden], .visually-hidden, noscript, .late, .begin");
    const isPrinted = (one) => {
      const { left, right, height } = one.getBoundingClientRect();
      return one.checkVisibility() && height > 0 && left >= 0 && right <= innerWidth + 1;
    };
    return [...document.querySelectorAll("main :is(h1, h2, p, li, dt, dd, summary)")]
      .filter((one) => one.textContent.trim() && isMeant(one) && !isPrinted(one))
      .map((one) => one.textContent);
}"""


def heading(page: Page) -> Any:
    return page.get_by_role("heading", level=1)


def test_going_back_through_every_page_keeps_every_answer(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())
    passed = [*walk_through(page, ANSWERS), CHECK]
    states = {}
    for text in reversed(passed):
        expect(heading(page)).to_have_text(text)
        states[text] = page.evaluate(READ_STATE)
        assert any(states[text]) or text == "Please read"
        page.set_viewport_size(LANDSCAPE)
        assert page.evaluate(READ_STATE) == states[text]
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        go_back(page)
        page.keyboard.press("F8")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert visitor.reports() == []


def test_pressing_everything_twice_chooses_nothing_and_sends_one_report(visitor: Visitor) -> None:
    page = visitor.open(make_branching_survey())

    def press_twice(name: str) -> None:
        """Press the same place twice, as a double click does."""
        page.get_by_role("button", name=name, exact=True).dblclick()

    taps = {MOVED: "Yes", LONELY: "Yes", LONELY_STILL: "No", TIRED: "3", PAID: "I"}
    taps[GROUP] = "In a town"

    press_twice("Start")
    seen = []
    while (text := heading(page).inner_text()) != CHECK:
        seen.append(text)
        assert page.locator(f":checked, {CHOSEN}, .error-summary").count() == 0, text
        if text in taps:
            press_twice(taps[text])
            continue
        if text in ANSWERS:
            ANSWERS[text](page)
        press_twice(NEXT)
    assert len(seen) == len(ANSWERS) + 1, "the text was shown too"
    press_twice("Submit")
    expect(status(page)).to_have_text(SENT)
    assert len(visitor.reports()) == 1
    assert RawReport.objects.count() == 1


def test_the_printed_start_page_is_whole_although_nothing_was_opened(visitor: Visitor) -> None:
    page = visitor.open(make_mine(), ending="/en")
    expect(page.locator("#start")).to_be_visible()
    page.set_viewport_size({"width": A4, "height": 1000})
    assert page.evaluate(FIND_UNPRINTED) != []
    page.emulate_media(media="print")
    assert page.evaluate(FIND_UNPRINTED) == []
    assert page.locator("details[open]").count() == 0
    expect(page.locator("#start, #exit")).to_have_count(2)
    for button in page.locator("#start, #exit").all():
        expect(button).to_be_hidden()
