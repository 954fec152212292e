"""Find questions that share a page, as rows with the same answers.

The JavaScript version is surveys/respondent/client/parts/grid.js. The items of a score are also
rows with the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion

MOST_ROWS = 7
TYPES_IN_GRIDS = (QuestionType.YES_NO, QuestionType.CHOICE, QuestionType.SCALE)


def fits(before: ManifestQuestion, question: ManifestQuestion) -> bool:
    """Return whether two questions can be rows of one table, with the same answers and rule.

    If the rules are the same, either all rows are asked or none is, so the page reveals no more
    than a single row would.
    """
    return (
        question.type in TYPES_IN_GRIDS
        and question.score is None
        and before.score is None
        and _list_shared(before) == _list_shared(question)
    )


def _list_shared(question: ManifestQuestion) -> tuple[object, ...]:
    shared = question.type, question.options, question.refusal, question.rule
    ends = question.minimum, question.maximum, question.low_label, question.high_label
    return *shared, *ends


def drop_marks(questions: Sequence[ManifestQuestion]) -> tuple[ManifestQuestion, ...]:
    """Drop the `together` marks of questions that do not fit the previous question."""
    marked = [
        replace(question, together=question.together and fits(before, question))
        for before, question in pairwise(questions)
    ]
    return *(replace(first, together=False) for first in questions[:1]), *marked


def list_grids(questions: Sequence[ManifestQuestion]) -> list[list[ManifestQuestion]]:
    """Group the questions that share pages. Most groups have only one question."""
    grids: list[list[ManifestQuestion]] = []
    for question in questions:
        if question.together and grids:
            grids[-1].append(question)
        else:
            grids.append([question])
    return grids


def count_pages(grid: Sequence[ManifestQuestion]) -> int:
    """Count the pages of a group of questions, or of a single question."""
    [first, *others] = grid
    if first.is_second:
        return 0
    rows = len(grid) if first.score is None else len(first.score.items)
    if others or first.score is not None:
        return -(-rows // MOST_ROWS)
    return max(1, first.described.pages)


def shares_pages(questions: Sequence[ManifestQuestion]) -> bool:
    """Return whether there are more or fewer pages than questions because rows share answers."""
    grids = list_grids(questions)
    return any(len(grid) > 1 or (grid[0].score and count_pages(grid) != 1) for grid in grids)
