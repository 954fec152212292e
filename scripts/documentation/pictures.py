"""Takes the pictures for README.md from a running demo: each page in light and dark mode.

Starts Murmur in a temporary folder, runs the demo survey on published data with a seeded generator,
and writes PNG files to docs/pictures/.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from scripts.stack.chromium import launch_chromium
from scripts.stack.stack import ROOT
from scripts.stack.world import OWNER, World, make_world

FOLDER = ROOT / "docs" / "pictures"
PHONE: ViewportSize = {"width": 390, "height": 760}
DESK: ViewportSize = {"width": 1100, "height": 830}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SURVEY = "SELECT slug FROM surveys_survey"
# Workers estimate shortly after the survey has closed.
ESTIMATED = "SELECT count(*) FROM aggregator_snapshot WHERE final"


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="murmur-pictures-") as folder:
        world = make_world(var=Path(folder), database_url="")
        try:
            world.begin()
            field_demo(world)
            take_pictures(world)
        finally:
            world.stack.stop()


def field_demo(world: World) -> None:
    demo = world.start_demo()
    printed, _ = demo.communicate()
    if demo.returncode != 0:
        raise SystemExit(printed)
    world.wait_for(lambda _: world.query(ESTIMATED) == [(1,)])


def take_pictures(world: World) -> None:
    [(slug,)] = world.query(SURVEY)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright.chromium)
        for scheme in SCHEMES:
            for name, size, show in (
                ("respondent", PHONE, show_question),
                ("results", DESK, show_results),
                ("comparison", DESK, show_comparison),
            ):
                take_picture(browser, world, cast(str, slug), name, size, scheme, show)
        browser.close()


def take_picture(
    browser: Browser,
    world: World,
    slug: str,
    name: str,
    size: ViewportSize,
    scheme: Literal["light", "dark"],
    show: Callable[[Page, World, str], None],
) -> None:
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    show(page, world, slug)
    path = FOLDER / f"{name}-{scheme}.png"
    page.screenshot(path=path)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
    context.close()


def show_question(page: Page, world: World, slug: str) -> None:
    """Show a question in the researcher's preview, because the demo is closed."""
    sign_in(page, world)
    page.goto(f"{world.stack.url}/surveys/{slug}/preview")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="No", exact=True)).to_be_visible()


def show_results(page: Page, world: World, slug: str) -> None:
    sign_in(page, world)
    page.goto(f"{world.stack.url}/surveys/{slug}/results")
    page.wait_for_load_state("networkidle")


def show_comparison(page: Page, world: World, slug: str) -> None:
    """Show the published table of affairs and unhappy marriages, estimated from reports."""
    sign_in(page, world)
    page.goto(f"{world.stack.url}/surveys/{slug}/compare")
    form = page.locator("form").filter(has=page.locator('[name="group"]'))
    form.locator('[name="outcome"]').select_option(value="q1")
    form.locator('[name="group"]').select_option(value="q2")
    form.get_by_role("button").click()
    page.locator("#how-sure").wait_for()


def sign_in(page: Page, world: World) -> None:
    page.goto(f"{world.stack.url}/accounts/login/")
    page.locator('[name="login"]').fill(OWNER)
    page.locator('[name="password"]').fill(world.password)
    page.locator("main form").get_by_role("button").last.click()
    page.wait_for_url(f"{world.stack.url}/")


if __name__ == "__main__":
    main()
