"""The page computes scores as Python does, and refuses manifests that contradict themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from surveys.manifest.scores import Output
from surveys.manifest.serialization import serialize_manifest
from tests.support.browser.modules import loading
from tests.support.manifests import make_manifest
from tests.support.scores import carry, draw_score
from tests.vectors import make_scores

# Returns the scores of a manifest's questions for each list of chosen answers; null where refused.
COUNT = """async (cases) => {
    await import("/parts/score.js");
    const { additions } = await import("/visit/additions.js");
    return cases.map(({ question, chosen }) => {
      try {
        additions.readScores({ questions: [question] });
      } catch {
        return null;
      }
      return chosen.map((one) => question.count(one));
    });
}"""
# Draws the same answers as `draw_answers` below, so that a million need not be passed.
COUNT_MANY = """async ({ question, sets, seed }) => {
    await import("/parts/score.js");
    const { additions } = await import("/visit/additions.js");
    additions.readScores({ questions: [question] });
    const { items, options } = question.score;
    let state = seed;
    const draw = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 16) % options.length;
    };
    return Array.from({ length: sets }, () => question.count(items.map(draw)));
}"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with loading(chromium) as load:
        yield load({})


def describe(score: dict[str, Any]) -> dict[str, Any]:
    """Return the question that carries a score, as a manifest has it."""
    bounds = score.get("bounds", [])
    weights = sum(item.get("weight", 1) for item in score["items"])
    values = [one["value"] for one in score["options"]]
    question: dict[str, Any] = {"name": "q1", "text": "Lately …", "score": score}
    if not bounds:
        ends = {"minimum": min(values) * weights, "maximum": max(values) * weights}
        return question | {"type": "number", "options": []} | ends
    options = [{"code": code, "text": f"{code}"} for code in range(len(bounds) + 1)]
    return question | {"type": "yes_no" if len(bounds) == 1 else "choice", "options": options}


def test_the_page_computes_what_the_vectors_say(page: Page) -> None:
    vectors = json.loads(make_scores.PATH.read_text())
    cases = [
        {"question": describe(one["score"]), "chosen": [case["chosen"] for case in one["cases"]]}
        for one in vectors
    ]
    expected = [[case["answer"] for case in one["cases"]] for one in vectors]
    assert page.evaluate(COUNT, cases) == expected


@pytest.mark.parametrize("sets", [2_000, pytest.param(125_000, marks=pytest.mark.long)])
def test_the_page_and_python_compute_the_same_scores(page: Page, sets: int) -> None:
    """Try eight random scales; with --long, try a million sets of answers in all."""
    random = Random(20261128)
    for seed in range(8):
        output = random.choice(list(Output))
        score = draw_score(random, output=output)
        manifest = make_manifest(carry(score, output, name="q1"))
        [question] = json.loads(serialize_manifest(manifest))["questions"]
        found = page.evaluate(COUNT_MANY, {"question": question, "sets": sets, "seed": seed})
        drawn = draw_answers(seed, options=len(score.options))
        places = range(len(score.items))
        assert found == [score.find_answer([next(drawn) for _ in places]) for _ in range(sets)], (
            score
        )


def draw_answers(state: int, *, options: int) -> Iterator[int]:
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield (state >> 16) % options


TOTAL = make_scores.SCALES[0]
REFUSED: list[dict[str, Any]] = [
    {"maximum": 28},
    {"minimum": -1},
    {"minimum": 0.5},
    {"type": "scale"},
    {"type": "several"},
    {"type": "choice"},
    {"type": "yes_no"},
    {"score": TOTAL | {"bounds": [10]}},
    {"score": TOTAL | {"items": TOTAL["items"][:8]}},
    {"score": TOTAL | {"items": TOTAL["items"][:1]}, "maximum": 3},
    {"score": TOTAL | {"items": TOTAL["items"] * 4}, "maximum": 108},
    {"score": TOTAL | {"items": [{"text": "a", "weight": 0}, *TOTAL["items"]]}},
    {"score": TOTAL | {"items": [{"text": "a", "weight": 0.5}] * 18}},
    {"score": TOTAL | {"items": [{"text": "a", "weight": -1}, *TOTAL["items"], {"text": "b"}]}},
    {"score": TOTAL | {"options": [{"text": "a", "value": 0}]}, "maximum": 0},
    {"score": TOTAL | {"options": []}},
    {"score": {}},
]
BANDS = make_scores.SCALES[2]
REFUSED_BANDS: list[dict[str, Any]] = [
    {"score": BANDS | {"bounds": bounds}}
    for bounds in ([5, 10, 15], [5, 10, 15, 15], [0, 10, 15, 20], [5, 10, 15, 28], [20, 15, 10, 5])
]


def test_a_manifest_whose_range_contradicts_its_items_is_refused(page: Page) -> None:
    total, bands = describe(TOTAL), describe(BANDS)
    changed = [total | change for change in REFUSED] + [bands | change for change in REFUSED_BANDS]
    cases = [{"question": question, "chosen": []} for question in (total, bands, *changed)]
    assert page.evaluate(COUNT, cases) == [[], [], *[None] * len(changed)]


def test_items_without_answers_are_not_counted(page: Page) -> None:
    """A total of fewer or more items would be wrong, so there is no total."""
    for chosen in ([0] * 8, [0] * 10):
        with pytest.raises(Exception, match="whole number"):
            page.evaluate(COUNT, [{"question": describe(TOTAL), "chosen": [chosen]}])
