"""The cost of a respondent's visit: every file of a ten-question survey, as transferred.

Starts the real web process on a new database, answers and submits a survey in Chromium, and
counts the bytes of all bodies, the requests, the cookies and the foreign hosts.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from scripts.stack.chromium import launch_chromium
from scripts.stack.stack import Stack, free_port

LIMIT_KB = 20.0
MAKE_SURVEY = """
from accounts.models import User
from surveys.authoring.services import add_question, launch_survey
from surveys.models import Survey
from surveys.manifest.manifest import Limit
owner = User.objects.create_user(email="page@example.org", password=None)
survey = Survey.objects.create_owned(owner, title="Work and rest", introduction="Ten questions.")
for text in (
    "Have you worked while you were ill in the last twelve months?",
    "Did you take all the days of leave that you had?",
    "Has anybody at work shouted at you since summer?",
    "Do you answer messages from work after nine in the evening?",
    "Have you thought about leaving in the last four weeks?",
    "Were you ever asked to work without being paid for it?",
    "Do you feel safe when you report a mistake?",
    "Have you hidden a mistake of your own this year?",
    "Does your team share its work fairly?",
    "Would you recommend this place to a friend?",
):
    add_question(survey=survey, text=text)
launch_survey(survey=survey, acknowledged=set(Limit))
print("slug", survey.slug)
"""


@dataclass(frozen=True, kw_only=True)
class Visit:
    requests: list[Request]
    cookies: int
    base: str

    def rows(self) -> list[tuple[str, int, int, int]]:
        """Return the name, bytes as read, bytes as sent and bytes of headers of each request."""
        rows = []
        for request in self.requests:
            response = request.response()
            sizes = request.sizes()
            # Files from the browser's cache were not transferred again.
            if response is None or sizes["responseBodySize"] < 0:
                continue
            travelled = sizes["responseBodySize"] + sizes["requestBodySize"]
            read = len(response.body()) + sizes["requestBodySize"]
            headers = sizes["requestHeadersSize"] + sizes["responseHeadersSize"]
            rows.append((urlsplit(request.url).path, read, travelled, headers))
        return rows

    def foreign_hosts(self) -> int:
        own = urlsplit(self.base).netloc
        return len({urlsplit(request.url).netloc for request in self.requests} - {own})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="changes nothing: one visit is quick")
    parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="murmur-page-") as folder:
        stack = Stack(var=Path(folder), port=free_port())
        try:
            stack.prepare()
            slug = stack.manage("shell", "-c", MAKE_SURVEY).split()[-1]
            stack.start("web")
            stack.wait_until_ready()
            report(stack.url, slug)
        finally:
            stack.stop()


def report(base: str, slug: str) -> None:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright.chromium)
        visit = make_visit(browser, base, slug)
        rows = visit.rows()
        print_table(rows)
        result = {
            "gzip_kb": round(sum(row[2] for row in rows) / 1000, 2),
            "requests": len(rows),
            "cookies": visit.cookies,
            "foreign_hosts": visit.foreign_hosts(),
        }
        browser.close()
    print(f"RESULT {json.dumps(result)}")


def make_visit(browser: Browser, base: str, slug: str) -> Visit:
    """Answer every question and submit."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    requests: list[Request] = []
    context.on("request", lambda request: requests.append(request))
    page = context.new_page()
    page.goto(f"{base}/s/{slug}")
    _answer(page)
    return Visit(requests=requests, cookies=len(context.cookies()), base=base)


def _answer(page: Page) -> None:
    page.get_by_role("button", name="Start").click()
    while page.locator("button.choice").count():
        page.locator("button.choice").first.press("Enter")
    page.get_by_role("button", name="Submit").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Your code was sent.")


def print_table(rows: list[tuple[str, int, int, int]]) -> None:
    print(f"{'file':<44}{'bytes':>8}{'on the wire':>13}{'headers':>9}")
    for path, read, travelled, headers in rows:
        name = path if len(path) < 44 else f"{path[:20]}…{path[-20:]}"
        print(f"{name:<44}{read:>8,}{travelled:>13,}{headers:>9,}")
    read, travelled = sum(row[1] for row in rows), sum(row[2] for row in rows)
    headers = sum(row[3] for row in rows)
    print(f"{'in all':<44}{read:>8,}{travelled:>13,}{headers:>9,}")
    print(f"The limit for bodies on the wire is {LIMIT_KB} kB; headers are listed separately.")
