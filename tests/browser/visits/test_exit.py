"""The button that leaves the page stays in reach, and never covers the element with the focus."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Wave
from tests.support.browser.accessibility import LOOK_AT_EXIT, assert_exit_is_in_reach
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import Visitor, answer_page, choose_first, press, visiting
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.six_languages import HAPPENED

TOO_LOW = 399  # pixels
# Returns the element with the focus, and whether the header leaves it, or its row, uncovered.
LOOK_AT_FOCUS = """() => {
    const one = document.activeElement;
    const header = document.querySelector("header");
    const { top } = (one.closest(".choice") ?? one).getBoundingClientRect();
    const edge = header.getBoundingClientRect().bottom;
    const isFree = one === document.body || header.contains(one) || top >= edge;
    return { name: one.outerHTML.slice(0, 80), isFree };
}"""


def make_long_survey(language: str) -> Wave:
    """Make a survey whose pages are all longer than the screen of a phone."""
    settings: dict[str, Any] = {"quick_exit": True, "coins": True, "language": language}
    texts: dict[str, Any] = {"introduction": "About you.\n" * 20, "consent": "I was told.\n" * 30}
    survey = make_survey(questions=(), **texts, **settings)
    ask(survey, "Which?", type="several", options=[f"Row {n}" for n in range(20)], limit=2)
    for number in range(8):
        ask(survey, f"Number {number}?", type="yes_no")
    return open_survey(survey=survey)


@pytest.mark.parametrize(
    ("language", "width"),
    [
        ("en", 320),
        ("ar", 390),
        pytest.param("ar", 320, marks=pytest.mark.long),
        pytest.param("de", 390, marks=pytest.mark.long),
        pytest.param("en", 1280, marks=pytest.mark.long),
    ],
)
def test_the_exit_is_in_reach_on_every_page_when_scrolled(
    chromium: Browser, live: LiveApplication, language: str, width: int
) -> None:
    wave = make_long_survey(language)
    size = {"width": width, "height": 568}
    with visiting(chromium, live, viewport=size, locale=language) as visitor:
        page = visitor.open(wave)
        expect(page.locator("#start")).to_be_visible()
        for summary in page.locator("main summary:visible").all():
            summary.click()
        assert page.evaluate(LOOK_AT_EXIT)["scrolled"] > 500
        assert_exit_is_in_reach(page)
        page.locator("#start").click()
        while not page.locator("dl.checks").count():
            assert_exit_is_in_reach(page)
            if not page.locator("button.choice").count():
                page.locator("main > .button").click()
                assert_exit_is_in_reach(page)
            answer_page(page, choose_first)
        assert page.evaluate(LOOK_AT_EXIT)["scrolled"] > 200
        assert_exit_is_in_reach(page)
        page.locator("main > .again").click()  # send later
        expect(page.locator(".over .button")).to_be_visible()
        assert_exit_is_in_reach(page)
        page.locator(".over .button").click()
        expect(page.locator("details")).to_be_visible()
        page.locator("summary").click()
        assert_exit_is_in_reach(page)
        for name in ("coins", "coins/sent", "paper", "send", "send/sent", "check"):
            page.goto(f"{visitor.url}/s/{wave.survey.slug}/{name}?lang={language}")
            assert_exit_is_in_reach(page)


@pytest.mark.parametrize("language", HAPPENED)
def test_the_exit_is_one_line_high_in_every_language(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_launched_survey(questions=("Driven?",), language=language)
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.open(wave)
        for width in (320, 360, 375, 390, 412, 480, 481, 640, 1280):
            page.set_viewport_size({"width": width, "height": 568})
            assert_exit_is_in_reach(page)
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_in_a_low_window_the_header_scrolls_away_and_the_button_stays(visitor: Visitor) -> None:
    page = visitor.open(make_long_survey("en"))
    position = "getComputedStyle(document.querySelector('header')).position"
    for height, expected in ((TOO_LOW, "static"), (TOO_LOW + 1, "sticky")):
        page.set_viewport_size({"width": 390, "height": height})
        assert page.evaluate(position) == expected
        assert_exit_is_in_reach(page)


def test_without_an_exit_the_header_scrolls_away(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(quick_exit=False))
    position = "getComputedStyle(document.querySelector('header')).position"
    assert page.evaluate(position) == "static"


@pytest.mark.parametrize("height", [420, 844])
def test_the_header_never_covers_what_has_the_focus(visitor: Visitor, height: int) -> None:
    page = visitor.open(make_long_survey("en"))
    page.set_viewport_size({"width": 390, "height": height})
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    tab_both_ways(page, 12)
    press(page, "Start")
    tab_both_ways(page, 26)
    press(page, "Continue")
    assert page.evaluate(LOOK_AT_FOCUS)["isFree"]
    page.evaluate("scrollTo(0, 400)")
    page.locator(".error-summary a").click()
    assert page.evaluate(LOOK_AT_FOCUS)["isFree"]


def tab_both_ways(page: Page, stops: int) -> None:
    for key in ("Tab", "Shift+Tab"):
        for _ in range(stops):
            page.keyboard.press(key)
            found = page.evaluate(LOOK_AT_FOCUS)
            assert found["isFree"], found
