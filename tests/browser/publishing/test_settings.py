"""The settings of a draft in Chromium: five short pages; the cap is shown only where it applies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.models import Survey
from surveys.models.settings import SettingsPage
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, make_context
from tests.support.factories import make_survey

WIDTH = "document.documentElement.scrollWidth"
PROTECTED = "Protected figures, after the survey has closed"


def choose(page: Page, name: str) -> None:
    page.get_by_label(name).check()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_author_chooses_protected_figures_and_their_cap(
    chromium: Browser, live: LiveApplication, scripts: bool
) -> None:
    survey = make_survey()
    context = make_context(chromium, live, survey, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/settings/privacy")
    cap = page.locator("#id_release_epsilon")
    expect(cap).to_be_hidden()
    choose(page, PROTECTED)
    expect(cap).to_be_visible()
    cap.fill("0")
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter the cap as a number from 0.10 to 3.00")
    expect(cap).to_be_visible()
    cap.fill("0.7")
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_text("The settings were saved.")).to_be_visible()
    expect(cap).to_have_value("0.70")
    stored = Survey.objects.get(pk=survey.pk)
    assert (stored.publication, stored.release_epsilon_hundredths) == ("protected", 70)


@pytest.mark.parametrize("page_name", SettingsPage)
def test_each_page_is_short_and_accessible(
    chromium: Browser, live: LiveApplication, page_name: SettingsPage, tmp_path: Path
) -> None:
    survey = make_survey(questions=[f"Question {number}?" for number in range(10)])
    folder = Path(os.environ.get("PICTURES", tmp_path))
    for size in (DESK, PHONE):
        context = make_context(chromium, live, survey, viewport=size)
        page = context.new_page()
        page.goto(f"{live.url}/surveys/{survey.slug}/settings/{page_name}")
        name = f"settings-{page_name}-{size['width']}.png"
        page.screenshot(path=folder / name, full_page=True)
        if size == DESK:
            assert page.evaluate("document.documentElement.scrollHeight") <= 1100
            assert len(page.locator("main form.form").inner_text().split()) <= 160
        for fold in page.locator("form details").all():
            fold.evaluate("(details) => { details.open = true; }")
        assert find_violations(page, in_dark=size == DESK) == []
        assert page.evaluate(WIDTH) <= size["width"]
        context.close()


def test_moments_are_told_in_the_authors_time_zone_too(
    chromium: Browser, live: LiveApplication
) -> None:
    survey = make_survey()
    context = make_context(chromium, live, survey, timezone_id="Asia/Kolkata")
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/settings/time")
    told = page.locator("#id_closes_at_local")
    expect(told).to_have_text("")
    page.locator("#id_closes_at").fill("2030-12-24T18:30")
    expect(told).to_have_text(
        "In your time zone (Asia/Calcutta): Wednesday, 25 December 2030 at 00:00"
    )
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_text("Closes 24 December 2030")).to_be_visible()
    expect(told).to_contain_text("25 December 2030")
