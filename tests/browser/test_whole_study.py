"""A whole study with real processes, from sign-in to the public page, pictured at each step."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.intake.wire import encode_report
from aggregator.simulation.rehearsal import Group, draw_people
from aggregator.simulation.respondents import seal
from aggregator.simulation.sending import send_reports
from scripts.stack.world import OWNER, World, make_world
from surveys.manifest.serialization import hash_manifest
from tests.support.browser.accessibility import fill_in, find_violations
from tests.support.browser.researcher import DESK, PHONE, WATCH_VIOLATIONS
from tests.support.browser.visit import HASTE, SENT, answer_page

CAP, INVITED = 400, 800
SLOW = 60_000  # milliseconds within which workers do their part
TITLE = "Health at work"
WARD, ILL, TIRED = "Where do you work?", "Have you worked while ill?", "How tired are you?"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(var=tmp_path / "var", database_url="")
    try:
        made.begin()
        yield made
    finally:
        made.stack.stop()


class Study:
    """A researcher's tab, and pictures of its pages."""

    def __init__(self, page: Page, *, world: World, pictures: Path) -> None:
        self.page = page
        self.world = world
        self.pictures = pictures
        self.errors: list[str] = []
        self.watch(page)

    def watch(self, page: Page) -> None:
        page.add_init_script(WATCH_VIOLATIONS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def tab(self, name: str) -> None:
        self.page.get_by_role("navigation", name="Survey").get_by_role("link", name=name).click()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(TITLE)

    def press(self, name: str, *, exact: bool = True) -> None:
        self.page.get_by_role("button", name=name, exact=exact).click()

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def look(self, step: str, page: Page | None = None) -> None:
        """Take a picture, and check what must hold on every page."""
        page = page or self.page
        page.screenshot(path=self.pictures / f"{step}.png", full_page=True)
        width = page.viewport_size
        assert width is not None
        assert page.evaluate("document.documentElement.scrollWidth") <= width["width"], step
        assert page.evaluate("window.violations") == [], step
        assert find_violations(page) == [], step
        assert self.errors == []


@pytest.fixture
def study(chromium: Browser, world: World, tmp_path: Path) -> Iterator[Study]:
    pictures = Path(os.environ.get("MURMUR_PICTURES", tmp_path / "pictures"))
    pictures.mkdir(parents=True, exist_ok=True)
    context = chromium.new_context(viewport=DESK)  # type: ignore[arg-type]
    yield Study(context.new_page(), world=world, pictures=pictures)
    context.close()


@pytest.mark.long
@pytest.mark.redis
def test_a_whole_study(chromium: Browser, world: World, study: Study) -> None:
    sign_in(study)
    write_draft(study)
    slug = open_survey(study)
    answer(chromium, study, slug)
    send_the_others(world)
    read_results(study)
    break_down(study)
    read_planned_comparison(study)
    write_report(study)
    take_data(study)
    publish(chromium, study, slug)
    assert len(list(study.pictures.glob("*.png"))) >= 15


def sign_in(study: Study) -> None:
    page, world = study.page, study.world
    page.goto(f"{world.stack.url}/accounts/login/")
    page.get_by_label("Email address").fill(OWNER)
    page.get_by_label("Password").fill(world.password)
    study.look("01-sign-in")
    study.press("Sign in")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your surveys")
    study.look("02-home")


def write_draft(study: Study) -> None:
    page = study.page
    study.follow("Create your first survey")
    page.get_by_label("Title").fill(TITLE)
    study.press("Create the draft")
    study.look("03-draft")
    study.tab("Questions")
    add_question(study, "declared", {"text": WARD, "options": "Wards\nOffices"}, confirm=True)
    add_question(study, "yes_no", {"text": ILL})
    ends = {"minimum": "1", "maximum": "5", "low_label": "Never", "high_label": "Always"}
    add_question(study, "scale", {"text": TIRED, **ends})
    plan(study)
    study.look("04-questions")
    study.tab("Settings")
    for link, label, typed in (
        ("Start and end", "Close when this many people", str(CAP)),
        ("Who asks, consent, help", "Organization", "Institute of Occupational Health"),
    ):
        page.get_by_role("link", name=link).click()
        page.get_by_label(label).fill(typed)
        study.press("Save the settings")
    page.get_by_role("link", name="Privacy", exact=True).click()
    page.get_by_label("The results, after the survey has closed").check()
    study.look("05-settings")
    study.press("Save the settings")


def add_question(study: Study, kind: str, fields: dict[str, str], *, confirm: bool = False) -> None:
    page = study.page
    slug = page.url.split("/surveys/")[1].split("/")[0]
    path = f"/surveys/{slug}/questions"
    page.goto(f"{study.world.stack.url}{path}#{path}/new?type={kind}")
    expect(page.locator(f"#panel[data-pk=''][action$='type={kind}']")).to_be_visible()
    for name, value in fields.items():
        page.locator(f"[name={name}]").fill(value)
    if confirm:
        page.locator("[name=confirmed]").check()
    expect(page.locator("#panel-state")).to_have_text("Saved")


def plan(study: Study) -> None:
    page = study.page
    page.get_by_text("Plan a comparison", exact=True).click()
    form = page.get_by_role("form", name="Plan a comparison")
    form.get_by_label("Outcome").select_option("q2")
    form.get_by_label("Groups").select_option("q1.0")
    form.get_by_role("button").click()
    expect(page.locator("#planned")).to_contain_text("Q2")


def open_survey(study: Study) -> str:
    page = study.page
    study.tab("Overview")
    study.look("06-overview-of-a-draft")
    page.get_by_role("link", name="Open the survey").first.click()
    study.look("07-before-opening")
    study.press("Open the survey")
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
    study.look("08-open")
    return page.url.split("/surveys/")[1].split("/")[0]


def answer(chromium: Browser, study: Study, slug: str) -> None:
    """Answer in a browser, as one person."""
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    context.add_init_script(HASTE)
    page = context.new_page()
    study.watch(page)
    page.goto(f"{study.world.stack.url}/s/{slug}")
    study.look("09-respondent", page)
    study_press(page, "Start")
    while page.get_by_role("heading", level=1).inner_text() != "Check your answers":
        answer_page(page, fill_in)
    study.look("10-check", page)
    study_press(page, "Submit")
    expect(page.get_by_text(SENT)).to_be_visible()
    study.look("11-sent", page)
    context.close()


def study_press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def send_the_others(world: World) -> None:
    """Send the reports of all other people; the last one reaches the cap and closes the survey."""
    manifest, generator = world.manifest(), random.Random(20261123)
    [(content,)] = world.query("SELECT manifest FROM surveys_wave")
    groups = [Group(share=1, answers={})]
    people = draw_people(groups, manifest=manifest, people=CAP - 1, seed=1)
    envelopes = [
        seal(manifest, answers, random_uint32=lambda: generator.getrandbits(32))
        for answers in people
    ]
    digest = hash_manifest(bytes(content))
    bodies = [
        encode_report(manifest_hash=digest, report_id=one.report_id, symbols=one.symbols)
        for one in envelopes
    ]
    # In another thread, because the browser's event loop runs in this one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(
            send_reports,
            bodies,
            url=world.stack.url,
            connections=4,
            seconds=60,
            on_acknowledged=lambda _: None,
        ).result()


def read_results(study: Study) -> None:
    page = study.page
    study.tab("Results")
    expect(page.locator("#survey-status")).to_contain_text("Closed", timeout=SLOW)
    expect(page.locator("#survey-status")).to_contain_text(f"{CAP} sealed reports", timeout=SLOW)
    expect(page.locator("article.block")).to_have_count(3)
    study.look("12-results")
    page.locator("article.block summary", has_text="How sure is this?").first.click()
    study.look("13-how-sure")


def break_down(study: Study) -> None:
    page = study.page
    slug = page.url.split("/surveys/")[1].split("/")[0]
    page.goto(f"{study.world.stack.url}/surveys/{slug}/data/background")
    expect(page.locator("#background")).to_be_visible(timeout=SLOW)
    study.look("14-background")
    study.press("Choose these for good")
    page.goto(f"{study.world.stack.url}/surveys/{slug}/breakdown/q1")
    expect(page.get_by_text("Offices").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(TIRED).first).to_be_visible(timeout=SLOW)
    study.look("14-break-down")


def read_planned_comparison(study: Study) -> None:
    page = study.page
    study.tab("Compare")
    expect(page.get_by_text("Planned before opening").first).to_be_visible()
    study.look("15-compare")
    page.get_by_role("link", name="Q2 by Q1").first.click()
    expect(page.locator("#how-sure")).to_be_visible(timeout=SLOW)
    study.look("16-planned-comparison")


def write_report(study: Study) -> None:
    page = study.page
    slug = page.url.split("/surveys/")[1].split("/")[0]
    page.goto(f"{study.world.stack.url}/surveys/{slug}/report")
    page.locator("#invited summary").click()
    page.locator("[name=people_invited]").fill(str(INVITED))
    study.press("Save")
    expect(page.locator("main")).to_contain_text("50")
    study.look("17-report")


def take_data(study: Study) -> None:
    page, world = study.page, study.world
    study.tab("Data")
    study.look("18-data")
    slug = page.url.split("/surveys/")[1].split("/")[0]
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    begins = {
        "files/report.pdf": b"%PDF-",
        "files/report.docx": b"PK",
        "files/chart.180mm.svg": b"<svg",
        "files/chart.85mm.pdf": b"%PDF-",
        "files/chart-q2.85mm.png": b"\x89PNG",
        "results/estimates.csv": b"",
    }
    with httpx.Client(base_url=world.stack.url, cookies=cookies, trust_env=False) as client:
        for name, start in begins.items():
            content = fetch(client, f"/surveys/{slug}/{name}")
            assert content.startswith(start), name
            (study.pictures / name.replace("/", "-")).write_bytes(content)


def fetch(client: httpx.Client, address: str) -> bytes:
    """Request a file repeatedly until the worker has made it."""
    for _ in range(120):
        reply = client.get(address, timeout=30)
        if reply.status_code != 202:
            assert reply.status_code == 200, f"{address} {reply.status_code}"
            return reply.content
        time.sleep(0.25)
    raise AssertionError(f"{address} was never made")


def publish(chromium: Browser, study: Study, slug: str) -> None:
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    page = context.new_page()
    study.watch(page)
    address = f"{study.world.stack.url}/s/{slug}/results"
    reply = page.goto(address)
    assert reply is not None
    assert reply.status == 200
    expect(page.get_by_text(ILL).first).to_be_visible()
    expect(page.get_by_text("Offices")).to_have_count(0)
    study.look("19-public-results", page)
    study.tab("Overview")
    study.press("Switch the page off")
    study.look("20-overview-of-a-closed-survey")
    reply = page.goto(address)
    assert reply is not None
    assert reply.status == 410
    study.look("21-switched-off", page)
    context.close()
