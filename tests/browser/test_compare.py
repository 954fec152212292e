"""Compare and Plan in real Chromium: they work, fit a phone and obey the policy."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from playwright.sync_api import Browser, expect

from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from surveys.models import Survey, Wave
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.comparisons import make_answered_wave


def compute_soon() -> threading.Thread:
    """Do the worker's part a moment later, so that the page has to wait first."""

    def work() -> None:
        try:
            for comparison in find_comparisons_to_run():
                run_comparison(comparison_id=comparison.pk)
        finally:
            connection.close()

    thread = threading.Timer(1.5, work)
    thread.start()
    return thread


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_answered_wave(people=3000, cap=3000, ending=Wave.Ending.CAP).survey


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_two_questions_are_compared_by_menus(
    chromium: Browser, live: LiveApplication, survey: Survey, size: dict[str, int]
) -> None:
    context = make_context(chromium, live, survey, viewport=size)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/compare")
    form = page.get_by_role("form", name="Two questions")
    form.get_by_label("Outcome").select_option("q2")
    form.get_by_label("Groups").select_option("q1")
    form.get_by_role("button").click()
    expect(page.locator("#progress")).to_be_visible()
    worker = compute_soon()
    # The page updates without a reload.
    expect(page.locator("#result-title")).to_be_visible(timeout=30_000)
    worker.join()
    expect(page.locator("#update")).to_have_text("The comparison has been computed.")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    with page.expect_download() as download:
        page.locator("#download-comparison").click()
    assert download.value.suggested_filename.endswith("_RANDOMIZED_table_q2_q1.csv")
    reader.assert_nothing_went_wrong()
    context.close()


@pytest.mark.parametrize(
    "size", [pytest.param(DESK, marks=pytest.mark.long), PHONE], ids=["desk", "phone"]
)
@pytest.mark.parametrize("kind", ["regression", "pairs"])
def test_regression_and_pairs_fit_a_phone(
    chromium: Browser, live: LiveApplication, survey: Survey, size: dict[str, int], kind: str
) -> None:
    context = make_context(chromium, live, survey, viewport=size)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/compare")
    if kind == "regression":
        form = page.get_by_role("form", name="Regression")
        form.get_by_label("Outcome").select_option("q1")
        form.get_by_label("Predictor 1").select_option("q2")
        form.get_by_text("More predictors").click()
        form.get_by_label("Predictor 6").select_option("q3")
    else:
        form = page.get_by_role("form", name="All pairs")
    form.get_by_role("button").click()
    worker = compute_soon()
    heading = "#result-title" if kind == "regression" else "#pairs-title"
    expect(page.locator(f"#comparison {heading}")).to_be_visible(timeout=30_000)
    worker.join()
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    reader.assert_nothing_went_wrong()
    context.close()


def test_without_javascript_reloading_shows_a_comparison(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    context = make_context(chromium, live, survey, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.url}/surveys/{survey.slug}/compare")
    page.get_by_role("button", name="Test all pairs").click()
    expect(page.locator("#progress")).to_be_visible()
    for comparison in find_comparisons_to_run():
        run_comparison(comparison_id=comparison.pk)
    page.reload()
    expect(page.locator("#comparison #pairs-title")).to_be_visible()
    context.close()


@pytest.mark.parametrize(
    "size", [pytest.param(DESK, marks=pytest.mark.long), PHONE], ids=["desk", "phone"]
)
def test_planning_works_and_fits_a_phone(
    chromium: Browser, live: LiveApplication, survey: Survey, size: dict[str, int]
) -> None:
    context = make_context(chromium, live, survey, viewport=size)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/plan")
    page.get_by_label("Protected questions").fill("5")
    page.get_by_label("People who will answer").fill("10000")
    page.get_by_role("button", name="Work it out").click()
    expect(page.locator("#verdict")).to_contain_text("With 10,000 people")
    expect(page.locator("#total-epsilon")).to_have_text("5.50")
    expect(page.locator("#budgets")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    page.get_by_label("Flips of 100").fill("77")
    page.get_by_role("button", name="Work it out").click()
    expect(page.get_by_role("heading", name="There is a problem")).to_be_visible()
    reader.messages = [text for text in reader.messages if "422" not in text]
    reader.assert_nothing_went_wrong()
    context.close()
