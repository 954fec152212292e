"""A page whose script cannot run says so at once; a page behind a strange proxy still works."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from surveys.respondent import page, stored_pages
from surveys.respondent.client_files import ClientFile, client_files
from surveys.respondent.csp import hash_source
from surveys.respondent.guard import GUARD
from tests.support.engines.launch import ENGINES
from tests.support.engines.line import Headers, Line, watch
from tests.support.engines.tab import Tab
from tests.support.engines.visit import open_survey_page, start
from tests.support.factories import QUESTIONS, make_launched_survey

pytestmark = [pytest.mark.long, pytest.mark.parametrize("engine", ENGINES)]
POLICIES = (b"content-security-policy", b"integrity-policy")
# Without the timer, only a script that failed can cause the notice.
WITHOUT_TIMER = GUARD.replace("setTimeout(fail,1e4);\n", "")


@pytest.fixture
def impatient(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve a guard without the time limit, under a policy with its hash."""
    assert WITHOUT_TIMER != GUARD
    old, new = (hash_source(text).encode() for text in (GUARD, WITHOUT_TIMER))
    monkeypatch.setattr(page, "GUARD", WITHOUT_TIMER)
    line.rewrite = lambda headers: [(name, value.replace(old, new)) for name, value in headers]


def assert_says_so(tab: Tab) -> None:
    tab.wait_for("The questions could not be loaded.")
    assert "You can use two coins instead." in tab.read(".notice.late")
    assert (
        tab.run("return getComputedStyle(document.getElementById('start')).visibility") == "hidden"
    )


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["page.js", "randomize.js"])
def test_a_script_that_is_dropped_is_noticed(tab: Tab, line: Line, name: str) -> None:
    line.drops = lambda path: path.endswith(name)
    open_survey_page(tab, line, make_launched_survey(coins=True))
    assert_says_so(tab)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["self-test.js", "randomize.js"])
def test_the_page_for_checking_notices_it_too(tab: Tab, line: Line, name: str) -> None:
    line.drops = lambda path: path.endswith(name)
    tab.open(f"{line.url}/s/{make_launched_survey().survey.slug}/check?lang=en")
    tab.wait_for("The test could not run.")


@pytest.mark.usefixtures("impatient")
def test_a_script_that_is_too_new_is_noticed(
    tab: Tab, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = replace_script("const words = 1 ^^ 2;\n")
    monkeypatch.setattr(page, "page_script", lambda parts: script)
    monkeypatch.setattr(
        stored_pages,
        "find_client_file",
        lambda name: {**client_files(), script.name: script}.get(name),
    )
    open_survey_page(tab, line, make_launched_survey(coins=True))
    assert_says_so(tab)


def replace_script(text: str) -> ClientFile:
    return replace(
        client_files()["page.js"],
        content=text.encode(),
        integrity=hash_source(text),
    )


def test_these_tests_would_notice_what_the_policy_forbids(tab: Tab, line: Line) -> None:
    open_survey_page(tab, line, make_launched_survey())
    tab.run("document.body.append(Object.assign(document.createElement('img'), { src: 'data:,' }))")
    deadline = time.monotonic() + 10
    while not line.violations and time.monotonic() < deadline:
        time.sleep(0.1)
    assert b"img-src" in line.violations[0]
    line.requests.clear()


def test_a_page_whose_own_script_is_dropped_too_says_so(tab: Tab, line: Line) -> None:
    def forbid(headers: Headers) -> Headers:
        return [
            (name, value.replace(b"'sha256-", b"'sha256-A") if name in POLICIES else value)
            for name, value in headers
        ]

    line.rewrite = forbid
    line.drops = lambda path: path.endswith("page.js")
    open_survey_page(tab, line, make_launched_survey(coins=True))
    assert_says_so(tab)


def strip(headers: Headers) -> Headers:
    return [one for one in headers if one[0] not in POLICIES]


def double(headers: Headers) -> Headers:
    return watch(headers) + [one for one in headers if one[0] in POLICIES]


@pytest.mark.parametrize("rewrite", [strip, double])
def test_a_proxy_that_strips_or_doubles_policies_stops_nobody(
    tab: Tab, line: Line, rewrite: Callable[[Headers], Headers]
) -> None:
    line.rewrite = rewrite
    open_survey_page(tab, line, make_launched_survey())
    start(tab)
    tab.wait_for_heading(QUESTIONS[0])
