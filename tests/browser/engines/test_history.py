"""The browser's history reveals nothing about a visit, and Back shows the previous page.

Browsers skip entries that a page added before a person touched it, but only if a person goes back.
The tests therefore use windows and real keys.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from surveys.models import Wave
from tests.support.browser.every_type import ask
from tests.support.engines.keyboard import Keyboard
from tests.support.engines.launch import open_window
from tests.support.engines.line import Line
from tests.support.engines.stored_history import read_stored_history
from tests.support.engines.tab import Tab
from tests.support.engines.visit import CHECK, SENT, answer_all, open_survey_page, start
from tests.support.factories import QUESTIONS, make_launched_survey, make_survey, open_survey

LEFT = "/accounts/login/"
TWICE = "If you go back twice in a row, your answers are deleted."
TWO = {text: ["Yes"] for text in QUESTIONS}
HARM, REPORT, TOOK, WHAT = "Any harm?", "Was it reported?", "Took anything?", "Sleeping pills?"
WAYS = [
    {HARM: [harm], REPORT: ["No"], TOOK: [took], WHAT: ["Yes"]}
    for harm in ("Yes", "No")
    for took in ("Yes", "No")
]


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.long)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def window(engine: str, tmp_path: Path) -> Iterator[tuple[Tab, Keyboard]]:
    with open_window(engine, tmp_path) as found:
        yield found


@pytest.fixture
def tab(window: tuple[Tab, Keyboard]) -> Tab:
    return window[0]


@pytest.fixture
def keyboard(window: tuple[Tab, Keyboard]) -> Keyboard:
    return window[1]


def begin(tab: Tab, line: Line, wave: Wave) -> None:
    tab.open(f"{line.url}/methods")
    open_survey_page(tab, line, wave)
    start(tab)


def test_back_shows_the_page_before_and_twice_without_a_touch_leaves(
    tab: Tab, keyboard: Keyboard, line: Line
) -> None:
    begin(tab, line, make_launched_survey())
    answer_all(tab, TWO)
    keyboard.press("Alt", "Left")
    tab.wait_for_heading(QUESTIONS[1])
    tab.wait_for(TWICE)
    tab.click("h1")
    keyboard.press("Alt", "Left")
    tab.wait_for_heading(QUESTIONS[0])
    assert tab.run("return document.querySelector('[aria-pressed=true]') !== null")
    tab.choose("Yes")
    tab.wait_for_heading(CHECK)
    tab.press("Back")  # the page's own button
    tab.wait_for_heading(QUESTIONS[0])
    keyboard.press("Alt", "Left")
    tab.wait("document.getElementById('start')?.offsetParent")
    keyboard.press("Alt", "Left")
    tab.wait("location.pathname.startsWith('/methods')")
    begin(tab, line, make_launched_survey())
    answer_all(tab, TWO)
    keyboard.press("Alt", "Left")
    tab.wait_for_heading(QUESTIONS[1])
    keyboard.press("Alt", "Left")
    tab.wait("location.pathname.startsWith('/methods')")


def test_twenty_times_back_with_a_key_between_show_twenty_pages(
    tab: Tab, keyboard: Keyboard, line: Line
) -> None:
    texts = [f"Number {number}?" for number in range(20)]
    begin(tab, line, make_launched_survey(questions=texts, flips=46))
    answer_all(tab, {text: ["Yes"] for text in texts})
    for text in reversed(texts):
        keyboard.press("Alt", "Left")
        tab.wait_for_heading(text)
        tab.type("Tab")


def test_a_reload_in_the_middle_leaves_one_step_back_to_what_was_before(
    tab: Tab, keyboard: Keyboard, line: Line
) -> None:
    begin(tab, line, make_launched_survey())
    tab.choose("Yes")
    tab.wait_for_heading(QUESTIONS[1])
    tab.reload()
    tab.wait("document.getElementById('start')?.hidden === false")
    keyboard.press("Alt", "Left")
    tab.wait("location.pathname.startsWith('/methods')")


@pytest.mark.parametrize("is_shared", [False, True])
def test_back_after_sending_stays_once_and_shows_no_answers(
    tab: Tab, keyboard: Keyboard, line: Line, *, is_shared: bool
) -> None:
    begin(tab, line, make_launched_survey(shared_devices=is_shared))
    answer_all(tab, TWO)
    tab.press("Submit")
    tab.wait_for(SENT)
    keyboard.press("Alt", "Left")
    tab.wait("history.state === null")
    assert SENT in tab.read("main")
    if is_shared:
        tab.press("Next person")
        start(tab)
        tab.wait_for_heading(QUESTIONS[0])
        assert not tab.run("return document.querySelector('[aria-pressed=true]')")
        keyboard.press("Alt", "Left")
        tab.wait("document.getElementById('start')?.offsetParent")
    keyboard.press("Alt", "Left")
    tab.wait("location.pathname.startsWith('/methods')")


@pytest.mark.parametrize(
    ("settings", "stops", "shown"),
    [
        # Start is the first stop of the Tab key, or comes after Exit.
        ({"quick_exit": False}, 1, QUESTIONS[1]),
        ({"quick_exit": False, "shared_devices": True}, 1, "On the road"),
        ({"quick_exit": True}, 2, "On the road"),
    ],
)
def test_a_page_that_was_left_comes_back_with_its_answers_only_where_nobody_else_may_see_them(
    tab: Tab, keyboard: Keyboard, line: Line, settings: dict[str, bool], stops: int, shown: str
) -> None:
    """Only keys are used: after a driver's click, Firefox keeps no page to return to."""
    open_survey_page(tab, line, make_launched_survey(**settings))
    tab.wait("document.getElementById('start')?.hidden === false")
    press_each(keyboard, *["Tab"] * stops, "Enter")
    tab.wait_for_heading(QUESTIONS[0])
    press_each(keyboard, "Tab", "Space")
    tab.wait_for_heading(QUESTIONS[1])
    leave(tab, keyboard)
    keyboard.press("Alt", "Left")
    tab.wait_for_heading(shown)
    if shown == QUESTIONS[1]:
        tab.press("Back")
        tab.wait_for_heading(QUESTIONS[0])
    is_kept = tab.run("return Boolean(document.querySelector('[aria-pressed=true]'))")
    assert is_kept == (shown == QUESTIONS[1])


def leave(tab: Tab, keyboard: Keyboard) -> None:
    """Open the browser's home page, and confirm if the survey's page asks whether to leave."""
    address = tab.url
    for _ in range(10):
        keyboard.press("Alt", "Home")
        time.sleep(1)  # a command to the driver would answer the browser's question
        keyboard.press("Enter")
        time.sleep(1)
        if tab.url != address:
            return
    raise AssertionError(f"{tab.engine} stays at {address}")


def press_each(keyboard: Keyboard, *keys: str) -> None:
    for key in keys:
        keyboard.press(key)
        time.sleep(0.3)


def make_nights() -> Wave:
    survey = make_survey(title="Nights", questions=())
    harm = ask(survey, HARM, type="yes_no")
    ask(survey, REPORT, type="yes_no", rule={"name": f"{harm.pk}", "is": [1]})
    took = ask(survey, TOOK, type="yes_no")
    ask(survey, WHAT, type="yes_no", rule={"name": f"{took.pk}", "is": [1]})
    return open_survey(survey=survey)


@pytest.mark.parametrize("end", ["Submit", "Exit this page"])
def test_the_stored_history_is_the_same_on_every_way(
    engine: str, line: Line, tmp_path: Path, settings: Settings, end: str
) -> None:
    settings.EXIT_URL = f"{line.url}{LEFT}"
    waves = [make_nights() for _ in WAYS]
    with open_window(engine, tmp_path) as (tab, _keyboard):
        for wave, way in zip(waves, WAYS, strict=True):
            open_survey_page(tab, line, wave)
            start(tab)
            seen = answer_all(tab, way)
            assert len(seen) == 2 + sum(way[text] == ["Yes"] for text in (HARM, TOOK))
            assert tab.heading == CHECK
            tab.press(end)
            if end == "Submit":
                tab.wait_for(SENT)
            else:
                tab.wait("location.pathname === arguments[0]", LEFT)
        tab.wait_for_result("await new Promise((done) => setTimeout(done, 2000))")
    stored = read_stored_history(engine, tmp_path)
    assert len({stored[f"{line.url}/s/{wave.survey.slug}/en"] for wave in waves}) == 1, stored
