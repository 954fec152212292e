"""Scores on the respondent's page: items share a page; one code is sent, but no item's answer."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.models import RawReport
from tests.support.browser.accessibility import find_violations
from tests.support.browser.every_type import REFUSED
from tests.support.browser.live import LiveApplication
from tests.support.browser.scales import ITEMS, NEVER, OFTEN, SOME, WORSE, make_scales
from tests.support.browser.visit import NEXT, SENT, Visitor, go_back, press, status, visiting

EACH = "Choose one answer for each item."


def items(page: Page) -> list[str]:
    return page.locator(".item legend").all_inner_texts()


def fill(page: Page, *answers: str) -> None:
    for item, answer in zip(page.locator(".item").all(), answers, strict=True):
        item.get_by_label(answer, exact=True).check()


def told(page: Page) -> list[str]:
    """Return the answers on the check page: the score first, then every item."""
    return [
        " ".join(one.split())
        for one in page.locator("dl.checks dd:first-of-type").all_inner_texts()
    ]


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.long)])
def test_a_visit_answers_scales_and_sends_a_code_for_each(
    chromium: Browser, live: LiveApplication, width: int
) -> None:
    wave = make_scales()
    with visiting(chromium, live, viewport={"width": width, "height": 844}) as visitor:
        page = visitor.open(wave)
        assert "score" in page.content()
        press(page, "Start")
        assert items(page) == [f"Working, {item.split(' |')[0]}" for item in ITEMS]
        expect(page.locator("#odds")).to_contain_text("Only your total is scrambled and sent.")
        press(page, NEXT)
        expect(page.locator(".error-summary a")).to_have_text(EACH)
        page.locator(".error-summary a").click()
        expect(page.locator(".item").first.locator("input").first).to_be_focused()
        assert find_violations(page) == []
        fill(page, OFTEN, NEVER, OFTEN)  # 3 + 3 + 6
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        press(page, NEXT)
        expect(page.locator("#odds")).to_contain_text("Only which of the 3 bands")
        fill(page, SOME, NEVER, SOME)  # 1 + 3 + 2: the middle band
        press(page, NEXT)
        assert page.get_by_role("heading", level=1).inner_text() == WORSE
        go_back(page)
        assert page.locator(".item :checked").count() == 3
        fill(page, NEVER, OFTEN, NEVER)  # 0 + 0 + 0: the lowest band, so no other question is asked
        press(page, NEXT)
        expect(page.locator("#odds")).to_contain_text("Only whether your total is 6 or more")
        fill(page, NEVER, NEVER, SOME)  # 0 + 3 + 2
        press(page, NEXT)
        assert [one.split(" ")[1] for one in told(page)] == ["12", "0–4", "<"]
        assert told(page)[0] == (
            f"Total: 12 Working, did you sleep badly? {OFTEN} Working, were you calm? {NEVER} "
            f"Working, did you miss work? {OFTEN}"
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert find_violations(page) == []
        press(page, "Submit")
        expect(status(page)).to_have_text(SENT)
        assert len(json.loads(visitor.bodies()[0])["symbols"]) == 4
        page.get_by_text("See what was sent").click()
        receipt = page.locator("dl.letters").inner_text()
        assert "A = 0 · B = 12" in receipt
        assert "A = 0–4 Low · B = 5–8 Middle · C = 9–12 High" in receipt
        assert "A = < 6 · B = ≥ 6" in receipt
    assert len(RawReport.objects.get().symbols) == 4


def test_declining_is_for_the_whole_scale(visitor: Visitor) -> None:
    page = visitor.open(make_scales())
    press(page, "Start")
    fill(page, OFTEN, NEVER, OFTEN)
    page.get_by_label(REFUSED, exact=True).check()
    assert page.locator(".item :checked").count() == 0
    page.locator(".item").first.get_by_label(SOME, exact=True).check()
    assert not page.get_by_label(REFUSED, exact=True).is_checked()
    page.get_by_label(REFUSED, exact=True).check()
    press(page, NEXT)
    assert items(page)[0].startswith("Resting,")
