"""Links to methods open a section in place, even by keyboard; without scripts, they lead to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.methods.document import list_names
from surveys.models import Survey, Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.comparisons import make_answered_wave
from tests.support.waves import make_wave

SECTION = ".method-section"


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_wave().survey


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def reader(
    request: pytest.FixtureRequest, chromium: Browser, live: LiveApplication, survey: Survey
) -> Iterator[Reader]:
    context = make_context(chromium, live, survey, viewport=request.param)
    yield Reader(context.new_page(), live)
    context.close()


def width_of(page: Page) -> tuple[int, int]:
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width, page.viewport_size["width"] if page.viewport_size else 0


def find_barriers(page: Page) -> list[str]:
    return find_violations(page, in_dark=page.viewport_size == DESK)


def test_sections_open_below_their_links_and_close_again(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{reader.live.url}/plan")
    effect = page.get_by_role("link", name="Design effect", exact=True)
    expect(effect).to_have_attribute("aria-expanded", "false")
    effect.click()
    section = page.get_by_role("region", name="Design effect")
    expect(section).to_be_focused()
    expect(section).to_contain_text("Warner 1965")
    expect(section).to_be_in_viewport()
    expect(effect).to_have_attribute("aria-expanded", "true")
    expect(effect).to_have_attribute("aria-controls", section.get_attribute("id") or "none")
    # Several sections can be open.
    page.get_by_role("link", name="People per group").click()
    expect(page.locator(SECTION)).to_have_count(2)
    start, width = width_of(page)
    assert start == width
    assert find_barriers(page) == []
    section.get_by_role("button", name="Close").click()
    expect(effect).to_be_focused()
    expect(effect).to_have_attribute("aria-expanded", "false")
    expect(page.locator(SECTION)).to_have_count(1)
    page.get_by_role("link", name="People per group").click()
    expect(page.locator(SECTION)).to_have_count(0)
    assert page.url == f"{reader.live.url}/plan"
    reader.assert_nothing_went_wrong()


def test_the_keyboard_opens_and_closes_a_section(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{reader.live.url}/plan")
    link = page.get_by_role("link", name="Design effect", exact=True)
    link.press("Enter")
    expect(page.locator(SECTION)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(SECTION)).to_have_count(0)
    expect(link).to_be_focused()
    reader.assert_nothing_went_wrong()


def test_links_that_arrive_later_open_too(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{reader.live.url}/plan")
    page.evaluate(
        """() => {
          const [text, link] = ["p", "a"].map((name) => document.createElement(name));
          Object.assign(link, { className: "method", textContent: "Late", id: "late" });
          link.href = "/methods/coverage#coverage";
          text.append(link);
          document.querySelector("main").append(text);
        }"""
    )
    late = page.locator("#late")
    expect(late).to_have_attribute("aria-expanded", "false")
    late.click()
    expect(page.get_by_role("region", name="Coverage")).to_be_focused()
    reader.assert_nothing_went_wrong()


def test_a_section_opens_in_the_disclosure_of_a_question(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_answered_wave(people=300, cap=300, ending=Wave.Ending.CAP)
    for size in (DESK, PHONE):
        context = make_context(chromium, live, wave.survey, viewport=size)
        reader = Reader(context.new_page(), live)
        page = reader.open(wave.survey)
        disclosure = page.locator("details.block-details").first
        disclosure.locator("summary").click()
        links = disclosure.locator("a.method")
        links.first.click()
        expect(disclosure.locator(SECTION)).to_have_count(1)
        # The section opens below the table, not in one of its cells.
        disclosure.locator("th a.method").first.click()
        expect(disclosure.locator(SECTION)).to_have_count(2)
        expect(page.locator(f"table {SECTION}")).to_have_count(0)
        start, width = width_of(page)
        assert start == width
        assert find_barriers(page) == []
        reader.assert_nothing_went_wrong()
        context.close()


def test_a_section_that_cannot_be_loaded_is_left_to_its_chapter(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{reader.live.url}/plan")
    page.route("**/methods/paragraph/*", lambda route: route.abort())
    page.get_by_role("link", name="Design effect", exact=True).click()
    expect(page.get_by_role("heading", name="Design effect")).to_be_in_viewport()


def test_without_scripts_a_link_leads_to_its_chapter(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    context = make_context(chromium, live, survey, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.url}/plan")
    page.get_by_role("link", name="Design effect", exact=True).click()
    expect(page.locator("h2#design-effect")).to_be_in_viewport()
    page.goto(f"{live.url}/methods")
    page.get_by_role("searchbox").fill("standard error")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Standard error", exact=True).first.click()
    expect(page.locator("h2#standard-error")).to_be_in_viewport()
    context.close()


@pytest.mark.parametrize("name", ["", *(f"/{name}" for name in list_names()), "?q=interval"])
def test_every_chapter_fits_a_phone_and_obeys_the_policy(
    chromium: Browser, live: LiveApplication, name: str
) -> None:
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/methods{name}")
    start, width = width_of(page)
    assert start == width
    assert find_barriers(page) == []
    for picture in page.locator(".prose img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_be_visible()
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollHeight") < 15_000
    reader.assert_nothing_went_wrong()
    context.close()
