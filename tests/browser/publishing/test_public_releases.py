"""The public page of releases in Chromium: no script, sideways scrolling or axe violations."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.manifest.languages import NAMES, language_tag
from surveys.manifest.manifest import Publication
from tests.support.browser.accessibility import assert_unfolded_page_is_sound
from tests.support.browser.every_type import make_branching_survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader
from tests.support.releases.many_kinds import make_released

SIZES = {"desk": DESK, "phone": PHONE}


def assert_page_is_sound(page: Page, *, width: int) -> None:
    assert_unfolded_page_is_sound(page, width=width)
    for frame in page.locator(".table-wrap:has(> .table-parts)").all():
        assert frame.evaluate("(frame) => frame.scrollWidth - frame.clientWidth") == 0


def look(page: Page, name: str) -> None:
    """Save a picture for people to look at, if the environment names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.parametrize("size", SIZES)
def test_a_visitor_reads_releases(chromium: Browser, live: LiveApplication, size: str) -> None:
    viewport = SIZES[size]
    context = chromium.new_context(viewport=viewport)  # type: ignore[arg-type]
    page = context.new_page()
    waiting = make_branching_survey(publication=Publication.PROTECTED)
    page.goto(f"{live.url}/s/{waiting.survey.slug}/results")
    expect(page.get_by_text("publish after the close appear here")).to_be_visible()
    look(page, f"waiting-{size}")
    assert_page_is_sound(page, width=viewport["width"])
    wave = make_released(*(code for code in NAMES if code != "en"))
    page.goto(f"{live.url}/s/{wave.survey.slug}/results")
    # On a phone, words that are too long do not fit.
    for language in NAMES if size == "phone" else ("en", "ar"):
        if language != "en":
            page.get_by_role("link", name=NAMES[language]).click()
        expect(page.locator(f"html[lang={language_tag(language)}] .release")).to_have_count(7)
        look(page, f"releases-{language}-{size}")
        assert_page_is_sound(page, width=viewport["width"])
        look(page, f"releases-{language}-open-{size}")
    assert context.cookies() == []


def test_a_visitor_takes_the_figures_home(chromium: Browser, live: LiveApplication) -> None:
    wave = make_released()
    reader = Reader(chromium.new_page(), live)
    reader.page.goto(f"{live.url}/s/{wave.survey.slug}/results")
    with reader.page.expect_download() as loaded:
        reader.page.get_by_role("link", name="All figures as a file (CSV)").click()
    assert loaded.value.suggested_filename.endswith("_releases.csv")
    assert reader.page.evaluate("[document.cookie, localStorage.length]") == ["", 0]
