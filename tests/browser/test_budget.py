"""The budget of a draft in Chromium: a remedy and its undo, on a phone and a desktop."""

from __future__ import annotations

from random import Random

import pytest
from playwright.sync_api import Browser, expect

from surveys.models import Survey
from tests.support.browser.accessibility import assert_fits_and_is_accessible
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import Reader, make_context
from tests.support.factories import make_survey


@pytest.mark.long
def test_thirty_questions_are_opened_in_three_presses(
    chromium: Browser, live: LiveApplication
) -> None:
    random = Random(7)
    questions = ["".join(random.choices("abcdefghijklm ", k=80)) for _ in range(30)]
    survey = make_survey(minimum_batch=50, display_minimum=150, questions=questions)
    context = make_context(chromium, live, survey)
    reader = Reader(context.new_page(), live)
    page = reader.page
    for name in ("", "launch", "questions"):
        page.goto(f"{live.url}/surveys/{survey.slug}/{name}")
        for details in page.locator("#budget details").all():
            details.evaluate("element => { element.open = true; }")
        assert_fits_and_is_accessible(page)
    page.get_by_role("button", name="Ask each person 18 of 30 questions").click()
    expect(page.locator("#budget")).to_contain_text("ε = 19.78 (recommended: up to 5.5")
    page.get_by_role("button", name="Undo the last step").click()
    expect(page.locator("#budget")).to_contain_text("ε = 32.96 (recommended: up to 5.5")
    page.get_by_role("button", name="Ask each person 5 of 30 questions").click()
    expect(page.locator("#budget")).to_contain_text("ε = 5.50 (recommended: up to 5.5")
    assert_fits_and_is_accessible(page)
    page.get_by_role("link", name="Open the survey").click()
    page.get_by_role("button", name="Open the survey").click()
    expect(page.get_by_role("status").first).to_contain_text("The survey was opened.")
    assert not Survey.objects.get(pk=survey.pk).is_draft()
    reader.assert_nothing_went_wrong()
    context.close()
