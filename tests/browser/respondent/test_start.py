"""The start page is short: few words before Start, and Start on the first screen of a phone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser

from tests.support.browser.four_surveys import FOUR, LANGUAGES, list_authors_words
from tests.support.browser.live import LiveApplication
from tests.support.browser.opening import measure_opening
from tests.support.browser.visit import visiting

# Murmur's own words; of Chinese, characters.
MOST = {"zh-hans": 170}
MOST_WORDS = 100
SCREEN = 844  # pixels


@pytest.mark.parametrize(
    "language",
    # German words are the longest, and Chinese ones are counted differently.
    [
        one if one in ("de", "zh-hans") else pytest.param(one, marks=pytest.mark.long)
        for one in LANGUAGES
    ],
)
def test_start_is_on_the_first_screen_after_at_most_100_words(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    found = {}
    with visiting(chromium, live, locale=language) as visitor:
        for name, make in FOUR.items():
            wave = make()
            page = visitor.open(wave, ending=f"/{language}")
            found[name] = measure_opening(page, authors=list_authors_words(wave, language))
            page.close()
    figures = {name: [one.words, one.pixels] for name, one in found.items()}
    print(f"RESULT {json.dumps({language: figures})}")
    for name, one in found.items():
        assert one.words <= MOST.get(language, MOST_WORDS), (name, one.own)
        assert one.is_on_screen
        # Also if nothing stuck to the edge of the screen, so that Start covers no line.
        assert one.pixels <= SCREEN, (name, one.pixels)
