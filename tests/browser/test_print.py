"""Results on paper: A4 and Letter, with long and empty surveys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.browser.every_type import ask
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import Reader, make_context
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, send_people

# Millimetres, without the margins of 15 mm.
PAPERS = {"A4": (180, 267), "Letter": (186, 249)}
PIXELS_PER_MM = 96 / 25.4
OPTIONS = [
    "A nurse",
    "A physician",
    "Somebody from the administration or from the management of the house",
    "Somebody else whom I met at work",
    "A patient, or somebody who visited a patient",
]
# These boxes follow one another, and none may cover another.
BOXES = ".panel > *, .block, .block > *, h1"
OVERLAPS = """(selector) => {
    const boxes = [...document.querySelectorAll(selector)].filter((box) => box.offsetHeight);
    const inside = (one, other) => one.contains(other) || other.contains(one);
    const names = [];
    for (const [place, one] of boxes.entries()) {
        for (const other of boxes.slice(place + 1)) {
            const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
            const apart = a.bottom <= b.top + 1 || b.bottom <= a.top + 1
                || a.right <= b.left + 1 || b.right <= a.left + 1;
            if (!apart && !inside(one, other)) names.push(`${one.id} ${other.id}`);
        }
    }
    return names;
}"""
# Finds texts that reach beyond the paper, or that are cut off by a box that hides overflow.
CUT_OFF = """() => [...document.querySelectorAll("main :is(td, th, p, dd, dt, h1, h2, h3, h4, li)")]
    .filter((element) => element.offsetHeight && !element.closest(".visually-hidden"))
    .filter((element) => {
        const box = element.getBoundingClientRect();
        return box.left < -1 || box.right > innerWidth + 1 || element.scrollWidth > innerWidth + 1;
    })
    .map((element) => element.textContent.trim())"""
STUCK = """() => [...document.querySelectorAll("main *")]
    .filter((element) => getComputedStyle(element).breakInside.startsWith("avoid"))
    .filter((element) => element.offsetHeight > %d)
    .map((element) => element.className || element.tagName)"""


@pytest.fixture
def long_survey(live: LiveApplication) -> Survey:
    """Make a closed survey with ten questions of all types, two of them behind a rule."""
    survey = make_survey(title="Trouble at work", questions=(), flips=40)
    first = ask(survey, "Have you ever worked while ill?", type="yes_no")
    rule = {"name": f"{first.pk}", "is": [1]}
    ask(survey, "Who asked you to?", type="choice", options=OPTIONS, refusal=True)
    ask(survey, "Who knew of it?", type="several", options=OPTIONS, limit=2, refusal=True)
    ask(survey, "Would you do it again?", type="yes_no", refusal=True, rule=rule)
    labels = {"low_label": "Never", "high_label": "Very often"}
    for text in ("How often were you shouted at?", "How often were you tired?"):
        ask(survey, text, type="scale", minimum=1, maximum=5, **labels)
    ask(survey, "How many hours did you work?", type="number", minimum=0, maximum=80, unit="hours")
    ask(survey, "Were you lonely?", type="follow_up", follow_up="Are you still?")
    ask(survey, "Who helped you?", type="choice", options=OPTIONS, rule=rule)
    ask(survey, "Where do you work?", type="declared", options=["In a town", "Elsewhere"])
    wave = open_survey(survey=survey)
    send_people(wave, people=400)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


def open_page(chromium: Browser, live: LiveApplication, survey: Survey) -> Page:
    context = make_context(chromium, live, survey)
    return Reader(context.new_page(), live).open(survey)


def count_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def lay_out(page: Page, paper: str) -> None:
    """Lay the page out as for printing, but on one endless sheet."""
    width, height = (round(side * PIXELS_PER_MM) for side in PAPERS[paper])
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media="print")


@pytest.mark.parametrize("paper", PAPERS)
def test_a_long_survey_prints_completely_and_on_few_pages(
    chromium: Browser, live: LiveApplication, long_survey: Survey, paper: str
) -> None:
    page = open_page(chromium, live, long_survey)
    pages = count_pages(page.pdf(format=paper))
    lay_out(page, paper)
    height = page.evaluate("document.body.scrollHeight") / PIXELS_PER_MM
    assert height / PAPERS[paper][1] <= pages <= height / PAPERS[paper][1] * 1.25 + 1
    check_sheet(page, paper)
    assert page.evaluate(STUCK % (PAPERS[paper][1] * PIXELS_PER_MM * 0.7)) == []
    # Every question has its heading, every row its numbers, and closed parts are not printed.
    expect(page.locator("article.block h3:visible")).to_have_count(10)
    rows = page.locator(".block-row")
    assert rows.count() > 30
    assert page.locator(".block-row .row-text:visible").count() == rows.count()
    expect(page.locator("summary:visible")).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_survey_without_results_prints_on_one_page(
    chromium: Browser, live: LiveApplication, paper: str
) -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    page = open_page(chromium, live, wave.survey)
    assert count_pages(page.pdf(format=paper)) == 1
    lay_out(page, paper)
    check_sheet(page, paper)
    page.context.close()


def check_sheet(page: Page, paper: str) -> None:
    assert page.evaluate(OVERLAPS, BOXES) == []
    assert page.evaluate(CUT_OFF) == []
    colour = "element => getComputedStyle(element).backgroundColor"
    for box in ("html", "body", ".blocks, .empty"):
        white = ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
        assert page.locator(box).first.evaluate(colour) in white
    for navigation in (".site-header", ".site-footer", ".back-link", ".button-row"):
        expect(page.locator(f"{navigation}:visible")).to_have_count(0)
