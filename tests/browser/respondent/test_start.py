"""The start page is short and well set, and Start is on the first screen of a phone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.benchmarks.grounds.five_surveys import FIVE, LANGUAGES, list_authors_words, make_mine
from scripts.benchmarks.grounds.opening import count_words, measure_opening
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import Visitor, visiting

# The most words up to Start, including the author's; in Chinese, each character counts.
MOST_WORDS = {"mine": 120, "one": 70}
MOST_SIGNS = {"mine": 200, "one": 110}
SCREEN = 844  # pixels
# Reads the families and sizes of all visible text, and the colours of everything but the picture.
READ_TYPE = """() => {
    const found = { families: {}, sizes: {}, oranges: [] };
    const orange = getComputedStyle(document.querySelector("figure g") ?? document.body).stroke;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: one, data } = walker.currentNode;
      const { fontFamily, fontSize, color } = getComputedStyle(one);
      if (!data.trim() || fontSize === "0px" || !one.checkVisibility()) continue;
      if (one.closest("details:not([open]) > :not(summary)")) continue;
      found.families[fontFamily] = data;
      found.sizes[fontSize] = data;
      if (color === orange) found.oranges.push(data);
    }
    return found;
}"""
# Measures the space between each part above Start and the next one, and the size of the lines.
MEASURE_GAPS = """() => {
    const parts = [...document.querySelectorAll(
      "main > h1, main > .facts, main > .lead, .told > div, figure, main > .but")];
    const boxes = [...parts, document.getElementById("start")]
      .map((one) => one.getBoundingClientRect());
    const gaps = boxes.slice(1).map(({ top }, i) => Math.round(top - boxes[i].bottom));
    const lines = [...document.querySelectorAll(".told > div")];
    const between = lines.slice(1).map((one, i) =>
      Math.round(one.getBoundingClientRect().top - lines[i].getBoundingClientRect().bottom));
    return { gaps, between, size: getComputedStyle(lines[0].lastElementChild).fontSize };
}"""


@pytest.mark.parametrize(
    "language",
    # German has the longest words, and Chinese words are counted differently.
    [
        one if one in ("de", "zh-hans") else pytest.param(one, marks=pytest.mark.long)
        for one in LANGUAGES
    ],
)
def test_start_is_on_the_first_screen_after_few_words(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    found = {}
    with visiting(chromium, live, locale=language) as visitor:
        for name, make in FIVE.items():
            wave = make()
            page = visitor.open(wave, ending=f"/{language}")
            found[name] = measure_opening(page, authors=list_authors_words(wave, language))
            page.close()
    figures = {name: [count_words(one.text), one.pixels] for name, one in found.items()}
    print(f"RESULT {json.dumps({language: figures})}")
    most = MOST_SIGNS if language == "zh-hans" else MOST_WORDS
    for name, limit in most.items():
        assert count_words(found[name].text) <= limit, found[name].text
    for name, one in found.items():
        assert one.is_on_screen
        # Even if it does not stick to the edge, Start is on the first screen, so it covers no line.
        assert one.pixels <= SCREEN, (name, one.pixels)


def open_start(visitor: Visitor, name: str) -> Page:
    page = visitor.open(FIVE[name](), ending="/en")
    expect(page.locator("#start")).to_be_visible()
    return page


@pytest.mark.parametrize("name", ["mine", "one", "weak"])
def test_the_start_has_two_families_three_sizes_and_orange_only_in_the_picture(
    visitor: Visitor, name: str
) -> None:
    found = open_start(visitor, name).evaluate(READ_TYPE)
    assert len(found["families"]) <= 2, found
    assert len(found["sizes"]) <= 3, found
    assert found["oranges"] == []


@pytest.mark.parametrize("name", ["mine", "one", "weak"])
def test_lines_are_large_and_apart_and_space_grows_with_the_height(
    visitor: Visitor, name: str
) -> None:
    page = open_start(visitor, name)
    gaps = {}
    for height in (664, 844, 1400):
        page.set_viewport_size({"width": 390, "height": height})
        found = page.evaluate(MEASURE_GAPS)
        assert found["size"] == "18px"
        assert len(found["between"]) == 2
        assert min(found["between"]) >= 12, found
        assert min(found["gaps"]) >= 8, found
        gaps[height] = found["between"][0]
    assert gaps[664] < gaps[1400]


def test_warnings_are_lines_of_their_own_above_start(visitor: Visitor) -> None:
    page = visitor.open(make_mine(minimum_batch=10), ending="/en")
    warnings = page.locator("main > .but")
    assert [one.partition(" ")[0] for one in warnings.all_inner_texts()] == ["The", "Your"]
    start = page.locator("#start").bounding_box()
    for warning in warnings.all():
        box = warning.bounding_box()
        assert box is not None
        assert start is not None
        assert box["y"] + box["height"] < start["y"]


def test_pages_are_counted_as_the_start_promised(visitor: Visitor) -> None:
    page = open_start(visitor, "mine")
    expect(page.locator(".facts")).to_contain_text("Up to 10 pages")
    page.locator("#start").click()
    expect(page.locator("main > .eyebrow")).to_have_text("Page 1 of at most 10")


def test_whatever_is_pressed_is_large_enough(visitor: Visitor) -> None:
    page = open_start(visitor, "mine")
    for link in page.locator(".languages a, footer a, #start").all():
        box = link.bounding_box()
        assert box is not None
        assert box["height"] >= 44, link.inner_text()
