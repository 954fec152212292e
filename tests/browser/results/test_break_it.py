"""The attacks page in Chromium: it fits the window, passes axe, and its choice of ε works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.simulation.rehearsal import open_rehearsal
from surveys.models import Survey
from tests.support.breakdowns.waves import field_people, make_grouped_survey
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context

WIDTH = "document.documentElement.scrollWidth"
OPEN_ALL = "(open) => document.querySelectorAll('details').forEach((one) => one.open = open)"
LENGTHS = """() => [...document.querySelectorAll(".attack-bar")].map((bar) =>
    Math.round(100 * bar.querySelector("rect").getBoundingClientRect().width
        / bar.querySelector("svg").clientWidth)
    - parseInt(bar.querySelector("strong").textContent))"""


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    groups = ("Nursing staff", "Physicians, residents and everybody who is in training", "Office")
    survey = make_grouped_survey(groups=groups, title="Working while ill")
    return field_people(open_rehearsal(survey=survey, people=2000), people=2000).survey


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    context = make_context(chromium, live, survey, viewport=PHONE)
    reader = Reader(context.new_page(), live)
    yield reader.page
    reader.assert_nothing_went_wrong()
    context.close()


def test_the_attacks_fit_are_accessible_and_follow_the_choice(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    page.goto(f"{live.url}/surveys/{survey.slug}/break-it")
    expect(page.get_by_role("heading", level=1)).to_have_text("Break it")
    page.get_by_label("0.5").check()
    page.get_by_role("button", name="Attack").click()
    expect(page.locator("#bound")).to_contain_text("more than 63 times in 100")
    for size in (PHONE, DESK):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for opened in (False, True):
            page.evaluate(OPEN_ALL, opened)
            assert page.evaluate(WIDTH) <= size["width"]
            assert all(abs(difference) <= 1 for difference in page.evaluate(LENGTHS))
        assert find_violations(page, in_dark=size is DESK) == []


def test_a_survey_of_real_people_gets_a_kind_page(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    real = make_grouped_survey(owner=survey.owner, title="Working while ill")
    context = make_context(chromium, live, survey, viewport=PHONE)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{real.slug}/break-it")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("“Break it” needs invented answers")
    assert page.evaluate(WIDTH) <= PHONE["width"]
    assert find_violations(page) == []
    context.close()
