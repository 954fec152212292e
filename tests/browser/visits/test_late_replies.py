"""Slow replies and slow storage change nothing once the person has gone on or left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser.sending import NEUTRAL, REPORTS, TWO, kept, submit
from tests.support.browser.visit import SENT, Visitor, answer, choose_first, go_back, press, status
from tests.support.factories import make_launched_survey
from tests.support.six_languages import make_survey_in_six_languages

START = "#start:visible"
# Delays events of the browser's storage by `wait` milliseconds.
SLOWLY = """(kind, event, isSlow, wait) => {
    const { set } = Object.getOwnPropertyDescriptor(kind.prototype, event);
    Object.defineProperty(kind.prototype, event, { set(then) {
        set.call(this, (...all) => isSlow(this) ? setTimeout(then, wait, ...all) : then(...all));
    } });
}"""
IS_OPENING = "(request) => request instanceof IDBOpenDBRequest && sessionStorage.slow"
SLOW_OPENING = f'({SLOWLY})(IDBRequest, "onsuccess", {IS_OPENING}, 400)'
SLOW_WRITING = f'({SLOWLY})(IDBTransaction, "oncomplete", () => window.slow-- > 0, 200)'


def leave(page: Page) -> None:
    """Press Exit without waiting for the neutral page, which never answers."""
    page.route(NEUTRAL, lambda route: None)
    with page.expect_request(NEUTRAL):
        page.locator("#exit").dispatch_event("click")


def find_kept(visitor: Visitor, page: Page) -> list[dict[str, str]]:
    """Return what is stored once the visit is over."""
    page.close()
    other = visitor.context.new_page()
    other.goto(f"{visitor.url}/healthz")
    return kept(other)


def test_leaving_before_the_storage_is_open_erases_the_code_and_sends_nothing(
    visitor: Visitor,
) -> None:
    visitor.context.add_init_script(SLOW_OPENING)
    page = visitor.open(make_launched_survey())
    page.route(REPORTS, lambda route: route.abort())
    submit(page)
    expect(status(page)).to_contain_text("Not sent yet.")
    page.unroute(REPORTS)
    page.evaluate("sessionStorage.slow = 1")
    page.reload()
    sent = len(visitor.reports())
    leave(page)
    page.wait_for_timeout(1_000)
    assert len(visitor.reports()) == sent
    assert find_kept(visitor, page) == [{"over": "left"}]


def test_leaving_a_shared_device_erases_a_code_that_is_just_being_stored(visitor: Visitor) -> None:
    visitor.context.add_init_script(SLOW_WRITING)
    page = visitor.open(make_launched_survey(shared_devices=True))
    answer(page, TWO)
    page.evaluate("window.slow = 1")
    page.route(REPORTS, lambda route: route.abort())
    with page.expect_event("requestfailed"):
        press(page, "Submit")
    leave(page)
    assert find_kept(visitor, page) == []


def test_questions_that_arrive_after_leaving_store_nothing(visitor: Visitor) -> None:
    held: list[Route] = []
    visitor.context.route("**/m/*.json", lambda route: held.append(route))
    with visitor.context.expect_event("request", lambda request: "/m/" in request.url):
        page = visitor.open(make_launched_survey(drawn=1))
    leave(page)
    held[0].continue_()
    page.wait_for_timeout(500)
    assert find_kept(visitor, page) == []


@pytest.mark.parametrize("then", ["answers", "sends", "cannot send", "leaves"])
def test_another_language_that_arrives_late_replaces_nothing(visitor: Visitor, then: str) -> None:
    page = visitor.open(make_survey_in_six_languages(), "/en")
    page.locator(START).click()
    choose_first(page)
    go_back(page, 2)
    held: list[Route] = []
    page.route("**/de", lambda route: held.append(route), times=1)
    with page.expect_request("**/de"):
        page.locator(".languages a[lang=de]").click()
    if then == "leaves":
        leave(page)
        held[0].abort()
        page.wait_for_timeout(500)
        navigations = [one.url for one in visitor.requests if one.is_navigation_request()]
        assert navigations[-1] == NEUTRAL
        return
    page.locator(START).click()
    for _ in range(3 if then == "answers" else 10):
        choose_first(page)
    if then == "cannot send":
        page.route(REPORTS, lambda route: route.abort())
    if then != "answers":
        press(page, "Submit")
        expect(status(page)).to_contain_text(SENT if then == "sends" else "Not sent yet.")
    shown = page.locator("main").inner_text()
    with page.expect_response("**/de"):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert page.locator("main").inner_text() == shown
    expect(page.locator("html[lang=en]")).to_be_attached()
