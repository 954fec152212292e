"""The editor of questions, in Chromium: one page saves automatically; nothing typed is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from surveys.authoring.selection import delete_questions
from surveys.authoring.services import add_question
from surveys.models import Survey
from tests.support.browser.accessibility import assert_fits_and_is_accessible
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, WATCH_VIOLATIONS, make_context
from tests.support.factories import make_survey, open_survey

TEXT = "#id_text"
MOST_CLICKS, MOST_PIXELS, MOST_WORDS = 35, 900, 120
KEPT = "Object.values(localStorage).join()"
NO_ROOM = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };"
SAVES = "**/questions/*"


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_survey(questions=())


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    with make_context(chromium, live, survey) as context:
        page = context.new_page()
        faults: list[str] = []
        page.add_init_script(WATCH_VIOLATIONS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        go(page, live, survey)
        yield page
        assert (faults, page.evaluate("window.violations")) == ([], [])


def go(page: Page, live: LiveApplication, survey: Survey, fragment: str = "") -> Page:
    page.goto(f"{live.url}/surveys/{survey.slug}/questions{fragment}")
    return page


def write(page: Page, *texts: str) -> None:
    """Type questions into the form of a new question, each followed by Enter."""
    for text in texts:
        expect(page.locator(TEXT)).to_be_focused()
        page.keyboard.type(text)
        page.keyboard.press("Enter")


def add(page: Page, *texts: str) -> None:
    page.locator("#questions").get_by_role("link", name="Add").click()
    write(page, *texts)


def expect_state(page: Page, text: str) -> None:
    expect(page.locator("#panel-state")).to_contain_text(text)


def expect_texts(page: Page, survey: Survey, *texts: str) -> None:
    """Wait until the list shows these questions, and the server has them."""
    expect(page.locator(".question-text")).to_have_text(list(texts))
    for _ in range(100):
        found = list(survey.questions.values_list("text", flat=True))
        if found == list(texts):
            break
        page.wait_for_timeout(100)
    assert found == list(texts)


def drag(page: Page, handle: Locator, *, x: float | None = None) -> None:
    """Drag a handle to the top of the list, and sideways to `x` if it is given; do not drop it."""
    handle.hover(position={"x": 5, "y": 5})  # waits until the list is not being replaced
    page.mouse.down()
    box, place = handle.bounding_box(), page.locator("#question-list").bounding_box()
    assert box is not None
    assert place is not None
    page.mouse.move(box["x"] + 5 if x is None else x, max(place["y"], 0) + 5, steps=5)


@pytest.mark.parametrize("number", [4, pytest.param(30, marks=pytest.mark.long)])
def test_questions_take_one_click_and_one_load_and_the_last_is_moved_in_one_drag(
    page: Page, survey: Survey, number: int
) -> None:
    loads: list[Request] = []
    page.on("request", lambda one: loads.append(one) if one.is_navigation_request() else None)
    page.evaluate("clicks = 0; addEventListener('click', () => clicks++, true)")
    asked = [f"Do you do thing number {place}?" for place in range(1, number + 1)]
    add(page, *asked)
    expect_texts(page, survey, *asked)
    assert (loads, page.evaluate("clicks") <= MOST_CLICKS) == ([], True)

    handles, said = page.locator(".question-handle"), page.locator("#said")
    drag(page, handles.last)
    expect(page.locator(".question-item").first).to_contain_text(asked[-1])
    page.mouse.up()
    expect(said).to_have_text(f"Place 1 of {number}")
    expect_texts(page, survey, asked[-1], *asked[:-1])
    expect(handles.first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect_texts(page, survey, *asked[:-2], asked[-1], asked[-2])
    expect(handles.nth(number - 2)).to_be_focused()
    drag(page, handles.nth(1), x=1000)
    page.mouse.up()
    expect(said).to_have_text("Not moved")
    expect_texts(page, survey, *asked[:-2], asked[-1], asked[-2])


def test_the_form_is_short_and_questions_are_copied_deleted_and_changed_by_keyboard(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    first, second = "<b>Do</b> you smoke?", "Do you drink?"
    add_question(survey=survey, text=first)
    rule = {"name": str(survey.questions.get().pk), "is": [1]}
    add_question(survey=survey, text=second, flips=40, rule=rule)
    page.reload()
    panel = page.locator("#panel")
    page.get_by_role("link", name="Edit question 1").press("Enter")
    expect(page.locator(".phone")).to_contain_text(first)
    box = panel.bounding_box()
    assert box is not None
    assert box["height"] <= MOST_PIXELS
    assert len(panel.inner_text().split()) <= MOST_WORDS
    assert_fits_and_is_accessible(page)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.get_by_role("link", name="Edit question 2").press("Enter")
    expect(panel).to_contain_text("40 of 100")
    assert_fits_and_is_accessible(page)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]

    page.get_by_role("button", name="Move question 2").press("Home")
    expect(page.locator("#told")).to_contain_text("depends on question 1")
    expect_texts(page, survey, first, second)
    expect(page.get_by_role("button", name="Move question 2")).to_be_focused()
    panel.get_by_role("button", name="Duplicate").press("Enter")
    expect(page.locator("#panel-title")).to_have_text("Question 3")
    expect_texts(page, survey, first, second, second)
    panel.get_by_role("button", name="Delete").press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    expect_texts(page, survey, first, second)
    page.keyboard.press("Enter")
    expect_texts(page, survey, first, second, second)
    expect(page.get_by_role("checkbox", name="Select question 3")).to_be_focused()
    page.get_by_role("link", name="Change the type").press("Enter")
    page.get_by_role("link", name="One answer").press("Enter")
    page.get_by_label("Options, one per line").fill("\n".join(map(str, range(63))))
    expect_state(page, "Saved")
    expect(page.locator(".phone-tap")).to_have_count(63)
    page.get_by_label("Strength of all").select_option("33")
    page.get_by_role("button", name="Set the strength of all questions").press("Enter")
    expect(page.locator(".question-differs .tag")).to_have_count(0)
    assert set(survey.questions.values_list("flips", flat=True)) == {33}

    # An open disclosure stays open, even below another that a larger total adds.
    page.get_by_text("Plan a comparison", exact=True).click()
    for number in range(30):
        add_question(survey=survey, text=f"Number {number}?")
    page.locator(TEXT).fill("Another text?")
    expect(page.locator("#budget details").first).to_be_visible()
    expect(page.get_by_role("form", name="Plan a comparison")).to_be_visible()


def test_a_late_reply_leaves_the_question_that_was_opened_meanwhile(
    page: Page, survey: Survey
) -> None:
    for text in ("One?", "Two?"):
        add_question(survey=survey, text=text)
    page.reload()
    held: list[Route] = []
    page.route("**/questions/{selected,restore}", lambda route: held.append(route))
    for act in ("Duplicate", "Delete", "Undo"):
        page.get_by_role("link", name="Edit question 2").click()
        expect(page.locator("#panel-title")).to_have_text("Question 2")
        with page.expect_request("**/questions/{selected,restore}"):
            page.get_by_role("button", name=act).click()
        page.get_by_role("link", name="Edit question 1").click()
        expect(page.locator(TEXT)).to_have_value("One?")
        held.pop().continue_()
        expect(page.locator(".question-item")).to_have_count(2 if act == "Delete" else 3)
        page.wait_for_timeout(300)
        expect(page.locator("#panel-title")).to_have_text("Question 1")


def test_the_question_is_copied_that_was_open_when_its_button_was_pressed(
    page: Page, survey: Survey
) -> None:
    for text in ("One?", "Two?"):
        add_question(survey=survey, text=text)
    page.reload()
    held: list[Route] = []
    page.get_by_role("link", name="Edit question 2").click()
    expect(page.locator(TEXT)).to_have_value("Two?")
    page.route("**/edit?*", lambda route: held.append(route), times=1)
    page.locator(TEXT).fill("Two, changed?")
    with page.expect_request("**/edit?*"):
        page.get_by_role("button", name="Duplicate").click()
    page.get_by_role("link", name="Edit question 1").click()
    held[0].continue_()
    expect_texts(page, survey, "One?", "Two, changed?", "Two, changed?")
    page.wait_for_timeout(300)
    expect(page.locator("#panel-title")).to_have_text("Question 1")


@pytest.mark.parametrize("leave", ["Next question", "Edit question 1"])
def test_another_type_alone_is_saved_with_the_next_act(
    page: Page, live: LiveApplication, survey: Survey, leave: str
) -> None:
    add_question(survey=survey, text="One?")
    chosen = add_question(survey=survey, type="choice", text="Which?", options=["A", "B"])
    go(page, live, survey, f"#question-{chosen.pk}")
    page.reload()
    for name, end in (("Yes or no", "Reload"), ("Several answers", leave)):
        page.get_by_role("link", name="Change the type").click()
        page.get_by_role("link", name=name, exact=True).click()
        expect_state(page, "Not saved yet.")
        if end == "Reload":  # an accidental reload keeps the options
            page.reload()
            expect(page.get_by_label("Options, one per line")).to_have_value("A\nB")
    page.get_by_text(leave).click()
    expect(page.locator(f"#question-{chosen.pk}")).to_contain_text("Several answers")
    assert survey.questions.get(pk=chosen.pk).options == ["A", "B"]


def test_of_two_people_the_later_is_told_and_nothing_is_lost(
    chromium: Browser, page: Page, live: LiveApplication, survey: Survey
) -> None:
    add(page, "One?", "Two?")
    expect_texts(page, survey, "One?", "Two?")
    key = survey.questions.get(text="One?").pk
    with make_context(chromium, live, survey) as context:
        other = go(context.new_page(), live, survey, f"#question-{key}")
        expect(other.locator(TEXT)).to_have_value("One?")
        page.get_by_role("link", name="Edit question 1").click()
        expect(page.locator(TEXT)).to_have_value("One?")
        page.locator(TEXT).fill("One, by the first?")
        expect(page.locator(".question-text").first).to_have_text("One, by the first?")
        survey.questions.filter(pk=key).update(refusal=True)  # only the first person wanted this
        other.locator(TEXT).fill("One, by the second?")
        told = other.locator("#panel [data-part=told]")
        expect(told).to_contain_text("One, by the first?")
        assert told.locator(":checked").evaluate_all("all => all.map((one) => one.id)") == [
            "keep-text-mine",
            "keep-refusal-theirs",
        ]
        other.locator(TEXT).press_sequentially(" Really?")
        assert survey.questions.get(pk=key).text == "One, by the first?"
        other.get_by_role("button", name="Save this choice").click()
        expect_state(other, "Saved")
        expect(told).to_be_empty()
        expect(other.locator(TEXT)).to_be_focused()
        merged = survey.questions.get(pk=key)
        assert (merged.text, merged.refusal) == ("One, by the second? Really?", True)

        delete_questions(survey=survey, keys=[key])
        other.locator(TEXT).fill("One, after all?")
        other.get_by_role("button", name="Add it again").click()
        expect_state(other, "Saved")
        texts = list(survey.questions.values_list("text", flat=True))
        assert texts == ["Two?", "One, after all?"]

        open_survey(survey=survey)
        other.locator(TEXT).fill("Too late?")
        expect(other.get_by_role("alert")).to_contain_text("This survey has been opened")
        expect(other.locator(TEXT)).to_have_value("Too late?")
        other.reload()
        expect(other.locator("#leftover")).to_contain_text("Too late?")
        other.get_by_role("button", name="Remove it from this browser").click()
        assert other.evaluate(KEPT) == ""


def test_what_was_typed_survives_lost_connections_answers_and_tabs(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    add(page, "One?")
    page.context.set_offline(True)
    write(page, "Two, offline?")
    expect(page.locator("#unsaved")).to_contain_text("Two, offline?")
    page.context.set_offline(False)
    expect_texts(page, survey, "One?", "Two, offline?")

    # The server saves a new question, but its reply is lost. The author types on, and the tab dies.
    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route(SAVES, lose)
    page.locator(TEXT).fill("Three, lost?")
    expect_state(page, "No connection")
    page.locator(TEXT).fill("Three, lost and found?")
    assert "lost+and+found" in page.evaluate(KEPT)
    page.unroute(SAVES)
    page.reload()
    expect_texts(page, survey, "One?", "Two, offline?", "Three, lost and found?")
    expect_state(page, "Saved")
    assert page.evaluate(KEPT) == ""

    # A text that is too long is kept, even if another question is opened.
    page.locator(TEXT).fill("x" * 2000)
    expect_state(page, "Shorten it to 1000")
    page.get_by_role("link", name="Edit question 1").click()
    expect(page.locator(TEXT)).to_have_value("One?")
    page.locator("#unsaved").get_by_role("button").click()
    expect(page.locator(TEXT)).to_have_value("x" * 2000)
    page.locator(TEXT).fill("Three?")
    expect_texts(page, survey, "One?", "Two, offline?", "Three?")

    page.route(SAVES, lambda route: route.abort())
    page.locator(TEXT).fill("A secret?")
    assert "A+secret" in page.evaluate(KEPT)
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert page.evaluate(KEPT) == ""


def test_two_tabs_keep_their_own_drafts_and_a_full_storage_is_said(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    add(page)
    other = page.context.new_page()
    go(other, live, survey, "#new")
    for tab, text in ((page, "In the first?"), (other, "In the second?")):
        expect(tab.locator(TEXT)).to_be_visible()  # before this tab's requests are aborted too
        tab.route(SAVES, lambda route: route.abort())
        tab.locator(TEXT).fill(text)
    other.close()
    page.unroute(SAVES)
    page.reload()
    expect(page.locator(".question-text")).to_have_count(2)
    texts = set(survey.questions.values_list("text", flat=True))
    assert texts == {"In the first?", "In the second?"}

    page.wait_for_url("**/questions#*")  # the newest version is in place
    page.add_init_script(NO_ROOM)
    page.reload()
    expect(page.locator(TEXT)).to_be_visible()
    page.route(SAVES, lambda route: route.abort())
    page.locator(TEXT).fill("Without room?")
    expect_state(page, "no room to keep it")
    page.unroute(SAVES)
    expect_state(page, "Saved")
    assert survey.questions.filter(text="Without room?").count() == 1


def test_a_question_is_moved_by_one_place_while_its_text_is_being_saved(
    page: Page, survey: Survey
) -> None:
    for text in ("A?", "B?", "C?", "D?"):
        add_question(survey=survey, text=text)
    page.reload()
    page.get_by_role("link", name="Edit question 2").click()
    expect(page.locator(TEXT)).to_have_value("B?")
    held: list[Route] = []
    page.route("**/edit?*", lambda route: held.append(route), times=1)
    with page.expect_request("**/edit?*"):
        page.locator(TEXT).fill("B!")
    page.get_by_role("button", name="Move question 2").press("ArrowDown")
    held[0].continue_()
    expect_texts(page, survey, "A?", "C?", "B!", "D?")


def test_a_type_that_cannot_be_opened_keeps_what_was_typed(page: Page, survey: Survey) -> None:
    add_question(survey=survey, text="Other?")
    page.reload()
    add(page)
    page.get_by_role("link", name="Change the type").click()
    page.get_by_role("link", name="One answer", exact=True).click()
    page.locator(TEXT).fill("A long question?")
    expect_state(page, "Not saved:")  # options are missing
    page.get_by_role("link", name="Change the type").click()
    yes_no = page.get_by_role("link", name="Yes or no", exact=True)
    page.route("**/new?*", lambda route: route.abort(), times=1)
    yes_no.click()
    expect(page.get_by_role("alert")).to_have_text("No connection. Try again.")
    held: list[Route] = []
    page.route("**/new?*", lambda route: held.append(route), times=1)
    yes_no.click()
    page.get_by_role("link", name="Edit question 1").click()
    expect(page.locator(TEXT)).to_have_value("Other?")
    expect(page.get_by_role("alert")).to_have_count(0)
    held[0].continue_()
    page.locator("#unsaved").get_by_role("button").click()
    page.get_by_role("link", name="Change the type").click()
    yes_no.dblclick()
    expect(page.locator(TEXT)).to_have_value("A long question?")


def test_lost_replies_are_not_mistaken_for_lost_requests(page: Page, survey: Survey) -> None:
    one = add_question(survey=survey, text="One?")
    add_question(survey=survey, text="Two?")
    page.reload()
    page.get_by_role("link", name="Edit question 1").click()
    expect(page.locator(TEXT)).to_have_value("One?")
    survey.questions.filter(pk=one.pk).update(text="Theirs?")
    page.locator(TEXT).fill("Mine?")
    expect(page.locator("[data-part=told]")).to_contain_text("Theirs?")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save this choice").click()
    expect_state(page, "No connection")
    page.context.set_offline(False)
    expect_state(page, "Saved")
    expect(page.locator("#place")).not_to_have_attribute("inert", "")

    def lose(route: Route) -> None:
        route.fetch(max_redirects=0)
        route.abort()

    page.route("**/selected", lose, times=1)
    page.get_by_role("button", name="Delete").click()
    expect_state(page, "No connection")
    expect_texts(page, survey, "Two?")
