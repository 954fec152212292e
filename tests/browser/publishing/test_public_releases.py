"""The public page of releases in Chromium: no script, no sideways scrolling, nothing axe finds."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.models import Release
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.models import Question, Wave
from tests.support.browser.accessibility import AXE, RUN_AXE
from tests.support.browser.every_type import make_branching_survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader
from tests.support.factories import make_survey, open_survey
from tests.support.releases.stored import finish, plan, store, store_table

WIDTH = "document.documentElement.scrollWidth"
SIZES = {"desk": DESK, "phone": PHONE}


def make_released() -> Wave:
    """Release a table of many kinds, a leader, a typical answer, and one with too few people."""
    survey = make_survey(
        title="Working at night",
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
        organization="University of the North",
    )
    kind = Question.Type
    wards = ["Intensive care", "Surgery", "Children’s ward"]
    add_question(
        survey=survey, type=kind.DECLARED, text="On which ward do you work?", options=wards
    )
    add_question(
        survey=survey,
        type=kind.SCALE,
        text="How safe do you feel at night?",
        minimum=1,
        maximum=5,
        low_label="not at all",
        high_label="completely",
    )
    add_question(
        survey=survey,
        type=kind.SEVERAL,
        text="What would help?",
        options=["More light", "More staff", "A direct line to the porter’s lodge"],
        refusal=True,
    )
    add_question(survey=survey, type=kind.NUMBER, text="How many nights?", minimum=0, maximum=31)
    wave = open_survey(survey=survey)
    names = [one.name for one in wave.description.questions]
    store_table(wave, *names, people=1204, epsilon=150, seed=5)
    leader = plan(wave.description, "q3", kind=Release.Kind.LEADER, epsilon=30)
    store(finish(leader, {"code": 1}), wave)
    typical = plan(wave.description, "q4", kind=Release.Kind.TYPICAL, epsilon=30)
    store(finish(typical, {"code": 3}), wave)
    store_table(wave, "q1", people=30, epsilon=10)
    return wave


def assert_page_is_sound(page: Page, *, width: int) -> None:
    assert page.evaluate(WIDTH) <= width
    page.evaluate(AXE)
    for tag in page.locator("details").all():
        tag.evaluate("(details) => { details.open = true; }")
    assert page.evaluate(RUN_AXE) == []
    assert page.evaluate(WIDTH) <= width
    for frame in page.locator(".table-wrap:has(> .table-parts)").all():
        assert frame.evaluate("(frame) => frame.scrollWidth - frame.clientWidth") == 0


def look(page: Page, name: str) -> None:
    """Keep a picture for people, if a folder is named."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_a_visitor_reads_releases(
    chromium: Browser, live: LiveApplication, size: str, scheme: str
) -> None:
    viewport = SIZES[size]
    context = chromium.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    waiting = make_branching_survey(publication=Publication.PROTECTED)
    page.goto(f"{live.url}/s/{waiting.survey.slug}/results")
    expect(page.get_by_text("What its researchers then publish appears here")).to_be_visible()
    look(page, f"waiting-{size}-{scheme}")
    assert_page_is_sound(page, width=viewport["width"])
    wave = make_released()
    page.goto(f"{live.url}/s/{wave.survey.slug}/results")
    expect(page.locator(".release")).to_have_count(4)
    look(page, f"releases-{size}-{scheme}")
    assert_page_is_sound(page, width=viewport["width"])
    look(page, f"releases-open-{size}-{scheme}")
    assert context.cookies() == []


def test_a_visitor_takes_the_figures_home(chromium: Browser, live: LiveApplication) -> None:
    wave = make_released()
    reader = Reader(chromium.new_page(), live)
    reader.page.goto(f"{live.url}/s/{wave.survey.slug}/results")
    with reader.page.expect_download() as loaded:
        reader.page.get_by_role("link", name="All figures as a file (CSV)").click()
    assert loaded.value.suggested_filename.endswith("_releases.csv")
    assert reader.page.evaluate("[document.cookie, localStorage.length]") == ["", 0]
