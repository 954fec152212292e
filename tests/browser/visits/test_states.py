"""Every state of a visit except questions passes axe with everything open, and has Exit."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.benchmarks.grounds.five_surveys import CONSENT, make_mine
from tests.support.browser.accessibility import assert_exit_is_in_reach, fill_in, find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import PHONE, answer_page, visiting

PROCEED = "main > .button"
COVER = "main > p > .button"
WIDTHS = (320, 1280, PHONE["width"])
OPEN_ALL = "() => document.querySelectorAll('details').forEach((one) => (one.open = true))"


class Inspection:
    """The violations that axe finds in each state, in light and dark; Exit must be in reach."""

    def __init__(self) -> None:
        self.faults: dict[str, list[str]] = {}

    def look(self, page: Page, state: str) -> None:
        page.evaluate(OPEN_ALL)
        found = find_violations(page)
        if found:
            self.faults[state] = found
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": PHONE["height"]})
            assert_exit_is_in_reach(page)


@pytest.mark.parametrize("language", ["ar"])
def test_axe_finds_no_violation_in_any_state_with_everything_open(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_mine(consent=CONSENT, minimum_age=18, shared_devices=True)
    inspection = Inspection()
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.open(wave, ending=f"/{language}")
        start = page.locator("#start")
        expect(start).to_be_visible()
        inspection.look(page, "start")
        start.click()
        inspection.look(page, "consent")
        page.locator("main a.again").click()
        inspection.look(page, "declined")
        page.go_back()
        start.click()
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.locator(PROCEED).click()
        while not page.locator("dl.checks").count():
            answer_page(page, fill_in)
        inspection.look(page, "check")
        page.locator(COVER).click()
        expect(page.locator("dl.checks")).to_be_hidden()
        inspection.look(page, "hidden answers")
        page.locator(PROCEED).last.click()
        expect(page.locator("dl.letters").first).to_be_attached()
        inspection.look(page, "sent, on a shared device")
        page.goto(f"{visitor.url}/s/{wave.survey.slug}/coins?lang={language}")
        inspection.look(page, "coins")
    assert inspection.faults == {}


@pytest.mark.long
@pytest.mark.parametrize("language", ["ar"])
def test_axe_finds_no_violation_in_a_long_self_test_with_everything_open(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    wave = make_mine()
    inspection = Inspection()
    with visiting(chromium, live, locale=language) as visitor:
        page = visitor.context.new_page()
        page.goto(f"{visitor.url}/s/{wave.survey.slug}/check?lang={language}")
        page.locator("#self-test button").click()
        expect(page.locator("#self-test table")).to_be_attached(timeout=30_000)
        inspection.look(page, "tested")
    assert inspection.faults == {}
