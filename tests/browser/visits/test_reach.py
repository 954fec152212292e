"""Exit is in reach at every size of screen and text, and Start covers no line of the label."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from scripts.benchmarks.grounds.five_surveys import FIVE
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import visiting
from tests.support.six_languages import make_survey_in_six_languages

TWICE = "document.documentElement.style.fontSize = '200%'"
# Scrolls to the bottom, then measures Exit and how much of the screen the header covers.
MEASURE = """() => {
    scrollTo(0, 1e6);
    const { top, right, bottom, left } = document.getElementById("exit").getBoundingClientRect();
    const bar = document.querySelector("header").getBoundingClientRect();
    return {
      top, left, wide: right - left, high: bottom - top,
      over: Math.max(right - innerWidth, bottom - innerHeight),
      bar: Math.max(bar.bottom, 0),
      sideways: document.scrollingElement.scrollWidth > innerWidth,
    };
}"""
# Finds the lowest line of the label, and where Start begins, on the screen where Start appears.
LINES = """() => {
    const start = document.getElementById("start");
    start.scrollIntoView({ block: "end" });
    const lines = [...document.querySelectorAll(".told div")].map((line) => Math.max(
      ...[...line.children].map((part) => part.getBoundingClientRect().bottom)));
    return [Math.max(...lines), start.getBoundingClientRect().top];
}"""


def measure_exit(page: Page) -> dict[str, float]:
    found: dict[str, float] = page.evaluate(MEASURE)
    return found


@pytest.mark.parametrize(
    ("width", "height"), [(320, 256), (568, 320), (667, 331), (844, 340), (320, 568), (390, 844)]
)
@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_exit_is_in_reach_at_every_size(
    chromium: Browser, live: LiveApplication, width: int, height: int, language: str
) -> None:
    wave = make_survey_in_six_languages(quick_exit=True)
    size = {"width": width, "height": height}
    with visiting(chromium, live, viewport=size, locale=language) as visitor:
        page = visitor.open(wave, ending=f"/{language}")
        page.locator("#start").click()
        page.wait_for_selector("main .choice")
        for text in ("", TWICE):
            page.evaluate(text)
            found = measure_exit(page)
            assert found["top"] >= 0, found
            assert found["left"] >= 0, found
            assert found["over"] <= 0, found
            assert min(found["high"], found["wide"]) >= 44, found
            assert found["bar"] <= (72 if height >= 400 else 0), found
            assert not found["sideways"], found


@pytest.mark.parametrize(("width", "height"), [(390, 664), (360, 640), (320, 568)])
@pytest.mark.parametrize("name", FIVE)
def test_start_in_view_means_that_the_label_was_passed(
    chromium: Browser, live: LiveApplication, width: int, height: int, name: str
) -> None:
    wave = FIVE[name]()
    with visiting(chromium, live, viewport={"width": width, "height": height}) as visitor:
        for language in ("en", "de", "ar"):
            page = visitor.open(wave, ending=f"/{language}")
            page.wait_for_selector("#start:visible")
            page.evaluate("scrollTo(0, 0)")
            lowest, start = page.evaluate(LINES)
            assert lowest <= start, language
            page.close()
