"""A claim about a declared group in Chromium, from the form to the verdict of the sealed half."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from django.test import override_settings
from playwright.sync_api import Browser, expect

from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.comparisons.opening import open_half
from aggregator.results.blocks import COUNTED_WITH_HALF
from tests.support.browser.accessibility import find_violations
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.halves import make_wave_with_wards

MOST_WORDS = 160
WIDTH = "document.documentElement.scrollWidth"
# Menus contain the survey's own words, which do not count.
WORDS = """() => [document.querySelector("main"), ...document.querySelectorAll("main select")]
    .map((one) => one.innerText.trim().split(/\\s+/).length)
    .reduce((page, menu) => page - menu)"""


def test_a_claim_goes_from_the_form_to_its_verdict(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_wave_with_wards()
    survey = wave.survey
    context = make_context(chromium, live, survey, viewport=PHONE)
    reader = Reader(context.new_page(), live)
    page = reader.page

    def check() -> None:
        assert find_violations(page) == []
        for size in (PHONE, DESK):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            assert page.evaluate(WIDTH) <= size["width"]
        assert page.evaluate(WORDS) <= MOST_WORDS

    reader.open(survey)
    expect(page.locator("main")).to_contain_text(COUNTED_WITH_HALF)
    page.goto(f"{live.url}/surveys/{survey.slug}/compare/sealed-half")
    for share in ("40", ""):
        page.get_by_label("Outcome").select_option("q1")
        page.get_by_label("Group", exact=True).select_option("q3.0")
        page.get_by_label("More frequent").check()
        page.get_by_label("Percentage").fill(share)
        page.get_by_role("button", name="Add the claim").click()
    expect(page.locator("#claims li")).to_have_count(2)
    check()
    page.get_by_label("I know that there is only one test").check()
    page.get_by_role("button", name="Open the sealed half").click()
    expect(page.locator("#opening")).to_be_visible()
    with TemporaryDirectory() as folder, override_settings(RELEASES=Path(folder)):
        assert open_half(wave_id=wave.pk)
    page.reload()
    expect(page.locator("#opened")).to_contain_text("being tested")
    while (found := find_comparisons_to_run().first()) is not None:
        run_comparison(comparison_id=found.pk)
    page.reload()
    expect(page.locator("#opened")).to_contain_text("2 of 2 claims confirmed")
    check()
    reader.assert_nothing_went_wrong()
    context.close()
