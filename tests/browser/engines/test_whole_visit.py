"""A whole visit: leaving at once, all types, rules, refusal, check, one report, and receipt."""

from __future__ import annotations

import json

import pytest
from pytest_django.fixtures import Settings

from aggregator.models import RawReport
from tests.support.browser.every_type import make_branching_survey
from tests.support.engines.launch import ENGINES
from tests.support.engines.line import Line
from tests.support.engines.tab import Tab
from tests.support.engines.visit import (
    ANSWERS,
    SENT,
    answer_all,
    answer_page,
    dump,
    open_survey_page,
    start,
)

LEFT = "/accounts/login/"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_whole_visit(tab: Tab, line: Line, settings: Settings) -> None:
    # WebKit's driver cannot go back from another site.
    host = "localhost" if tab.engine == "webkit" else "127.0.0.1"
    settings.EXIT_URL = f"{line.url.replace('localhost', host)}{LEFT}"
    wave = make_branching_survey(quick_exit=True)
    tab.open(f"{line.url}/methods")
    open_survey_page(tab, line, wave)
    start(tab)
    answer_page(tab, ANSWERS)
    tab.type("Shift", "Shift", "Shift")
    tab.wait("location.pathname === arguments[0]", LEFT)
    tab.back()
    tab.wait("location.pathname === '/methods'")

    open_survey_page(tab, line, wave)
    start(tab)
    assert answer_all(tab, ANSWERS) == list(ANSWERS)
    assert tab.read("dl.checks").count("Prefer not to say") == 1
    assert line.reports == []
    tab.press("Submit")
    tab.wait_for(SENT)

    [report] = line.reports
    assert RawReport.objects.count() == 1
    body = json.loads(report.body)
    assert body.keys() == {"format", "manifest", "id", "symbols"}
    tab.press("See what was sent")
    assert "Chance may have changed them." in tab.read("main")
    kept = dump(tab)
    assert [mark.keys() for mark in kept["databases"]["murmur/envelopes"]] == [{"over"}]
    assert (kept["local"], kept["session"], kept["cookie"], kept["caches"]) == ({}, {}, "", [])

    tab.reload()
    tab.wait_for("A code was already sent from this browser")
    assert [one.method for one in line.requests].count("POST") == 1
