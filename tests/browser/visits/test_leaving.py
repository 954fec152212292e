"""Leaving at once from every state of a visit: erased data, and targets of Back and Forward."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import override_settings
from playwright.sync_api import Page, expect

from aggregator.models import RawReport
from tests.support.browser.sending import NEUTRAL, REPORTS, TWO, kept, submit
from tests.support.browser.visit import (
    CHOSEN,
    CONFIRM,
    SENT,
    Visitor,
    answer,
    go_back,
    press,
    status,
)
from tests.support.factories import make_launched_survey
from tests.support.six_languages import make_survey_in_six_languages

HOLD = "main > .again"  # send later
START = "#start:visible"
ENTRIES = "Page.getNavigationHistory"
# Leaving is quick, so the script that presses Exit also reads the page's state.
PRESS_EXIT = """() => {
    document.getElementById("exit").click();
    return [document.documentElement.hidden, document.title, document.body.checkVisibility()];
}"""


@pytest.fixture
def leaving(visitor: Visitor) -> Visitor:
    """Answer requests for the neutral page without the network."""
    visitor.context.route(NEUTRAL, lambda route: route.fulfill(body="<h1>Weather</h1>"))
    return visitor


def press_shift(page: Page, times: int = 3) -> None:
    for _ in range(times):
        page.keyboard.press("Shift")


def list_history(page: Page) -> list[tuple[str, str]]:
    """Return the address and the title of every entry in the history of this tab."""
    entries = page.context.new_cdp_session(page).send(ENTRIES)["entries"]
    return [(entry["url"], entry["title"]) for entry in entries]


def start_and_answer(page: Page, steps: int = 0) -> None:
    press(page, "Start")
    for _ in range(steps):
        press(page, "Yes")


def open_all(page: Page) -> None:
    for summary in page.locator("summary:visible").all():
        summary.click()


def open_all_of_a_question(page: Page) -> None:
    start_and_answer(page)
    open_all(page)


def make_an_error(page: Page) -> None:
    start_and_answer(page)
    page.get_by_role("checkbox", name=CONFIRM).click()
    press(page, "Continue")
    expect(page.locator(".error-summary")).to_be_focused()


def go_back_to_the_start(page: Page) -> None:
    start_and_answer(page, 1)
    go_back(page, 2)
    expect(page.locator(START)).to_be_visible()


def change_an_answer(page: Page) -> None:
    answer(page, TWO)
    page.get_by_role("link", name="Change").last.click()
    expect(page.get_by_role("button", name="No", exact=True, pressed=True)).to_be_visible()


def reload_in_the_middle(page: Page) -> None:
    start_and_answer(page, 1)
    page.reload()
    expect(page.locator(START)).to_be_visible()


def start_again_after_a_reload(page: Page) -> None:
    reload_in_the_middle(page)
    start_and_answer(page, 2)


def hold(page: Page) -> None:
    answer(page, TWO)
    page.locator(HOLD).click()
    expect(status(page)).to_contain_text("Not sent yet.")


def stay_offline(page: Page) -> None:
    expect(page.locator(START)).to_be_visible()
    page.route(REPORTS, lambda route: route.abort())
    submit(page)
    expect(status(page)).to_contain_text("Not sent yet.")


def send(page: Page) -> None:
    submit(page)
    expect(status(page)).to_have_text(SENT)


def open_the_receipt(page: Page) -> None:
    send(page)
    open_all(page)


def go_back_after_sending(page: Page) -> None:
    send(page)
    page.go_back()
    expect(status(page)).to_have_text(SENT)


def come_again(page: Page) -> None:
    send(page)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("already sent")


def read_how_to_check(page: Page) -> None:
    open_all(page)
    page.get_by_role("link", name="Check this page yourself").click()
    expect(page.locator("#self-test button")).to_be_visible()


def check_and_return(page: Page) -> None:
    read_how_to_check(page)
    page.get_by_role("link", name="Back").click()
    expect(page.locator(START)).to_be_visible()
    start_and_answer(page, 1)


STATES: list[Callable[[Page], None]] = [
    lambda page: expect(page.locator(START)).to_be_visible(),
    open_all,
    start_and_answer,
    open_all_of_a_question,
    make_an_error,
    lambda page: start_and_answer(page, 1),
    lambda page: answer(page, TWO),
    change_an_answer,
    go_back_to_the_start,
    reload_in_the_middle,
    start_again_after_a_reload,
    hold,
    stay_offline,
    send,
    open_the_receipt,
    go_back_after_sending,
    come_again,
    read_how_to_check,
    check_and_return,
]


def refuse_to_agree(page: Page) -> None:
    press(page, "Start")
    press(page, "Continue")
    expect(page.locator(".error-summary")).to_be_focused()


def decline(page: Page) -> None:
    press(page, "Start")
    page.get_by_role("link", name="I do not want to take part").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are not taking part")


def agree_and_go_back(page: Page) -> None:
    press(page, "Start")
    page.get_by_role("checkbox").check()
    press(page, "Continue")
    expect(page.locator("button.choice")).to_have_count(2)
    page.go_back()
    expect(page.get_by_role("checkbox")).to_be_checked()


BEFORE_CONSENT: list[Callable[[Page], None]] = [
    lambda page: press(page, "Start"),
    refuse_to_agree,
    decline,
    agree_and_go_back,
]


def leave_and_look_around(page: Page, neutral: str, forward: str) -> None:
    """Leave, and expect the survey nowhere in the history of the tab."""
    page.locator("#exit").click()
    page.wait_for_url(neutral)
    # The previous page, the neutral page, and one more entry, however many steps there were.
    history = list_history(page)
    assert [url for url, _title in history] == ["about:blank", neutral, forward]
    assert {title for _url, title in history} <= {"", "about:blank", neutral}
    page.go_forward()
    assert page.url == neutral
    page.go_back()
    page.go_back()
    assert page.url == "about:blank"


FEW = [open_all_of_a_question, make_an_error, hold, open_the_receipt, check_and_return]


@pytest.mark.parametrize(
    ("consent", "states"),
    [
        ("", FEW),
        ("I agree.", [refuse_to_agree]),
        pytest.param("", [one for one in STATES if one not in FEW], marks=pytest.mark.long),
        pytest.param("I agree.", BEFORE_CONSENT, marks=pytest.mark.long),
    ],
)
def test_after_leaving_from_any_state_neither_back_nor_forward_opens_the_survey(
    visitor: Visitor, consent: str, states: list[Callable[[Page], None]]
) -> None:
    neutral = f"{visitor.url}/healthz"  # a real page, because tests cannot replace a page here
    with override_settings(EXIT_URL=neutral):
        for prepare in states:
            page = visitor.open(make_launched_survey(title="Drugs at work", consent=consent))
            prepare(page)
            leave_and_look_around(page, neutral, f"{visitor.url}/r/x")
            page.close()


def test_without_the_history_api_a_survey_can_be_answered_and_left(leaving: Visitor) -> None:
    leaving.context.add_init_script("delete History.prototype.pushState")
    page = leaving.open(make_launched_survey())
    answer(page, TWO)
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_text("Question 2 of 2")).to_be_visible()
    page.locator("#exit").click()
    page.wait_for_url(NEUTRAL)
    assert [url for url, _title in list_history(page)] == ["about:blank", NEUTRAL]


def test_after_leaving_from_another_language_the_first_one_is_not_behind_it(
    visitor: Visitor,
) -> None:
    neutral = f"{visitor.url}/healthz"
    with override_settings(EXIT_URL=neutral):
        page = visitor.open(make_survey_in_six_languages(), ending="/en")
        page.get_by_role("link", name="Deutsch").click()
        page.wait_for_url("**/de")
        page.locator(START).click()
        leave_and_look_around(page, neutral, f"{visitor.url}/r/x")


def test_after_leaving_the_page_as_one_file_forward_does_not_open_it(
    visitor: Visitor, tmp_path: Path
) -> None:
    neutral, file = f"{visitor.url}/healthz", tmp_path / "page.html"
    with override_settings(EXIT_URL=neutral):
        slug = make_launched_survey(title="Drugs at work").survey.slug
        response = visitor.context.request.get(f"{visitor.url}/s/{slug}/page.html")
        file.write_bytes(response.body())
        page = visitor.context.new_page()
        page.goto(file.as_uri())
        answer(page, TWO)
        page.locator("#exit").click()
        page.wait_for_url(neutral)
        ahead = f"{file.as_uri()}#left"
        assert [url for url, _title in list_history(page)] == ["about:blank", neutral, ahead]
        page.evaluate("setTimeout(() => history.forward())")
        expect(page.get_by_text("Drugs at work")).to_have_count(0)
        page.wait_for_url(neutral)
        assert [url for url, _title in list_history(page)] == ["about:blank", neutral, neutral]


def test_no_title_of_a_visit_names_the_survey_or_says_that_it_was_answered(
    visitor: Visitor,
) -> None:
    wave = make_launched_survey(title="Drugs at work", coins=True)
    seen: list[str] = []
    visitor.context.expose_function("note", lambda title: seen.append(title))
    visitor.context.add_init_script("""
        const note_title = () => note(document.title);
        addEventListener("DOMContentLoaded", () => {
            note_title();
            new MutationObserver(note_title).observe(
                document.head, { subtree: true, childList: true, characterData: true });
        });
    """)
    page = visitor.open(wave)
    make_an_error(page)
    page.reload()
    send(page)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("already sent")
    for ending in ("check", "coins", "coins/sent", "paper", "send"):
        page.goto(f"{visitor.url}/s/{wave.survey.slug}/{ending}")
    assert list(dict.fromkeys(seen)) == [
        "Survey",
        "Error: Survey",
        "Survey, on paper",
        "Hand in your code · Survey",
    ]


@pytest.mark.parametrize("way", ["button", "keys"])
def test_leaving_while_answering_keeps_nothing(leaving: Visitor, way: str) -> None:
    wave = make_launched_survey()
    page = leaving.open(wave)
    press(page, "Start")
    page.get_by_role("checkbox", name=CONFIRM).click()
    press(page, "Yes")
    press(page, "Continue")
    press(page, "No")
    if way == "button":
        page.get_by_role("link", name="Exit this page").click()
    else:
        press_shift(page)
    page.wait_for_url(NEUTRAL)
    assert leaving.reports() == []
    page.go_back()
    assert page.url == "about:blank", "what was open before the survey"
    page = leaving.open(wave)
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert page.locator(CHOSEN).count() == 0
    assert kept(page) == []


def test_the_page_is_hidden_at_the_moment_of_leaving(leaving: Visitor) -> None:
    page = leaving.open(make_launched_survey())
    leaving.context.route(NEUTRAL, lambda route: None, times=1)  # slow, so this page stays
    answer(page, TWO)
    assert page.evaluate(PRESS_EXIT) == [True, "", False]


def test_pressing_more_often_leaves_once(visitor: Visitor) -> None:
    neutral = f"{visitor.url}/healthz"
    with override_settings(EXIT_URL=neutral):
        page = visitor.context.new_page()
        page.goto(f"{visitor.url}/methods/")  # a second step back would lead here
        page.goto(f"{visitor.url}/s/{make_launched_survey().survey.slug}")
        answer(page, TWO)
        page.evaluate("""() => {
            for (let i = 0; i < 9; i += 1) {
              document.getElementById("exit").click();
              dispatchEvent(new KeyboardEvent("keydown", { key: "Shift" }));
            }
        }""")
        page.wait_for_url(neutral)
        assert [url for url, _title in list_history(page)][-2:] == [neutral, f"{visitor.url}/r/x"]


LOOK = """() => [
    getComputedStyle(document.body).opacity, scrollY, document.activeElement.value]"""
# Chromium on a phone does this when another app comes to the front.
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.parametrize("exit_", [True, False])
def test_the_page_is_blank_while_another_app_is_in_front(visitor: Visitor, exit_: bool) -> None:
    page = visitor.open(make_launched_survey(quick_exit=exit_))
    start_and_answer(page, 1)
    page.set_viewport_size({"width": 390, "height": 450})
    page.go_back()
    page.evaluate("scrollTo(0, 120)")
    shown = page.evaluate(LOOK)
    assert (shown[0], shown[1] > 0) == ("1", True)
    page.evaluate(HIDE, True)
    assert page.evaluate(LOOK)[0] == ("0" if exit_ else "1")
    page.evaluate(HIDE, False)
    assert page.evaluate(LOOK) == shown
    expect(page.locator(CHOSEN)).to_have_text("Yes")


def test_typing_capital_letters_does_not_leave_the_page(leaving: Visitor) -> None:
    page = leaving.open(make_launched_survey())
    press(page, "Start")
    for key in ("Shift", "Shift", "A", "Shift", "Shift", "Tab", "Shift"):
        page.keyboard.press(key)
    expect(page.get_by_text("Question 1 of 2")).to_be_visible()


def test_leaving_during_sending_erases_the_code_and_draws_no_second_one(leaving: Visitor) -> None:
    wave = make_launched_survey()
    page = leaving.open(wave)
    leaving.context.route(REPORTS, lambda route: route.abort(), times=1)
    # The neutral page is slow. Until it loads, this page must not continue anything.
    leaving.context.route(NEUTRAL, lambda route: None, times=1)
    submit(page)
    expect(status(page)).to_contain_text("Not sent yet.")
    with page.expect_request(NEUTRAL):  # a real click would wait for that page
        page.get_by_role("link", name="Exit this page").dispatch_event("click")
    page.wait_for_timeout(4_000)
    assert len(leaving.reports()) == 1
    page.close()
    page = leaving.open(wave)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "This survey cannot be answered here again"
    )
    expect(status(page)).to_have_text("You can close this page.")
    assert kept(page) == [{"over": "left"}]
    assert RawReport.objects.count() == 0


def test_the_author_decides_whether_there_is_an_exit_button(leaving: Visitor) -> None:
    page = leaving.open(make_launched_survey(quick_exit=False))
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert page.get_by_text("Exit this page").count() == 0
    press_shift(page)
    press(page, "Start")
    expect(page.get_by_text("Question 1 of 2")).to_be_visible()


def test_the_answers_can_be_hidden_while_they_are_checked(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey())
    answer(page, TWO)
    rows = page.locator("dl.checks")
    expect(rows).to_be_visible()
    press(page, "Hide my answers")
    # The list of questions that were asked can also reveal an answer.
    expect(rows).to_be_hidden()
    assert "Driven" not in page.locator("main").inner_text()
    expect(page.get_by_role("button", name="Show my answers")).to_be_focused()
    page.go_back()
    press(page, "Yes")
    expect(rows).to_be_hidden()
    press(page, "Show my answers")
    expect(rows).to_be_visible()
    press(page, "Hide my answers")
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
