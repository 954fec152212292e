"""The public results in Chromium: no script, sideways scrolling or axe violations."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from surveys.lifecycle.services import close_wave, switch_public_results
from surveys.manifest.manifest import Publication
from surveys.models import Wave
from tests.support.browser.accessibility import assert_unfolded_page_is_sound
from tests.support.browser.every_type import make_branching_survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_codes, send_people

ROADS = ("هل قدت السيارة بعد الشرب؟", "هل لديك أطفال؟")
SIZES = {"desk": DESK, "phone": PHONE}


def close(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)


def make_study() -> Wave:
    wave = make_branching_survey(publication=Publication.EXACT, quick_exit=True)
    send_people(wave, people=300)
    return wave


def make_arabic() -> Wave:
    survey = make_survey(
        title="على الطريق",
        questions=ROADS,
        language="ar",
        publication=Publication.EXACT,
        coins=True,
    )
    wave = open_survey(survey=survey)
    send_codes(wave, yes=[600, 300], total=1000)
    return wave


@pytest.mark.parametrize("size", SIZES)
def test_a_visitor_follows_the_closed_survey_to_its_results(
    chromium: Browser, live: LiveApplication, size: str
) -> None:
    viewport = SIZES[size]
    # The page is in the survey's language; only the results themselves are always in English.
    studies = [
        (make_study(), "after the survey has closed", "no longer shown"),
        (make_arabic(), "بعد إغلاق الاستبيان", "لم تعد هذه النتائج معروضة"),
    ]
    context = chromium.new_context(viewport=viewport)  # type: ignore[arg-type]
    page = context.new_page()
    for wave, waiting, off in studies:
        address = f"{live.url}/s/{wave.survey.slug}"
        page.goto(f"{address}/results")
        expect(page.get_by_text(waiting)).to_be_visible()
        assert_unfolded_page_is_sound(page, width=viewport["width"])
        close(wave)
        page.goto(address)
        page.locator("main a").last.click()
        expect(page).to_have_url(f"{address}/results?lang={wave.description.language}")
        blocks = page.locator("article.block")
        expect(blocks).to_have_count(sum(one.is_scrambled for one in wave.description.questions))
        assert_unfolded_page_is_sound(page, width=viewport["width"])
        switch_public_results(survey=wave.survey, off=True)
        page.reload()
        expect(page.get_by_role("heading", name=off)).to_be_visible()
        assert_unfolded_page_is_sound(page, width=viewport["width"])
    assert context.cookies() == []


def test_the_page_asks_for_nothing_that_its_policy_forbids(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_study()
    close(wave)
    reader = Reader(chromium.new_page(), live)
    requested: list[str] = []
    reader.page.on("request", lambda request: requested.append(request.resource_type))
    reader.page.goto(f"{live.url}/s/{wave.survey.slug}/results")
    expect(reader.page).to_have_title(re.compile("^Results of a survey"))
    reader.assert_nothing_went_wrong()
    assert set(requested) <= {"document", "stylesheet", "image", "other", "font"}
    assert reader.page.evaluate("[document.cookie, localStorage.length]") == ["", 0]
