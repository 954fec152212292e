"""No touch loses answers: help, another language, a reload, and browsers that lack something."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page, expect

from aggregator.models import RawReport
from surveys.models import Wave
from tests.support.browser.sending import TWO, kept, submit
from tests.support.browser.visit import (
    CHOSEN,
    SENT,
    Visitor,
    answer,
    choose_first,
    go_back,
    press,
    status,
)
from tests.support.factories import QUESTIONS, make_launched_survey
from tests.support.six_languages import make_survey_in_six_languages, write_questions

HEADING = "h1"
FILL_STORAGE = """IDBObjectStore.prototype.add = IDBObjectStore.prototype.put = () => {
    throw new DOMException("full", "QuotaExceededError");
}"""


def answer_first(visitor: Visitor, wave: Wave, ending: str = "/en") -> Page:
    page = visitor.open(wave, ending)
    page.locator("#start").click()
    choose_first(page)
    return page


def refuse_to_leave(page: Page) -> list[str]:
    """Stay on the page whenever the browser asks; return a list of its questions."""
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    return asked


@pytest.mark.parametrize("quick_exit", [False, True])
def test_help_opens_in_a_new_tab_and_back_still_shows_the_page_before(
    visitor: Visitor, *, quick_exit: bool
) -> None:
    wave = make_launched_survey(
        quick_exit=quick_exit, help_name="Anna", help_url="https://help.example.org/night"
    )
    visitor.context.route("https://help.example.org/*", lambda route: route.fulfill(body="Help"))
    page = answer_first(visitor, wave)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="help.example.org").click()
    assert opened.value.evaluate("[document.referrer, opener, history.length]") == ["", None, 1]
    assert "referer" not in visitor.requests[-1].all_headers()
    expect(page.locator(HEADING)).to_have_text(QUESTIONS[1])
    go_back(page)
    expect(page.locator(HEADING)).to_have_text(QUESTIONS[0])
    expect(page.locator(CHOSEN)).to_have_count(1)


def test_another_language_keeps_the_answers(visitor: Visitor) -> None:
    page = answer_first(visitor, make_survey_in_six_languages())
    address = page.url
    go_back(page, 2)
    page.locator(".languages a[lang=ar]").click()
    expect(page.locator("html[lang=ar][dir=rtl] #start")).to_be_visible()
    expect(page.locator("#exit")).to_have_text("الخروج من هذه الصفحة")
    page.locator("#start").click()
    first, second, *_ = write_questions("ar")
    expect(page.locator(HEADING)).to_have_text(first)
    expect(page.locator(CHOSEN)).to_have_count(1)
    expect(page.locator("details #label h2").first).to_contain_text("الحماية")
    choose_first(page)
    expect(page.locator(HEADING)).to_have_text(second)
    assert page.url == address, "the history has one entry"
    for _ in range(9):
        choose_first(page)
    page.locator("main > .button").click()
    expect(page.get_by_role("status")).to_contain_text("أُرسِل رمزكم")
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize("quick_exit", [False, True])
def test_other_questions_in_the_other_language_are_opened_only_if_the_person_agrees(
    visitor: Visitor, *, quick_exit: bool
) -> None:
    page = answer_first(visitor, make_survey_in_six_languages(quick_exit=quick_exit))
    other = make_survey_in_six_languages().survey.slug
    page.route("**/ar", lambda route: route.continue_(url=f"{visitor.url}/s/{other}/ar"))
    asked = refuse_to_leave(page)
    go_back(page, 2)
    with page.expect_event("dialog"):
        page.locator(".languages a[lang=ar]").click()
    assert asked == ["beforeunload"]
    page.locator("#start").click()
    expect(page.locator(CHOSEN)).to_have_count(1)


def test_a_reload_asks_where_nobody_has_to_leave_at_once(visitor: Visitor) -> None:
    page = answer_first(visitor, make_launched_survey(quick_exit=False))
    asked = refuse_to_leave(page)
    with page.expect_event("dialog"):
        page.evaluate("location.reload()")
    assert asked == ["beforeunload"]
    expect(page.locator(HEADING)).to_have_text(QUESTIONS[1])


def test_nothing_asks_where_people_may_have_to_leave_at_once(visitor: Visitor) -> None:
    page = answer_first(visitor, make_launched_survey())
    asked = refuse_to_leave(page)
    page.reload()
    press(page, "Start")
    expect(page.locator(HEADING)).to_have_text(QUESTIONS[0])
    assert page.locator(CHOSEN).count() == 0
    assert asked == []


def test_going_back_twice_says_what_is_lost_only_where_it_is(visitor: Visitor) -> None:
    loss = "If you go back twice in a row, your answers are deleted."
    for settings, count in (
        ({"quick_exit": False}, 0),
        ({"quick_exit": True}, 1),
        ({"quick_exit": False, "shared_devices": True}, 1),
    ):
        page = answer_first(visitor, make_launched_survey(**settings))
        go_back(page)
        expect(page.locator(HEADING)).to_have_text(QUESTIONS[0])
        expect(page.get_by_role("alert")).to_have_count(count)
        assert page.get_by_text(loss).count() == count
        page.close()


def test_a_full_storage_on_a_shared_device_leaves_the_code_in_memory(visitor: Visitor) -> None:
    visitor.context.add_init_script(FILL_STORAGE)
    page = visitor.open(make_launched_survey(shared_devices=True))
    answer(page, TWO)
    page.context.set_offline(True)
    press(page, "Submit")
    expect(status(page)).to_contain_text("Keep this page open until your code is sent.")
    assert kept(page) == []
    page.context.set_offline(False)
    press(page, "Try again")
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1


@pytest.mark.parametrize("lacking", ["IDBFactory.prototype.open", "History.prototype.pushState"])
def test_a_browser_that_lacks_something_sends_from_a_shared_device(
    visitor: Visitor, lacking: str
) -> None:
    visitor.context.add_init_script(f"delete {lacking}")
    submit(page := visitor.open(make_launched_survey(shared_devices=True)))
    expect(status(page)).to_have_text(SENT)
    assert RawReport.objects.count() == 1
