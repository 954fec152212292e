"""The editor of questions, in Chromium: one page, saved by itself, by mouse and by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from surveys.authoring.services import edit_question
from surveys.models import Survey
from tests.support.browser.accessibility import AXE, RUN_AXE
from tests.support.browser.live import LiveApplication
from tests.support.browser.researcher import DESK, PHONE, Reader, make_context
from tests.support.factories import make_survey, open_survey

TEXT = "#id_text"
SAVED = "Saved"


@pytest.fixture
def survey(live: LiveApplication) -> Survey:
    return make_survey(questions=())


@pytest.fixture
def page(chromium: Browser, live: LiveApplication, survey: Survey) -> Iterator[Page]:
    with make_context(chromium, live, survey) as context:
        yield go(context.new_page(), live, survey)


def go(page: Page, live: LiveApplication, survey: Survey, fragment: str = "") -> Page:
    page.goto(f"{live.url}/surveys/{survey.slug}/questions{fragment}")
    return page


def add(page: Page, *texts: str) -> None:
    page.get_by_role("link", name="Add").last.click()
    for text in texts:
        expect(page.locator(TEXT)).to_be_focused()
        page.keyboard.type(text)
        page.keyboard.press("Enter")


def expect_state(page: Page, text: str) -> None:
    expect(page.locator("#panel-state")).to_contain_text(text)


def texts(survey: Survey) -> list[str]:
    return list(survey.questions.values_list("text", flat=True))


def assert_accessible(page: Page) -> None:
    page.evaluate(AXE)
    assert page.evaluate(RUN_AXE) == []


def test_thirty_questions_take_one_click_and_one_load_and_the_last_is_moved_to_the_top(
    page: Page, live: LiveApplication, survey: Survey
) -> None:
    loads: list[Request] = []
    page.on("request", lambda one: loads.append(one) if one.is_navigation_request() else None)
    asked = [f"Do you do thing number {number}?" for number in range(1, 31)]
    add(page, *asked)
    rows = page.locator(".question-item")
    expect(rows).to_have_count(30)
    assert (loads, texts(survey)) == ([], asked)

    last = rows.last.locator(".question-handle")
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    place = page.locator("#question-list").bounding_box()
    assert box is not None
    assert place is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, max(place["y"], 0) + 4, steps=5)
    expect(rows.first).to_contain_text(asked[29])
    page.mouse.up()
    expect(page.locator("#said")).to_have_text("Place 1 of 30")
    page.wait_for_timeout(3500)
    assert texts(survey) == [asked[29], *asked[:29]]
    page.screenshot(path="/tmp/d1.png")
    page.locator(".question-handle").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(3500)
    print(page.evaluate("document.activeElement.outerHTML"))
    assert texts(survey) == [*asked[:28], asked[29], asked[28]]
    # a drag that ends outside
    box = rows.nth(3).locator(".question-handle").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(1000, 300, steps=5)
    page.mouse.up()
    expect(page.locator("#said")).to_have_text("Not moved")
    page.wait_for_timeout(1500)
    assert texts(survey) == [*asked[:28], asked[29], asked[28]]


def test_two(chromium, live, survey, page):
    add(page, "One?", "Two?")
    expect(page.locator(".question-item")).to_have_count(2)
    first = survey.questions.first()
    with make_context(chromium, live, survey) as other:
        second = go(other.new_page(), live, survey, f"#question-{first.pk}")
        expect(second.locator(TEXT)).to_have_value("One?")
        page.locator(".question-edit").first.click()
        expect(page.locator(TEXT)).to_have_value("One?")
        page.locator(TEXT).fill("One, by the first?")
        expect_state(page, SAVED)
        page.wait_for_timeout(2500)
        second.locator(TEXT).fill("One, by the second?")
        expect(second.get_by_text("This was changed in another window.").last).to_be_visible()
        second.screenshot(path="/tmp/e1.png")
        print(texts(survey))
        second.locator(TEXT).press_sequentially(" More")
        second.wait_for_timeout(2500)
        print(texts(survey), second.locator("#panel-state").inner_text())
        second.get_by_role("button", name="Keep what I typed").click()
        expect_state(second, SAVED)
        print(texts(survey), second.locator("#told").inner_text(), second.locator("[data-part=told]").inner_text())
        # delete elsewhere
        from surveys.authoring.selection import delete_questions
        delete_questions(survey=survey, keys=[first.pk])
        second.locator(TEXT).press_sequentially(" and more")
        expect(second.get_by_role("button", name="Add it again")).to_be_visible()
        second.get_by_role("button", name="Add it again").click()
        expect_state(second, SAVED)
        print(texts(survey), second.url)
        second.wait_for_timeout(2500)
        # launch
        survey.refresh_from_db()
        survey.cap=200; survey.save()
        open_survey(survey=survey)
        second.locator(TEXT).press_sequentially(" LATE")
        second.wait_for_timeout(2500)
        print(second.locator("#told").inner_text(), second.locator(TEXT).input_value())
        second.screenshot(path="/tmp/e2.png")
        second.reload()
        second.wait_for_timeout(500)
        print(second.locator("#leftover").inner_text())


def test_lost(chromium, live, survey, page):
    add(page, "One?")
    expect(page.locator(".question-item")).to_have_count(1)
    page.context.set_offline(True)
    page.keyboard.type("Two, offline?")
    page.wait_for_timeout(2500)
    print(page.locator("#panel-state").inner_text())
    page.keyboard.press("Enter")
    page.keyboard.type("Three, offline?")
    page.wait_for_timeout(2500)
    print(page.locator("#panel-state").inner_text(), page.locator("#unsaved").inner_text())
    page.screenshot(path="/tmp/f1.png")
    page.context.set_offline(False)
    page.wait_for_timeout(7000)
    print(texts(survey), page.locator("#panel-state").inner_text(), page.locator("#unsaved").count())
    # reply lost
    lost=[]
    def lose(route):
        if route.request.method=="POST" and len(lost)<1:
            lost.append(1)
            route.fetch()
            route.abort()
        else: route.continue_()
    page.route("**/questions/new**", lose)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    page.keyboard.type("Four, lost?")
    page.wait_for_timeout(2500)
    page.keyboard.type(" And on")
    print(texts(survey), page.locator("#panel-state").inner_text())
    page.wait_for_timeout(8000)
    print(texts(survey), page.locator("#panel-state").inner_text())
    # crash with a lost reply
    lost.clear()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    page.keyboard.type("Five, crash?")
    page.wait_for_timeout(2500)
    page.keyboard.type(" Newer")
    page.reload()
    page.wait_for_timeout(4000)
    print(texts(survey), page.locator("#panel-state").inner_text(), page.evaluate("Object.keys(localStorage)"), page.locator(TEXT).input_value())
    # invalid texts
    page.locator(TEXT).fill("x"*2000)
    page.wait_for_timeout(2500)
    print(page.locator("#panel-state").inner_text())
    page.get_by_role("button", name="Next question").click()
    page.wait_for_timeout(1000)
    print(page.locator("#unsaved").inner_text()[:100])
    page.locator("#unsaved button").click()
    page.wait_for_timeout(1000)
    page.screenshot(path="/tmp/f2.png")
    print(len(page.locator(TEXT).input_value()), page.locator("#panel-state").inner_text())
    page.locator(TEXT).fill("<b>Five</b>?")
    page.wait_for_timeout(2500)
    print(texts(survey), page.locator("#panel-state").inner_text(), page.locator("#unsaved").count())
    # sign-out
    page.route("**/questions/**", lambda route: route.abort())
    page.keyboard.type("secret")
    page.wait_for_timeout(200)
    print(page.evaluate("Object.keys(localStorage)"))
    page.unroute("**/questions/**")
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_timeout(1000)
    print(page.url, page.evaluate("Object.keys(localStorage)"))
