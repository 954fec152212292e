"""Comparisons across blocks that have files of their own: either all are allowed, or none is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np
import pytest

from aggregator.batches.combinations import Combinations
from aggregator.results.groups.crossings import may_cross_files
from aggregator.results.groups.equations import count_equations
from surveys.authoring.services import add_question
from surveys.models import Question
from tests.support.factories import make_survey, open_survey
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db
SEED = 20261125
FACTORS = range(-2, 3)
Drawn = tuple[int, ...]


def count(people: Mapping[Drawn, int], *, blocks: int) -> Combinations:
    people = {drawn: number for drawn, number in people.items() if number}
    masks = [[block in drawn for block in range(blocks)] for drawn in people]
    return Combinations(
        masks=np.array(masks, dtype=np.uint8),
        declared=np.empty((len(people), 0), dtype=np.uint8),
        people=np.array(list(people.values())),
    )


def draw_all(blocks: int, drawn: int, *, people: int, **few: int) -> dict[Drawn, int]:
    """Give each set of blocks `people` people; keywords such as _012 give a set another number."""
    sets = combinations(range(blocks), drawn)
    return {one: few.get("_" + "".join(map(str, one)), people) for one in sets}


def find_fewest(found: Combinations) -> int:
    """Find the fewest people in sums, with small factors, of a block's total and comparisons."""
    sizes = []
    for block in range(found.masks.shape[1]):
        asked = found.find_asked(block)
        # The column of the block itself holds its total.
        functions = found.masks[asked].astype(int) @ _list_factors(found.masks.shape[1])
        sizes += (found.people[asked] @ (functions != 0)).tolist()
    return min(int(size) for size in sizes if size)


def _list_factors(columns: int) -> np.ndarray:
    return np.array(list(product(FACTORS, repeat=columns))).T


@pytest.mark.parametrize(
    ("people", "blocks", "may_cross"),
    [
        (draw_all(5, 2, people=60), 5, True),
        (draw_all(5, 2, people=60, _34=30), 5, True),
        (draw_all(5, 2, people=60, _34=29), 5, False),
        (draw_all(5, 2, people=60, _34=1), 5, False),
        (draw_all(5, 2, people=60, _34=0), 5, True),
        (draw_all(4, 3, people=60, _012=29), 4, False),  # 29 drew block 0 but not block 3
        # Few people drew the same three blocks, but many were asked each pair of blocks.
        (draw_all(5, 3, people=40, _012=1), 5, True),
        # But 01 + 02 - 03 - 04 counts only those who drew 012, less those who drew 034.
        (draw_all(5, 3, people=100, _012=1, _034=1), 5, False),
        (draw_all(5, 3, people=100, _012=14, _034=15), 5, False),
        (draw_all(5, 3, people=100, _012=15, _034=15), 5, True),
    ],
)
def test_blocks_are_compared_if_no_sum_of_comparisons_is_about_few_people(
    people: Mapping[Drawn, int], blocks: int, may_cross: bool
) -> None:
    manifest = make_wave(questions=blocks, drawn=len(next(iter(people)))).description
    found = count(people, blocks=blocks)
    assert may_cross_files(manifest, found) == may_cross == (find_fewest(found) >= manifest.crowd)


def test_the_answer_agrees_with_trying_all_small_factors() -> None:
    generator, answers = np.random.default_rng(SEED), []
    for blocks, drawn in ((4, 2), (5, 3)):
        manifest = make_wave(questions=blocks, drawn=drawn).description
        sets = list(combinations(range(blocks), drawn))
        for _ in range(30):
            shares = generator.dirichlet(np.full(len(sets), 2.0))
            people = generator.multinomial(generator.integers(200, 900), shares)
            found = count(dict(zip(sets, people.tolist(), strict=True)), blocks=blocks)
            answers.append(may_cross_files(manifest, found))
            assert answers[-1] == (find_fewest(found) >= manifest.crowd)
    assert 10 < sum(answers) < 50


def test_a_block_of_many_equations_needs_ten_people_for_each() -> None:
    survey = make_survey(questions=("Ill?", "Late?", "Sad?"), drawn=2)
    rule = {"name": str(survey.questions.get(position=1).pk), "is": [1]}
    add_question(
        survey=survey, type=Question.Type.SCALE, text="How?", rule=rule,
        minimum=1, maximum=5, low_label="Never", high_label="Always",
    )  # fmt: skip
    manifest = open_survey(survey=survey).description
    needed = 10 * count_equations(manifest, block=manifest.blocks["q1"])
    assert needed == 10 * (1 + 5 + 5)
    for people, may_cross in ((needed, True), (needed - 1, False)):
        found = count({(0, 1): people, (0, 2): needed, (1, 2): manifest.crowd}, blocks=3)
        assert may_cross_files(manifest, found) == may_cross
