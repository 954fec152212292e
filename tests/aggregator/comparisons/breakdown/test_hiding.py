"""What a break down shows says nothing about few people, also not by subtracting."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.comparisons.breakdown.computing import compute_breakdown
from aggregator.comparisons.breakdown.hiding import find_crossing, find_hidden
from aggregator.results.small_groups import hide_small_groups
from surveys.authoring.services import add_question
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question
from tests.support.breakdowns.waves import (
    break_down,
    count_groups,
    field_people,
    find_question,
    finish,
    send_rows,
)
from tests.support.factories import make_survey, open_survey

MINIMUM = 50


def list_told(counts: list[int], hidden: frozenset[int]) -> set[int]:
    """List the sizes of all sets of groups that sums and differences of what is shown single out.

    Shown are the total and the groups that are not hidden. Coefficients of -1, 0 and 1 give every
    set of groups in the span of these, because each group is in one of them and in the total.
    """
    groups = range(len(counts))
    shown = [frozenset(groups), *(frozenset([code]) for code in groups if code not in hidden)]
    told = set()
    for signs in product((-1, 0, 1), repeat=len(shown)):
        members = [
            sum(sign for sign, one in zip(signs, shown, strict=True) if code in one)
            for code in groups
        ]
        if set(members) <= {0, 1}:
            told.add(sum(count for count, member in zip(counts, members, strict=True) if member))
    return told


@given(
    st.lists(st.integers(0, 300), min_size=2, max_size=5),
    st.integers(1, 120),
    st.data(),
)
def test_no_sum_or_difference_singles_out_few_people_in_any_block(
    people: list[int], minimum: int, data: st.DataObject
) -> None:
    everywhere = hide_small_groups(people, minimum=minimum)
    asked = [data.draw(st.integers(0, count)) for count in people]
    in_block = hide_small_groups(asked, minimum=minimum, already=everywhere)
    assert everywhere <= in_block
    assert len(in_block) == len(asked) or all(
        size == 0 or size >= minimum for size in list_told(asked, in_block)
    )
    # A block hides no more than it must: with large groups it shows what the whole shows.
    if all(count >= minimum for count in asked):
        assert in_block == everywhere


@given(
    st.lists(st.lists(st.integers(0, 200), min_size=3, max_size=3), min_size=2, max_size=4),
    st.integers(1, 100),
)
def test_a_crossing_is_shown_only_if_no_sum_of_its_cells_is_small(
    cells: list[list[int]], minimum: int
) -> None:
    crossing = np.array(cells)
    found = find_crossing(crossing, minimum=minimum)
    if found is None:
        return
    hidden, hidden_answers = found
    for group in range(len(cells)):
        row = crossing[group]
        rest = int(row[sorted(hidden_answers)].sum()) if hidden_answers else 0
        sizes = [int(row[code]) for code in range(3) if code not in hidden_answers]
        if group not in hidden:
            assert all(size == 0 or size >= minimum for size in (*sizes, rest))
    together = crossing[sorted(hidden)].sum(axis=0)
    assert all(
        size == 0 or size >= minimum
        for code, size in enumerate(together.tolist())
        if code not in hidden_answers
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ((60, 70, 80), {0, 1, 2}),
        ((60, 70, 3), {1}),  # the smallest is hidden with the next
        ((60, 0, 80), {0, 2}),  # nobody is no small group
        ((20, 20, 30), set()),
    ],
)
def test_a_random_subset_hides_groups_block_by_block(
    asked: tuple[int, ...], shown: set[int]
) -> None:
    """So many of each group of 200 were asked the first question, all others the second one."""
    survey = make_survey(questions=("Ill?", "Late?"), display_minimum=MINIMUM, drawn=1)
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=["A", "B", "C"])
    wave = open_survey(survey=survey)
    rows = [
        bytes([number % 2, NOT_DRAWN, group])
        if number < asked[group]
        else bytes([NOT_DRAWN, number % 2, group])
        for group in range(3)
        for number in range(200)
    ]
    send_rows(wave, rows)
    finish(wave)
    result = break_down(wave, "q3")
    assert [group.n for group in result.groups] == [200, 200, 200]
    assert {one.group for one in result.estimates if one.question == "q1"} == shown
    assert {one.group for one in result.estimates if one.question == "q2"} == {0, 1, 2}
    for one in result.estimates:
        assert one.n >= MINIMUM
    assert {one.group for one in result.differences if one.question == "q1"} <= shown


@pytest.mark.django_db
def test_what_is_stored_names_no_hidden_group_and_counts_nobody_in_it() -> None:
    survey = make_survey(questions=("Ill?",), display_minimum=MINIMUM)
    options = [f"Ward {number}" for number in range(8)]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    sizes = (1, 2, 3, 60, 70, 80, 90, 100)
    send_rows(
        wave,
        [bytes([number % 2, group]) for group, n in enumerate(sizes) for number in range(n)],
    )
    finish(wave)
    hidden = find_hidden(wave.description, count_groups(wave, "q2")).everywhere
    assert hidden == {0, 1, 2, 3}
    result = break_down(wave, "q2")
    assert {group.code for group in result.groups if group.n is None} == hidden
    assert hidden.isdisjoint({one.group for one in result.estimates})
    assert hidden.isdisjoint({one.group for one in result.differences})


@pytest.mark.django_db
@pytest.mark.slow
def test_sixty_four_groups_and_as_many_questions_as_there_can_be() -> None:
    texts = [f"Question {number}?" for number in range(99)]
    survey = make_survey(questions=texts, flips=45, display_minimum=MINIMUM)
    options = [f"Ward {number}" for number in range(64)]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    field_people(wave, people=64 * 90)
    counts = count_groups(wave, "q100")
    renewed: list[None] = []
    result = compute_breakdown(
        manifest=wave.description,
        question=find_question(wave.description, "q100"),
        counts=counts,
        fixed_end=False,
        after_each=lambda: renewed.append(None),
    )
    assert len(renewed) == len(result.shown) == 64
    assert len(result.estimates) == 64 * 99
