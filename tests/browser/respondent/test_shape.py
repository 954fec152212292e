"""Constant shape: all visits look the same, whatever the answers and the paths."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from aggregator.models import RawReport, SpentId
from surveys.models import Wave
from tests.support.browser.every_type import (
    GROUP,
    HOURS,
    LONELY,
    LONELY_STILL,
    MOVED,
    NONE,
    PAID,
    REFUSED,
    THINGS,
    TIRED,
    ask,
    make_branching_survey,
    walk_through,
)
from tests.support.browser.live import LiveApplication
from tests.support.browser.recording import without_icon
from tests.support.browser.scales import make_scales
from tests.support.browser.visit import (
    DUMP,
    FIXED_RANDOMNESS,
    SENT,
    Visitor,
    choose_first,
    press,
    status,
    visiting,
)
from tests.support.factories import make_survey, open_survey

SYMBOLS = re.compile(r'"symbols": ?"[A-Za-z0-9_~-]+"')
# Notes each call to the browser's generator, with its size.
COUNT_DRAWS = """
    const original = Crypto.prototype.getRandomValues;
    globalThis.drawn = [];
    Crypto.prototype.getRandomValues = function (array) {
      globalThis.drawn.push(array.byteLength);
      return original.call(this, array);
    };
"""
FORGET = """async () => {
    const opening = indexedDB.open("murmur");
    await new Promise((resolve) => { opening.onsuccess = resolve; });
    const transaction = opening.result.transaction("envelopes", "readwrite");
    transaction.objectStore("envelopes").clear();
    await new Promise((resolve) => { transaction.oncomplete = resolve; });
    opening.result.close();
    localStorage.clear();
    sessionStorage.clear();
}"""
WAYS: dict[str, list[list[str]]] = {
    MOVED: [["Yes"], ["No"], [REFUSED]],
    THINGS: [
        *([row] for row in ("Friends", "A garden", "A job", NONE, REFUSED)),
        ["Friends", "A garden"],
        ["Friends", "A job"],
        ["A garden", "A job"],
    ],
    LONELY: [["Yes"], ["No"], [REFUSED]],
    LONELY_STILL: [["Yes"], ["No"], [REFUSED]],
    HOURS: [["0"], ["11"], ["24"], [REFUSED]],
    TIRED: [[str(point)] for point in range(1, 6)],
    PAID: [["I"], ["Somebody else"], ["Nobody"]],
    GROUP: [["In a town"], ["Elsewhere"]],
}


@dataclass
class Trace:
    before: list[str]  # addresses requested before Submit
    after: list[dict[str, Any]]  # requests made after Submit
    kept: Any  # what the browser stores at the end
    drawn: list[int]
    symbols: str


# A small survey of all scrambled types, with every answer to each page. Two pages depend on the
# first.
SMALL: dict[str, list[list[str]]] = {
    MOVED: [["Yes"], ["No"], [REFUSED]],
    PAID: [["I"], ["Somebody else"]],
    THINGS: [[NONE], ["Friends"], ["A garden"], ["Friends", "A garden"]],
    TIRED: [["1"], ["2"]],
    HOURS: [["0"], ["1"]],
    LONELY: [["Yes"], ["No"]],
    LONELY_STILL: [["Yes"], ["No"]],
}
# Answers page after page as a person would, but inside the page, which is faster.
WALK = """(answers) => {
    const press = (name) =>
      [...document.querySelectorAll("button")].find(({ innerText }) => innerText === name).click();
    press("Start");
    for (let pages = 0; pages < 20; pages += 1) {
      const heading = document.querySelector("h1").innerText;
      if (heading === "Check your answers") return;
      const goesOn = document.querySelector("button.choice");
      for (const answer of answers[heading] ?? []) {
        const row = [...document.querySelectorAll(".choice")].find(
          (row) => row.querySelector("span").textContent === answer,
        );
        if (row) (row.control ?? row).click();
        else document.querySelector("input:not([name])").value = answer;
      }
      if (!goesOn) press("Continue");
    }
}"""


# Boxes on the first page. They are not answers, so they do not change what is sent.
AGREED = {"Before you answer": ["I have read this and I agree.", "I am 16 or older."]}


def make_small_survey() -> Wave:
    consent = "We ask about moving."
    survey = make_survey(title="Moving", questions=(), flips=40, consent=consent, minimum_age=16)
    moved = ask(survey, MOVED, type="yes_no", refusal=True)
    after_yes = {"name": f"{moved.pk}", "is": [1]}
    ask(survey, PAID, type="choice", options=["I", "Somebody else"], rule=after_yes)
    ask(survey, THINGS, type="several", options=["Friends", "A garden"], limit=2, rule=after_yes)
    ask(survey, TIRED, type="scale", minimum=1, maximum=2, low_label="Not", high_label="Very")
    ask(survey, HOURS, type="number", minimum=0, maximum=1, unit="hours")
    ask(survey, LONELY, type="follow_up", follow_up=LONELY_STILL)
    return open_survey(survey=survey)


def choose_all_answers() -> Iterator[dict[str, list[str]]]:
    """Yield all combinations of answers; pages that are not asked on a path are left out."""
    paths = (
        [MOVED, *([PAID, THINGS] if moved == ["Yes"] else []), TIRED, HOURS, LONELY]
        for moved in SMALL[MOVED]
    )
    for moved, path in zip(SMALL[MOVED], paths, strict=True):
        for rest in itertools.product(*(SMALL[text] for text in path[1:])):
            answers = dict(zip(path, [moved, *rest], strict=True))
            if answers[LONELY] == ["No"]:
                yield answers
                continue
            for still in SMALL[LONELY_STILL]:
                yield {**answers, LONELY_STILL: still}


def choose_ways() -> Iterator[dict[str, list[str]]]:
    """Yield every answer to every question, on every path that leads to the question."""
    for moved, visits in zip(WAYS[MOVED], (len(WAYS[THINGS]), 7, 7), strict=True):
        for number in range(visits):
            way = {text: ways[number % len(ways)] for text, ways in WAYS.items()}
            # This question is asked in a third of these visits.
            still = WAYS[LONELY_STILL][number // 3]
            yield {**way, MOVED: moved, LONELY_STILL: still}
    first = {text: ways[0] for text, ways in WAYS.items()}
    yield {**first, HOURS: WAYS[HOURS][3]}


def describe(request: Request) -> dict[str, Any]:
    body = request.post_data or ""
    return {
        "method": request.method,
        "url": request.url,
        "headers": request.all_headers(),
        "length": len(body),
        "body": SYMBOLS.sub('"symbols":"*"', body),
    }


def trace_visit(page: Page, visitor: Visitor, walk: Callable[[Page], object]) -> Trace:
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    walk(page)
    assert visitor.reports() == []
    before = len(visitor.requests)
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    return Trace(
        before=sorted(request.url for request in without_icon(visitor.requests[:before])),
        after=[describe(request) for request in without_icon(visitor.requests[before:])],
        kept=[page.evaluate(DUMP), page.evaluate("history.length")],
        drawn=page.evaluate("globalThis.drawn"),
        symbols=json.loads(visitor.bodies()[0])["symbols"],
    )


def test_all_visits_to_a_branching_survey_look_the_same(
    chromium: Browser, live: LiveApplication
) -> None:
    wave = make_branching_survey()
    walks = [lambda page, way=way: page.evaluate(WALK, way) for way in choose_ways()]
    traces = trace_visits(chromium, live, wave, walks)
    # The page draws the id, then u and v for nine symbols, and the rounding of the number.
    assert traces[0].drawn == [32, *[4] * (2 * 9 + 1)]
    assert_alike(traces)
    assert all(len(trace.symbols) == 10 for trace in traces)
    assert len({trace.symbols for trace in traces}) > 10


# Without --long, every seventh combination is tested. All branches still occur, because 7 divides
# neither 10 nor 12.
@pytest.mark.parametrize("which", ["sevenths", pytest.param("others", marks=pytest.mark.long)])
def test_all_answers_to_a_branching_survey_look_the_same(
    chromium: Browser, live: LiveApplication, which: str
) -> None:
    """This tests combinations of the answers to six questions of all scrambled types."""
    wave = make_small_survey()
    vectors = list(choose_all_answers())
    # After Yes, two more pages can be answered in 2 × 4 ways; the other pages, in 2 × 2 × 3 ways.
    assert len(vectors) == (8 + 1 + 1) * 12
    sevenths = vectors[::7]
    vectors = sevenths if which == "sevenths" else [one for one in vectors if one not in sevenths]
    walks = [
        lambda page, answers=answers: page.evaluate(WALK, AGREED | answers) for answers in vectors
    ]
    traces = trace_visits(chromium, live, wave, walks)
    # The page draws the id, then u and v for eight symbols, and the rounding of the number.
    assert traces[0].drawn == [32, *[4] * (2 * 8 + 1)]
    assert_alike(traces)
    assert 3 * len({trace.symbols for trace in traces}) > len(traces)


# Answers every item of a page with the same option, or declines.
WALK_SCALES = """(way) => {
    const press = (name) =>
      [...document.querySelectorAll("button")].find(({ innerText }) => innerText === name).click();
    press("Start");
    for (let page = 0; document.querySelector("h1").innerText !== "Check your answers"; page += 1) {
      const row = document.querySelector("button.choice");
      if (row) {
        row.click();
        continue;
      }
      const items = [...document.querySelectorAll(".item")];
      const declines = document.querySelector("[type=checkbox]");
      if (declines && way[page] === 3) declines.click();
      else for (const item of items) item.querySelectorAll("input")[way[page]].click();
      press("Continue");
    }
}"""


def test_all_answers_to_scales_look_the_same(chromium: Browser, live: LiveApplication) -> None:
    """Test totals at both ends, declining, and each band with and without its dependants."""
    ways = ([0, 0, 0, 0], [2, 2, 1, 2], [3, 1, 1, 1], [1, 0, 2, 1])
    walks = [lambda page, way=way: page.evaluate(WALK_SCALES, way) for way in ways]
    traces = trace_visits(chromium, live, make_scales(), walks)
    # The page draws the id, then u and v for four symbols, and the rounding of the total.
    assert traces[0].drawn == [32, *[4] * (2 * 4 + 1)]
    assert_alike(traces)


def trace_visits(
    chromium: Browser, live: LiveApplication, wave: Wave, walks: Sequence[Callable[[Page], object]]
) -> list[Trace]:
    """Make visits one after another in a profile that keeps only the files it fetched."""
    traces = []
    with visiting(chromium, live) as visitor:
        # The fixed generator gives all visits the same id, so only symbols can differ.
        visitor.context.add_init_script(FIXED_RANDOMNESS % 7)
        visitor.context.add_init_script(COUNT_DRAWS)
        visitor.open(wave).close()
        for walk in walks:
            visitor.requests.clear()
            page = visitor.open(wave)
            traces.append(trace_visit(page, visitor, walk))
            page.evaluate(FORGET)
            page.close()
            RawReport.objects.all().delete()
            SpentId.objects.all().delete()
    return traces


def assert_alike(traces: Sequence[Trace]) -> None:
    first = traces[0]
    assert len(first.after) == 1
    for trace in traces:
        assert trace.before == first.before
        assert trace.after == first.after
        assert trace.kept == first.kept
        assert trace.drawn == first.drawn
        assert len(trace.symbols) == len(first.symbols)


def test_every_answer_to_every_question_is_given_on_every_path() -> None:
    ways = list(choose_ways())
    yes, no, refused = WAYS[MOVED]
    with_friends = (WAYS[THINGS][0], *WAYS[THINGS][5:7])
    to_things = [way for way in ways if way[MOVED] is yes]
    to_hours = [way for way in to_things if way[THINGS] in with_friends]
    paths = [[way for way in ways if way[MOVED] is moved] for moved in (yes, no, refused)]
    assert all(any(way[THINGS] is act for way in to_things) for act in WAYS[THINGS])
    for path in (to_hours, paths[2]):
        assert all(any(way[HOURS] is act for way in path) for act in WAYS[HOURS])
    for path in paths:
        for text in (LONELY, TIRED, PAID, GROUP):
            assert all(any(way[text] is act for way in path) for act in WAYS[text])
        lonely = [way for way in path if way[LONELY] is WAYS[LONELY][0]]
        for act in WAYS[LONELY_STILL]:
            assert any(way[LONELY_STILL] is act for way in lonely)


def make_subset_survey() -> Wave:
    survey = make_survey(title="Parts", questions=(), flips=25)
    survey.drawn = 2
    survey.save()
    for number in range(1, 5):
        ask(survey, f"Number {number}?")
    ask(survey, GROUP, type="declared", options=["In a town", "Elsewhere"])
    return open_survey(survey=survey)


def questions_of(page: Page) -> list[str]:
    """Answer each question with the first row; return the questions that are asked."""
    texts = (*(f"Number {number}?" for number in range(1, 5)), GROUP)
    return walk_through(page, dict.fromkeys(texts, choose_first))


def test_the_drawn_blocks_stay_the_same_and_the_others_are_sent_as_not_drawn(
    visitor: Visitor,
) -> None:
    wave = make_subset_survey()
    page = visitor.open(wave)
    expect(page.get_by_text("Up to 3 questions")).to_be_visible()
    expect(page.locator("#label")).to_contain_text(
        "You are asked 2 of 4 questions, drawn by chance on this device."
    )
    expect(page.get_by_role("button", name="Start")).to_be_visible()  # the blocks have been drawn
    stored = page.evaluate(DUMP)["databases"]["murmur/envelopes"]
    asked = questions_of(page)
    assert len(asked) == 3
    assert asked[-1] == GROUP
    blocks = [int(text[len("Number ")]) - 1 for text in asked[:-1]]
    assert stored == [blocks]
    for _ in range(4):
        page.reload()
        assert questions_of(page) == asked
    assert questions_of(visitor.open(wave)) == asked, "in another tab too"
    assert page.evaluate(DUMP)["databases"]["murmur/envelopes"] == [blocks]
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    symbols = json.loads(visitor.bodies()[0])["symbols"]
    assert [place for place in range(4) if symbols[place] != "~"] == blocks
    assert len(symbols) == 5
    assert symbols[4] == "A"
    report = bytes(RawReport.objects.get().symbols)
    assert [place for place in range(4) if report[place] != 255] == blocks


def test_a_page_in_a_subset_shows_the_number_that_the_label_uses(visitor: Visitor) -> None:
    page = visitor.open(make_subset_survey())
    press(page, "Start")
    number = page.get_by_role("heading", level=1).inner_text()[len("Number ")]
    expect(page.locator(".eyebrow")).to_have_text(f"Question {number} (1 of 3)")


@pytest.mark.long
def test_every_pair_of_blocks_occurs(chromium: Browser, live: LiveApplication) -> None:
    """This uses the browser's generator; test_randomize.py checks that draws are equally likely."""
    wave = make_subset_survey()
    with visiting(chromium, live) as visitor:
        page = visitor.open(wave)
        seen = set()
        for _ in range(60):
            page.evaluate(FORGET)
            page.reload()
            expect(page.get_by_role("button", name="Start")).to_be_visible()
            [blocks] = page.evaluate(DUMP)["databases"]["murmur/envelopes"]
            seen.add(tuple(blocks))
    # 6 pairs: one is missing after 60 draws in about 1 of 10,000 runs.
    assert len(seen) >= 5
    assert seen <= set(itertools.combinations(range(4), 2))
