"""Incidents during a respondent's visit, in each engine."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from aggregator.models import RawReport
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest
from surveys.models import Wave
from tests.support.browser.every_type import MOVED, make_branching_survey
from tests.support.engines.launch import open_browser
from tests.support.engines.line import Line
from tests.support.engines.tab import Tab
from tests.support.engines.visit import (
    ANSWERS,
    CHECK,
    SENT,
    answer_all,
    dump,
    open_survey_page,
    start,
    submit_all,
)
from tests.support.factories import QUESTIONS, make_launched_survey, make_survey, open_survey
from tests.support.six_languages import make_survey_in_six_languages, write_questions

pytestmark = pytest.mark.long
TWO = {text: ["Yes"] for text in QUESTIONS}
LEFT = "/accounts/login/"  # another site; WebKit's driver cannot go back from a real one
BACK_SECONDS = 0.6
IS_NARROW = "return document.scrollingElement.scrollWidth <= innerWidth"


def test_a_line_that_breaks_delays_the_report_and_one_that_loses_the_answer_repeats_it(
    tab: Tab, line: Line
) -> None:
    open_survey_page(tab, line, make_launched_survey())
    start(tab)
    answer_all(tab, TWO)
    line.cut()
    tab.press("Submit")
    tab.wait_for_heading("Your code is waiting")
    assert line.reports == []
    line.restore()
    line.loses_acknowledgements = True
    line.wait_for_report()
    line.restore()
    tab.wait_for(SENT, seconds=60)
    assert len({one.body for one in line.reports}) == 1
    assert len(line.reports) >= 2
    assert RawReport.objects.count() == 1


def test_a_reload_in_the_middle_drops_all_answers(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_launched_survey())
    start(tab)
    tab.choose("Yes")
    tab.wait_for_heading(QUESTIONS[1])
    tab.reload()
    start(tab)
    tab.wait_for_heading(QUESTIONS[0])
    assert not tab.run("return document.querySelector('[aria-pressed=true]')")
    assert line.reports == []


@pytest.mark.parametrize("quick_exit", [False, True])
def test_a_page_that_was_left_by_mistake_comes_back_with_its_answers_unless_exit_is_on(
    tab: Tab, line: Line, *, quick_exit: bool
) -> None:
    open_survey_page(tab, line, make_launched_survey(quick_exit=quick_exit))
    start(tab)
    tab.choose("Yes")
    tab.wait_for_heading(QUESTIONS[1])
    tab.open(f"{line.url}/methods")
    tab.back()
    if quick_exit or tab.engine == "firefox":  # Firefox asks, then forgets the answers
        time.sleep(BACK_SECONDS)  # no person is faster; by then, the step back has ended
        start(tab)
        tab.wait_for_heading(QUESTIONS[0])
        assert not tab.run("return document.querySelector('[aria-pressed=true]')")
    else:
        tab.wait_for_heading(QUESTIONS[1])
        tab.press("Back")
        tab.wait_for_heading(QUESTIONS[0])
        assert tab.run("return document.querySelector('[aria-pressed=true]') !== null")


def test_two_tabs_send_one_report(tab: Tab, line: Line) -> None:
    wave = make_launched_survey()
    first = tab.handle
    open_survey_page(tab, line, wave)
    start(tab)
    answer_all(tab, TWO)
    second = tab.open_tab()
    open_survey_page(tab, line, wave)
    submit_all(tab, TWO)
    tab.wait_for(SENT)
    tab.switch(first)
    tab.press("Submit")
    tab.wait_for_heading("Your code was sent from another tab")
    tab.switch(second)
    assert SENT in tab.read("main")
    assert len(line.reports) == RawReport.objects.count() == 1


def test_back_keeps_answers_until_they_are_sent(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_branching_survey())
    start(tab)
    seen = [*answer_all(tab, ANSWERS), CHECK]
    rows = tab.read("dl.checks")
    for heading in reversed(seen):
        tab.wait_for_heading(heading)
        tab.back()
        tab.type("Tab")
    tab.wait("document.getElementById('start')")
    start(tab)
    tab.wait_for_heading(seen[0])
    tab.choose("Yes")
    tab.wait_for_heading(CHECK)
    assert tab.read("dl.checks") == rows
    tab.press("Submit")
    tab.wait_for(SENT)
    for move in (tab.back, tab.forward):
        move()
        assert tab.heading == "Thank you"
        assert MOVED not in tab.read("main")
    assert len(line.reports) == 1


def test_leaving_erases_the_visit_and_leaves_nothing_to_go_back_to(
    tab: Tab, line: Line, settings: Settings
) -> None:
    settings.EXIT_URL = f"{line.url}{LEFT}"
    wave = make_launched_survey(quick_exit=True)
    tab.open(f"{line.url}/methods")
    open_survey_page(tab, line, wave)
    start(tab)
    tab.choose("Yes")
    tab.wait_for_heading(QUESTIONS[1])
    tab.press("Exit this page")
    tab.wait("location.pathname === arguments[0]", LEFT)
    tab.back()
    tab.wait("location.pathname === '/methods'")
    tab.forward()
    tab.wait("location.pathname === arguments[0]", LEFT)
    open_survey_page(tab, line, wave)
    start(tab)  # nothing was sent, so the same person may begin again
    assert not tab.run("return document.querySelector('[aria-pressed=true]')")
    assert line.reports == []


def test_a_shared_device_offers_the_survey_to_the_next_person(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_launched_survey(shared_devices=True))
    for number in (1, 2):
        submit_all(tab, TWO)
        tab.wait_for(SENT)
        assert RawReport.objects.count() == number
        kept = dump(tab)
        assert kept["databases"] == {"murmur/envelopes": []}
        assert (kept["local"], kept["session"], kept["cookie"]) == ({}, {}, "")
        tab.press("Next person")


def test_a_language_that_is_read_from_right_to_left_fits_a_phone(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_survey_in_six_languages(), ending="/ar")
    assert tab.run("return getComputedStyle(document.body).direction") == "rtl"
    tab.wait("!document.getElementById('start').hidden")
    tab.click("#start")
    for text in write_questions("ar"):
        tab.wait_for_heading(text)
        assert tab.run(IS_NARROW)
        tab.choose("نعم")
    tab.wait("document.querySelector('dl.checks')")
    assert tab.run(IS_NARROW)
    tab.click("main > .button")
    tab.wait("document.querySelector('dl.letters')")
    assert len(line.reports) == 1


def test_the_page_as_one_file_makes_a_code_that_can_be_handed_in(
    tab: Tab, line: Line, tmp_path: Path
) -> None:
    wave = make_branching_survey()
    address = f"{line.url}/s/{wave.survey.slug}"
    tab.open(f"{address}/check")
    fetch = "return await (await fetch(arguments[0])).text()"
    file = tmp_path / "survey.html"
    file.write_text(tab.wait_for_result(fetch, f"{address}/page.html"))
    asked = len(line.requests)
    tab.open(file.as_uri())
    submit_all(tab)
    tab.wait_for_heading("Your code is ready")
    code = tab.read("main code")
    assert tab.run("return document.querySelector('svg, .qr') !== null")
    of_the_check = [one.headers.get("sec-fetch-site") for one in line.requests[asked:]]
    assert set(of_the_check) <= {"same-origin"}  # a browser may load its icon late
    tab.open(f"{address}/send")
    tab.fill("#report", code)
    tab.press("Send")
    tab.wait_for_heading("Thank you")
    assert RawReport.objects.count() == 1


def test_two_coins_need_no_script(tab: Tab, line: Line) -> None:
    wave = make_launched_survey(coins=True)
    tab.open(f"{line.url}/s/{wave.survey.slug}/coins?lang=en")
    tab.press("Send")
    tab.wait_for("There is a problem")
    for name, code in (("q1", 1), ("q2", 0)):
        tab.tick(f"#{name}-{code}")
    tab.press("Send")
    tab.wait_for_heading("Thank you")
    tab.reload()
    tab.wait_for_heading("Thank you")
    [report] = RawReport.objects.all()
    assert bytes(report.symbols) == bytes([1, 0])


def test_declining_to_take_part_sends_nothing(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_launched_survey(consent="We ask about driving."))
    start(tab)
    tab.press("Continue")
    tab.wait_for("Tick the box to take part.")
    tab.press("I do not want to take part")
    tab.wait_for_heading("You are not taking part")
    assert line.reports == []


def test_a_private_window_can_answer(engine: str, line: Line) -> None:
    wave: Wave = make_launched_survey()
    manifest: Manifest = wave.description
    with open_browser(engine, private=True) as tab:
        open_survey_page(tab, line, wave)
        submit_all(tab, TWO)
        tab.wait_for(SENT)
    [report] = RawReport.objects.all()
    assert len(report.symbols) == len(manifest.questions)


def test_the_focus_stays_visible_when_arrow_keys_choose(tab: Tab, line: Line) -> None:
    survey = make_survey(questions=("Stolen?",))
    add_question(survey=survey, text="Lied?", type="yes_no", together=True)
    open_survey_page(tab, line, open_survey(survey=survey))
    start(tab)
    outline = "return getComputedStyle(document.activeElement.closest('.choice')).outlineStyle"
    tab.run("document.querySelector('input').focus()")
    for key in ("Down", "Up", "Down"):
        tab.type(key)
        assert tab.run(outline) == "solid"
