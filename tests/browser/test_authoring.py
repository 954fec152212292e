"""A survey is authored by keyboard alone, from sign-in to the open survey, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, expect

from accounts.models import User
from surveys.authoring.forms import QUESTION_FORMS
from surveys.models import Survey, Wave
from tests.support.browser.live import LiveApplication
from tests.support.factories import PASSWORD, make_survey, make_user

COLLECT_VIOLATIONS = """
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
"""
FOCUSED = """() => {
    const focused = document.activeElement;
    const label = focused.labels?.[0] ?? focused;
    return (label.innerText || "").replace(/\\s+/g, " ").trim();
}"""
MANY_TABS = 60


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Open a page with a new profile; htmx errors and blocked requests fail the test."""
    faults: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "policy" in message.text.lower() or "htmx" in message.text:
            faults.append(message.text)

    context = chromium.new_context(viewport={"width": 390, "height": 800})
    context.add_init_script(COLLECT_VIOLATIONS)
    context.on("console", note)
    yield context.new_page()
    context.close()
    assert faults == []


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the control with this name has the focus."""
    for _ in range(MANY_TABS):
        page.keyboard.press("Tab")
        if re.match(rf"{re.escape(name)}(?!\w)", page.evaluate(FOCUSED)):
            return
    raise AssertionError(f"no way to {name!r} with Tab on {page.url}")


def press(page: Page, name: str, *, then: str) -> None:
    """Tab to a link or button, press Enter and wait for the page with this heading."""
    tab_to(page, name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(then)


def type_into(page: Page, label: str, text: str) -> None:
    tab_to(page, label)
    page.keyboard.type(text)


def sign_in(page: Page, live: LiveApplication) -> User:
    person = make_user("rosa@example.org")
    page.goto(f"{live.url}/accounts/login/")
    type_into(page, "Email address", "rosa@example.org")
    type_into(page, "Password", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your surveys")
    return person


def test_a_survey_is_authored_and_opened_by_keyboard(
    page: Page,
    live: LiveApplication,
) -> None:
    sign_in(page, live)
    press(page, "Create your first survey", then="New survey")
    type_into(page, "Title", "On the road")
    type_into(page, "Introduction", "We ask everybody.")
    press(page, "Create the draft", then="On the road")

    press(page, "Add the first question", then="On the road")
    for text in ("Have you ever driven after drinking?", "Do you have children?"):
        expect(page.locator("#id_text")).to_be_focused()
        expect(page.locator("#id_text")).to_be_empty()
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    page.get_by_role("link", name="Edit question 2").press("Enter")
    expect(page.locator("#panel-title")).to_have_text("Question 2")
    tab_to(page, "Strength and declining")
    page.keyboard.press("Enter")
    tab_to(page, "As strong as 25 of 100")  # people may decline, so there are three codes
    for _ in ("33 of 100", "40 of 100"):
        page.keyboard.press("ArrowUp")
    expect(page.locator("#protection > summary")).to_contain_text("40 of 100")
    page.get_by_role("button", name="Move question 2").press("ArrowUp")
    expect(page.locator("#said")).to_have_text("Place 1 of 2")
    expect(page.locator(".question-item").first).to_contain_text("Select question 1")

    press(page, "Settings", then="On the road")
    press(page, "Start and end", then="On the road")
    type_into(page, "Close when this many people", "200")
    press(page, "Save the settings", then="On the road")
    expect(page.get_by_role("status")).to_have_text("The settings were saved.")
    press(page, "Open the survey", then="Open this survey?")
    press(page, "Open the survey", then="On the road")

    wave = Wave.objects.get()
    expect(page.get_by_role("link", name=f"/s/{wave.survey.slug}")).to_be_visible()
    press(page, "Settings", then="On the road")
    expect(page.get_by_text(wave.manifest_hash_hex)).to_be_visible()
    assert (wave.is_open, wave.cap) == (True, 200)
    assert list(wave.survey.questions.values_list("text", "flips", "refusal")) == [
        ("Do you have children?", 40, True),
        ("Have you ever driven after drinking?", 25, True),
    ]


def test_the_cost_of_each_switch_is_shown_while_editing(page: Page, live: LiveApplication) -> None:
    sign_in(page, live)
    survey = make_survey(owner=User.objects.get(), questions=["Do you smoke?"])
    page.goto(f"{live.url}/surveys/{survey.slug}/questions/new?type=yes_no")
    cost, state = page.locator("#cost"), page.locator("#panel-state")
    expect(page.locator("#id_text")).to_be_focused()
    page.keyboard.type("Do you drink?")
    tab_to(page, "Strength and declining")
    page.keyboard.press("Enter")
    tab_to(page, "Two coins")
    expect(cost).to_contain_text("Privacy used: 40")
    for _ in ("33 of 100", "40 of 100"):
        page.keyboard.press("ArrowUp")
    expect(cost).to_contain_text("Privacy used: 28")
    assert page.evaluate(FOCUSED).startswith("40 of 100"), "the focus stays on the row"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(cost).to_contain_text("Privacy used: 40")
    tab_to(page, "Offer “Prefer not to say”")
    page.keyboard.press("Space")
    expect(cost.get_by_text("3 codes")).to_be_attached()
    assert page.evaluate(FOCUSED).startswith("Offer")
    tab_to(page, "Ask only if")
    page.keyboard.press("Enter")
    expect(page.locator("#rule_question_1")).to_be_visible()
    tab_to(page, "Type the rule instead")
    page.keyboard.press("Enter")
    type_into(page, "Rule", "Q1 is maybe")
    expect(state).to_contain_text("Not saved: “maybe”")
    for _ in "maybe":
        page.keyboard.press("Backspace")
    page.keyboard.type("yes")
    expect(cost.get_by_text("4 codes")).to_be_attached()
    expect(state).to_have_text("Saved")
    expect(page.get_by_label("Rule", exact=True)).to_have_value("Q1 is yes")
    assert survey.questions.count() == 2


def test_an_error_takes_the_focus_and_leads_to_its_field(
    page: Page,
    live: LiveApplication,
) -> None:
    sign_in(page, live)
    page.goto(f"{live.url}/surveys/new")
    type_into(page, "Introduction", "Typed and kept")
    tab_to(page, "Create the draft")
    page.keyboard.press("Enter")
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(page).to_have_title("Error: New survey · Murmur")
    tab_to(page, "Enter a title.")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    expect(page.get_by_label("Introduction")).to_have_value("Typed and kept")
    assert not Survey.objects.exists()


def test_leaving_asks_first_except_in_the_editor_which_saves(
    page: Page, live: LiveApplication
) -> None:
    owner = sign_in(page, live)
    survey = make_survey(owner=owner, questions=())
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto(f"{live.url}/surveys/{survey.slug}/settings/text")
    page.get_by_label("Title").fill("Half a ti")
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Surveys").first.click()
    assert asked == ["beforeunload"]
    expect(page.get_by_label("Title")).to_have_value("Half a ti")
    page.get_by_label("Title").fill(survey.title)
    page.get_by_role("button", name="Save the settings").click()
    page.goto(f"{live.url}/surveys/{survey.slug}/questions#new")
    page.get_by_label("Question", exact=True).fill("Half a ques")
    page.get_by_role("link", name="Surveys").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your surveys")
    assert asked == ["beforeunload"]
    assert [one.text for one in survey.questions.all()] == ["Half a ques"]


def test_signing_out_from_the_account_menu_works_by_keyboard(
    page: Page,
    live: LiveApplication,
) -> None:
    sign_in(page, live)
    tab_to(page, "Account")
    page.keyboard.press("Enter")
    expect(page.get_by_text("rosa@example.org")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("rosa@example.org")).to_be_hidden()
    page.keyboard.press("Enter")
    press(page, "Sign out", then="Sign in")


def test_html_in_a_survey_never_runs(page: Page, live: LiveApplication) -> None:
    owner = sign_in(page, live)
    page.on("dialog", lambda dialog: pytest.fail(f"ran: {dialog.message}"))
    text = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    survey = make_survey(owner=owner, title=text, introduction=text, questions=(text,))
    for path in ("", "questions", "data", "settings", "launch", "delete"):
        page.goto(f"{live.url}/surveys/{survey.slug}/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator("main img, main script").count() == 0


def test_nothing_scrolls_sideways_at_320_pixels(page: Page, live: LiveApplication) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    owner = sign_in(page, live)
    survey = make_survey(owner=owner, title="Verylongword" * 8, questions=("w" * 900, "Short?"))
    forms = [f"questions/new?type={type_}" for type_ in QUESTION_FORMS]
    for path in ("", "questions", "data", "settings/privacy", "launch", "questions/new", *forms):
        page.goto(f"{live.url}/surveys/{survey.slug}/{path}")
        page.wait_for_load_state("networkidle")  # the editor loads after the page
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
