"""A token is made in Chromium, and the programs on the page about the API run with a token."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, expect

from accounts.tokens import Scope, make_token
from scripts.stack.stack import ROOT
from surveys.definition.exporting import build_definition
from surveys.models import Survey
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, Reader, make_context
from tests.support.factories import PASSWORD, make_launched_survey, make_survey, make_user
from tests.support.fielding import field
from tests.support.random_drafts import make_random_draft

PROGRAM, IN_R = (ROOT / f"templates/aggregator/site/walk_through.{end}" for end in ("py", "R"))


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
    for shown, program in zip(page.locator("pre").all(), (PROGRAM, IN_R), strict=True):
        assert shown.inner_text().strip() == program.read_text().strip()
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


@pytest.mark.long
def test_the_program_in_r_reads_results_and_rows_and_changes_only_a_title(
    live: LiveApplication,
) -> None:
    load = "loadNamespace('httr2'); loadNamespace('jsonlite')"
    if not shutil.which("Rscript") or subprocess.call(["Rscript", "-e", load]):
        pytest.skip("R, or its package httr2 or jsonlite, is not installed")
    cache.clear()
    draft = make_random_draft(Random(1), owner=make_user())
    before = build_definition(draft)
    done = field(make_launched_survey(owner=draft.owner), yes=[80, 100], total=200)
    _, token = make_token(user=draft.owner, name="R", scopes=[*Scope], days=1)
    named = {"MURMUR": live.url, "MURMUR_TOKEN": token, "DRAFT": draft.slug, "SURVEY": done.slug}
    ran = subprocess.run(
        ["Rscript", IN_R], env=os.environ | named, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "interval_low" in ran.stdout
    assert "Length:200" in ran.stdout  # rows
    draft.refresh_from_db()
    assert build_definition(draft) == before | {"title": f"{before['title']}, second version"}
