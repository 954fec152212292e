"""Requests and storage do not depend on the answers."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from aggregator.models import RawReport, SpentId
from scripts.stack.chromium import launch_chromium
from surveys.models import Wave
from surveys.models.stored_texts import squeeze
from surveys.respondent.client_files import ICON, client_files
from tests.support.browser.live import LiveApplication
from tests.support.browser.recording import without_icon
from tests.support.browser.visit import (
    CHOSEN,
    DUMP,
    FIXED_RANDOMNESS,
    SENT,
    Visitor,
    answer,
    choose_first,
    press,
    status,
    visiting,
)
from tests.support.factories import make_launched_survey
from tests.support.six_languages import make_survey_in_six_languages

THREE = ("Have you ever driven after drinking?", "Do you have children?", "Do you own a car?")


@dataclass
class Trace:
    """Everything that an observer or a thief could see of one visit."""

    sent_before: list[str]
    sent: list[dict[str, Any]]
    stored: list[dict[str, Any]]  # before, during and after sending
    symbols: str


def describe_request(request: Request) -> dict[str, Any]:
    body = request.post_data or ""
    return {
        "method": request.method,
        "url": request.url,
        "headers": request.all_headers(),
        "length": len(body),
        "body": re.sub(r'"symbols":"[AB]+"', '"symbols":"*"', body),
    }


def trace_visit(visitor: Visitor, wave: Wave, choices: tuple[str, ...]) -> Trace:
    page = visitor.open(wave)
    held: list[Route] = []
    visitor.context.route("**/api/reports", lambda route: held.append(route))
    answer(page, choices)
    assert visitor.reports() == []
    before = len(visitor.requests)
    stored = [page.evaluate(DUMP)]
    with page.expect_request("**/api/reports"):
        press(page, "Submit")
    stored.append(page.evaluate(DUMP))
    held[0].continue_()
    expect(status(page)).to_have_text(SENT)
    stored.append(page.evaluate(DUMP))
    return Trace(
        sent_before=sorted(request.url for request in without_icon(visitor.requests[:before])),
        sent=[describe_request(one) for one in without_icon(visitor.requests[before:])],
        stored=stored,
        symbols=json.loads(visitor.bodies()[0])["symbols"],
    )


def without_symbols(dump: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(dump, sort_keys=True)
    return dict(json.loads(re.sub(r'"symbols": "[AB]+"', '"symbols": "*"', text)))


def test_visits_with_different_answers_differ_only_in_the_symbols(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_launched_survey(questions=THREE)
    traces = []
    for choices in itertools.product(("Yes", "No"), repeat=3):
        with visiting(chromium, live) as visitor:
            visitor.context.add_init_script(FIXED_RANDOMNESS % 7)
            traces.append(trace_visit(visitor, wave, choices))
        # With fixed randomness all visits have the same id, which only the first visit could use.
        RawReport.objects.all().delete()
        SpentId.objects.all().delete()
    first = traces[0]
    assert len({trace.symbols for trace in traces}) == len(traces) == 8
    for trace in traces:
        assert trace.sent_before == first.sent_before
        assert len(trace.sent) == 1
        assert trace.sent == first.sent
        before, during, after = trace.stored
        assert before == first.stored[0]
        assert before["databases"] == {"murmur/envelopes": []}
        assert during["databases"]["murmur/envelopes"][0]["symbols"] == trace.symbols
        assert without_symbols(during) == without_symbols(first.stored[1])
        assert after == first.stored[2]
        assert after["databases"] == {"murmur/envelopes": [{"over": "sent"}]}


def test_storage_history_and_address_contain_nothing_of_the_answers(visitor: Visitor) -> None:
    wave = make_launched_survey(questions=THREE)
    page = visitor.open(wave)
    address = page.url
    answer(page, ("Yes", "No", "Yes"))
    dump = page.evaluate(DUMP)
    assert dump["history"] == 1
    assert dump["address"] == address
    assert (dump["local"], dump["session"], dump["cookie"], dump["caches"]) == ({}, {}, "", [])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_code_sent_is_what_the_shared_randomizer_draws(visitor: Visitor, seed: int) -> None:
    """The shared randomizer is the module that the test vectors check."""
    wave = make_launched_survey(questions=THREE)
    visitor.context.add_init_script(FIXED_RANDOMNESS % seed)
    page = visitor.open(wave)
    expected = page.evaluate(
        """async ([address, seed]) => {
          const { randomizeReport, cryptoUint32 } = await import(address);
          crypto.getRandomValues(new Uint8Array(32)); // the id is drawn first
          const question = { k: 2, threshold: 3 * 2 ** 30 };
          return randomizeReport([1, 0, 1], [question, question, question], cryptoUint32);
        }""",
        [
            next(r.url for r in visitor.requests if r.url.endswith("/randomize.js")),
            seed,
        ],
    )
    page.reload()
    answer(page, ("Yes", "No", "Yes"))
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    symbols = json.loads(visitor.bodies()[0])["symbols"]
    assert symbols == "".join("AB"[code] for code in expected)
    assert [bytes(report.symbols) for report in RawReport.objects.all()] == [bytes(expected)]


def test_without_javascript_the_page_can_be_read_and_nothing_can_be_sent(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_launched_survey(title="On the road", questions=THREE)
    browser = launch_chromium(chromium.browser_type, "--blink-settings=scriptEnabled=false")
    with visiting(browser, live) as visitor:
        page = visitor.open(wave)
        expect(page.get_by_role("heading", level=1)).to_have_text("On the road")
        notice = page.locator("noscript p")
        expect(notice).to_be_visible()
        assert "Your browser cannot do that." in notice.inner_text()
        page.get_by_text("All about your protection").click()
        expect(page.get_by_text("25 send the same code as a Yes").first).to_be_visible()
        expect(page.locator("#status")).to_be_hidden()
        assert page.locator("button:visible").count() == 0
        assert page.locator("form, input, textarea, select").count() == 0
        links = page.locator("a[href]").evaluate_all("(all) => all.map((one) => one.pathname)")
        assert links == ["/", f"/s/{wave.survey.slug}/check"], "leave at once, and check"
        assert {request.method for request in visitor.requests} == {"GET"}
    browser.close()


def test_leaving_the_page_drops_the_answers(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=THREE))
    answer(page, ("Yes", "No", "Yes"))
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    press(page, "Start")
    assert page.locator(CHOSEN).count() == 0
    page.go_back()
    page.go_back()
    assert page.get_by_text("Check your answers").count() == 0
    assert visitor.reports() == []


def test_a_reload_before_submit_starts_again(visitor: Visitor) -> None:
    page = visitor.open(make_launched_survey(questions=THREE))
    answer(page, ("Yes", "No", "Yes"))
    page.reload()
    press(page, "Start")
    assert page.locator(CHOSEN).count() == 0


def test_a_visit_sets_no_cookie_contacts_no_other_host_and_violates_no_policy(
    visitor: Visitor,
) -> None:
    page = visitor.open(make_launched_survey(questions=THREE))
    answer(page, ("Yes", "No", "Yes"))
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert visitor.context.cookies() == []
    assert all(request.url.startswith(visitor.url) for request in visitor.requests)
    for request in visitor.requests:
        headers = request.all_headers()
        assert "cookie" not in headers
        assert not headers.get("referer")
        response = request.response()
        assert response is not None
        assert response.header_value("set-cookie") is None


@pytest.mark.parametrize("language", ["en", "ar"])
def test_one_visit_weighs_at_most_20_kilobytes(visitor: Visitor, language: str) -> None:
    """test_weight.py of tests/surveys/respondent weighs the other languages without a browser."""
    page = visitor.open(make_survey_in_six_languages(), ending=f"/{language}")
    page.locator("#start").click()
    for _ in range(10):
        choose_first(page)
    page.locator("main > .button").click()
    expect(page.locator("dl.letters").first).to_be_attached()
    requests = without_icon(visitor.requests)
    weights = {r.url: r.sizes()["responseBodySize"] for r in requests}
    assert any(url.endswith(".json") for url in weights)
    assert any(url.endswith(".css") for url in weights)
    assert len(weights) == len(requests), "nothing is loaded twice"
    bodies = sum(len(body) for body in visitor.bodies())
    icon = len(squeeze(client_files()[ICON].content))  # fetched by browsers with a window
    weight = sum(weights.values()) + bodies + icon
    print(f"{language}: {weight:,} bytes")
    assert weight <= 20_000, weights
