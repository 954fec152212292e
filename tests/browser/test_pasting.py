"""Pasting 30 questions from a spreadsheet in Chromium, with few clicks and with pictures."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Survey
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import make_survey

WIDTH = "document.documentElement.scrollWidth"
END = "scrollY + document.querySelector('.paste-rows').getBoundingClientRect().bottom"
ROWS = (
    "In the last month, did you work while you were ill?\tYes\tNo",
    "How often did you feel tired after a night shift?\tNever\tSometimes\tOften\tAlways",
    "I can talk to my supervisor about mistakes\t1 disagree – 5 agree",
    "On how many days did you skip your breaks?\t0 to 30 days",
    "Which of these helped you?\tColleagues\tFamily\tSport\tNothing\tchoose all that apply",
)
EVIL = "<img src=x onerror=alert(1)>?\n=1+1?\n\u2067\u202eabc?\nNot understood\nat all"


def make_rows(count: int) -> str:
    rows = (f"{n}\t{ROWS[n % len(ROWS)].replace('?', f' in week {n}?', 1)}" for n in range(count))
    return "No.\tQuestion\tAnswers\n" + "\n".join(
        row.replace("mistakes", f"mistakes of kind {n}") for n, row in enumerate(rows)
    )


def look(page: Page, step: str, folder: Path) -> None:
    """Check the page in a wide and a narrow window, and take a picture of both."""
    for size in (DESK, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        name = f"paste-{step}-{size['width']}.png"
        page.screenshot(path=folder / name, full_page=True, animations="disabled")
        assert page.evaluate(WIDTH) <= size["width"], name
        assert find_violations(page, in_dark=size is DESK) == [], name
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("scripts", [True, False])
def test_thirty_questions_from_a_spreadsheet_take_three_clicks(
    chromium: Browser, live: LiveApplication, tmp_path: Path, scripts: bool
) -> None:
    folder = Path(os.environ.get("MURMUR_PICTURES", tmp_path))
    survey: Survey = make_survey(questions=["Do you work at night?"], title="Health at work")
    context = make_context(chromium, live, survey)
    if not scripts:
        context.close()
        context = make_context(chromium, live, survey, java_script_enabled=False)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/questions")
    started = time.perf_counter()
    page.get_by_role("link", name="Paste questions").click()
    if scripts:
        look(page, "empty", folder)
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_role("alert")).to_contain_text("Paste some questions.")
        look(page, "error", folder)
        page.get_by_label("Your text").fill(make_rows(50) + "\n\n" + EVIL)
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".paste-row")).to_have_count(56)
        look(page, "fifty", folder)
        assert page.evaluate(END) <= 2 * DESK["height"]
        page.get_by_text("Change the text").click()
        started = time.perf_counter()
    page.get_by_label("Your text").fill(make_rows(30))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".paste-row")).to_have_count(31)
    page.get_by_role("button", name="Create 30 questions").click()
    expect(page.get_by_role("status").first).to_contain_text("30 questions created.")
    assert time.perf_counter() - started < 60
    assert survey.questions.count() == 31
    if scripts:
        # Chromium logs replies that refuse a form.
        reader.messages = [one for one in reader.messages if "status of 422" not in one]
        reader.assert_nothing_went_wrong()
    context.close()
