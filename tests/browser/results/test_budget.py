"""Limits on words, numbers and height of a results page, counted in Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.browser.three_surveys import MAKERS

WORD = re.compile(r"[^\W\d_]")
NUMBER = re.compile(r"\d[\d,.]*")
MOST_WORDS = 40
NUMBERS, NUMBERS_A_FIGURE = 2, 3
# The greatest height of a block, and of each of its options, in pixels.
HEIGHT, HEIGHT_AN_OPTION = 160, 28
PHONE_FACTOR = 2
# The visible text, except that of the question, its options and the ends of its scale.
OWN_TEXT = """(block) => {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const texts = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        if (parent.closest(".block-question, .block-label, .block-end")) continue;
        if (!parent.checkVisibility({ contentVisibilityAuto: true })) continue;
        texts.push(node.textContent);
    }
    return texts.join(" ");
}"""


def count_words(text: str) -> int:
    return sum(WORD.search(token) is not None for token in text.split())


def count_numbers(text: str) -> int:
    return len(NUMBER.findall(text))


def measure(page: Page) -> str:
    text = page.locator("main").inner_text()
    return (
        f"{page.evaluate('document.documentElement.scrollHeight')} px, "
        f"{count_words(text)} words, {count_numbers(text)} numbers"
    )


def check_block(block: Locator, *, factor: int) -> None:
    text = block.evaluate(OWN_TEXT)
    name = block.get_attribute("id")
    figures = block.locator("[data-figure]:visible").count()
    options = block.locator(".block-label:visible").count()
    assert figures > 0, name
    assert count_words(text) <= MOST_WORDS, (name, text)
    assert count_numbers(text) <= NUMBERS + NUMBERS_A_FIGURE * figures, (name, text)
    box = block.bounding_box()
    assert box is not None
    assert box["height"] <= factor * (HEIGHT + HEIGHT_AN_OPTION * options), (name, box)


@pytest.mark.parametrize(
    "name", [*[*MAKERS][:-1], pytest.param([*MAKERS][-1], marks=pytest.mark.long)]
)
def test_a_results_page_keeps_within_its_budget(
    chromium: Browser, live: LiveApplication, name: str
) -> None:
    survey = MAKERS[name]()
    manifest = survey.waves.get().description
    for size, factor in ((DESK, 1), (PHONE, PHONE_FACTOR)):
        context = make_context(chromium, live, survey, viewport=size)
        reader = Reader(context.new_page(), live)
        page = reader.open(survey)
        print(f"\n{name} at {size['width']} px: {measure(page)}")
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
        blocks = page.locator("article.block")
        assert blocks.count() == sum(question.is_answered for question in manifest.questions)
        for block in blocks.all():
            check_block(block, factor=factor)
        reader.assert_nothing_went_wrong()
        context.close()
