"""A breakdown says nothing about few people, not even by subtraction."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.background.levels import Background
from aggregator.batches.columns import Columns
from aggregator.comparisons.breakdown.computing import compute_breakdown, find_place
from aggregator.models import RowsFile
from aggregator.results.groups.equations import count_equations
from aggregator.results.groups.small_groups import hide_small_groups
from surveys.authoring.services import add_question
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import (
    break_down,
    count_groups,
    field_people,
    find_question,
    finish,
    make_closed_wave,
    read_rows,
    send_rows,
)
from tests.support.factories import make_survey, open_survey

MINIMUM = 50


def list_told(counts: list[int], hidden: frozenset[int]) -> set[int]:
    """List the sizes of all sets of groups that are sums and differences of shown figures.

    The shown figures are the total and the groups that are not hidden. Coefficients of -1, 0 and 1
    give every set of groups that these figures span, because each group is in the total and in at
    most one other figure.
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
    # A block hides no more than it must: if its groups are large, it shows the same groups as the
    # survey as a whole.
    if all(count >= minimum for count in asked):
        assert in_block == everywhere


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ((60, 70, 80), {0, 1, 2}),
        ((60, 70, 3), {1}),  # the two smallest groups are hidden
        ((60, 0, 80), {0, 2}),  # a group without people is not small
        ((20, 20, 30), set()),
    ],
)
def test_a_random_subset_hides_groups_block_by_block(
    asked: tuple[int, ...], shown: set[int]
) -> None:
    """Of each group of 200, `asked` people were asked the first question, and the rest the second.

    The groups are not in the file of rows.
    """
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
    finish(wave, background=())
    result = break_down(wave, "q3")
    assert [group.n for group in result.groups] == [200, 200, 200]
    assert {one.group for one in result.estimates if one.question == "q1"} == shown
    assert {one.group for one in result.estimates if one.question == "q2"} == {0, 1, 2}
    for one in result.estimates:
        assert one.n >= MINIMUM
    assert {one.group for one in result.differences if one.question == "q1"} <= shown


@pytest.mark.django_db
@pytest.mark.parametrize("background", [None, ()])
def test_what_is_stored_names_no_hidden_group_and_counts_nobody_in_it(
    background: Background | None,
) -> None:
    survey = make_survey(questions=("Ill?",), display_minimum=MINIMUM)
    options = [f"Ward {number}" for number in range(8)]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    sizes = (1, 2, 3, 60, 70, 80, 90, 100)
    send_rows(
        wave,
        [bytes([number % 2, group]) for group, n in enumerate(sizes) for number in range(n)],
    )
    finish(wave, background=background)
    result = break_down(wave, "q2")
    unknown = [(one.code, *one.others) for one in result.groups if one.n is None]
    # The file contains one value for all hidden groups.
    assert unknown == ([(0, 1, 2, 3)] if background is None else [(0,), (1,), (2,), (3,)])
    assert {one.group for one in result.estimates} == {4, 5, 6, 7}
    assert {one.group for one in result.differences} <= {4, 5, 6, 7}


def count_asked(wave: Wave, block: int | None) -> list[int]:
    """Count the people of each group who were asked a block."""
    layout, rows = Columns.of(wave.description), read_rows(wave)
    groups = rows[:, layout.places[find_place(wave.description, wave.description.questions[0])]]
    asked = groups if block is None else groups[rows[:, block] == 1]
    sizes: list[int] = np.bincount(asked, minlength=4).tolist()
    return sizes


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("people", "drawn", "groups"),
    [
        # The groups are Kitchen, Ward, Office, and the people who prefer not to say (a fifth).
        (600, None, set()),
        (850, None, {1, 2}),  # a fifth is 170 people; this group and Kitchen are hidden
        (1200, None, {0, 1, 2, 3}),
        (900, 3, {1, 2}),
        (2000, 3, {0, 1, 2, 3}),
        (2000, 1, {0, 1, 2, 3}),
    ],
)
def test_a_group_outside_of_the_rows_has_ten_people_for_each_equation(
    people: int, drawn: int | None, groups: set[int]
) -> None:
    """Together, the hidden groups also have that many people, in all and in each block."""
    wave = make_closed_wave(people=people, drawn=drawn, background=())
    manifest, result = wave.description, break_down(wave)
    needed = max(manifest.crowd, 10 * count_equations(manifest))
    assert result.least == needed == 220
    sizes = count_asked(wave, None)
    assert [one.n for one in result.groups] == [
        size if code in groups else None for code, size in enumerate(sizes)
    ]
    assert_many_or_nobody(sizes, groups, needed)
    assert result.crossed == ()
    for question in manifest.questions[1:]:
        block = None if drawn is None else manifest.blocks[question.name]
        shown = {one.group for one in result.estimates if one.question == question.name}
        assert shown <= groups
        needed = max(manifest.crowd, 10 * count_equations(manifest, block=block))
        assert_many_or_nobody(count_asked(wave, block), shown, needed)
        differing = {one.group for one in result.differences if one.question == question.name}
        assert differing <= shown


def assert_many_or_nobody(sizes: list[int], shown: set[int], needed: int) -> None:
    hidden = sum(size for group, size in enumerate(sizes) if group not in shown)
    assert all(sizes[group] >= needed for group in shown)
    assert not shown or hidden == 0 or hidden >= needed


@pytest.mark.django_db
def test_where_blocks_have_their_own_files_only_their_own_equations_count() -> None:
    questions = [f"Question {number}?" for number in range(1, 17)]
    survey = make_survey(questions=questions, drawn=8, display_minimum=20, flips=40)
    options = ["North", "South", "East"]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    # Everybody draws eight consecutive questions; question 1 follows question 16.
    drawn = [[(number + start) % 16 < 8 for number in range(16)] for start in range(16)]
    send_rows(
        wave,
        [
            bytes([*(number % 2 if has else NOT_DRAWN for has in drawn[number % 16]), group])
            for group, people in enumerate((100, 100, 50))
            for number in range(people)
        ],
    )
    finish(wave)
    assert RowsFile.objects.get().has_files_of_blocks
    assert count_equations(wave.description) == 16
    result = break_down(wave, "q17")
    assert result.least == wave.crowd == 30
    assert [group.n for group in result.groups] == [100, 100, 50]
    # Of the last group, only about 25 people were asked each question. These are fewer than 30, so
    # the smaller of the other groups is hidden too.
    for name in (f"q{number}" for number in range(1, 17)):
        shown = {one.group: one.n for one in result.estimates if one.question == name}
        assert len(shown) == 1
        assert min(shown.values()) >= 30


@pytest.mark.django_db
def test_sixty_four_groups_and_as_many_questions_as_there_can_be() -> None:
    texts = [f"Question {number}?" for number in range(99)]
    survey = make_survey(questions=texts, flips=45, display_minimum=MINIMUM)
    options = [f"Ward {number}" for number in range(64)]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    field_people(wave, people=64 * 90)
    renewed: list[None] = []
    result = compute_breakdown(
        manifest=wave.description,
        question=find_question(wave.description, "q100"),
        rows_file=RowsFile.objects.get(),
        counts=count_groups(wave, "q100"),
        told=["q100"],
        shown_at=[600, 3000],
        after_each=lambda: renewed.append(None),
    )
    assert len(renewed) == len(result.shown) == 64
    assert len(result.estimates) == 64 * 99
