"""Times are in the device's own time zone and in the language of the page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import visiting
from tests.support.factories import make_launched_survey

OPENING = datetime(2100, 12, 31, 18, 5, tzinfo=UTC)  # in Tokyo, this is in the next year


@pytest.mark.parametrize(
    ("language", "moment"),
    [
        ("en", "1 January 2101 at 03:05"),
        ("de", "1. Januar 2101 um 03:05"),
        ("ar", "1 يناير 2101 في 3:05 ص"),
        ("zh-hans", "2101年1月1日 03:05"),
    ],
)
def test_the_page_that_says_when_a_survey_opens_names_local_time(
    chromium: Browser, live: LiveApplication, language: str, moment: str
) -> None:
    wave = make_launched_survey(opens_at=OPENING, language=language)
    with visiting(chromium, live, timezone_id="Asia/Tokyo") as visitor:
        page = visitor.open(wave)
        expect(page.locator("time")).to_have_text(moment)
        expect(page.locator("#exit")).to_be_visible()
        assert visitor.errors == []
