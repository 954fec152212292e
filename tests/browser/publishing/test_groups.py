"""A table by groups in Chromium: planned in a draft, drawn at the close, and read the next day."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings

from aggregator.batches.closing import close_due_waves
from aggregator.releases.drawing import draw_release, find_releases_to_draw
from aggregator.releases.ledger import reserve_planned
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.models import Question, Survey, Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people

WIDTH = "document.documentElement.scrollWidth"
WHERE, WARDS = "Where do you work?", ["Intensive care", "Surgery"]


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    survey = make_survey(
        title="Health at work",
        questions=["Have you worked while ill?"],
        publication=Publication.PROTECTED,
        closes_at=timezone.now() + timedelta(hours=6),
    )
    add_question(survey=survey, type=Question.Type.NUMBER, text="Hours?", minimum=0, maximum=60)
    add_question(survey=survey, type=Question.Type.DECLARED, text=WHERE, options=WARDS)
    return survey


def look(page: Page, name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => one.open = true)")
    for size in (DESK, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.screenshot(path=folder / f"{name}-{size['width']}.png", full_page=True)
        assert page.evaluate(WIDTH) <= size["width"], name
        assert find_violations(page, in_dark=size is DESK) == [], name
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


@pytest.mark.long
def test_the_whole_way_of_a_table_by_groups(
    chromium: Browser,
    live: LiveApplication,
    survey: Survey,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.RELEASES = tmp_path / "releases"
    pictures = Path(os.environ.get("MURMUR_PICTURES", tmp_path / "pictures"))
    context = make_context(chromium, live, survey)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/plan")
    expect(page.locator("#releases")).to_contain_text("Median")
    look(page, "planner", pictures)

    page.goto(f"{live.url}/surveys/{survey.slug}/questions")
    page.get_by_text("Plan a release").click()
    for box in page.locator("#planned-releases [name=questions]").all()[:2]:
        box.check()
    page.get_by_label("Groups of a table").select_option(label=f"By Q3 {WHERE}")
    page.locator("#planned-releases [name=epsilon]").fill("1.00")
    page.get_by_role("button", name="Plan", exact=True).click()
    card = page.locator("#planned-releases")
    expect(card).to_contain_text("Table of Q1 and Q2 by Q3")
    look(page, "draft", pictures)

    wave = open_survey(survey=Survey.objects.get())
    send_people(wave, people=600)
    now = timezone.now
    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + timedelta(hours=7))
    assert close_due_waves() == 1
    process(Wave.objects.get())
    reserve_planned(wave_id=wave.pk)
    for release in list(find_releases_to_draw()):
        assert draw_release(release.pk)
    page.goto(f"{live.url}/surveys/{survey.slug}/releases")
    page.get_by_role("link", name="Table of Q1 and Q2 by Q3").click()
    for ward in WARDS:
        expect(page.locator("main")).to_contain_text(f"Q3: {ward}")
    look(page, "release", pictures)

    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + timedelta(hours=31))
    page.goto(f"{live.url}/s/{survey.slug}/results")
    expect(page.locator(".release-group")).to_have_count(4)
    look(page, "public", pictures)
    reader.assert_nothing_went_wrong()
    context.close()
