"""Consent and age before the first question: asked on the device, never kept or sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Wave
from surveys.respondent import page as respondent_page
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.visit import (
    CHOSEN,
    DUMP,
    NEXT,
    SENT,
    Visitor,
    go_back,
    press,
    status,
    visiting,
)
from tests.support.factories import make_launched_survey

TITLE = "Before you answer"
AGREED = "I have read this and I agree."
OLDER = "I am 18 or older."
DECLINE = "I do not want to take part"
CONSENT = "We ask about your work.\n\nYou may stop at any time."
QUESTION = "Have you ever slept at work?"


def make_consent(**settings: Any) -> Wave:
    chosen: dict[str, Any] = {"consent": CONSENT, "minimum_age": 18, **settings}
    return make_launched_survey(title="Nights", questions=(QUESTION,), **chosen)


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def agree(page: Page) -> None:
    press(page, "Start")
    for box in page.get_by_role("checkbox").all():
        box.check()
    press(page, NEXT)


def test_people_agree_before_the_first_question_and_no_trace_of_it_stays(visitor: Visitor) -> None:
    page = visitor.open(make_consent())
    page.get_by_role("button", name="Start").dblclick()
    assert heading(page) == TITLE
    assert page.title() == "Survey"
    expect(page.locator(".eyebrow")).to_have_text("Page 1 of 2")
    assert page.locator("fieldset .intro").inner_text() == CONSENT
    for wrong in (None, OLDER):
        if wrong:
            page.get_by_label(wrong).check()
        press(page, NEXT)
        expect(page.locator(".error-summary")).to_be_focused()
        assert page.locator(".error").inner_text() == "Tick both boxes to take part."
    page.locator(".error-summary a").click()
    expect(page.get_by_label(AGREED)).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("button", name=NEXT, exact=True).dblclick()
    assert heading(page) == QUESTION
    expect(page.locator(".error-summary")).to_have_count(0)
    page.go_back()
    assert heading(page) == TITLE
    expect(page.get_by_label(AGREED)).to_be_checked()
    press(page, NEXT)
    assert page.evaluate(DUMP)["databases"] == {"murmur/envelopes": []}
    press(page, "No")
    assert page.locator("dl.checks dt").all_inner_texts() == [QUESTION]
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    [body] = visitor.bodies()
    assert sorted(json.loads(body)) == ["format", "id", "manifest", "symbols"]
    assert len(json.loads(body)["symbols"]) == 1
    assert page.evaluate(DUMP)["databases"] == {"murmur/envelopes": [{"over": "sent"}]}


def test_who_does_not_take_part_sends_nothing_and_may_think_again(visitor: Visitor) -> None:
    page = visitor.open(make_consent(help_name="Staff health unit", help_phone="0800 555 0123"))
    agree(page)
    press(page, "Yes")
    before = len(visitor.requests)
    go_back(page, 2)
    page.get_by_role("link", name=DECLINE).click()
    assert heading(page) == "You are not taking part"
    expect(page.locator("main > p")).to_have_text("Nothing was sent. You can close this page.")
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
    expect(page.locator("main a[href^='tel:']")).to_have_text("0800 555 0123")
    assert page.title() == "Survey", "as where people may have to leave at once"
    page.get_by_role("link", name="Back").click()
    assert heading(page) == "Nights", "the answers are gone"
    press(page, "Start")
    assert heading(page) == TITLE
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    for box in page.get_by_role("checkbox").all():
        box.check()
    press(page, NEXT)
    assert heading(page) == QUESTION
    expect(page.locator(CHOSEN)).to_have_count(0)
    assert len(visitor.requests) == before
    assert page.evaluate(DUMP)["databases"] == {"murmur/envelopes": []}


@pytest.mark.parametrize(
    ("settings", "boxes"),
    [({"minimum_age": None}, [AGREED]), ({"consent": ""}, [OLDER])],
)
def test_only_what_the_author_asks_for_is_asked(
    visitor: Visitor, settings: dict[str, Any], boxes: list[str]
) -> None:
    page = visitor.open(make_consent(**settings))
    press(page, "Start")
    assert page.locator(".choice").all_inner_texts() == boxes
    press(page, NEXT)
    assert page.locator(".error").inner_text() == "Tick the box to take part."
    page.get_by_role("checkbox").check()
    press(page, NEXT)
    assert heading(page) == QUESTION


@pytest.mark.parametrize("width", [pytest.param(320, marks=pytest.mark.long), 1280])
def test_a_text_of_10_000_characters_can_be_read_on_every_screen(
    chromium: Browser, live: LiveApplication, width: int
) -> None:
    text = "\n\n".join(["We store nothing that names you. " * 12, "x" * 600] * 9)[:10_000]
    with visiting(chromium, live, viewport={"width": width, "height": 844}) as visitor:
        page = visitor.open(make_consent(consent=text))
        press(page, "Start")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        press(page, NEXT)
        expect(page.locator(".error")).to_be_visible()
        gap = page.evaluate(
            """() => {
            const [error, box] = [".error", ".choice"].map((one) =>
              document.querySelector(one).getBoundingClientRect());
            return box.top - error.bottom;
        }"""
        )
        assert 0 <= gap < 40, "the error stands by the boxes, below the long text"
        assert find_violations(page) == []


@pytest.mark.parametrize("settings", [{"consent": CONSENT}, {"minimum_age": 18}, {"drawn": 1}])
def test_a_script_without_the_part_that_a_survey_needs_asks_nothing(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    """Otherwise, people would be asked before they agree, or asked more than the label promises."""
    monkeypatch.setattr(respondent_page, "choose_parts", lambda *_args, **_kwargs: ())
    wave = make_launched_survey(title="Nights", questions=(QUESTION, "Or at home?"), **settings)
    page = visitor.open(wave)
    expect(page.locator("#status")).to_contain_text("so it asks you nothing.")
    assert page.locator("#start").is_hidden()
