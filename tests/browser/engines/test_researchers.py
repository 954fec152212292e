"""Researchers write a survey, open it, watch results, compare and download, in each engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.exports.worker_files import find_recipe
from aggregator.models import Rendering
from aggregator.renderings.jobs import run_rendering
from surveys.models import Survey, Wave
from tests.support.comparisons import make_answered_wave
from tests.support.engines.launch import DESK, PHONE, open_browser
from tests.support.engines.line import Line
from tests.support.engines.tab import Tab
from tests.support.engines.visit import open_survey_page, start
from tests.support.factories import PASSWORD, make_launched_survey, make_survey, make_user
from tests.support.fielding import process, send_people

pytestmark = pytest.mark.long
MADE = 60.0  # seconds within which a page asks again for workers' results


@pytest.fixture
def desk(engine: str) -> Iterator[Tab]:
    with open_browser(engine, size=DESK) as tab:
        yield tab


def sign_in(tab: Tab, line: Line, person: User) -> None:
    tab.open(f"{line.url}/accounts/login/")
    tab.fill("input[name=login]", person.email)
    tab.fill("input[name=password]", PASSWORD)
    tab.type("Enter")
    tab.wait_for_heading("Your surveys")


def press(tab: Tab, name: str, *, then: str) -> None:
    tab.press(name)
    tab.wait_for_heading(then)


def test_a_survey_is_written_opened_and_shared(desk: Tab, line: Line) -> None:
    tab = desk
    sign_in(tab, line, make_user())
    press(tab, "Create your first survey", then="New survey")
    tab.fill("[name=title]", "On the road")
    press(tab, "Create the draft", then="On the road")
    tab.press("Add the first question")
    tab.wait("document.querySelector('#id_text') !== null")
    tab.fill("[name=text]", "Have you ever driven after drinking?")
    tab.wait("document.querySelector('.survey-head a[href$=new]') === null")  # it was saved
    press(tab, "Settings", then="On the road")
    press(tab, "Start and end", then="On the road")
    tab.fill("[name=cap]", "200")
    tab.press("Save the settings")
    tab.wait_for("The settings were saved.", "body")
    press(tab, "Open the survey…", then="Open this survey?")
    press(tab, "Open the survey", then="On the road")
    wave = Wave.objects.get()
    assert (wave.is_open, wave.cap) == (True, 200)
    assert f"/s/{wave.survey.slug}" in tab.read("main")
    tab.open(f"{line.url}/surveys/{wave.survey.slug}/preview")
    tab.wait("document.getElementById('start')?.hidden === false")
    tab.press("Start")
    tab.wait_for_heading("Have you ever driven after drinking?")


def test_results_update_while_reports_arrive(desk: Tab, line: Line) -> None:
    wave = make_launched_survey()
    sign_in(desk, line, wave.survey.owner)
    desk.open(f"{line.url}/surveys/{wave.survey.slug}/results")
    assert not desk.run("return document.querySelector('article.block [data-share], .figure')")
    send_people(wave, people=400)
    process(wave)
    desk.wait("document.querySelector('article.block')?.innerText.includes('%')", seconds=MADE)


@pytest.fixture
def answered(line: Line) -> Survey:
    return make_answered_wave(people=3000, cap=3000, ending=Wave.Ending.CAP).survey


@pytest.mark.parametrize(
    ("title", "values"), [("table", ("q2", "q1")), ("regression", ("q1", "q2", "q3"))]
)
def test_questions_are_compared(
    desk: Tab, line: Line, answered: Survey, title: str, values: tuple[str, ...]
) -> None:
    sign_in(desk, line, answered.owner)
    desk.open(f"{line.url}/surveys/{answered.slug}/compare")
    form = f"form[aria-labelledby='{title}-title']"
    choose = """
        const menus = document.querySelectorAll(`${arguments[0]} select`);
        arguments[1].forEach((value, place) => { menus[place].value = value; });
    """
    desk.run(choose, form, values)
    desk.click(f"{form} > button")
    desk.wait("document.getElementById('progress')")
    for comparison in find_comparisons_to_run():
        run_comparison(comparison_id=comparison.pk)
    desk.wait("document.querySelector('#comparison #result-title')", seconds=MADE)


@pytest.mark.parametrize(
    ("page", "button", "made"),
    [("data", "#charts form button", "*chart*"), ("report", "a[href$='docx']", "*.docx")],
)
def test_a_file_is_made_and_downloaded(
    desk: Tab, line: Line, answered: Survey, page: str, button: str, made: str
) -> None:
    sign_in(desk, line, answered.owner)
    desk.open(f"{line.url}/surveys/{answered.slug}/{page}")
    desk.click(button)
    desk.wait_for_heading("Being prepared")
    for rendering in Rendering.objects.all():
        run_rendering(rendering_id=rendering.pk, find_recipe=find_recipe)
    assert desk.wait_for_download(made, seconds=MADE).stat().st_size > 1000


def test_a_question_is_changed_deleted_and_brought_back(desk: Tab, line: Line) -> None:
    survey = make_survey(questions=("Driven?", "Children?"))
    sign_in(desk, line, survey.owner)
    desk.open(f"{line.url}/surveys/{survey.slug}/questions")
    desk.click("main a[href$='/edit']")
    desk.wait("document.querySelector('#id_text') !== null")
    desk.fill("[name=text]", "Have you driven?")
    desk.wait("document.querySelector('.question-text').textContent === 'Have you driven?'")
    desk.click("[data-act=delete]")
    desk.wait("document.querySelector('#undo') !== null")
    assert [one.text for one in survey.questions.all()] == ["Children?"]
    desk.click("#undo")
    desk.wait("document.querySelector('#undo') === null")
    assert survey.questions.count() == 2


def test_a_plan_is_computed_again(desk: Tab, line: Line) -> None:
    sign_in(desk, line, make_user())
    desk.open(f"{line.url}/plan")
    desk.fill("main input[type=number]", "5")
    desk.click("main form button")
    desk.wait("location.search.length > 1")
    desk.wait_for("people")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_fit_every_window(
    engine: str,
    line: Line,
    answered: Survey,
    size: tuple[int, int],
    tmp_path: Path,
) -> None:
    """MURMUR_PICTURES names a folder for pictures of all pages."""
    folder = Path(os.environ.get("MURMUR_PICTURES", tmp_path))
    wave = make_launched_survey(coins=True, quick_exit=True)
    with open_browser(engine, size=size) as tab:

        def look(name: str) -> None:
            assert tab.run("return document.scrollingElement.scrollWidth <= innerWidth"), name
            tab.take_picture(folder / f"{name}-{engine}-{size[0]}.png")

        for path in ("/en", "/coins?lang=en", "/check?lang=en"):
            open_survey_page(tab, line, wave, ending=path)
            look(path.strip("/?=en").replace("?lang", "") or "start")
        open_survey_page(tab, line, wave)
        start(tab)
        tab.choose("Yes")
        look("question")
        sign_in(tab, line, answered.owner)
        look("surveys")
        for page in ("results", "compare", "data", "settings", "report"):
            tab.open(f"{line.url}/surveys/{answered.slug}/{page}")
            look(page)
