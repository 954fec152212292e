"""What can be compared, and when, depending on the chosen background of the rows."""

from __future__ import annotations

import pytest

from aggregator.background.levels import Levels, write_background
from aggregator.comparisons.choice import (
    BLOCKS_APART,
    CHOOSE_FIRST,
    GROUPS_AFTER_CLOSE,
    MERGED,
    NOT_IN_ROWS,
    PREPARING,
    TWO_BLOCKS,
    check_choice,
)
from aggregator.models import Comparison, RowsFile
from surveys.comparing.choice import NotComparable
from surveys.comparing.indicators import find_indicators
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from tests.support.factories import YES_NO
from tests.support.manifests import make_manifest

Kind = Comparison.Kind
Type = QuestionType
OPTIONS = tuple(Option(code=code, text=f"Ward {code}") for code in range(4))


def make_survey(*, drawn: int | None = None) -> Manifest:
    """Make a survey: Q1 decides if Q2 and Q3, in its block, are asked; Q5 and Q6 are declared."""
    rule = {"name": "q1", "is": [1]}
    rules = {"q1": None, "q2": rule, "q3": rule, "q4": None}
    questions = [
        with_strength(
            ManifestQuestion(name=name, type=Type.YES_NO, text="?", options=YES_NO, rule=own),
            flips=25,
        )
        for name, own in rules.items()
    ]
    declared = [
        ManifestQuestion(name=name, type=Type.DECLARED, text="?", options=OPTIONS)
        for name in ("q5", "q6")
    ]
    return make_manifest(*questions, *declared, drawn=drawn)


def make_rows_file(*, has_files_of_blocks: bool = False, crosses_files: bool = False) -> RowsFile:
    """Make a file of rows with ward 0, wards 1 and 2 merged, and ward 3 hidden; Q6 is left out."""
    levels = Levels(question="q5", levels=((0,), (1, 2), (3,)), hidden=frozenset([3]))
    return RowsFile(
        proposed=write_background((levels,)),
        chosen=write_background((levels,)),
        has_files_of_blocks=has_files_of_blocks,
        crosses_files=crosses_files,
    )


def find_refusal(
    *names: str,
    rows_file: RowsFile | None,
    is_final: bool = True,
    drawn: int | None = None,
    kind: Comparison.Kind = Kind.REGRESSION,
) -> str:
    """Return why these answers cannot be compared, or an empty string if they can be."""
    manifest = make_survey(drawn=drawn)
    try:
        check_choice(
            manifest=manifest, kind=kind, names=names, is_final=is_final, rows_file=rows_file
        )
    except NotComparable as error:
        return str(error)
    return ""


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "refusal"),
    [("q5.0", ""), ("q5.1", MERGED), ("q5.2", MERGED), ("q5.3", MERGED), ("q6.0", NOT_IN_ROWS)],
)
def test_a_group_is_compared_if_the_rows_have_it_by_itself(
    name: str, refusal: str, place: int
) -> None:
    names = ["q1", "q4"]
    names.insert(place, name)
    [group] = find_indicators(make_survey(), [name])
    expected = refusal.format(label=group.label, number=group.number)
    assert find_refusal(*names, rows_file=make_rows_file()) == expected
    if place < 2:
        assert find_refusal(*names[:2], rows_file=make_rows_file(), kind=Kind.TABLE) == expected


def test_groups_wait_for_the_close_and_then_for_the_choice() -> None:
    not_chosen = make_rows_file()
    not_chosen.chosen = None
    for kind, names in ((Kind.TABLE, ["q1", "q5.0"]), (Kind.BREAKDOWN, ["q5"])):
        for rows_file in (None, not_chosen):
            assert find_refusal(*names, kind=kind, rows_file=rows_file) == CHOOSE_FIRST
            refusal = find_refusal(*names, kind=kind, rows_file=rows_file, is_final=False)
            assert refusal == GROUPS_AFTER_CLOSE
    assert find_refusal("q5", kind=Kind.BREAKDOWN, rows_file=make_rows_file()) == ""
    assert find_refusal("q6", kind=Kind.BREAKDOWN, rows_file=make_rows_file()) == ""
    # Comparisons of scrambled questions need not wait.
    assert find_refusal("q1", "q4", rows_file=None) == ""


@pytest.mark.parametrize(
    ("names", "apart", "crossing"),
    [
        (["q2", "q3"], "", ""),
        (["q4", "q2"], BLOCKS_APART, ""),
        (["q4", "q2", "q3"], BLOCKS_APART, TWO_BLOCKS),
    ],
)
def test_where_blocks_have_their_own_files_none_or_two_are_compared(
    names: list[str], apart: str, crossing: str
) -> None:
    own, one = make_rows_file(has_files_of_blocks=True), make_rows_file()
    assert find_refusal(*names, rows_file=own, drawn=2) == apart
    assert find_refusal(*names, rows_file=one, drawn=2) == ""
    assert find_refusal(*names, rows_file=own) == ""  # everybody is asked everything
    own.crosses_files = True
    assert find_refusal(*names, rows_file=own, drawn=2) == crossing
    crosses = "q4" in names
    assert find_refusal(*names, rows_file=None, drawn=2) == (PREPARING if crosses else "")
    assert find_refusal(*names, rows_file=None, drawn=2, is_final=False) == ""
