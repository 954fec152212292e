"""Planned comparisons in Chromium: planned by keyboard, frozen, and listed with their results."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from aggregator.comparisons.planned import request_planned
from aggregator.models import Comparison
from surveys.authoring.services import plan_comparison
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.browser.accessibility import assert_fits_and_is_accessible
from tests.support.browser.every_type import ask as add
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import PHONE, Reader, make_context
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people

LONG = "Has anyone of your ward worked " + "very " * 50 + "long?"
Kind = Comparison.Kind


def make_draft() -> Survey:
    survey = make_survey(title="Nights", questions=["Tired?", LONG], cap=300)
    add(survey, "Which ward?", type="declared", options=["North", "South " + "of it " * 30])
    add(survey, "How many hours?", type="number", minimum=0, maximum=24, unit="h")
    return survey


def test_an_author_plans_a_comparison_by_keyboard(chromium: Browser, live: LiveApplication) -> None:
    survey = make_draft()
    context = make_context(chromium, live, survey, viewport=PHONE)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/questions")
    page.get_by_text("Plan a comparison", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("Q4")  # chooses Q4 · mean
    page.keyboard.press("Tab")
    page.keyboard.type("Q3 · N")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card = page.locator("#planned")
    expect(card).to_contain_text("Q4 by Q3 (North)")
    expect(page.get_by_role("status").first).to_contain_text("is planned")
    assert_fits_and_is_accessible(page)
    card.get_by_role("button", name="Remove Q4 by Q3 (North)").click()
    expect(page.locator("#planned")).not_to_contain_text("Q4 by Q3 (North)")
    # If a comparison is impossible, the form gives the reason and keeps the choice.
    page.get_by_text("Plan a comparison", exact=True).click()
    page.get_by_label("Outcome").select_option("q1")
    page.get_by_label("Groups").select_option("q1")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Choose two different questions.")
    expect(page.get_by_label("Outcome")).to_have_value("q1")
    assert_fits_and_is_accessible(page)
    reader.messages = [text for text in reader.messages if "422" not in text]
    reader.assert_nothing_went_wrong()
    context.close()


def test_pages_of_comparisons_fit_and_are_accessible(
    chromium: Browser, live: LiveApplication
) -> None:
    survey = make_draft()
    plan_comparison(survey=survey, names=("q4", "q3.1"))
    wave = open_survey(survey=survey)
    send_people(wave, people=300)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    process(wave)
    request_planned(wave_id=wave.pk)
    [planned] = Comparison.objects.all()
    made = [
        compute(planned),
        compute(ask(wave, Kind.TABLE, "q2", "q3.0")),
        compute(ask(wave, Kind.REGRESSION, "q1", "q2", "q3.0")),
        compute(ask(wave, Kind.PAIRS)),
    ]
    context = make_context(chromium, live, survey)
    reader = Reader(context.new_page(), live)
    page = reader.page
    page.goto(f"{live.url}/surveys/{survey.slug}/compare")
    expect(page.get_by_role("heading", name="Planned before opening")).to_be_visible()
    assert_fits_and_is_accessible(page)
    for comparison in made:
        page.goto(f"{live.url}/surveys/{survey.slug}/compare/{comparison.pk}/result")
        expect(page.get_by_role("heading", name="Result")).to_be_visible()
        for details in page.locator("main details").all():
            details.evaluate("element => { element.open = true; }")
        assert_fits_and_is_accessible(page)
    reader.assert_nothing_went_wrong()
    context.close()
