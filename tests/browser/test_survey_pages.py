"""Every page of a survey in Chromium: its header, and no sideways scrolling or axe violations."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from aggregator.templatetags.survey_head import TABS
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.models import Survey, Wave
from tests.support.browser.accessibility import assert_fits_and_is_accessible
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, make_context
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people

SUB_PAGES = {
    "draft": [
        ("launch", "overview"),
        ("share", "overview"),
        ("delete", "overview"),
        ("history", "overview"),
        ("languages", "settings"),
        ("translations", "settings"),
        ("questions/insert", "questions"),
    ],
    "open": [
        ("share", "overview"),
        ("close", "overview"),
        ("languages", "settings"),
        ("launch", "overview"),  # the page refuses and says why
    ],
    "closed": [
        ("results/coins", "results"),
        ("results/both", "results"),
        ("delete-with-data", "overview"),
        ("history", "overview"),
        ("report", "data"),
        ("releases/new/table", "releases"),
        ("releases/ledger", "releases"),
        ("breakdown", "compare"),
    ],
}


def find_path(page: str) -> str:
    """Return the address of a page relative to the address of the survey."""
    return reverse(page, args=["slug"]).removeprefix("/surveys/slug/")


def make(state: str) -> Survey:
    survey = make_survey(
        title="Trouble at work in the hospitals of the county",
        questions=(),
        coins=True,
        publication=Publication.PROTECTED,  # so that the survey has every tab
    )
    first = ask(survey, "Have you ever worked while ill?", type="yes_no")
    rule = {"name": f"{first.pk}", "is": [1]}
    ask(survey, "Who asked you to?", type="choice", options=["A nurse", "A physician"], rule=rule)
    if state != "draft":
        open_survey(survey=survey)
        for number, wave in enumerate(survey.waves.all()):
            send_people(wave, people=60, seed=number)
            if state == "closed" and wave.mode == Wave.Mode.ELECTRONIC:
                close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
            process(wave)
    return survey


@pytest.fixture(params=["draft", "open", "closed"])
def state(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def survey(live: LiveApplication, state: str) -> Survey:
    return make(state)


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    context = make_context(chromium, live, survey, viewport=PHONE)
    yield context.new_page()
    context.close()


def test_every_tab_and_every_page_below_it_has_the_same_head(
    page: Page, live: LiveApplication, survey: Survey, state: str
) -> None:
    words = {name: text for name, text, _ in TABS}
    pages = [(find_path(page), name, "page") for name, _, page in TABS]
    pages += [(path, name, "true") for path, name in SUB_PAGES[state]]
    for path, name, current in pages:
        page.goto(f"{live.url}/surveys/{survey.slug}/{path}")
        nav = page.get_by_role("navigation", name="Survey")
        expect(nav.locator("a")).to_have_text([text for _, text, _ in TABS])
        expect(nav.locator("[aria-current]")).to_have_text(words[name])
        expect(nav.locator("[aria-current]")).to_have_attribute("aria-current", current)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.locator("#survey-status .tag").first).to_have_text(
            re.compile(state, re.IGNORECASE)
        )
        assert_fits_and_is_accessible(page, path)


def test_the_head_leaves_paper_to_the_page(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    page.goto(f"{live.url}/surveys/{survey.slug}/data")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for gone in (".survey-tabs", ".survey-step", ".site-header", ".site-footer", ".button"):
        for box in page.locator(gone).all():
            expect(box).to_be_hidden()
