"""A visit leaves in a browser's profile exactly the traces that the page names."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from aggregator.models import RawReport
from surveys.base64url import encode_base64url
from surveys.models import Wave
from tests.support.browser.every_type import ask
from tests.support.engines.launch import open_window
from tests.support.engines.line import Line
from tests.support.engines.profile import find_places, kill_browser
from tests.support.engines.tab import Tab
from tests.support.engines.visit import (
    SENT,
    TYPED,
    answer_all,
    open_survey_page,
    start,
)
from tests.support.engines.webdriver import WebDriverError
from tests.support.factories import make_survey, open_survey

TITLE, INTRODUCTION = "Ferries of Zanzibar", "We ask everyone who crosses the strait."
HOURS, CHOICE, OPTION = "How long did it take?", "Who paid for the crossing?", "A distant cousin"
ROWS = "Please answer each question."
FELT, ITEM, DREAM = "How was it?", "We saw no land at all", "Only in a bad dream"
TEXTS = [f"Was crossing {number} rough?" for number in range(20)]
MISTYPED = "918273645546"  # long enough to occur nowhere by chance
CHOSEN = "choice-1"  # the name of a chosen field, under which a browser could store the choice
WRITTEN_SECONDS = 4  # until browsers have written the data that they store while they run


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.long)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make_ferries(*, shared_devices: bool) -> Wave:
    survey = make_survey(
        title=TITLE,
        introduction=INTRODUCTION,
        questions=TEXTS,
        flips=46,
        quick_exit=False,
        shared_devices=shared_devices,
    )
    ask(survey, CHOICE, type="choice", options=["I", OPTION, "Nobody"], flips=46)
    options = {"options": ["I", OPTION, "Nobody"], "flips": 46, "together": True}
    ask(survey, "Who came along on the ferry?", type="choice", **options)
    scale = {
        "scored_items": [ITEM, "The sea was calm"],
        "scored_options": ["0 Never", f"3 {DREAM}"],
    }
    ask(survey, FELT, type="score", **scale, output="total", flips=46)
    ask(survey, HOURS, type="number", minimum=0, maximum=24, unit="hours", flips=46)
    return open_survey(survey=survey)


def answer_ferries(tab: Tab, line: Line, wave: Wave) -> None:
    """Answer every page up to the check page, and mistype a number on the way."""
    open_survey_page(tab, line, wave)
    start(tab)
    for text in TEXTS:
        tab.wait_for_heading(text)
        tab.choose("No")
    for heading in (ROWS, FELT):
        tab.wait_for_heading(heading)
        tab.run(
            "for (const item of document.querySelectorAll('.item')) "
            "item.querySelectorAll('input')[1].click()"
        )
        tab.press("Continue")
    tab.wait_for_heading(HOURS)
    tab.fill(TYPED, MISTYPED)
    time.sleep(WRITTEN_SECONDS)


def correct_and_submit(tab: Tab) -> None:
    tab.fill(TYPED, "7")
    answer_all(tab, {HOURS: ["7"]})
    tab.press("Submit")


def plant(line: Line, wave: Wave) -> dict[str, str]:
    sent = json.loads(line.reports[0].body) if line.reports else {}
    return {
        **{name: sent[name] for name in ("id", "symbols") if sent},
        "hash": encode_base64url(bytes(wave.manifest_hash)),
        "hex": wave.manifest_hash_hex,
        "title": TITLE,
        "introduction": INTRODUCTION,
        "question": TEXTS[7],
        "option": OPTION,
        "item": ITEM,
        "dream": DREAM,
        "typed": MISTYPED,
        "chosen": CHOSEN,
    }


def expect_places(found: dict[str, set[str]], **expected: str) -> None:
    places = {name: set(expected.get(name, "").split()) for name in found}
    assert found == places


def test_a_device_of_ones_own_keeps_what_the_page_names(
    engine: str, line: Line, tmp_path: Path
) -> None:
    """The page names the history, the fact of taking part, and possibly questions and the code."""
    wave = make_ferries(shared_devices=False)
    with open_window(engine, tmp_path) as (tab, _keyboard):
        answer_ferries(tab, line, wave)
        correct_and_submit(tab)
        tab.wait_for(SENT)
        time.sleep(WRITTEN_SECONDS)
    code = "database" if engine == "chromium" else ""  # Chromium erases less than Firefox
    expect_places(
        find_places(engine, tmp_path, plant(line, wave)),
        id=code,
        symbols=code,
        hash="database cache",
        hex="cache",
        title="history cache",
        introduction="cache",
        question="cache",
        option="cache",
        item="cache",
        dream="cache",
    )


@pytest.mark.parametrize("is_cut", [False, True], ids=["at once", "later"])
def test_a_shared_device_keeps_the_history_and_a_code_that_could_not_be_sent_at_once(
    engine: str, line: Line, tmp_path: Path, *, is_cut: bool
) -> None:
    wave = make_ferries(shared_devices=True)
    with open_window(engine, tmp_path) as (tab, _keyboard):
        answer_ferries(tab, line, wave)
        # This also holds in the middle of the visit.
        expect_places(find_places(engine, tmp_path, plant(line, wave)) | {"title": set()})
        if is_cut:
            line.cut()
        correct_and_submit(tab)
        if is_cut:
            tab.wait_for("Not sent yet.")
            line.restore()
        tab.wait_for(SENT, seconds=60)
        time.sleep(WRITTEN_SECONDS)
    code = "database" if is_cut else ""
    found = find_places(engine, tmp_path, plant(line, wave))
    expect_places(
        found,
        title="history",
        # Firefox may have overwritten the id before the browser was closed.
        id=code if engine == "chromium" or found["id"] else "",
        symbols=code if engine == "chromium" else "",  # stored with the id
        hash=code,
    )


def test_a_shared_device_whose_browser_is_killed_while_it_sends_keeps_no_code_and_sends_none_again(
    engine: str, line: Line, tmp_path: Path
) -> None:
    wave = make_ferries(shared_devices=True)
    # The driver and the display stop with an error once the browser has ended.
    with (
        suppress(WebDriverError, OSError),
        open_window(engine, tmp_path) as (tab, _keyboard),
    ):
        answer_ferries(tab, line, wave)
        line.holds_seconds = 30
        correct_and_submit(tab)
        line.wait_for_report()
        time.sleep(1)
        kill_browser(tmp_path)
    line.holds_seconds = 0
    found = find_places(engine, tmp_path, plant(line, wave))
    expect_places(found | {"title": set()})
    with open_window(engine, tmp_path) as (tab, _keyboard):
        open_survey_page(tab, line, wave)
        tab.wait("document.getElementById('start')?.hidden === false")
        time.sleep(WRITTEN_SECONDS)
    assert len(line.reports) == RawReport.objects.count() == 1
