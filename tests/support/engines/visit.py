"""A respondent's visit, written once for all engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surveys.models import Wave
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    PAID,
    THINGS,
    TIRED,
)
from tests.support.browser.visit import DUMP, NEXT
from tests.support.engines.line import Line
from tests.support.engines.tab import Tab

CHECK = "Check your answers"
SENT = "Your code was sent."
TYPED = "input:not([name])"
# The answers chosen on each page of `make_branching_survey`; a number is typed.
ANSWERS: Mapping[str, Sequence[str]] = {
    MOVED: ["Yes"],
    "Please read": [],
    THINGS: ["Friends", "A job"],
    LONELY: ["Yes"],
    LONELY_STILL: ["Prefer not to say"],
    HOURS: ["7"],
    TIRED: ["3"],
    PAID: ["Nobody"],
    GROUP: ["In a town"],
}


def open_survey_page(tab: Tab, line: Line, wave: Wave, ending: str = "/en") -> None:
    tab.open(f"{line.url}/s/{wave.survey.slug}{ending}")


def start(tab: Tab) -> None:
    tab.wait("document.getElementById('start')?.hidden === false")
    tab.press("Start")


def answer_page(tab: Tab, answers: Mapping[str, Sequence[str]]) -> str:
    """Answer the page that is shown and go on; return its heading."""
    heading = tab.heading
    goes_on = tab.run("return document.querySelector('button.choice') !== null")
    for choice in answers[heading]:
        if choice.isdecimal() and tab.run("return !!document.querySelector(arguments[0])", TYPED):
            tab.fill(TYPED, choice)
        else:
            tab.choose(choice)
    if not goes_on:
        tab.press(NEXT)
    return heading


def answer_all(tab: Tab, answers: Mapping[str, Sequence[str]]) -> list[str]:
    """Go from the first question to the check page; return the headings on the way."""
    seen: list[str] = []
    while tab.heading != CHECK:
        seen.append(answer_page(tab, answers))
        tab.wait("document.querySelector('h1').innerText !== arguments[0]", seen[-1])
    return seen


def submit_all(tab: Tab, answers: Mapping[str, Sequence[str]] = ANSWERS) -> None:
    start(tab)
    answer_all(tab, answers)
    tab.press("Submit")


def dump(tab: Tab) -> dict[str, Any]:
    """Return everything that the browser keeps."""
    found: dict[str, Any] = tab.wait_for_result(f"return ({DUMP})()")
    return found
