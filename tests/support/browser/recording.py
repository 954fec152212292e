"""A recording of one real visit: the requests, the browser's storage and its history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, Request, expect

from surveys.models import Wave
from tests.support.browser.every_type import Do, walk_through
from tests.support.browser.visit import DUMP, Visitor, press, status


@dataclass(frozen=True, kw_only=True)
class Recording:
    language: str
    sent: list[Request]  # without the icon, which browsers fetch at any time
    sent_before_start: int
    told: str  # all text before Start, with everything open
    shows: list[str]  # the label's sentences about what is not hidden
    pages: list[str]  # the headings of all pages with questions
    check: str  # the rows on which the answers are checked
    kept: Mapping[str, Any]  # what DUMP finds after the code was sent
    history: list[Mapping[str, str]]  # the title and address of each entry

    @property
    def report(self) -> Request:
        [report] = [one for one in self.sent if one.method == "POST"]
        return report

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.report.post_data or ""))

    @property
    def symbols(self) -> str:
        return str(self.body["symbols"])


def record_visit(
    visitor: Visitor, wave: Wave, answers: Mapping[str, Do], *, language: str = "en"
) -> Recording:
    """Answer and submit in a new tab, as a person would."""
    page = visitor.open(wave, ending=f"/{language}")
    expect(page.locator("#start")).to_be_visible()
    told = _squeeze(page.locator("main").text_content() or "")
    shows = [_squeeze(text) for text in page.locator("#label .shows li").all_text_contents()]
    before = len(without_icon(visitor.requests))
    pages = walk_through(page, dict(answers))
    check = page.locator("dl.checks").inner_text()
    press(page, "Submit")
    expect(status(page)).to_contain_text("Your code was sent.")
    return Recording(
        language=language,
        sent=without_icon(visitor.requests),
        sent_before_start=before,
        told=told,
        shows=shows,
        pages=pages,
        check=check,
        kept=page.evaluate(DUMP),
        history=_read_history(page),
    )


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def without_icon(requests: list[Request]) -> list[Request]:
    """Leave out the browser's own request for the icon, which may come at any time."""
    return [
        request
        for request in requests
        if not (request.url.endswith("icon.svg") and request.resource_type == "other")
    ]


def _read_history(page: Page) -> list[Mapping[str, str]]:
    session = page.context.new_cdp_session(page)
    entries: list[Mapping[str, str]] = session.send("Page.getNavigationHistory")["entries"]
    return entries
