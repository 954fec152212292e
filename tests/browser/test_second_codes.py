"""Second codes of scales: the page computes them as Python does, and asks each scale once."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from aggregator.models import RawReport
from surveys.manifest.manifest import NOT_DRAWN
from surveys.manifest.scores import Output
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Wave
from tests.support.browser.accessibility import find_violations
from tests.support.browser.every_type import REFUSED, ask
from tests.support.browser.modules import loading
from tests.support.browser.scales import BANDS, NEVER, OFTEN, SCALE, SOME, describe
from tests.support.browser.visit import NEXT, SENT, Visitor, press, status
from tests.support.factories import make_survey, open_survey
from tests.support.manifests import make_manifest
from tests.support.scores import carry, draw_pair, draw_score

# Returns both codes for each list of chosen answers, and the blocks, or null where refused.
COUNT = """async (cases) => {
    const { additions } = await import("/visit/additions.js");
    const { checkManifest } = await import("/report/manifest.js");
    const { markDrawn } = await import("/report/drawing.js");
    additions.drawPart = async (_, { questions }) => markDrawn(questions, [1]);
    await import("/parts/score.js");
    await import("/parts/second.js");
    const found = [];
    for (const { manifest, chosen } of cases) {
      try {
        checkManifest(manifest);
        additions.readScores(manifest);
        await additions.drawPart(null, manifest);
        const scores = manifest.questions.filter(({ count }) => count);
        found.push({
          blocks: manifest.questions.map(({ block }) => block),
          drawn: manifest.questions.map(({ isDrawn }) => isDrawn),
          codes: chosen.map((one) => scores.slice(-2).map(({ count }) => count(one))),
        });
      } catch {
        found.push(null);
      }
    }
    return found;
}"""


@pytest.fixture
def parts(chromium: Browser) -> Any:
    with loading(chromium) as load:
        yield load({})


def test_the_page_and_python_compute_the_same_codes_and_blocks(parts: Page) -> None:
    random = Random(80)
    manifests, cases, expected = [], [], []
    for _ in range(40):
        first = carry(draw_score(random, output=Output.CUT_OFF), Output.CUT_OFF, name="q1")
        pair = draw_pair(random, names=("q2", "q3"), refusal=random.random() < 0.5)
        manifest = make_manifest(first, *pair, drawn=1)
        score, other = (one.score for one in pair)
        assert score is not None
        assert other is not None
        chosen = [[random.randrange(len(score.options)) for _ in score.items] for _ in range(50)]
        manifests.append(manifest)
        cases.append({"manifest": json.loads(serialize_manifest(manifest)), "chosen": chosen})
        expected.append([[score.find_answer(one), other.find_answer(one)] for one in chosen])
    found = parts.evaluate(COUNT, cases)
    assert [one["codes"] for one in found] == expected
    for manifest, one in zip(manifests, found, strict=True):
        assert one["blocks"] == list(manifest.blocks.values())
        assert one["drawn"] == [False, True, True]


def test_a_second_code_that_contradicts_its_scale_is_refused(parts: Page) -> None:
    random = Random(1)
    first = carry(draw_score(random), Output.TOTAL, name="q1")
    pair = draw_pair(random, names=("q2", "q3"), outputs=(Output.TOTAL, Output.CUT_OFF))
    raw = json.loads(serialize_manifest(make_manifest(first, *pair, drawn=1)))
    changes: list[dict[str, Any]] = [
        {},
        {"refusal": True, "k": 3},
        {"rule": {"name": "q1", "is": []}, "k": 3},
        {"score": {"of": "q9", "bounds": [1]}},
        {"score": {"of": "q3", "bounds": [1]}},
        {"score": {"of": "q2", "bounds": [-100_000]}},
        {"score": {"of": "q2", "bounds": []}},
        {"type": "several"},
    ]
    cases = []
    for change in changes:
        copy = json.loads(json.dumps(raw))
        copy["questions"][2] |= change
        cases.append({"manifest": copy, "chosen": []})
    # Each code alone is allowed, but both together reveal too much.
    loose = json.loads(json.dumps(raw))
    for one in loose["questions"][1:]:
        one["threshold"] = 2**32 - 2**16
    _, scale, second = raw["questions"]
    total = scale | {"name": "q4", "score": {"of": "q2"}}
    third = raw | {"questions": [*raw["questions"], second | {"name": "q4"}]}
    twice = raw | {"questions": [scale, total]}
    more = json.loads(json.dumps([loose, third, twice]))
    cases += [{"manifest": one, "chosen": []} for one in more]
    found = parts.evaluate(COUNT, cases)
    assert [one is not None for one in found] == [True] + [False] * (len(cases) - 1)


def make_pair(*, items: int = 0, more: int = 0, **settings: Any) -> Wave:
    """Make a scale that sends its total and its band, and a question that depends on the band."""
    survey = make_survey(title="Stress", questions=("Is it cold?",), **settings)
    asked = describe("Working,")
    if items:
        asked["scored_items"] = [f"Item {number}" for number in range(items)]
    scale = ask(survey, SCALE, type="score", **asked, output="total", refusal=True)
    bands = BANDS if not items else [f"0–9 {BANDS[0]}", f"10–{3 * items} {BANDS[1]}"]
    second: dict[str, Any] = {"type": "second", "same_fact": scale.pk, "options": bands}
    banded = ask(survey, "Stress in bands", **second, output="bands")
    rule = {"name": f"{banded.pk}", "is": [1]}
    ask(survey, "Did it get worse?", type="yes_no", rule=rule)
    for number in range(more):
        ask(survey, f"Number {number}?", flips=46)
    return open_survey(survey=survey)


def fill(page: Page, *answers: str) -> None:
    for item, answer in zip(page.locator(".item").all(), answers, strict=True):
        item.get_by_label(answer, exact=True).check()


def told(page: Page) -> list[str]:
    rows = page.locator("dl.checks dd:first-of-type").all_inner_texts()
    return [" ".join(row.split()) for row in rows]


def test_a_scale_is_asked_once_and_both_codes_are_sent(visitor: Visitor) -> None:
    page = visitor.open(make_pair())
    press(page, "Start")
    press(page, "Yes")
    expect(page.locator("#odds")).to_contain_text("Only your total and which of the 3 bands")
    fill(page, SOME, NEVER, SOME)  # 1 + 3 + 2: the middle band, on which a question depends
    press(page, NEXT)
    expect(page.get_by_role("heading", level=1)).to_have_text("Did it get worse?")
    press(page, "No")
    rows = told(page)
    assert len(rows) == 4
    assert rows[1].startswith("Total: 6 Working,")
    assert rows[2] == "Total: 5–8 Middle"
    assert find_violations(page) == []
    page.locator("dl.checks .again").nth(2).click()  # goes back to the scale
    assert page.locator(".item :checked").count() == 3
    fill(page, OFTEN, NEVER, OFTEN)
    press(page, NEXT)
    rows = told(page)
    assert (rows[1][:9], rows[2], len(rows)) == ("Total: 12", "Total: 9–12 High", 3)
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert len(json.loads(visitor.bodies()[0])["symbols"]) == 4
    page.get_by_text("See what was sent").click()
    receipt = page.locator("dl.letters").inner_text()
    assert "A = 0 · B = 12" in receipt
    assert "A = 0–4 Low · B = 5–8 Middle · C = 9–12 High" in receipt


def test_sections_of_a_long_survey_count_what_people_answered(visitor: Visitor) -> None:
    page = visitor.open(make_pair(more=12))
    press(page, "Start")
    press(page, "Yes")
    fill(page, SOME, NEVER, SOME)
    press(page, NEXT)
    for _ in range(13):
        press(page, "No")
    expect(page.locator(".folded summary")).to_have_text(
        ["Questions 1–10 (9)", "Questions 11–16 (6)"]
    )


def test_declining_a_long_scale_declines_both_codes_until_it_is_answered(visitor: Visitor) -> None:
    page = visitor.open(make_pair(items=9))
    press(page, "Start")
    press(page, "Yes")
    page.get_by_label(REFUSED, exact=True).check()
    press(page, NEXT)
    assert told(page)[1:] == [REFUSED] * len(told(page)[1:])
    page.locator("dl.checks .again").nth(1).click()
    for chosen in ([OFTEN] * 5, [SOME] * 4):
        fill(page, *chosen)
        press(page, NEXT)
    press(page, "No")
    assert any(row.startswith("Total: 10–27") for row in told(page))
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    assert len(RawReport.objects.get().symbols) == 4


def test_a_random_part_has_both_codes_or_none(visitor: Visitor) -> None:
    page = visitor.open(make_pair(drawn=1))
    press(page, "Start")
    if page.locator(".item").count():
        fill(page, NEVER, OFTEN, NEVER)
        press(page, NEXT)
    else:
        press(page, "Yes")
    press(page, "Submit")
    expect(status(page)).to_have_text(SENT)
    sent = RawReport.objects.get().symbols
    assert (sent[1] == NOT_DRAWN) == (sent[2] == NOT_DRAWN) != (sent[0] == NOT_DRAWN)
