"""Browser and Python agree on who is asked what, which codes are true and what is sent."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import log
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from aggregator.simulation.respondents import Answer, find_asked, randomize_answers
from privacy.mechanism.drawing import draw_blocks
from surveys.manifest.grids import MOST_ROWS, drop_marks, list_grids
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from surveys.manifest.rules import Rule, holds
from surveys.manifest.scores import Output
from surveys.manifest.serialization import serialize_manifest
from surveys.manifest.strength import LARGEST_TOTAL_EPSILON
from tests.support.browser.modules import loading
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.manifests import make_manifest
from tests.support.scores import carry, draw_score

SEED = 20260214
HOLDS = """async (cases) => {
    const { holds } = await import("/report/rules.js");
    return cases.map(({ rule, codes }) => holds(rule, codes));
}"""
# Returns the blocks of the questions, or null where the page would refuse to ask.
ACCEPTS = """async (texts) => {
    const { checkManifest } = await import("/report/manifest.js");
    return texts.map((text) => {
      const manifest = JSON.parse(text);
      try {
        checkManifest(manifest);
      } catch {
        return null; // as loadManifest does
      }
      return manifest.questions.map(({ block }) => block);
    });
}"""
# The page's own steps, with random numbers from the test.
VISIT = """async (cases) => {
    const { checkManifest } = await import("/report/manifest.js");
    const { drawBlocks, randomizeReport } = await import("/randomize.js");
    const { findLatents } = await import("/report/envelope.js");
    const { listPages, walk } = await import("/report/rules.js");
    const { markDrawn } = await import("/report/drawing.js");
    const { additions } = await import("/visit/additions.js");
    await import("/parts/score.js");
    return cases.map(({ text, answers, words }) => {
      const manifest = JSON.parse(text);
      checkManifest(manifest);
      additions.readScores(manifest);
      const { blocks, drawn, questions } = manifest;
      let used = 0;
      const next = () => {
        if (used === words.length) throw new Error("more words than were given");
        return words[used++];
      };
      const mine = drawn && drawBlocks(blocks, drawn, next);
      for (const one of questions) one.isDrawn = true;
      if (mine) markDrawn(questions, mine);
      const { open, codes } = walk(listPages(questions, ["No", "Yes"]), answers);
      const names = open.map(({ name }) => name);
      const latents = questions.flatMap((one) => findLatents(one, codes, names.includes(one.name)));
      const sent = randomizeReport(latents, questions.flatMap((one) => one.channels), next);
      return { names, kept: Object.keys(answers), sent, used };
    });
}"""
# Returns the names of the questions on each screen, if all questions are asked.
ARRANGE = """async (cases) => {
    document.body.innerHTML = "<main id=survey></main>";
    const { listPages } = await import("/report/rules.js");
    const { additions } = await import("/visit/additions.js");
    await import("/parts/grid.js");
    return cases.map((text) => {
      const { questions } = JSON.parse(text);
      for (const one of questions) one.isDrawn = true;
      const pages = listPages(questions, ["No", "Yes"]);
      const answers = {};
      const screens = [];
      while (true) {
        const [screen] = additions.locate(pages, pages, { answers, trail: [] });
        if (!screen) return screens;
        for (const name of screen.names) answers[name] = 0;
        if (!screen.name.endsWith("+")) screens.push(screen.names);
      }
    });
}"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with loading(chromium) as load:
        yield load({})


def draw_rule(rng: random.Random, symbols: dict[str, int], depth: int = 3) -> Rule:
    kind = rng.choice(["leaf", "leaf", "all", "any", "not"]) if depth else "leaf"
    if kind == "not":
        return {"not": draw_rule(rng, symbols, depth - 1)}
    if kind == "leaf":
        name = rng.choice(sorted(symbols))
        codes = range(symbols[name])
        return {"name": name, "is": sorted(rng.sample(codes, rng.randint(0, len(codes))))}
    return {kind: [draw_rule(rng, symbols, depth - 1) for _ in range(rng.randint(0, 3))]}


def draw_manifest(rng: random.Random, *, flips: int = 25) -> Manifest:
    questions = [yes_no("q1", flips=flips)]
    symbols = {"q1": 2}
    for number in range(2, rng.randint(3, 9)):
        question = draw_question(rng, f"q{number}", symbols, flips=flips)
        questions.append(question)
        if question.type == "several":
            symbols |= {f"{question.name}_{option.code}": 2 for option in question.options}
        elif question.options:
            symbols[question.name] = question.answers
    manifest = make_manifest(*questions)
    if manifest.block_count < 2 or rng.random() < 0.5:
        return manifest
    return replace(manifest, drawn=rng.randrange(1, manifest.block_count))


def yes_no(name: str, *, flips: int) -> ManifestQuestion:
    question = ManifestQuestion(name=name, type=QuestionType.YES_NO, text="?", options=YES_NO)
    return with_strength(question, flips=flips)


def draw_question(
    rng: random.Random, name: str, symbols: dict[str, int], *, flips: int
) -> ManifestQuestion:
    kinds = ["yes_no", "choice", "scale", "several", "number", "follow_up", "score"]
    kind = rng.choice([*kinds, "declared", "information"])
    first = int(kind == "several")
    count = rng.randint(2, 5)
    minimum = rng.randint(-5, 5)
    by_kind: dict[str, dict[str, Any]] = {
        "yes_no": {"options": YES_NO},
        "follow_up": {"options": FOLLOW_UP, "follow_up": "And?"},
        "number": {"minimum": minimum, "maximum": minimum + rng.randint(1, 1000)},
        "information": {},
    }
    rows = tuple(Option(code=code, text="…") for code in range(first, first + count))
    content = by_kind.get(kind, {"options": rows})
    if kind == "scale":
        points = rng.choice([count, 9, 11])
        content = {"minimum": minimum, "maximum": minimum + points - 1}
        if points == count:
            content["options"] = tuple(Option(code=c, text=f"{minimum + c}") for c in range(count))
    if kind == "several" and rng.random() < 0.5:
        content["limit"] = rng.randint(1, count)
    if kind != "declared" and rng.random() < 0.5:
        content["rule"] = draw_rule(rng, symbols)
    if kind != "information":
        content["refusal"] = rng.random() < 0.5
    if kind == "score":
        output = rng.choice(list(Output))
        content = {key: content[key] for key in ("rule", "refusal") if key in content}
        return carry(draw_score(rng, output=output), output, name=name, flips=flips, **content)
    question = ManifestQuestion(name=name, type=QuestionType(kind), text="?", **content)
    return with_strength(question, flips=flips)


def draw_answer(rng: random.Random, question: ManifestQuestion) -> Answer:
    """Draw answers that a person might give, in the form that the Python version uses."""
    if question.refusal and rng.random() < 0.3:
        return None
    if question.score is not None:
        return [rng.randrange(len(question.score.options)) for _ in question.score.items]
    if question.is_rounded:
        assert question.minimum is not None
        assert question.maximum is not None
        return rng.randint(question.minimum, question.maximum)
    if question.type == "several":
        codes = [option.code for option in question.options]
        return rng.sample(codes, rng.randint(0, question.limit or len(codes)))
    return rng.randrange(question.answers) if question.options else 0


def as_typed(manifest: Manifest, answers: dict[str, Answer]) -> dict[str, Any]:
    """Return the same answers as entered on pages: a follow-up has two pages."""
    typed: dict[str, Any] = dict(answers)
    for question in manifest.questions:
        if question.type == "follow_up" and answers[question.name] is not None:
            code = answers[question.name]
            typed[question.name] = int(code != 0)
            typed[f"{question.name}+"] = int(code == 1)
        elif question.type == "several" and not typed[question.name]:
            typed[question.name] = None if answers[question.name] is None else [-1]
    return typed


def test_random_rules_hold_or_fail_in_both_implementations(page: Page) -> None:
    rng = random.Random(SEED)
    symbols = {"q1": 2, "q2": 5, "q3_1": 2, "q3_2": 2, "q4": 3}
    cases: list[dict[str, Any]] = []
    for _ in range(5000):
        known = {name: rng.choice([None, *range(k)]) for name, k in symbols.items()}
        # A missing key means no answer, as None does.
        codes = {name: code for name, code in known.items() if code is not None}
        cases.append({"rule": draw_rule(rng, symbols, depth=4), "codes": codes, "known": known})
    expected = [holds(case["rule"], case["known"]) for case in cases]
    assert 1500 < sum(expected) < 3500
    assert page.evaluate(HOLDS, cases) == expected


def test_random_visits_send_the_same_codes_from_the_same_draws(page: Page) -> None:
    rng = random.Random(SEED)
    cases: list[dict[str, Any]] = []
    expected = []
    while len(cases) < 1500:
        manifest = draw_manifest(rng)
        if manifest.epsilon > LARGEST_TOTAL_EPSILON:
            continue
        answers = {question.name: draw_answer(rng, question) for question in manifest.questions}
        words: list[int] = []
        sent = randomize_answers(manifest, answers, random_uint32=recorder(rng, words))
        text = serialize_manifest(manifest).decode()
        cases.append({"text": text, "answers": as_typed(manifest, answers), "words": words})
        expected.append((manifest, answers, sent))
    for case, found, (manifest, answers, sent) in zip(
        cases, page.evaluate(VISIT, cases), expected, strict=True
    ):
        assert [255 if code is None else code for code in found["sent"]] == list(sent), case
        assert found["used"] == len(case["words"])
        drawn = None
        if manifest.drawn is not None:
            replay = iter(case["words"]).__next__
            blocks = draw_blocks(manifest.block_count, drawn=manifest.drawn, random_uint32=replay)
            drawn = {None, *blocks}
        asked = find_asked(manifest, answers, drawn=drawn)
        assert {name.removesuffix("+") for name in found["names"]} == asked
        assert {name.removesuffix("+") for name in found["kept"]} == asked, "others are dropped"


def recorder(rng: random.Random, words: list[int]) -> Callable[[], int]:
    def draw() -> int:
        words.append(rng.getrandbits(32))
        return words[-1]

    return draw


def test_the_number_of_draws_does_not_depend_on_the_answers(page: Page) -> None:
    rng = random.Random(SEED + 1)
    cases: list[dict[str, Any]] = []
    for _ in range(60):
        manifest = draw_manifest(rng)
        if manifest.epsilon > LARGEST_TOTAL_EPSILON:
            continue
        text = serialize_manifest(manifest).decode()
        words = [rng.getrandbits(32) for _ in range(150)]
        for _ in range(12):
            answers = {one.name: draw_answer(rng, one) for one in manifest.questions}
            cases.append({"text": text, "answers": as_typed(manifest, answers), "words": words})
    used: dict[str, set[int]] = {}
    for case, found in zip(cases, page.evaluate(VISIT, cases), strict=True):
        used.setdefault(case["text"], set()).add(found["used"])
    assert len(used) > 30
    assert {len(numbers) for numbers in used.values()} == {1}


def test_blocks_and_the_limit_of_the_total_agree(page: Page) -> None:
    rng = random.Random(SEED + 2)
    manifests = [draw_manifest(rng, flips=rng.randint(1, 49)) for _ in range(1000)]
    texts = [serialize_manifest(manifest).decode() for manifest in manifests]
    refused = 0
    for manifest, found in zip(manifests, page.evaluate(ACCEPTS, texts), strict=True):
        if abs(manifest.epsilon - LARGEST_TOTAL_EPSILON) < 1e-6:
            continue
        refused += found is None
        assert (found is None) == (manifest.epsilon > LARGEST_TOTAL_EPSILON)
        if found is not None:
            blocks = [manifest.blocks.get(question.name, -1) for question in manifest.questions]
            assert found == blocks
    assert 20 < refused < 900


def test_the_browser_computes_the_largest_total_that_can_be_drawn(page: Page) -> None:
    """Draw as many questions as the limit allows, and one more."""
    coins = [yes_no(f"q{n}", flips=25) for n in range(1, 20)]
    rng = random.Random(SEED)
    base = draw_manifest(rng)
    fits = int(LARGEST_TOTAL_EPSILON / log(3))
    for drawn, accepted in ((fits, True), (fits + 1, fits + 1 <= 18)):
        manifest = replace(base, questions=tuple(coins), drawn=drawn)
        [found] = page.evaluate(ACCEPTS, [serialize_manifest(manifest).decode()])
        assert (found is not None) == (manifest.epsilon <= LARGEST_TOTAL_EPSILON) == accepted


def raw_manifest() -> dict[str, Any]:
    """Return a valid manifest as JSON, with a question of every type."""
    rng = random.Random(7)
    base = draw_manifest(rng)
    options = tuple(Option(code=code, text=f"{code}") for code in range(3))
    rule: Rule = {"name": "q1", "is": [1]}
    described = [
        ManifestQuestion(name="q1", type=QuestionType.YES_NO, text="?", options=YES_NO),
        ManifestQuestion(
            name="q2", type=QuestionType.CHOICE, text="?", options=options, refusal=True
        ),
        ManifestQuestion(
            name="q3",
            type=QuestionType.SCALE,
            text="?",
            options=options,
            minimum=1,
            maximum=3,
            rule=rule,
        ),
        ManifestQuestion(
            name="q4",
            type=QuestionType.SEVERAL,
            text="?",
            options=tuple(Option(code=code, text=f"{code}") for code in (1, 2, 3)),
            limit=1,
            refusal=True,
        ),
        ManifestQuestion(name="q5", type=QuestionType.NUMBER, text="?", minimum=0, maximum=40),
        ManifestQuestion(
            name="q6", type=QuestionType.FOLLOW_UP, text="?", options=FOLLOW_UP, follow_up="And?"
        ),
        ManifestQuestion(name="q7", type=QuestionType.DECLARED, text="?", options=options),
        ManifestQuestion(name="q8", type=QuestionType.INFORMATION, text="!", rule=rule),
        ManifestQuestion(name="q9", type=QuestionType.SCALE, text="?", minimum=0, maximum=10),
    ]
    questions = tuple(with_strength(question, flips=25) for question in described)
    manifest = replace(base, questions=questions, drawn=3)
    raw: dict[str, Any] = json.loads(serialize_manifest(manifest))
    return raw


def refuses(page: Page, raw: dict[str, Any]) -> bool:
    [found] = page.evaluate(ACCEPTS, [json.dumps(raw)])
    return found is None


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (1, {"type": "essay"}),
        (1, {"rule": {"name": "q1", "is": [0]}, "k": 3, "threshold": 2**31}),  # on itself
        (1, {"rule": {"name": "q2", "is": [0]}, "k": 3, "threshold": 2**31}),  # on a later question
        (1, {"rule": {"name": "q99", "is": [0]}, "k": 3, "threshold": 2**31}),
        (3, {"rule": {}}),
        (2, {"k": 3}),
        (2, {"options": []}),
        (2, {"options": [{"code": 1, "text": "1"}] * 3}),
        (3, {"maximum": 4}),
        (3, {"rule": {"name": "q1", "is": [2]}}),
        (3, {"rule": {"name": "q1", "is": [1.5]}}),
        (3, {"rule": {"all": [{"name": "q2", "is": [0]}, {"name": "q9", "is": [0]}]}}),
        (3, {"rule": None}),
        (4, {"gate_threshold": None}),
        (4, {"gate_threshold": 2**32}),
        (4, {"limit": 0}),
        (4, {"limit": 1.5}),
        (4, {"k": 3}),
        (4, {"options": [{"code": 0, "text": "0"}, {"code": 1, "text": "1"}]}),
        (5, {"maximum": 0}),
        (5, {"maximum": 0.5}),
        (5, {"maximum": 2**20}),
        (5, {"maximum": None}),
        (5, {"threshold": None}),
        (5, {"options": [{"code": 0, "text": "0"}]}),
        (6, {"options": [{"code": 0, "text": "No"}, {"code": 1, "text": "Yes"}], "k": 2}),
        (7, {"refusal": True}),
        (7, {"rule": {"name": "q1", "is": [1]}, "k": 4}),
        (7, {"k": 4}),
        (9, {"rule": {"name": "q5", "is": [1]}, "k": 3}),
        (9, {"name": "q1"}),
        (9, {"name": "q4_1"}),
        (9, {"threshold": 2**32 - 1}),
    ],
)
def test_a_malformed_question_is_refused(page: Page, number: int, change: dict[str, Any]) -> None:
    raw = raw_manifest()
    assert not refuses(page, raw)
    raw["questions"][number - 1] |= change
    for key in [key for key, value in change.items() if value is None]:
        del raw["questions"][number - 1][key]
    assert refuses(page, raw)


@pytest.mark.parametrize("drawn", [0, -1, 1.5, 6, 7, "2"])
def test_a_subset_must_be_smaller_than_all_blocks(page: Page, drawn: object) -> None:
    # q1 and q3 share a block; q2, q4, q5, q6 and q9 have one each.
    assert refuses(page, raw_manifest() | {"drawn": drawn})
    assert not refuses(page, raw_manifest() | {"drawn": 5})


def test_the_same_questions_share_pages_even_if_marks_lie(page: Page) -> None:
    rng = random.Random(SEED)
    cases, expected = [], []
    for _ in range(300):
        drawn = [replace(one, rule=None) for one in draw_manifest(rng).questions]
        # Some neighbouring questions can be rows of one page; others only look as if they could.
        copies = [one for one in drawn for _ in range(rng.randint(1, 10))]
        questions = [
            replace(one, name=f"q{number}", together=rng.random() < 0.8)
            for number, one in enumerate(copies)
        ]
        cases.append(serialize_manifest(make_manifest(*questions)).decode())
        expected.append([name for grid in list_grids(drop_marks(questions)) for name in cut(grid)])
    assert page.evaluate(ARRANGE, cases) == expected


def cut(grid: list[ManifestQuestion]) -> list[list[str]]:
    """List the names on each page: rows are spread evenly, and no page is shorter than the last."""
    count = -(-len(grid) // MOST_ROWS)
    ends = [-(-len(grid) * i // count) for i in range(count + 1)]
    return [[one.name for one in grid[start:end]] for start, end in pairwise(ends)]
