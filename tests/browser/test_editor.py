"""The pages on which authors build a draft, in Chromium: they fit, and axe finds no faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from surveys.authoring.services import add_question
from surveys.models import Survey
from tests.support.browser.accessibility import assert_fits_and_is_accessible
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import make_context
from tests.support.factories import make_survey

LONG = "w" * 900
SMOKE, DRINK, SLEEP = "Do you smoke?", "Do you drink?", "Do you sleep well?"


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_survey(questions=(SMOKE, DRINK, SLEEP))


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    context = make_context(chromium, live, survey)
    yield context.new_page()
    context.close()


def test_the_pages_to_start_from_fit_and_are_accessible(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    source = make_survey(owner=survey.owner, title="t" * 200, questions=(LONG, "Short?"))
    insert = f"surveys/{survey.slug}/questions/insert"
    paths = ("surveys/new", "surveys/new/pay", insert, f"{insert}?survey={source.slug}")
    for path in paths:
        page.goto(f"{live.url}/{path}")
        assert_fits_and_is_accessible(page)


def test_a_rule_is_chosen_by_keyboard_and_said_in_words(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    add_question(survey=survey, type="several", text="Which?", options=["Red", LONG[:200], "Blue"])
    page.goto(f"{live.url}/surveys/{survey.slug}/questions/new?type=information")
    page.get_by_label("Text", exact=True).fill("For those who do.")
    page.get_by_text("Ask only if").press("Enter")
    for row, (key, answers) in enumerate([("ArrowDown", ["Yes"]), ("End", ["Red", "Blue"])], 1):
        page.locator(f"#rule_question_{row}").press(key)
        page.keyboard.press("Tab")
        for answer in answers:
            box = page.get_by_role("checkbox", name=answer, exact=True)
            box.focus()
            page.keyboard.press("Space")
            expect(box).to_be_checked()
    told = "Asked only if Q1 is “Yes” and (Q4 has “Red” or Q4 has “Blue”)."
    expect(page.locator("#rule_words")).to_have_text(told)
    assert_fits_and_is_accessible(page)
    expect(page.locator("#panel-state")).to_have_text("Saved")
    assert survey.questions.filter(rule__isnull=False).count() == 1


def test_several_questions_are_selected_deleted_and_brought_back_by_keyboard(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    page.goto(f"{live.url}/surveys/{survey.slug}/questions")
    bar = page.get_by_role("form", name="Selected questions")
    expect(bar).to_be_hidden()
    for number in (1, 3):
        page.get_by_role("checkbox", name=f"Select question {number}").press("Space")
    expect(bar).to_be_visible()
    assert_fits_and_is_accessible(page)
    bar.get_by_role("button", name="Delete").press("Enter")
    expect(page.locator(".question-text")).to_have_text([DRINK])
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    assert_fits_and_is_accessible(page)
    page.keyboard.press("Enter")
    expect(page.locator(".question-text")).to_have_text([SMOKE, DRINK, SLEEP])
    expect(page.get_by_role("checkbox", name="Select question 1")).to_be_focused()


def test_without_scripts_a_rule_is_chosen_and_questions_are_deleted(
    chromium: Browser, live: LiveApplication, survey: Survey
) -> None:
    with make_context(chromium, live, survey, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{live.url}/surveys/{survey.slug}/questions/new?type=yes_no")
        page.get_by_label("Question", exact=True).fill("Every day?")
        page.get_by_text("Ask only if").click()
        page.locator("#rule_question_1").select_option(index=1)
        page.get_by_role("button", name="Show the answers").click()
        page.get_by_role("checkbox", name="Yes", exact=True).check()
        page.get_by_role("button", name="Add the question").click()
        expect(page.locator(".question-item").last).to_contain_text("Asked only if Q1 is “Yes”.")
        last = survey.questions.all()[3]
        for button, order in (("up", ["Every day?", SLEEP]), ("down", [SLEEP, "Every day?"])):
            page.locator(f"#{button}-{last.pk}").press("Enter")
            expect(page.locator(f"#up-{last.pk}")).to_be_focused()
            assert [one.text for one in survey.questions.all()[2:]] == order
        for number in (3, 4):
            page.get_by_role("checkbox", name=f"Select question {number}").check()
        bar = page.get_by_role("form", name="Selected questions")
        bar.get_by_role("button", name="Delete").click()
        expect(page.locator(".question-text")).to_have_text([SMOKE, DRINK])
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".question-text")).to_have_text([SMOKE, DRINK, SLEEP, "Every day?"])
