"""How a respondent's page sends a report, and how a test disrupts it."""

from __future__ import annotations

from playwright.sync_api import Page, Route

from tests.support.browser.visit import DUMP, answer, press

REPORTS = "**/api/reports"
NEUTRAL = "https://www.wikipedia.org/"  # where “Leave this page quickly” goes
TWO = ("Yes", "No")


def kept(page: Page) -> list[dict[str, str]]:
    dump: dict[str, list[dict[str, str]]] = page.evaluate(DUMP)["databases"]
    return dump["murmur/envelopes"]


def submit(page: Page) -> None:
    answer(page, TWO)
    press(page, "Submit")


def refuse(route: Route, code: int, **headers: str) -> None:
    """Refuse a report with a reply like the intake's."""
    route.fulfill(status=code, headers=headers, body='{"type": "/problems/any"}')


def lose_acknowledgement(route: Route) -> None:
    """Let the server commit a report, then cut the connection before its acknowledgement."""
    assert route.fetch().status in (200, 201)
    route.abort()
