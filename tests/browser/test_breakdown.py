"""A breakdown in Chromium: it fits, axe finds no faults, and paper shows all of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.authoring.services import add_question
from surveys.models import Question, Survey
from tests.support.breakdowns.waves import break_down, field_people, make_grouped_survey
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import open_survey

WIDTH = "document.documentElement.scrollWidth"
GROUPS = ("Nursing staff", "Physicians, residents and everybody who is in training", "Office")
PAPERS = {"A4": (180, 267), "Letter": (186, 249)}
PIXELS_PER_MM = 96 / 25.4
CUT_OFF = """() => [...document.querySelectorAll("main :is(p, dd, dt, h1, h2, h3, li, span)")]
    .filter((element) => element.offsetHeight && !element.closest(".visually-hidden"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.textContent.trim())"""


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    survey = make_grouped_survey(groups=GROUPS, title="Working while ill")
    add_question(survey=survey, type=Question.Type.DECLARED, text="When?", options=["Day", "Night"])
    wave = open_survey(survey=survey)
    field_people(wave, people=2000)
    break_down(wave)
    return survey


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    context = make_context(chromium, live, survey, viewport=PHONE)
    reader = Reader(context.new_page(), live)
    yield reader.page
    reader.assert_nothing_went_wrong()
    context.close()


def test_the_menu_and_the_page_fit_and_are_accessible(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    page.goto(f"{live.url}/surveys/{survey.slug}/breakdown")
    page.get_by_role("link", name="Where?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("By Q1: Where?")
    for size in (PHONE, DESK):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for opened in (False, True):
            page.evaluate(
                "(open) => document.querySelectorAll('details').forEach((one) => one.open = open)",
                opened,
            )
            assert page.evaluate(WIDTH) <= size["width"]
        assert find_violations(page, in_dark=size is DESK) == []


def test_differences_are_opened_with_the_keyboard(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    page.goto(f"{live.url}/surveys/{survey.slug}/breakdown/q1")
    details = page.locator("#q2 details")
    expect(details.locator("li").first).to_be_hidden()
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(details.locator("li").first).to_be_visible()
    expect(details).to_contain_text("points (")


@pytest.mark.parametrize("paper", PAPERS)
def test_paper_has_every_row_and_nothing_is_cut(
    page: Page, live: LiveApplication, survey: Survey, paper: str
) -> None:
    width, height = (round(side * PIXELS_PER_MM) for side in PAPERS[paper])
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{live.url}/surveys/{survey.slug}/breakdown/q1")
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []
    assert page.locator(".broken-differences li").first.is_visible()
    assert page.locator(".block-row:visible").count() == page.locator(".block-row").count() > 20
    tall = page.evaluate(
        """(most) => [...document.querySelectorAll("main *")]
            .filter((one) => getComputedStyle(one).breakInside.startsWith("avoid"))
            .filter((one) => one.offsetHeight > most).length""",
        height // 2,
    )
    assert tall == 0
