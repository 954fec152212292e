"""The report of a study on a desktop, a phone and paper, even with the longest possible texts."""

from __future__ import annotations

import re
import zlib

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import MAX_OPTION_LENGTH, MAX_QUESTION_LENGTH, Survey, Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, send_people

# Millimetres, without the margins of 15 mm.
PAPERS = {"A4": (180, 267), "Letter": (186, 249)}
PIXELS_PER_MM = 96 / 25.4
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_OFF = """() => [...document.querySelectorAll("main :is(td, th, p, dd, dt, h1, h2, h3, li)")]
    .filter((element) => element.offsetHeight && !element.closest(".visually-hidden"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.textContent.trim())"""


@pytest.fixture
def long_study(live: LiveApplication) -> Survey:
    """Make a closed survey with texts of the greatest length, in both writing directions."""
    survey = make_survey(title="#panic() $x$ <b>" + "W" * 180, questions=(), drawn=3)
    long = "Have you ever done what nobody should ever do to anybody? " * 20
    options = [f"{number} {'a long answer ' * 30}"[:MAX_OPTION_LENGTH] for number in range(40)]
    add_question(survey=survey, text="Which?", type="choice", flips=5, options=options)
    for number in range(12):
        text = f"{number} {long}"[:MAX_QUESTION_LENGTH].strip()
        add_question(survey=survey, text=text, type="yes_no", flips=12)
    add_question(survey=survey, text="من أين أنت؟", type="declared", options=["مدينة", "X" * 60])
    wave = open_survey(survey=survey)
    send_people(wave, people=400)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


def open_report(
    chromium: Browser, live: LiveApplication, survey: Survey, **options: object
) -> Page:
    context = make_context(chromium, live, survey, **options)
    page = context.new_page()
    reader = Reader(page, live)
    page.goto(f"{live.url}/surveys/{survey.slug}/report")
    reader.assert_nothing_went_wrong()
    return page


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_the_longest_words_fit_the_screen_and_axe_finds_nothing(
    chromium: Browser,
    live: LiveApplication,
    long_study: Survey,
    viewport: dict[str, int],
) -> None:
    page = open_report(chromium, live, long_study, viewport=viewport)
    assert page.evaluate(SIDEWAYS) == 0
    assert find_violations(page) == []
    page.context.close()


@pytest.mark.parametrize("paper", PAPERS)
def test_the_longest_report_prints_completely_without_a_blank_page(
    chromium: Browser, live: LiveApplication, long_study: Survey, paper: str
) -> None:
    page = open_report(chromium, live, long_study)
    pdf = page.pdf(format=paper)
    width, height = (round(side * PIXELS_PER_MM) for side in PAPERS[paper])
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []
    sheets = page.evaluate("document.body.scrollHeight") / height
    pages = count_texts(pdf)
    assert min(pages) > 0
    assert sheets <= len(pages) <= 1.25 * sheets + 1
    for screen_only in (".site-header", ".button", "#invited"):
        expect(page.locator(f"{screen_only}:visible")).to_have_count(0)
    page.context.close()


def test_a_report_without_results_prints_on_few_pages(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    page = open_report(chromium, live, wave.survey)
    pages = count_texts(page.pdf(format="A4"))
    assert len(pages) <= 3
    assert min(pages) > 0
    page.context.close()


def test_the_number_of_people_invited_is_typed_with_the_keyboard_alone(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_launched_survey()
    send_people(wave, people=200)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    page = open_report(chromium, live, wave.survey)
    page.locator("#invited summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("150")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The survey has 200 reports")
    field = page.get_by_label("People invited")
    expect(field).to_be_visible()
    expect(field).to_have_value("150")
    field.fill("800")
    field.press("Enter")
    expect(page.locator(".report-facts").first).to_contain_text("25\N{NO-BREAK SPACE}%")
    page.context.close()


def count_texts(pdf: bytes) -> list[int]:
    """Count the pieces of text on each page of Chromium's PDF."""
    objects = dict(re.findall(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL))
    found = [body for body in objects.values() if re.search(rb"/Type /Page\b", body)]
    contents = (re.search(rb"/Contents (\d+) 0 R", body) for body in found)
    return [_inflate(objects[content[1]]).count(b"Tj") for content in contents if content]


def _inflate(body: bytes) -> bytes:
    found = re.search(rb"stream\r?\n(.*)\r?\nendstream", body, re.DOTALL)
    assert found is not None
    return zlib.decompress(found[1])
