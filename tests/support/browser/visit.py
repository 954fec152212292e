"""Fixtures of browser tests: a visit in Chromium, and everything that leaves the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from scripts.stack.chromium import launch_chromium
from surveys.models import Wave
from tests.support.browser.live import LiveApplication

PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 30_000  # a busy machine may take many seconds for a page
NEXT = "Continue"
CONFIRM = "I want to confirm each answer"
CHOSEN = "[aria-pressed=true]"
SENT = "Your code was sent. You can close this page."
# A predictable generator in place of the browser's own.
FIXED_RANDOMNESS = """
    let state = %d;
    Crypto.prototype.getRandomValues = (array) => {
      for (let i = 0; i < array.length; i += 1) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        array[i] = array.BYTES_PER_ELEMENT === 1 ? state >>> 24 : state;
      }
      return array;
    };
"""
# A page ignores a tap that follows another tap too soon. People take seconds between taps, and
# tests take milliseconds.
HASTE = """
    const { get } = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp");
    Object.defineProperty(Event.prototype, "timeStamp", {
      get() { return get.call(this) * (this.type === "click" ? 1000 : 1); },
    });
"""
REPORT_VIOLATIONS = """
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
"""
DUMP = """async () => {
    const databases = {};
    for (const { name } of await indexedDB.databases()) {
      const opening = indexedDB.open(name);
      await new Promise((resolve) => { opening.onsuccess = resolve; });
      const database = opening.result;
      for (const store of database.objectStoreNames) {
        const reading = database.transaction(store).objectStore(store).getAll();
        await new Promise((resolve) => { reading.onsuccess = resolve; });
        databases[`${name}/${store}`] = reading.result;
      }
      database.close();
    }
    return {
      databases,
      local: { ...localStorage },
      session: { ...sessionStorage },
      cookie: document.cookie,
      caches: await caches.keys(),
      address: location.href,
      history: history.state,
      name: window.name,
    };
}"""


@dataclass
class Visitor:
    """One browser profile, and everything that was seen during its visit."""

    context: BrowserContext
    url: str
    requests: list[Request] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, wave: Wave, ending: str = "") -> Page:
        page = self.context.new_page()
        page.goto(f"{self.url}/s/{wave.survey.slug}{ending}")
        return page

    def reports(self) -> list[Request]:
        return [request for request in self.requests if request.url.endswith("/api/reports")]

    def bodies(self) -> list[str]:
        return [request.post_data or "" for request in self.reports()]


@pytest.fixture(scope="package")
def one_chromium() -> Iterator[Browser]:
    """Run one Chromium for all tests of tests/browser in this process."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture
def chromium(one_chromium: Browser) -> Iterator[Browser]:
    """Run Chromium; each context that a test opens is a new profile, closed after the test."""
    yield one_chromium
    for context in one_chromium.contexts:
        context.close()


@contextmanager
def visiting(browser: Browser, live: LiveApplication, **options: Any) -> Iterator[Visitor]:
    """Open a fresh profile; anything that the policy blocks there fails the test."""
    options.setdefault("viewport", PHONE)
    context = browser.new_context(**options)
    context.add_init_script(HASTE)
    visitor = Visitor(context=context, url=live.url)

    def note(message: ConsoleMessage) -> None:
        if "policy" in message.text.lower():
            visitor.violations.append(message.text)

    context.add_init_script(REPORT_VIOLATIONS)
    context.on("console", note)
    context.on("weberror", lambda error: visitor.errors.append(str(error.error)))
    context.on("request", lambda request: visitor.requests.append(request))
    yield visitor
    cookies = context.cookies()
    context.close()
    assert visitor.violations == []
    assert visitor.errors == []
    assert [cookie for cookie in cookies if cookie.get("name") != "session"] == []


@pytest.fixture
def visitor(chromium: Browser, live: LiveApplication) -> Iterator[Visitor]:
    with visiting(chromium, live) as one:
        yield one


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def choose(page: Page, row: str) -> None:
    """Press the button with this answer, which opens the next page, or tick the box."""
    button = page.get_by_role("button", name=row, exact=True)
    if button.count():
        button.click()
    else:
        page.get_by_label(row, exact=True).check()


def choose_first(page: Page) -> None:
    page.locator(".choice").first.click()


def answer_page(page: Page, act: Callable[[Page], object]) -> None:
    """Answer the page that is shown and go on, unless the answer's button has done so."""
    goes_on = page.locator("button.choice").count()
    act(page)
    if not goes_on:
        page.locator("main > .button").click()


def go_back(page: Page, times: int = 1) -> None:
    """Go back in the browser, with a key press before each further step to stay on the page."""
    page.go_back()
    for _ in range(times - 1):
        page.keyboard.press("F8")
        page.wait_for_function("history.state")
        page.go_back()


def answer(page: Page, choices: Sequence[str]) -> None:
    """Go from the start page to the page on which the answers are checked before sending."""
    press(page, "Start")
    for choice in choices:
        press(page, choice)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your answers")


def status(page: Page) -> Any:
    """Return the element that shows the progress of sending."""
    return page.get_by_role("status")
