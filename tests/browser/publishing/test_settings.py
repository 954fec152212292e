"""Choosing what anyone may see, in Chromium: the cap shows only where it counts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.manifest.manifest import Publication
from surveys.models import Survey
from tests.support.browser.accessibility import AXE, RUN_AXE
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
    page.goto(f"{live.url}/surveys/{survey.slug}/settings")
    cap = page.locator("#id_release_epsilon")
    expect(cap).to_be_hidden()
    choose(page, PROTECTED)
    expect(cap).to_be_visible()
    cap.fill("0")
    page.locator("#id_cap").fill("500")
    page.get_by_role("button", name="Save the settings").click()
    for problem in ("Enter the cap as a number from 0.10 to 3.00.", "Leave it empty and set a"):
        expect(page.get_by_role("alert")).to_contain_text(problem)
    expect(cap).to_be_visible()
    cap.fill("0.7")
    page.locator("#id_cap").fill("")
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_text("The settings were saved.")).to_be_visible()
    expect(cap).to_have_value("0.70")
    stored = Survey.objects.get(pk=survey.pk)
    assert (stored.publication, stored.release_epsilon_hundredths) == ("protected", 70)


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_the_choice_is_accessible_and_fits(
    chromium: Browser, live: LiveApplication, size: dict[str, int], scheme: str
) -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    context = make_context(chromium, live, survey, viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/settings")
    for fold in page.locator(".publication details").all():
        fold.evaluate("(details) => { details.open = true; }")
    expect(page.get_by_role("group", name="What may anyone see?")).to_be_visible()
    page.evaluate(AXE)
    assert page.evaluate(RUN_AXE) == []
    assert page.evaluate(WIDTH) <= size["width"]
