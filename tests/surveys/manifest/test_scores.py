"""Scores: totals, their carriers, what they reveal, and inconsistent manifests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import log
from random import Random
from typing import Any

import pytest

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import with_strength
from surveys.manifest.scores import Output, Score, ScoredItem, ScoredOption
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from tests.support.manifests import make_manifest
from tests.support.scores import carry, chances, draw_score
from tests.vectors import make_scores

PHQ = Score(
    items=tuple(ScoredItem(text=f"Item {number}") for number in range(9)),
    options=tuple(ScoredOption(text=f"{value} days", value=value) for value in range(4)),
)


def as_score(raw: dict[str, Any]) -> Score:
    return Score(
        items=tuple(ScoredItem(**one) for one in raw["items"]),
        options=tuple(ScoredOption(**one) for one in raw["options"]),
        bounds=tuple(raw.get("bounds", ())),
    )


def test_totals_and_codes_are_those_of_the_vectors() -> None:
    stored = json.loads(make_scores.PATH.read_text())
    assert stored == json.loads(json.dumps(make_scores.cases()))
    for vector in stored:
        score = as_score(vector["score"])
        assert score.find_problem() == ""
        for case in vector["cases"]:
            assert score.find_answer(case["chosen"]) == case["answer"]
        ends = [score.find_total(chosen) for chosen in _list_ends(score)]
        assert ends == [score.minimum, score.maximum]


def _list_ends(score: Score) -> Iterator[list[int]]:
    """Yield the answers with the smallest and the largest total."""
    values = [one.value for one in score.options]
    low, high = values.index(min(values)), values.index(max(values))
    for first, last in ((low, high), (high, low)):
        yield [last if item.reversed else first for item in score.items]


@pytest.mark.parametrize("refusal", [False, True])
@pytest.mark.parametrize("output", Output)
def test_no_two_sets_of_answers_differ_by_more_than_epsilon(output: Output, refusal: bool) -> None:
    """All totals of a scale with gaps are compared, computed from all combinations of answers."""
    scale = Score(
        items=(
            ScoredItem(text="a", weight=3),
            ScoredItem(text="b", reversed=True),
            ScoredItem(text="c", weight=7),
        ),
        options=tuple(ScoredOption(text=f"{value}", value=value) for value in (-2, 0, 5)),
        bounds={Output.TOTAL: (), Output.BANDS: (-3, 20), Output.CUT_OFF: (6,)}[output],
    )
    question = carry(scale, output, name="q1", refusal=refusal)
    answers = {scale.find_answer(chosen) for chosen in product(range(3), repeat=3)}
    codes = [chances(question, answer) for answer in (*answers, *[None] * refusal)]
    losses = [
        max(abs(log(one / other)) for one, other in zip(first, second, strict=True))
        for first, second in product(codes, repeat=2)
    ]
    assert max(losses) <= question.epsilon <= max(losses) + 1e-9
    assert make_manifest(question).epsilon == pytest.approx(question.epsilon)


def test_a_score_is_frozen_with_its_items_and_other_manifests_keep_their_bytes() -> None:
    question = carry(replace(PHQ, bounds=(10,)), Output.CUT_OFF, name="q1")
    manifest = make_manifest(question)
    content = serialize_manifest(manifest)
    raw = json.loads(content)["questions"][0]
    assert raw["score"]["items"][0] == {"text": "Item 0"}
    assert raw["score"]["options"][0] == {"text": "0 days", "value": 0}
    assert (raw["type"], raw["k"], raw["score"]["bounds"]) == ("yes_no", 2, [10])
    assert parse_manifest(content) == manifest
    assert b"score" not in serialize_manifest(make_manifest(replace(question, score=None)))


CONTRADICTIONS: list[tuple[Output, dict[str, Any]]] = [
    (Output.TOTAL, {"maximum": 28}),
    (Output.TOTAL, {"minimum": 1}),
    (Output.TOTAL, {"score": replace(PHQ, items=PHQ.items[:8])}),
    (Output.TOTAL, {"score": replace(PHQ, bounds=(3,))}),
    (Output.TOTAL, {"score": replace(PHQ, items=PHQ.items[:1]), "maximum": 3}),
    (Output.TOTAL, {"score": replace(PHQ, items=PHQ.items * 4), "maximum": 108}),
    (Output.TOTAL, {"score": replace(PHQ, options=PHQ.options[:1]), "maximum": 0}),
    (Output.BANDS, {"score": PHQ}),
    (Output.BANDS, {"score": replace(PHQ, bounds=(10, 5))}),
    (Output.BANDS, {"score": replace(PHQ, bounds=(5, 5))}),
    (Output.BANDS, {"score": replace(PHQ, bounds=(0, 5))}),
    (Output.BANDS, {"score": replace(PHQ, bounds=(5, 28))}),
    (Output.BANDS, {"minimum": 0, "maximum": 27}),
    (Output.CUT_OFF, {"score": PHQ}),
    (Output.CUT_OFF, {"score": replace(PHQ, bounds=(5, 10))}),
]


@pytest.mark.parametrize(("output", "changes"), CONTRADICTIONS)
def test_a_question_that_contradicts_its_items_is_refused(
    output: Output, changes: dict[str, Any]
) -> None:
    bounds = {Output.TOTAL: (), Output.BANDS: (5, 10), Output.CUT_OFF: (10,)}[output]
    question = carry(replace(PHQ, bounds=bounds), output, name="q1")
    with pytest.raises(ValueError, match="score of q1"):
        replace(question, **changes)


def test_scores_have_the_figures_of_what_carries_them() -> None:
    """Only coins, the parts of the page and the wording may differ."""
    random = Random(41)
    for _ in range(200):
        output = random.choice(list(Output))
        score = draw_score(random, output=output)
        question = carry(score, output, name="q1", refusal=random.random() < 0.5)
        plain = with_strength(replace(question, score=None), flips=25)
        one, other = (make_manifest(each, coins=True) for each in (question, plain))
        assert one.symbols == other.symbols
        assert one.ledger == other.ledger
        assert one.drawn_epsilon == other.drawn_epsilon
        assert one.coin_questions == ()
        assert len(other.coin_questions) == (plain.k == 2 and plain.is_yes_or_no)


def test_what_totals_can_be_reached() -> None:
    scale = Score(
        items=(ScoredItem(text="a", weight=2), ScoredItem(text="b", weight=4)),
        options=tuple(ScoredOption(text=f"{value}", value=value) for value in (0, 3)),
    )
    reached = {scale.find_total(chosen) for chosen in product(range(2), repeat=2)}
    assert reached == {0, 6, 12, 18}
    for low, high in product(range(19), repeat=2):
        if low <= high:
            is_reached = any(low <= total <= high for total in reached)
            assert scale.is_reachable(low, high) == is_reached


def test_a_manifest_with_a_score_is_one_block() -> None:
    manifest: Manifest = make_manifest(
        *(carry(PHQ, Output.TOTAL, name=f"q{number}") for number in (1, 2, 3)), drawn=1
    )
    assert manifest.block_count == 3
    assert len(manifest.symbols) == 3
