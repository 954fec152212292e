"""A branching survey with a question of every type, and how its pages are answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from surveys.authoring.services import add_question
from surveys.models import Question, Survey, Wave
from tests.support.browser.visit import answer_page, press
from tests.support.browser.visit import choose as choose_row
from tests.support.factories import make_survey, open_survey

REFUSED = "Prefer not to say"
NONE = "None of these"
# The text of each page, and the type of an action on a page.
MOVED = "Have you moved house?"
THINGS = "What did you leave behind?"
LONELY = "Were you lonely?"
LONELY_STILL = "Are you still lonely?"
HOURS = "How many hours did it take?"
TIRED = "How tired were you?"
PAID = "Who paid?"
GROUP = "Where do you live?"
READ = "A move is hard."
Do = Callable[[Page], None]


def make_branching_survey(*, drawn: int | None = None, **settings: Any) -> Wave:
    """Ask six scrambled questions, a group and a text; three of these depend on other answers."""
    survey = make_survey(title="Moving", questions=(), flips=40, **settings)
    survey.drawn = drawn
    survey.save()
    moved = ask(survey, MOVED, type="yes_no", refusal=True)
    after_yes = {"name": f"{moved.pk}", "is": [1]}
    ask(survey, READ, type="information", rule=after_yes)
    things = ask(
        survey,
        THINGS,
        type="several",
        options=["Friends", "A garden", "A job"],
        limit=2,
        refusal=True,
        rule=after_yes,
    )
    ask(survey, LONELY, type="follow_up", follow_up=LONELY_STILL, refusal=True)
    friends = {"name": f"{things.pk}_1", "is": [1]}
    rule = {"any": [friends, {"not": {"name": f"{moved.pk}", "is": [0, 1]}}]}
    ask(survey, HOURS, type="number", minimum=0, maximum=24, unit="hours", refusal=True, rule=rule)
    ends = {"low_label": "Not at all", "high_label": "Very"}
    ask(survey, TIRED, type="scale", minimum=1, maximum=5, **ends)
    ask(survey, PAID, type="choice", options=["I", "Somebody else", "Nobody"])
    ask(survey, GROUP, type="declared", options=["In a town", "Elsewhere"])
    return open_survey(survey=survey)


def ask(survey: Survey, text: str, **content: Any) -> Question:
    return add_question(survey=survey, text=text, **{"flips": 40, **content})


def choose(*rows: str) -> Do:
    def act(page: Page) -> None:
        for row in rows:
            choose_row(page, row)

    return act


def type_in(text: str) -> Do:
    return lambda page: page.locator("input:not([name])").fill(text)


def walk_through(page: Page, answers: dict[str, Do]) -> list[str]:
    """Walk from the start page to the check; return the headings on the way."""
    press(page, "Start")
    seen: list[str] = []
    while True:
        heading = page.get_by_role("heading", level=1).inner_text()
        if heading == "Check your answers":
            return seen
        seen.append(heading)
        answer_page(page, answers.get(heading, lambda _: None))
