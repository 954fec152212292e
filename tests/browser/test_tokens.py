"""A token is made in Chromium, and the program of the API's page runs with it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, expect

from scripts.stack.stack import ROOT
from surveys.models import Survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, Reader, make_context
from tests.support.factories import PASSWORD, make_launched_survey, make_survey
from tests.support.fielding import field

PROGRAM = ROOT / "templates/aggregator/site/walk_through.py"


def test_a_token_is_made_and_the_program_on_the_page_works_with_it(
    chromium: Browser,
    live: LiveApplication,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache.clear()
    draft = make_survey()
    done = field(make_launched_survey(owner=draft.owner), yes=[80, 100], total=200)
    context = make_context(chromium, live, draft, viewport=PHONE)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/accounts/")
    page.get_by_role("link", name="Make a token").click()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("R script")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your token")
    token = page.locator(".token code").inner_text()
    page.goto(f"{live.url}/accounts/")
    page.get_by_role("button", name="Revoke “R script”").is_visible()
    page.goto(f"{live.url}/api")
    assert page.locator("pre").inner_text().strip() == PROGRAM.read_text().strip()
    reader.assert_nothing_went_wrong()
    context.close()
    for name, value in {"MURMUR": live.url, "MURMUR_TOKEN": token, "DRAFT": draft.slug}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(PROGRAM))
    made = Survey.objects.get(slug=capsys.readouterr().out.split()[0])
    draft.refresh_from_db()
    assert made.title == draft.title == "On the road, second version"
    assert (tmp_path / f"{done.slug}.csv").read_text().startswith("survey,")
