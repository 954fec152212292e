"""Protected publication in Chromium, from the settings to what a visitor reads the next day."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings

from aggregator.batches.closing import close_due_waves
from aggregator.models import RawReport, Release, ReleaseLedger
from aggregator.releases.alerts import find_alerts_to_look_at, look_at_alert
from aggregator.releases.drawing import draw_release, find_releases_to_draw
from aggregator.releases.ledger import reserve_planned
from surveys.authoring.services import add_question
from surveys.models import Question, Survey, Wave
from tests.support.browser.accessibility import fill_in, find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.browser.visit import HASTE, SENT, answer_page
from tests.support.factories import make_survey
from tests.support.fielding import process, send_people

PEOPLE = 600
YES = 900  # surely more than 20 %
WIDTH = "document.documentElement.scrollWidth"
MOST_WORDS = 160
# Counts the words of a page without its header, its figures and the author's texts.
WORDS = """() => {
    const main = document.querySelector("main").cloneNode(true);
    const left = ".survey-head, .back-link, table, .block, [dir=auto], bdi";
    main.querySelectorAll(`${left}, details > :not(summary)`).forEach((one) => one.remove());
    return main.innerText.match(/\\p{L}[^ ]*/gu).length;
}"""
TIRED, WHERE = "How tired are you after work?", "Where do you work?"
DAY = timedelta(days=1)


class Clock:
    """The time that pages, workers and this test read."""

    def __init__(self) -> None:
        self._now, self.ahead = timezone.now, timedelta()

    def now(self) -> datetime:
        return self._now() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("django.utils.timezone.now", clock.now)
    return clock


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("MURMUR_PICTURES", tmp_path / "pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    types = Question.Type
    survey = make_survey(questions=["Have you worked while ill?"], title="Health at work")
    add_question(
        survey=survey,
        type=types.SCALE,
        text=TIRED,
        minimum=1,
        maximum=5,
        low_label="Not at all",
        high_label="Very",
    )
    add_question(survey=survey, type=types.DECLARED, text=WHERE, options=["Wards", "Offices"])
    return survey


class Study:
    """A researcher's tab, which takes a wide and a narrow picture of each page."""

    def __init__(self, page: Page, *, live: LiveApplication, survey: Survey, to: Path) -> None:
        self.page, self.live, self.survey, self.pictures = page, live, survey, to
        self.taken = 0

    def open(self, page: str = "") -> None:
        self.page.goto(f"{self.live.url}/surveys/{self.survey.slug}{page}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def look(self, step: str, page: Page | None = None) -> None:
        page = page or self.page
        self.taken += 1
        for size in (DESK, PHONE):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            name = f"{self.taken:02}-{step}-{size['width']}.png"
            page.screenshot(path=self.pictures / name, full_page=True, animations="disabled")
            assert page.evaluate(WIDTH) <= size["width"], name
            if "/questions" not in page.url:
                assert page.evaluate(WORDS) <= MOST_WORDS, name
            page.evaluate(
                "() => document.querySelectorAll('details').forEach((one) => one.open = true)"
            )
            assert page.evaluate(WIDTH) <= size["width"], name
            assert find_violations(page, in_dark=size is DESK) == [], name
        page.set_viewport_size(DESK)  # type: ignore[arg-type]


@pytest.fixture
def study(
    chromium: Browser, live: LiveApplication, survey: Survey, pictures: Path
) -> Iterator[Study]:
    context = make_context(chromium, live, survey)
    reader = Reader(context.new_page(), live)
    yield Study(reader.page, live=live, survey=survey, to=pictures)
    # Chromium logs replies that refuse a form.
    reader.messages = [one for one in reader.messages if "status of 422" not in one]
    reader.assert_nothing_went_wrong()
    context.close()


@pytest.mark.long
def test_the_whole_way_of_a_protected_survey(
    chromium: Browser, study: Study, clock: Clock, settings: Settings, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path / "releases"
    protect_and_open(study, clock)
    collect(chromium, study, clock)
    publish_table(study)
    publish_choice(study, "leader", "Named as leading:")
    left_open = study.page.context.new_page()
    left_open.goto(f"{study.live.url}/surveys/{study.survey.slug}/releases/new/leader")
    left_open.get_by_role("button", name="Show the price").click()
    publish_choice(study, "median", "Named as median:")
    count_reports(study)
    refuse_more(study, left_open)
    read_in_public(chromium, study, clock)
    assert study.taken >= 12


def protect_and_open(study: Study, clock: Clock) -> None:
    page = study.page
    study.open("/settings/privacy")
    page.get_by_label("Protected figures").check()
    page.locator("[name=release_epsilon]").fill("2.00")
    study.press("Save the settings")
    study.open("/settings/time")
    closes = clock.now() + timedelta(hours=6)
    page.locator("[name=closes_at]").fill(closes.strftime("%Y-%m-%dT%H:%M"))
    page.locator("[name=people_expected]").fill(str(PEOPLE))
    study.press("Save the settings")
    study.open("/releases")
    expect(page.locator("#obstacle")).to_contain_text("This survey is a draft.")
    study.look("draft")
    study.open("/launch")
    for box in page.locator("input[type=checkbox]").all():
        box.check()
    study.press("Open the survey")
    study.open("/releases")
    expect(page.locator("#obstacle")).to_contain_text("after the survey closes on")


def collect(chromium: Browser, study: Study, clock: Clock) -> None:
    """Answer once in a browser; let the simulation send the reports of all other people."""
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    context.add_init_script(HASTE)
    page = context.new_page()
    page.goto(f"{study.live.url}/s/{study.survey.slug}")
    page.get_by_role("button", name="Start", exact=True).click()
    while page.get_by_role("heading", level=1).inner_text() != "Check your answers":
        answer_page(page, fill_in)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_text(SENT)).to_be_visible()
    context.close()
    wave = Wave.objects.get()
    send_people(wave, people=PEOPLE - 1)
    clock.ahead = timedelta(hours=7)
    assert close_due_waves() == 1
    process(wave)
    study.open("/results")
    study.page.get_by_role("link", name="Publish a release").click()
    expect(study.page.locator("main")).to_contain_text("ε spent: 0.00 of 2.00")
    study.look("overview")


def publish_table(study: Study) -> None:
    page = study.page
    page.get_by_role("link", name="Table", exact=True).click()
    study.look("table-of-all")
    page.locator("[name=epsilon]").fill("0.01")
    study.press("Show the price")
    expect(page.locator("#too-few")).to_contain_text("With fewer than 3,000")
    study.look("table-too-few")
    page.locator("[name=epsilon]").fill("5")
    study.press("Show the price")
    expect(page.locator(".error-summary")).to_contain_text(
        "from 0.01 to 2.00, with at most two decimals"
    )
    study.look("table-error")
    page.locator("[name=epsilon]").fill("1")
    study.press("Show the price")
    expect(page.locator("#price")).to_contain_text("Publication widens the interval by")
    charge_nothing_that_was_not_priced(page)
    page.get_by_role("button", name="Publish (spends 1.00)").dblclick()
    expect(page.locator("#waiting")).to_be_visible()
    assert Release.objects.count() == 1
    assert ReleaseLedger.objects.get().spent_hundredths == 100
    study.look("being-drawn")
    draw_all()
    # The page reloads itself.
    expect(page.locator(".block-row").first).to_be_visible(timeout=15_000)
    expect(page.locator("main")).to_contain_text("(noise included)")
    study.look("table")


def charge_nothing_that_was_not_priced(page: Page) -> None:
    """Change the choice after its price was shown, and press Publish; nothing is charged."""
    page.get_by_label(TIRED).uncheck()
    page.get_by_role("button", name="Publish (spends 1.00)").click()
    expect(page.locator(".error-summary")).to_contain_text("You changed the choice")
    assert Release.objects.count() == 0
    page.get_by_label(TIRED).check()
    page.get_by_role("button", name="Show the price").click()
    expect(page.locator(".error-summary")).to_have_count(0)


def publish_choice(study: Study, kind: str, words: str) -> None:
    page = study.page
    study.open(f"/releases/new/{kind}")
    if kind == "leader":
        page.get_by_label(WHERE).check()
    page.locator("[name=epsilon]").fill("0,50")
    study.press("Show the price")
    study.look(f"{kind}-price")
    page.get_by_role("button", name="Publish (spends 0.50)").dblclick()
    expect(page.locator("#waiting")).to_be_visible()
    draw_all()
    page.reload()
    expect(page.locator("main")).to_contain_text(words)
    study.look(kind)


def draw_all() -> None:
    for release in list(find_releases_to_draw()):
        assert draw_release(release.pk)


def count_reports(study: Study) -> None:
    page = study.page
    study.open("/releases")
    expect(page.locator(".release-list > li")).to_have_count(3)
    study.look("three-releases")
    page.get_by_role("link", name="Ledger", exact=True).click()
    expect(page.locator("#sums")).to_contain_text("counts")
    expect(page.locator("#rows tbody tr")).to_have_count(3)
    study.look("ledger")
    with page.expect_download() as found:
        page.get_by_role("link", name="Download CSV").click()
    assert len(found.value.path().read_text().splitlines()) == 4


def read_in_public(chromium: Browser, study: Study, clock: Clock) -> None:
    """Find nothing public on the day of the release, and read the release the next day."""
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    page = context.new_page()
    address = f"{study.live.url}/s/{study.survey.slug}/results"
    page.goto(address)
    before = page.content()
    assert "points" not in page.locator("main").inner_text()
    clock.ahead += DAY
    page.goto(address)
    assert page.content() != before
    main = page.locator("main")
    for words in (
        "Have you worked while ill?",
        TIRED,
        WHERE,
        "Named as leading:",
        "Named as median:",
    ):
        expect(main).to_contain_text(words)
    assert "exact counts" not in main.inner_text()
    assert context.cookies() == []
    study.look("public", page)
    context.close()


def refuse_more(study: Study, left_open: Page) -> None:
    """Try to publish after the cap is spent, on an older page that still shows the button."""
    left_open.get_by_role("button", name="Publish (spends 0.25)").click()
    expect(left_open.locator(".error-summary")).to_contain_text("nothing was charged.")
    expect(left_open.locator("#obstacle")).to_contain_text("The whole cap is spent")
    study.look("refused", left_open)
    left_open.close()
    assert ReleaseLedger.objects.get().spent_hundredths == 200
    assert Release.objects.count() == 3


@pytest.mark.long
def test_the_whole_way_of_an_alert(
    chromium: Browser,
    study: Study,
    clock: Clock,
    settings: Settings,
    tmp_path: Path,
) -> None:
    settings.RELEASES = tmp_path / "releases"
    page = study.page
    study.open("/settings/privacy")
    page.get_by_label("Protected figures").check()
    study.press("Save the settings")
    study.open("/settings/time")
    page.locator("[name=closes_at]").fill((clock.now() + 9 * DAY).strftime("%Y-%m-%dT%H:%M"))
    page.locator("[name=people_expected]").fill("5000")
    study.press("Save the settings")
    study.open("/questions")
    page.get_by_text("Plan a release").click()
    page.get_by_label("Alert: A message as soon as").check()
    study.press("Plan")
    expect(page.locator("main")).to_contain_text("Choose an answer.")
    page.get_by_label("Answer", exact=True).select_option(label="Q1 · Yes")
    page.get_by_label("More than, in %").fill("20")
    study.look("refused")
    study.press("Plan")
    expect(page.locator("#planned-releases")).to_contain_text("9 times in 10 if 30.4 %")
    study.look("planned")
    study.open("/launch")
    for box in page.locator("input[type=checkbox]").all():
        box.check()
    study.press("Open the survey")
    wave = Wave.objects.get()
    reserve_planned(wave_id=wave.pk)
    look(wave)
    study.open("/releases")
    page.get_by_role("link", name="Alert: more than 20 %").click()
    expect(page.locator("#watching")).to_be_visible()
    study.look("watching")
    RawReport.objects.bulk_create(
        RawReport(id=number.to_bytes(32, "big"), wave=wave, symbols=b"\1\1\1")
        for number in range(YES)
    )
    clock.ahead = timedelta(days=1)
    look(wave)
    clock.ahead = timedelta(days=2)
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    public = context.new_page()
    public.goto(f"{study.live.url}/s/{study.survey.slug}/results")
    expect(public.locator("main")).to_contain_text(
        "Alert: of those who had answered by then, more than 20 % said Yes"
    )
    study.look("public", public)
    context.close()


def look(wave: Wave) -> None:
    for release in find_alerts_to_look_at().filter(wave=wave):
        assert look_at_alert(release.pk)
