"""Second codes of scales: their bytes, what two codes reveal together, and invalid manifests."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import log
from random import Random
from typing import Any

import pytest

from aggregator.simulation.respondents import randomize_answers
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.scores import Output, Score
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from tests.support.manifests import make_manifest
from tests.support.scores import carry, chances, draw_pair, draw_score


def pair_of(random: Random, **content: Any) -> list[ManifestQuestion]:
    return draw_pair(random, names=("q1", "q2"), **content)


def test_a_second_code_is_frozen_without_items_and_read_with_them() -> None:
    first, second = pair_of(Random(1))
    manifest = make_manifest(first, second)
    content = serialize_manifest(manifest)
    [_, raw] = json.loads(content)["questions"]
    assert set(raw["score"]) <= {"of", "bounds"}
    assert (raw["score"]["of"], raw["same_fact"]) == ("q1", "q1")
    assert parse_manifest(content) == manifest
    assert serialize_manifest(parse_manifest(content)) == content


@pytest.mark.parametrize("refusal", [False, True])
@pytest.mark.parametrize("outputs", [(a, b) for a, b in product(Output, Output) if a != b])
def test_no_two_sets_of_answers_differ_by_more_than_the_sum(
    outputs: tuple[Output, Output], refusal: bool
) -> None:
    """The sum bounds both codes together, for all totals of a scale; the label states the sum."""
    pair = pair_of(Random(f"{outputs} {refusal}"), outputs=outputs, refusal=refusal)
    score = pair[0].score
    assert score is not None
    totals = range(score.minimum, score.maximum + 1)
    answers: list[tuple[int | None, ...]] = [tuple(_code(one, t) for one in pair) for t in totals]
    answers += [(None, None)] * refusal
    both = [
        [one * other for one, other in product(*map(chances, pair, given))] for given in answers
    ]
    columns = list(zip(*both, strict=True))
    loss = max(log(max(column) / min(column)) for column in columns)
    manifest = make_manifest(*pair)
    total = sum(one.epsilon for one in pair)
    assert loss <= manifest.epsilon + 1e-12
    assert manifest.epsilon == pytest.approx(total)
    assert [manifest.statement_epsilon(one) for one in pair] == pytest.approx([total, total])


def _code(question: ManifestQuestion, total: int) -> int:
    assert question.score is not None
    bounds = question.score.bounds
    return sum(bound <= total for bound in bounds) if bounds else total


def test_random_manifests_break_no_promise() -> None:
    """In 300 manifests, both codes share a block, a fact and a draw, and their ε are added up."""
    random = Random(80)
    for _ in range(300):
        manifest = draw_manifest(random)
        assert parse_manifest(serialize_manifest(manifest)) == manifest
        first, second = manifest.questions[1:3]
        assert manifest.blocks[first.name] == manifest.blocks[second.name]
        assert manifest.block_count == 2
        assert manifest.statement_epsilon(first) == manifest.statement_epsilon(second)
        together = sum(one.epsilon for one in (first, second))
        assert manifest.epsilon == pytest.approx(max(together, manifest.questions[0].epsilon))
        assert first.score is not None
        items = [random.randrange(len(first.score.options)) for _ in first.score.items]
        answers = {"q1": 0, first.name: None if random.random() < 0.3 else items}
        if not first.refusal:
            answers[first.name] = items
        sent = randomize_answers(manifest, answers, random_uint32=lambda: random.getrandbits(32))
        assert (sent[1] == NOT_DRAWN) == (sent[2] == NOT_DRAWN) != (sent[0] == NOT_DRAWN)


def draw_manifest(random: Random) -> Manifest:
    plain = carry(draw_score(random, output=Output.CUT_OFF), Output.CUT_OFF, name="q1")
    pair = draw_pair(random, names=("q2", "q3"), refusal=random.random() < 0.5)
    return make_manifest(plain, *pair, drawn=1)


CONTRADICTIONS: list[dict[str, Any]] = [
    {"same_fact": ""},
    {"refusal": True},
    {"rule": {"name": "q0", "is": [1]}},
    {"score": {"of": "q2"}},
    {"score": {"of": "q3"}},
    {"score": {"of": "q1", "bounds": [-10_000]}},
    {"score": {"of": "q1", "bounds": []}},
]


@pytest.mark.parametrize("change", CONTRADICTIONS)
def test_a_second_code_that_contradicts_its_scale_is_refused(change: dict[str, Any]) -> None:
    pair = pair_of(Random(3), outputs=(Output.TOTAL, Output.CUT_OFF))
    raw = json.loads(serialize_manifest(make_manifest(*pair)))
    raw["questions"][1] |= change
    with pytest.raises(ValueError, match="score of q2"):
        parse_manifest(json.dumps(raw).encode())


def test_a_scale_has_no_third_code_and_no_code_twice() -> None:
    pair = pair_of(Random(3), outputs=(Output.TOTAL, Output.CUT_OFF))
    raw = json.loads(serialize_manifest(make_manifest(*pair)))
    first, second = raw["questions"]
    total = first | {"name": "q3", "score": {"of": "q1"}, "same_fact": "q1"}
    for questions in ([first, second, second | {"name": "q3"}], [first, total]):
        with pytest.raises(ValueError, match="score of q3: q1 has one or two different codes"):
            parse_manifest(json.dumps(raw | {"questions": questions}).encode())


def test_an_answer_without_items_makes_no_second_code() -> None:
    pair = pair_of(Random(4), outputs=(Output.TOTAL, Output.CUT_OFF))
    with pytest.raises(ValueError, match="items of q1"):
        randomize_answers(make_manifest(*pair), {"q1": 3})


def test_both_codes_are_computed_from_one_set_of_answers() -> None:
    random = Random(5)
    first, second = pair_of(random, outputs=(Output.TOTAL, Output.BANDS))
    assert isinstance(first.score, Score)
    assert isinstance(second.score, Score)
    for _ in range(200):
        chosen = [random.randrange(len(first.score.options)) for _ in first.score.items]
        total = first.score.find_answer(chosen)
        assert second.score.find_answer(chosen) == _code(second, total)
    assert replace(second.score, of="", bounds=()) == first.score
