"""The proposed background contains no group of few people, and keeps as much detail as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from aggregator.background.levels import Background
from aggregator.background.proposing import Proposal
from aggregator.background.proposing import propose as propose_among
from aggregator.batches.combinations import Combinations, list_declared
from aggregator.results.groups.small_groups import hide_small_groups
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from tests.support.factories import YES_NO
from tests.support.manifests import make_manifest

SEED = 20261124


def propose(manifest: Manifest, found: Combinations) -> Proposal:
    """Propose a background, given that pages show the group sizes of all declared questions."""
    return propose_among(manifest, found, told=[one.name for one in list_declared(manifest)])


def declare(
    sizes: Sequence[int], *, refusal: bool = False, blocks: int = 1, drawn: int | None = None,
    planned: Sequence[str] = (), display_minimum: int = 10, rule: Any = None,
) -> Manifest:  # fmt: skip
    """Make a declared question for each number of options, and a yes/no question per block."""
    declared = [
        ManifestQuestion(
            name=f"q{number}", type=QuestionType.DECLARED, text="?", refusal=refusal,
            options=tuple(Option(code=code, text=str(code)) for code in range(size)),
        )
        for number, size in enumerate(sizes, 1)
    ]  # fmt: skip
    scrambled = [
        ManifestQuestion(
            name=f"s{block}", type=QuestionType.YES_NO, text="?", options=YES_NO, rule=rule
        )
        for block in range(blocks)
    ]
    return make_manifest(
        *declared,
        *(with_strength(one, flips=25) for one in scrambled),
        display_minimum=display_minimum,
        drawn=drawn,
        planned_comparisons=tuple(("s0", name) for name in planned),
    )


def count(people: Mapping[tuple[int, ...], int], *, masks: int = 0) -> Combinations:
    """Build combinations from the number of people in each. Each key lists the masks first."""
    people = {codes: number for codes, number in people.items() if number}
    rows = np.array(list(people), dtype=np.uint8)
    sizes = np.array(list(people.values()), dtype=np.int64)
    return Combinations(masks=rows[:, :masks], declared=rows[:, masks:], people=sizes)


def count_one(*people: int) -> Combinations:
    """Build the combinations of one declared question from the number of people per answer."""
    return count({(code,): number for code, number in enumerate(people)})


def list_levels(proposal: Proposal) -> dict[str, tuple[tuple[int, ...], ...]]:
    return {one.question: one.levels for one in proposal.background}


def count_cells(background: Background, found: Combinations) -> dict[Any, int]:
    """Count the people with each combination of masks and levels that a file distinguishes."""
    cells: dict[Any, int] = {}
    for mask, codes, people in zip(found.masks, found.declared, found.people, strict=True):
        told = [
            next(level for level in one.levels if codes[int(one.question[1:]) - 1] in level)
            for one in background
        ]
        cell = (*mask.tolist(), *told)
        cells[cell] = cells.get(cell, 0) + int(people)
    return cells


def test_the_only_question_keeps_all_groups_that_pages_show() -> None:
    proposal = propose(declare([3]), count_one(30, 40, 50))
    assert list_levels(proposal) == {"q1": ((0,), (1,), (2,))}
    assert proposal.smallest == 30


def test_groups_that_no_page_shows_are_one_level() -> None:
    proposal = propose(declare([5]), count_one(100, 5, 100, 40, 100))
    assert list_levels(proposal) == {"q1": ((0,), (1, 3), (2,), (4,))}
    assert proposal.background[0].hidden == {1, 3}
    assert proposal.smallest == 45


def test_an_answer_that_nobody_gave_stays_by_itself() -> None:
    """The counts show that nobody gave this answer, so keeping the answer reveals nothing more."""
    proposal = propose(declare([3]), count_one(60, 0, 70))
    assert list_levels(proposal) == {"q1": ((0,), (1,), (2,))}


ASKED_FIRST, ASKED_SECOND = (1, 0), (0, 1)
FEW_OF_THE_SECOND_ANSWER = count(
    {
        (*mask, code): people
        for mask, sizes in ((ASKED_FIRST, (35, 20, 40, 40)), (ASKED_SECOND, (35, 40, 40, 50)))
        for code, people in enumerate(sizes)
    },
    masks=2,
)


@pytest.mark.parametrize(
    ("planned", "levels"),
    [
        ((), ((0, 1), (2,), (3,))),  # merges with the smaller neighbour
        (("q1.0",), ((0,), (1, 2), (3,))),
        (("q1.0", "q1.2"), ((0,), (1, 3), (2,))),
        (("q1.1",), ((0, 1), (2,), (3,))),  # too few people for a level
    ],
)
def test_few_people_merge_with_a_neighbour_but_not_with_a_planned_answer(
    planned: Sequence[str], levels: Any
) -> None:
    manifest = declare([4], blocks=2, drawn=1, planned=planned)
    assert list_levels(propose(manifest, FEW_OF_THE_SECOND_ANSWER)) == {"q1": levels}


HALVES = count({(0, 0): 20, (0, 1): 20, (1, 0): 20, (1, 1): 20})


@pytest.mark.parametrize(("planned", "name"), [((), "q1"), (("q2.1",), "q2")])
def test_a_question_that_can_keep_nothing_is_not_offered(planned: Sequence[str], name: str) -> None:
    """Either question could enter, but not both: the planned one does, or else the first."""
    proposal = propose(declare([2, 2], planned=planned), HALVES)
    assert list_levels(proposal) == {name: ((0,), (1,))}
    assert proposal.smallest == 40


@pytest.mark.parametrize(
    ("rule", "told", "names"),
    [
        (None, ["q2"], ["q2"]),
        (None, ["q1", "q2"], []),  # the sizes of both together would reveal one person
        ({"name": "q1", "is": [2]}, ["q2"], []),
        (
            {"name": "q1", "is": [0]},
            ["q2"],
            ["q2"],
        ),  # too few people satisfy the rule for any figure
    ],
)
def test_a_question_whose_rows_and_other_figures_leave_one_person_does_not_enter(
    rule: Any, told: Sequence[str], names: Sequence[str]
) -> None:
    found = count({(0, 1): 1, (1, 0): 300, (2, 1): 300})
    proposal = propose_among(declare([3, 2], rule=rule), found, told=told)
    assert list(list_levels(proposal)) == names


def test_three_in_a_hundred_who_decline_everywhere_cost_no_question() -> None:
    generator = np.random.default_rng(SEED)
    codes = generator.choice(3, size=(2000, 3), p=[0.5, 0.47, 0.03]).astype(np.uint8)
    found = Combinations(masks=codes[:, :0], declared=codes, people=np.ones(2000, dtype=np.int64))
    proposal = propose(declare([2, 2, 2], refusal=True), found)
    levels = list_levels(proposal)
    assert list(levels) == ["q1", "q2", "q3"]
    assert all(len(own) >= 2 for own in levels.values())
    assert min(count_cells(proposal.background, found).values()) == proposal.smallest >= 30


def test_blocks_that_few_people_share_have_files_of_their_own() -> None:
    found = count({(1, 0, 0): 29, (0, 1, 0): 31, (0, 1, 1): 40}, masks=2)
    proposal = propose(declare([2], blocks=2, drawn=1), found)
    assert proposal == Proposal(background=(), smallest=29, has_files_of_blocks=True)


def draw_survey(generator: np.random.Generator) -> tuple[Manifest, Combinations]:
    """Draw a survey and its people; the sizes of groups and blocks differ widely."""
    sizes = generator.integers(2, 10, size=generator.integers(0, 5)).tolist()
    blocks = int(generator.integers(2, 5))
    drawn = int(generator.integers(1, blocks + 1))
    manifest = declare(
        sizes, refusal=bool(generator.integers(2)), blocks=blocks,
        drawn=None if drawn == blocks else drawn, display_minimum=int(generator.integers(10, 61)),
    )  # fmt: skip
    people = int(generator.integers(manifest.crowd, 40 * manifest.crowd))
    subsets = list(combinations(range(blocks), drawn)) if drawn < blocks else []
    masks = np.array([[block in one for block in range(blocks)] for one in subsets], dtype=np.uint8)
    masks = masks[generator.integers(len(subsets), size=people)] if subsets else masks
    declared = [
        generator.choice(one.k, size=people, p=generator.dirichlet(np.full(one.k, 0.6)))
        for one in manifest.questions
        if one.is_declared
    ]
    return manifest, Combinations(
        masks=masks.reshape(people, -1),
        declared=np.array(declared, dtype=np.uint8).reshape(len(sizes), people).T,
        people=np.ones(people, dtype=np.int64),
    )


def test_nobody_is_among_few_in_200_random_surveys() -> None:
    offered = levels = 0
    for seed in range(200):
        manifest, found = draw_survey(np.random.default_rng([SEED, seed]))
        proposal, total = propose(manifest, found), int(found.people.sum())
        for place, one in enumerate(manifest.questions):
            own = [level for level in proposal.background if level.question == one.name]
            if own:
                people = np.bincount(found.declared[:, place], minlength=one.k).tolist()
                assert own[0].hidden == hide_small_groups(people, minimum=manifest.crowd)
        if proposal.has_files_of_blocks:
            assert proposal.background == ()
            assert min(count_cells((), found).values()) < manifest.crowd
            continue
        cells = count_cells(proposal.background, found)
        for size in cells.values():
            assert size >= manifest.crowd
            assert total - size == 0 or total - size >= manifest.crowd
        assert proposal.smallest == min(cells.values())
        offered += len(proposal.background)
        levels += sum(len(one.levels) for one in proposal.background)
    # The test would prove little if hardly anything were proposed.
    assert offered > 100
    assert levels > 2 * offered


def test_a_proposal_depends_on_the_counts_alone() -> None:
    generator = np.random.default_rng(SEED)
    manifest, found = draw_survey(np.random.default_rng([SEED, 2]))
    order = generator.permutation(len(found.people))
    shuffled = Combinations(
        masks=found.masks[order], declared=found.declared[order], people=found.people[order]
    )
    assert propose(manifest, shuffled) == propose(manifest, found)
