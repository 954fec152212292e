"""Everyone can read what the page says at the end of a visit, however it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from surveys.models import Wave
from tests.support.browser.accessibility import fill_in, find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.sending import NEUTRAL, REPORTS, refuse
from tests.support.browser.visit import HASTE, Visitor, answer_page, status, visiting
from tests.support.factories import make_launched_survey

FIND_WORDS = """(name) =>
    document.querySelector("template").content.getElementById(name).textContent"""
TOO_EARLY = 425
HOLD = "main > .again"
PROCEED = "main > .button"
BREAK_RANDOMNESS = "() => { crypto.getRandomValues = () => { throw new Error('none left'); }; }"
MEND_RANDOMNESS = "() => { delete crypto.getRandomValues; }"


def expect_outcome(page: Page, *, title: str, words: str) -> None:
    """Expect sentences that are given by their names, which are the same in all languages."""
    expect(page.locator("h1")).to_have_text(page.evaluate(FIND_WORDS, title))
    expect(status(page)).to_contain_text(page.evaluate(FIND_WORDS, words))


def answer_all(page: Page) -> None:
    page.locator("#start").click()
    while page.locator("dl.checks").count() == 0:
        answer_page(page, fill_in)


def answering(page: Page, code: int) -> None:
    headers = {"Retry-After": "3600"} if code == TOO_EARLY else {}
    page.route(REPORTS, lambda route: refuse(route, code, **headers))


def hold(page: Page) -> None:
    page.locator(HOLD).click()
    expect_outcome(page, title="waiting", words="held")


def stay_offline(page: Page) -> None:
    page.context.set_offline(True)
    page.locator(PROCEED).click()
    expect_outcome(page, title="waiting", words="later")


def agree(page: Page) -> None:
    stay_offline(page)
    page.locator(".over .button").last.click()
    expect_outcome(page, title="waiting", words="agreed")


def fail(page: Page) -> None:
    page.evaluate(BREAK_RANDOMNESS)
    page.locator(PROCEED).click()
    expect_outcome(page, title="failed-title", words="failed")
    page.evaluate(MEND_RANDOMNESS)  # axe also draws random numbers


def find_refused(code: int, title: str, words: str) -> Callable[[Page], None]:
    def send(page: Page) -> None:
        answering(page, code)
        page.locator(PROCEED).click()
        expect_outcome(page, title=title, words=words)

    return send


def come_again(page: Page) -> None:
    page.locator(PROCEED).click()
    expect_outcome(page, title="sent-title", words="sent")
    page.reload()
    expect_outcome(page, title="before-title", words="before")


def leave(page: Page) -> None:
    hold(page)
    address = page.url
    page.locator("#exit").click()
    page.wait_for_url(NEUTRAL)
    page.goto(address)
    expect_outcome(page, title="left-title", words="left")


def be_slower(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    answer_all(other)
    other.locator(PROCEED).click()
    expect_outcome(other, title="sent-title", words="sent")
    other.close()
    page.locator(PROCEED).click()
    expect_outcome(page, title="other-title", words="other")


ENDINGS: dict[str, Callable[[Page], None]] = {
    "held": hold,
    "later": stay_offline,
    "agreed": agree,
    "trying": find_refused(503, "waiting", "trying"),
    "early": find_refused(TOO_EARLY, "early-title", "early"),
    "closed": find_refused(410, "closed-title", "closed"),
    "refused": find_refused(409, "refused-title", "refused"),
    "failed": fail,
    "before": come_again,
    "left": leave,
    "other": be_slower,
}


class Inspection:
    """The violations that axe finds on each page."""

    def __init__(self) -> None:
        self.faults: dict[str, list[str]] = {}

    def look(self, page: Page, step: str) -> None:
        found = find_violations(page)
        if found:
            self.faults[step] = found


def begin(visitor: Visitor, language: str) -> tuple[Wave, Page]:
    opens_at = timezone.now() + timedelta(
        seconds=0.2
    )  # only then does the page contain the words for "early"
    questions = ("One?", "Two?")
    wave = make_launched_survey(
        language=language, questions=questions, quick_exit=True, opens_at=opens_at
    )
    time.sleep(0.2)
    page = visitor.open(wave)
    answer_all(page)
    return wave, page


@pytest.mark.long
@pytest.mark.parametrize("language", ["ar"])
def test_axe_finds_no_violation_however_a_visit_ends(
    chromium: Browser, live: LiveApplication, language: str
) -> None:
    inspection = Inspection()
    with visiting(chromium, live, locale=language) as visitor:
        visitor.context.route(NEUTRAL, lambda route: route.fulfill(body="<h1>Weather</h1>"))
        for name, end in ENDINGS.items():
            _, page = begin(visitor, language)
            end(page)
            inspection.look(page, name)
            visitor.context.set_offline(False)
            page.close(run_before_unload=False)
    assert inspection.faults == {}


@pytest.mark.parametrize("language", ["ar"])
def test_axe_finds_no_violation_in_the_single_file_page(
    chromium: Browser, live: LiveApplication, tmp_path: Path, language: str
) -> None:
    inspection = Inspection()
    wave = make_launched_survey(language=language, questions=("One?", "Two?"))
    file = tmp_path / "page.html"
    with visiting(chromium, live) as visitor:
        response = visitor.context.request.get(f"{visitor.url}/s/{wave.survey.slug}/page.html")
        file.write_bytes(response.body())
    alone = chromium.new_context()
    alone.add_init_script(HASTE)
    page = alone.new_page()
    page.goto(file.as_uri())
    expect(page.locator("#start")).to_be_visible()
    inspection.look(page, "start")
    answer_all(page)
    inspection.look(page, "check")
    page.locator(PROCEED).click()
    expect_outcome(page, title="disk-title", words="disk")
    inspection.look(page, "code")
    page.locator(".over .button").last.click()
    expect_outcome(page, title="before-title", words="before")
    inspection.look(page, "erased")
    alone.close()
    assert inspection.faults == {}
