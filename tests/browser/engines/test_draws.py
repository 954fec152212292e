"""Every engine scrambles according to the manifest, and writes equal bytes for equal draws."""

from __future__ import annotations

import json

import pytest
from scipy.stats import binomtest

from surveys.models import Wave
from tests.support.browser.every_type import make_branching_survey
from tests.support.browser.visit import FIXED_RANDOMNESS
from tests.support.engines.launch import ENGINES, open_browser
from tests.support.engines.line import Line
from tests.support.engines.tab import Tab
from tests.support.engines.visit import SENT, open_survey_page, submit_all

pytestmark = pytest.mark.long
DRAWS, TRUTHS = 60_000, 6  # of the self-test for each channel, divided among its true codes
RARE = 1e-6 / 1000  # for each single count
READ_COUNTS = """return [...document.querySelectorAll("tbody tr")]
    .map((row) => [...row.cells].map((cell) => Number(cell.textContent.replace(/\\D/g, ""))))"""


def list_thresholds(wave: Wave) -> set[int]:
    questions = json.loads(bytes(wave.manifest))["questions"]
    names = ("threshold", "gate_threshold")
    return {one[name] for one in questions for name in names if name in one}


def test_the_self_test_draws_as_the_manifest_says(tab: Tab, line: Line) -> None:
    wave = make_branching_survey()
    tab.open(f"{line.url}/s/{wave.survey.slug}/check?lang=en")
    tab.wait("document.querySelector('[role=status]').innerText === ''")
    tab.press("Start the test")
    tab.wait_for("The counts are as promised.", seconds=60)
    kept: set[float] = set()
    for k, truth, code, _, seen in tab.run(READ_COUNTS):
        chances = [one / 2**32 for one in list_thresholds(wave)]
        if code != truth:
            chances = [(1 - chance) / (k - 1) for chance in chances]
        fitting = [
            one for one in chances if binomtest(seen, DRAWS // min(k, TRUTHS), one).pvalue > RARE
        ]
        assert fitting, (k, truth, code, seen)
        kept.update(fitting if code == truth else ())
    assert kept == {one / 2**32 for one in list_thresholds(wave)}


def test_the_same_draws_give_the_same_bytes_in_all_engines(line: Line) -> None:
    wave = make_branching_survey()
    for engine in ENGINES:
        with open_browser(engine) as tab:
            open_survey_page(tab, line, wave)
            tab.wait("!document.getElementById('start').hidden")
            tab.run(FIXED_RANDOMNESS % 7)
            submit_all(tab)
            tab.wait_for(SENT)  # the same id with the same codes counts once
    assert len(line.reports) == len(ENGINES)
    assert len({one.body for one in line.reports}) == 1
