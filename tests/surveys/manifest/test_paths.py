"""The number of pages of the shortest and the longest path through the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.manifest.manifest import Manifest
from surveys.manifest.paths import PathLengths
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.rules import holds, leaves
from tests.support.label import make, survey

YES = {"name": "q1", "is": [1]}
NO = {"name": "q1", "is": [0]}
FIVE = tuple(Option(code=code, text=str(code)) for code in range(1, 6))


def lengths(*questions: ManifestQuestion, drawn: int | None = None) -> tuple[int, int]:
    paths = replace(survey(*questions), drawn=drawn).paths
    assert paths.is_exact
    return paths.shortest, paths.longest


def yes_no(rule: Any = None, **content: Any) -> ManifestQuestion:
    return make("yes_no", rule=rule, **content)


def texts(count: int, rule: Any) -> list[ManifestQuestion]:
    return [make("information", rule=rule) for _ in range(count)]


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ([yes_no(), yes_no()], (2, 2)),
        # This example revealed the error: ten texts follow a Yes.
        ([yes_no(), *texts(10, YES), *[yes_no()] * 4], (5, 15)),
        ([yes_no(), yes_no(YES), yes_no(NO)], (2, 2)),
        ([yes_no(refusal=True), yes_no(YES), yes_no(NO)], (1, 2)),
        ([yes_no(), yes_no({"not": YES}), yes_no({"not": NO})], (2, 2)),
        ([make("follow_up")], (1, 2)),
        ([make("follow_up"), *texts(3, {"name": "q1", "is": [2]})], (1, 5)),
        ([make("follow_up"), *texts(3, NO)], (2, 4)),
        # The second question is not asked after No, and then has no answer.
        ([yes_no(), yes_no(YES), yes_no({"not": {"name": "q2", "is": [1]}})], (2, 3)),
        (
            [yes_no(), yes_no(), yes_no({"all": [YES, {"name": "q2", "is": [1]}]})],
            (2, 3),
        ),
        (
            [yes_no(), yes_no(), yes_no({"any": [YES, {"name": "q2", "is": [1]}]})],
            (2, 3),
        ),
        # At most one of the five items is chosen, so two of them never lead to pages together.
        (
            [
                make("several", options=FIVE, limit=1),
                *texts(2, {"name": "q1_1", "is": [1]}),
                *texts(3, {"name": "q1_2", "is": [1]}),
            ],
            (1, 4),
        ),
        (
            [
                make("several", options=FIVE),
                *texts(2, {"name": "q1_1", "is": [1]}),
                *texts(3, {"name": "q1_2", "is": [1]}),
            ],
            (1, 6),
        ),
    ],
)
def test_pages_are_counted_along_every_path(
    questions: list[ManifestQuestion], expected: tuple[int, int]
) -> None:
    assert lengths(*questions) == expected


@pytest.mark.parametrize(("behind", "much"), [(2, False), (3, True)])
def test_more_than_two_pages_are_much(behind: int, much: bool) -> None:
    assert survey(yes_no(), *texts(behind, YES)).paths.differ_much is much


def test_of_a_random_subset_the_blocks_that_differ_most_count() -> None:
    chain = [yes_no(), *[yes_no(YES)] * 3, yes_no(), yes_no(), *texts(2, {"name": "q6", "is": [1]})]
    assert lengths(*chain, drawn=1) == (1, 4)
    assert lengths(*chain, drawn=2) == (2, 7)
    # Information text without a rule is in no block, so everyone reads it.
    assert lengths(*chain, make("information"), drawn=1) == (2, 5)


def test_blocks_that_an_unscrambled_question_ties_give_a_bound() -> None:
    declared = make("declared")
    tied = [yes_no({"name": "q1", "is": [0]}), yes_no({"name": "q1", "is": [1]}), yes_no()]
    paths = replace(survey(declared, *tied), drawn=2).paths
    assert not paths.is_exact
    # If both of the first two blocks are drawn, exactly one of them has a page. If only one of them
    # is drawn, it may or may not have a page.
    assert paths == PathLengths(shortest=1, longest=3, is_exact=False)


def test_too_many_cases_give_a_bound() -> None:
    count = 20
    everything = {"any": [{"name": f"q{n}", "is": [1]} for n in range(1, count + 1)]}
    odd = [yes_no(refusal=True) for _ in range(count)]
    paths = survey(*odd, *texts(3, everything), *texts(3, {"not": everything})).paths
    assert paths == PathLengths(shortest=count, longest=count + 6, is_exact=False)


def test_a_long_chain_is_counted_exactly() -> None:
    chain = [yes_no(), *[yes_no({"name": f"q{n}", "is": [1]}) for n in range(1, 60)]]
    assert lengths(*chain) == (1, 60)


def walk(questions: tuple[ManifestQuestion, ...], drawn: dict[str, bool]) -> Iterator[int]:
    """Count the pages of every way to answer, as the respondent's page goes through them."""
    if not questions:
        yield 0
        return
    yield from _walk(questions, drawn, {})


def _walk(
    left: tuple[ManifestQuestion, ...], drawn: dict[str, bool], codes: dict[str, int | None]
) -> Iterator[int]:
    if not left:
        yield 0
        return
    first, rest = left[0], left[1:]
    if not drawn[first.name] or (first.rule is not None and not holds(first.rule, codes)):
        yield from _walk(rest, drawn, codes)
        return
    ways: list[tuple[int, dict[str, int | None]]] = []
    if not first.is_answered or first.refusal:
        ways.append((1, {}))
    if first.has_items:
        for chosen in product((0, 1), repeat=len(first.options)):
            if first.limit is None or sum(chosen) <= first.limit:
                ways.append((1, dict(zip(first.answer_names, chosen, strict=True))))
    elif first.is_answered:
        for code in range(first.answers):
            ways.append((1 + (first.described.has_follow_up and code > 0), {first.name: code}))
        if first.described.has_follow_up and first.refusal:
            ways.append((2, {}))  # Yes, and then nothing
    for pages, answer in ways:
        for more in _walk(rest, drawn, {**codes, **answer}):
            yield pages + more


def find_range(manifest: Manifest) -> tuple[int, int]:
    """Return the fewest and the most pages, for the draw in which they differ most."""
    blocks = range(manifest.block_count)
    found = []
    for mine in combinations(blocks, manifest.drawn or len(blocks)):
        drawn: dict[str, bool] = {}
        for question in manifest.questions:
            named = {leaf["name"].split("_")[0] for leaf in leaves(question.rule or {"all": []})}
            drawn[question.name] = (
                manifest.blocks[question.name] in mine
                if question.is_scrambled
                else all(drawn[name] for name in named)
            )
        pages = list(walk(manifest.questions, drawn))
        found.append((max(pages) - min(pages), min(pages), max(pages)))
    _, few, many = max(found)
    return few, many


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    questions: list[ManifestQuestion] = []
    conditions: list[dict[str, Any]] = []
    for number in range(1, draw(st.integers(2, 5)) + 1):
        kind = draw(st.sampled_from(["yes_no", "follow_up", "several", "declared", "information"]))
        rule: dict[str, Any] | None = None
        if conditions and kind != "declared" and draw(st.booleans()):
            parts = draw(st.lists(st.sampled_from(conditions), min_size=1, max_size=2))
            rule = {draw(st.sampled_from(["all", "any"])): parts}
            rule = draw(st.sampled_from([rule, {"not": rule}]))
        refusal = kind != "information" and draw(st.booleans())
        limit = draw(st.sampled_from([None, 1])) if kind == "several" else None
        questions.append(make(kind, rule=rule, refusal=refusal, limit=limit))
        if kind == "several":
            conditions += [{"name": f"q{number}_{item}", "is": [1]} for item in (1, 2)]
        elif kind != "information":
            conditions += [{"name": f"q{number}", "is": [code]} for code in (0, 1)]
    manifest = survey(*questions)
    if manifest.block_count > 1 and draw(st.booleans()):
        return replace(manifest, drawn=draw(st.integers(1, manifest.block_count - 1)))
    return manifest


@given(manifests())
def test_it_agrees_with_every_case(manifest: Manifest) -> None:
    few, many = find_range(manifest)
    paths = manifest.paths
    if paths.is_exact:
        assert paths.longest - paths.shortest == many - few
        if manifest.drawn is None:
            assert (paths.shortest, paths.longest) == (few, many)
    else:
        assert paths.longest - paths.shortest >= many - few


def test_each_item_of_a_score_takes_as_long_as_a_page() -> None:
    asked = make("total", rule=YES)
    assert asked.score is not None
    assert lengths(yes_no(), asked) == (1, 1 + len(asked.score.items))
