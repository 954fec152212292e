"""Breakdowns of several questions together reveal nothing about few people."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from aggregator.background.levels import Levels, write_background
from aggregator.batches.combinations import Combinations
from aggregator.comparisons.breakdown.together import find_broken_down
from aggregator.comparisons.jobs import FEW_TOGETHER
from aggregator.models import Comparison, RowsFile
from aggregator.upkeep.verification.waves import check_rows_file
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest
from surveys.models import Question
from tests.support.breakdowns.waves import finish, send_rows
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey

LARGE = 200
LISTS = ("q3", "q4", "q5")
# The number of people with each combination of answers to three lists. Only one person gave
# different answers to the first two.
ONE_DIFFERENT = {(0, 0, 0): LARGE, (0, 0, 1): LARGE, (1, 1, 0): LARGE, (1, 1, 1): LARGE,
                 (1, 0, 1): 1}  # fmt: skip
SAME = {codes: people for codes, people in ONE_DIFFERENT.items() if people == LARGE}


def make_manifest(*, drawn: int | None = None) -> Manifest:
    survey = make_survey(questions=("Ill?", "Late?"), drawn=drawn, display_minimum=10)
    for number in range(3):
        add_question(survey=survey, type=Question.Type.DECLARED, text=f"List {number}?",
                     options=["A", "B"])  # fmt: skip
    return open_survey(survey=survey).description


def count(
    people: Mapping[tuple[int, ...], int], *, masks: np.ndarray | None = None
) -> Combinations:
    rows = np.array(list(people), dtype=np.uint8)
    return Combinations(
        masks=rows[:, :0] if masks is None else masks,
        declared=rows,
        people=np.array(list(people.values())),
    )


def choose(*names: str, has_files_of_blocks: bool = False) -> RowsFile:
    background = tuple(
        Levels(question=name, levels=((0,), (1,)), hidden=frozenset()) for name in names
    )
    return RowsFile(chosen=write_background(background), has_files_of_blocks=has_files_of_blocks)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("people", "chosen", "shown"),
    [
        (SAME, (), {"q3", "q4", "q5"}),
        (ONE_DIFFERENT, (), {"q3", "q5"}),  # of q3 and q4, the first in the survey is kept
        (ONE_DIFFERENT, ("q4",), {"q5"}),  # the file of rows already has q4
        (ONE_DIFFERENT, ("q5",), {"q3"}),
        (SAME, ("q4",), {"q3", "q5"}),
    ],
)
def test_a_list_that_differs_for_one_person_is_not_broken_down(
    people: Mapping[tuple[int, ...], int], chosen: tuple[str, ...], shown: set[str]
) -> None:
    assert (
        set(find_broken_down(make_manifest(), count(people), choose(*chosen), told=LISTS)) == shown
    )


@pytest.mark.django_db
@pytest.mark.parametrize("has_files_of_blocks", [False, True])
@pytest.mark.parametrize(("asked_too", "shown"), [(0, {"q3", "q5"}), (LARGE, {"q3", "q4", "q5"})])
def test_people_who_were_asked_another_block_hide_nobody(
    asked_too: int, shown: set[str], has_files_of_blocks: bool
) -> None:
    """Two lists differ for many people in the second block, and for one or many in the first."""
    first = {**ONE_DIFFERENT, (1, 0, 1): 1 + asked_too}
    second = {**SAME, (1, 0, 1): LARGE}
    masks = np.array([[1, 0]] * len(first) + [[0, 1]] * len(second), dtype=np.uint8)
    found = Combinations(
        masks=masks,
        declared=np.array([*first, *second], dtype=np.uint8),
        people=np.array([*first.values(), *second.values()]),
    )
    rows_file = choose(has_files_of_blocks=has_files_of_blocks)
    assert set(find_broken_down(make_manifest(drawn=1), found, rows_file, told=LISTS)) == shown


@pytest.mark.django_db
@pytest.mark.parametrize(("crosses", "shown"), [(False, {"q3"}), (True, set())])
def test_a_list_that_nearly_says_who_was_asked_another_block_is_not_broken_down(
    crosses: bool, shown: set[str]
) -> None:
    """All who said A were also asked the second block, but only one of those who said B was."""
    people = {(1, 0): LARGE, (1, 1): 1, (0, 1): LARGE}
    found = Combinations(
        masks=np.array([[1, second] for second, _ in people], dtype=np.uint8),
        declared=np.array([[said, 0, 0] for _, said in people], dtype=np.uint8),
        people=np.array([*people.values()]),
    )
    rows_file = choose(has_files_of_blocks=True)
    rows_file.crosses_files = crosses
    told = find_broken_down(make_manifest(drawn=1), found, rows_file, told=("q3",))
    assert set(told) == shown


@pytest.mark.django_db
def test_the_owner_reads_why_there_is_no_break_down() -> None:
    survey = make_survey(questions=("Ill?",), display_minimum=10)
    for number in range(2):
        add_question(survey=survey, type=Question.Type.DECLARED, text=f"List {number}?",
                     options=["A", "B"])  # fmt: skip
    wave = open_survey(survey=survey)
    rows = [bytes([number % 2, *codes[:2]]) for codes, n in ONE_DIFFERENT.items()
            for number in range(n)]  # fmt: skip
    send_rows(wave, rows)
    finish(wave, background=())
    found = compute(ask(wave, Comparison.Kind.BREAKDOWN, "q3"))
    assert found.state == Comparison.State.FAILED
    assert found.problem == FEW_TOGETHER.format(number=3)
    assert compute(ask(wave, Comparison.Kind.BREAKDOWN, "q2")).state == Comparison.State.DONE
    # The choice is made once for all breakdowns and is verified.
    assert RowsFile.objects.get().broken_down == ["q2"]
    assert list(check_rows_file(wave)) == []
    RowsFile.objects.update(broken_down=["q2", "q3"])
    assert [one.kind for one in check_rows_file(wave)] == ["rows"]
