"""The results page in real Chromium, under the policy that the product sends."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.results.sentences import TOO_FEW
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_codes, send_people


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    """Make a closed survey of two questions with final results."""
    wave = make_launched_survey(cap=1400, title="Two questions")
    return field(wave, yes=[490, 700], total=1400, ending=Wave.Ending.CAP)


@pytest.fixture
def reader(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Reader]:
    context = make_context(chromium, live, survey)
    yield Reader(context.new_page(), live)
    context.close()


def words_of(page: Page) -> str:
    """Wait for the figures; return the panel's text."""
    expect(page.locator("article.block").first).to_be_visible()
    return page.locator("#panel").inner_text()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_figures_are_shown_without_a_single_violation(
    chromium: Browser, live: LiveApplication, survey: Survey, size: dict[str, int]
) -> None:
    context = make_context(chromium, live, survey, viewport=size)
    reader = Reader(context.new_page(), live)
    page = reader.open(survey)
    words = words_of(page)
    assert "Q1" in words
    assert re.search(r"20\s%", words)
    # Nothing overflows sideways, even on a phone.
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    reader.assert_nothing_went_wrong()
    context.close()


@pytest.fixture
def behind_a_rule(live: LiveApplication) -> Survey:
    """Make an open survey with a long question for few people, and a precisely estimated one."""
    survey = make_survey(title="Behind a rule", questions=(), flips=40)
    first = add_question(survey=survey, text="Have you ever worked while ill?", flips=40)
    rule = {"name": f"{first.pk}", "is": [1]}
    options = ["A nurse or a physician", "Somebody from the administration of the house"]
    add_question(
        survey=survey, text="Who knew?", type="choice", options=options, rule=rule, flips=40
    )
    add_question(survey=survey, text="Do you like your work?", refusal=True, flips=5)
    wave = open_survey(survey=survey)
    send_people(wave, people=200)
    process(wave)
    return survey


def test_a_figure_that_says_nothing_fits_on_a_phone(
    chromium: Browser, live: LiveApplication, behind_a_rule: Survey
) -> None:
    context = make_context(chromium, live, behind_a_rule, viewport=PHONE)
    page = Reader(context.new_page(), live).open(behind_a_rule)
    row = page.locator(".block-row", has_text=TOO_FEW).first
    expect(row).to_be_visible()
    expect(row.locator(".unknown")).to_have_count(1)
    expect(row.locator(".dot")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    # The rows also fit with the numbers of a large survey.
    page.locator(".row-text").evaluate_all(
        "all => all.forEach((text) => text.textContent = '12,803.5 hours† (11,709.1–13,894.2)')"
    )
    page.locator("details").evaluate_all("all => all.forEach((one) => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    context.close()


def test_every_row_of_a_block_has_the_same_axis(
    chromium: Browser, live: LiveApplication, behind_a_rule: Survey
) -> None:
    """Neither a question of 1,000 characters nor an option of 300 moves an axis."""
    context = make_context(chromium, live, behind_a_rule)
    page = Reader(context.new_page(), live).open(behind_a_rule)
    page.locator(".block-question").first.evaluate("text => text.textContent = 'Why? '.repeat(200)")
    page.locator(".block-label").first.evaluate("text => text.textContent = 'word '.repeat(60)")
    boxes = [axis.bounding_box() for axis in page.locator(".axis").all()]
    assert len({(round(box["x"]), round(box["width"])) for box in boxes if box}) == 1
    scale = page.locator(".axis-scale").bounding_box()
    assert scale is not None
    assert boxes[0] is not None
    assert (round(scale["x"]), round(scale["width"])) == (
        round(boxes[0]["x"]),
        round(boxes[0]["width"]),
    )
    assert page.evaluate("document.documentElement.scrollWidth") == DESK["width"]
    context.close()


def test_axe_finds_nothing(chromium: Browser, live: LiveApplication) -> None:
    survey = make_survey(title="Two scales", questions=(), flips=40)
    for text in ("How often?", "How strongly?"):
        ask(survey, text, type="scale", minimum=1, maximum=5, low_label="Never")
    wave = open_survey(survey=survey)
    send_people(wave, people=200)
    process(wave)
    context = make_context(chromium, live, survey)
    page = Reader(context.new_page(), live).open(survey)
    assert find_violations(page) == []
    page.locator("details").evaluate_all("all => all.forEach((one) => one.open = true)")
    assert find_violations(page) == []
    context.close()


def test_a_look_reaches_the_open_page(chromium: Browser, live: LiveApplication) -> None:
    wave = make_launched_survey(flips=5)  # so that 100 reports are enough to show a share
    send_codes(wave, yes=[50, 50], total=110)
    process(wave)
    context = make_context(chromium, live, wave.survey)
    reader = Reader(context.new_page(), live)
    page = reader.open(wave.survey)
    # Chance decides which 10 of the 110 reports keep waiting: 40 to 50 of the 100 sealed codes show
    # Yes, which are (S/n − .05)/.9 = 39 to 50 %.
    assert re.search(r"[345]\d\s%", words_of(page))
    expect(page.locator("#survey-status")).to_contain_text("100 sealed reports")

    send_codes(wave, yes=[300, 100], total=400)
    with page.expect_response(lambda response: "/panel" in response.url) as polled:
        pass
    assert polled.value.status == 204  # waiting reports change nothing
    expect(page.locator("#survey-status")).to_contain_text("100 sealed reports")

    page.locator("#q2-summary").click()  # it must stay open and keep the focus
    process(wave)
    expect(page.locator("#survey-status")).to_contain_text("500 sealed reports")
    expect(page.locator("#q2-details")).to_have_attribute("open", "")
    expect(page.locator("#q1-details")).not_to_have_attribute("open", "")
    expect(page.locator("#q2-summary")).to_be_focused()
    expect(page.locator("#update")).to_contain_text("500 reports are counted")
    assert re.search(r"7\d\s%", words_of(page))  # from 340 to 350 of 500 codes
    expect(page.locator("#next-look")).to_contain_text("after at least 56 new reports")

    send_codes(wave, yes=[20, 20], total=20)
    process(wave)
    assert wave.batches.count() == 3
    with page.expect_response(lambda response: "/panel" in response.url) as polled:
        pass
    assert polled.value.status == 204  # a batch without a look changes nothing either
    expect(page.locator("#survey-status")).to_contain_text("500 sealed reports")

    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    expect(page.locator("#survey-status")).to_contain_text("Closed")
    expect(page.locator("#survey-status")).to_contain_text("530 sealed reports")
    assert page.locator("#panel").get_attribute("hx-get") is None  # the page stops polling
    reader.assert_nothing_went_wrong()
    context.close()


def test_the_first_look_ends_the_wait(chromium: Browser, live: LiveApplication) -> None:
    wave = make_launched_survey()
    context = make_context(chromium, live, wave.survey)
    reader = Reader(context.new_page(), live)
    page = reader.open(wave.survey)
    expect(page.locator("#panel")).to_contain_text("Waiting for answers")
    send_codes(wave, yes=[50, 50], total=110)
    process(wave)
    assert "Q1" in words_of(page)
    reader.assert_nothing_went_wrong()
    context.close()


def test_without_javascript_all_numbers_are_shown(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    context = make_context(chromium, live, survey, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/results")
    expect(page.locator("article.block")).to_have_count(2)
    expect(page.locator(".block-row .dot")).to_have_count(2)
    page.locator("#q1-summary").press("Enter")
    expect(page.locator("#q1-details td").first).to_be_visible()
    context.close()


def test_each_of_our_pages_obeys_its_policy(reader: Reader, survey: Survey) -> None:
    for path in ("/", "/api", "/problems"):
        reader.page.goto(f"{reader.live.url}{path}")
        assert reader.page.locator("h1").count() == 1
        reader.assert_nothing_went_wrong()
