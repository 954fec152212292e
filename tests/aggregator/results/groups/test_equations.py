"""How many independent equations the figures about a group give: the rank of all counts."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from aggregator.batches.joint_tables import list_tables
from aggregator.results.groups.equations import (
    count_equations,
    count_people_needed,
    find_condition,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from tests.support.factories import YES_NO
from tests.support.manifests import make_manifest

Type = QuestionType


def make_question(name: str, type_: QuestionType, rule: Any = None, **more: Any) -> Any:
    texts = {Type.SCALE: (0, "123"), Type.SEVERAL: (1, "AB"), Type.DECLARED: (0, "NS")}
    first, letters = texts.get(type_, (0, ""))
    options = tuple(Option(code=code, text=text) for code, text in enumerate(letters, first))
    ends: dict[str, Any] = {"minimum": 1, "maximum": 3} if type_ == Type.SCALE else {}
    question = ManifestQuestion(
        name=name, type=type_, text="?", rule=rule, options=options or YES_NO, **ends, **more
    )
    return question if type_ == Type.DECLARED else with_strength(question, flips=25)


def find_rank(manifest: Manifest, *, block: int | None = None) -> int:
    """Return the rank of all counts, over all reports that members of a group can send.

    All members gave the same answer to the declared question. If a block is given, only the
    questions of the block are counted.
    """
    symbols = [one for one in manifest.symbols if one.threshold is not None]
    tables, blocks = list_tables(manifest), range(manifest.block_count)
    drawn = manifest.block_count if manifest.drawn is None else manifest.drawn
    rows = []
    for asked in combinations(blocks, drawn):
        for codes in product(*(range(one.k) for one in symbols)):
            code = {one.name: own for one, own in zip(symbols, codes, strict=True)}
            row = [1]
            for one in symbols:
                if block in (None, one.block):
                    row += [one.block in asked and code[one.name] == own for own in range(one.k)]
            for table in tables:
                if block in (None, table.block):
                    cell = tuple(a.classes[code.get(a.symbol.name, 0)] for a in table.axes)
                    row += [table.block in asked and cell == own for own in np.ndindex(table.shape)]
            rows.append(row)
    return int(np.linalg.matrix_rank(np.array(rows, dtype=float)))


SCALE = make_question("q1", Type.SCALE, refusal=True)
AFTER_SCALE = {"name": "q1", "is": [0, 1]}
SEVERAL = make_question("q2", Type.SEVERAL, AFTER_SCALE, refusal=True)
GATED = make_question("q2", Type.SEVERAL, refusal=True)
PLAIN, LAST = (make_question(name, Type.YES_NO) for name in ("q3", "q4"))
WHERE = make_question("q0", Type.DECLARED)
AFTER_YES = {"name": "q3", "is": [1]}
BEHIND_BOTH = make_question("q3", Type.YES_NO, {"any": [AFTER_SCALE, {"name": "q2_2", "is": [1]}]})

FIRST, SECOND = ({"name": "q1", "is": [code]} for code in (0, 1))
FINE = make_question("q4", Type.YES_NO, {"any": [FIRST, SECOND, AFTER_YES]})
COARSE = make_question("q5", Type.YES_NO, {"any": [FIRST, AFTER_YES]})


@pytest.mark.parametrize(
    ("questions", "equations"),
    [
        ([SCALE, PLAIN], 3 + 1),
        ([GATED, PLAIN], 3 + 2 + 1),  # counts each item with the gate
        # Behind a rule with two classes, everything is counted once more by class.
        ([SCALE, SEVERAL], 3 + (2 + 1 + 1) + 2 * 2 + (2 + 1 + 1) + 2 * 2),
        ([SCALE, SEVERAL, BEHIND_BOTH], 19 + 2 + 2 + 2 + 2),
        ([WHERE, SCALE, make_question("q2", Type.YES_NO, AFTER_SCALE), PLAIN], 3 + 2 + 2 + 1),
    ],
)
def test_equations_are_the_rank_of_what_is_counted(
    questions: list[ManifestQuestion], equations: int
) -> None:
    manifest = make_manifest(*questions)
    # One more equation gives the size of the group, which Table 1 shows anyway.
    assert find_rank(manifest) == 1 + count_equations(manifest) == 1 + equations


@pytest.mark.parametrize("drawn", [1, 2])
def test_equations_of_a_random_subset_are_those_of_its_blocks(drawn: int) -> None:
    questions = [SCALE, make_question("q2", Type.YES_NO, AFTER_SCALE), PLAIN, LAST]
    manifest = make_manifest(*questions, drawn=drawn)
    by_block = [count_equations(manifest, block=block) for block in range(3)]
    assert by_block == [3 + 2 + 2, 1, 1]
    assert sum(by_block) == count_equations(manifest)
    # One more equation for each block gives the number of people in the group who were asked it.
    assert find_rank(manifest) == count_equations(manifest) + 3
    assert count_people_needed(manifest) == 10 * 9
    assert [count_people_needed(manifest, block=block) for block in range(3)] == [70, 30, 30]


@pytest.mark.parametrize(
    ("questions", "surplus"),
    [
        # Within a group, q0 has only one answer, so the table of q0 and q1 adds no equation.
        ([WHERE, make_question("q1", Type.YES_NO, {"name": "q0", "is": [1]})], 2),
        # Two rules read the same pair of questions, one in finer classes than the other.
        ([SCALE, PLAIN, FINE, COARSE], 1),
    ],
)
def test_equations_may_be_counted_twice_but_are_never_missed(
    questions: list[ManifestQuestion], surplus: int
) -> None:
    manifest = make_manifest(*questions)
    assert 1 + count_equations(manifest) == find_rank(manifest) + surplus


UNIT, ELSEWHERE = ({"name": "q0", "is": [code]} for code in (1, 0))
BEHIND = [make_question(f"q{number}", Type.YES_NO, UNIT) for number in range(1, 4)]
AGE = replace(WHERE, name="q9")
BEHIND_AGE = make_question("q4", Type.YES_NO, {"name": "q9", "is": [1]})


@pytest.mark.parametrize(
    ("questions", "equations"),
    [
        # For each question, the counts of Yes, No and not asked leave two equations about the unit.
        ([WHERE, *BEHIND[:2]], 2 + 2),
        ([WHERE, *BEHIND], 2 + 2 + 2),
        ([WHERE, BEHIND[0], make_question("q5", Type.YES_NO, ELSEWHERE)], 2 + 2),
        # Both classes of another answer, and each of them with the question.
        ([WHERE, PLAIN, make_question("q4", Type.YES_NO, {"all": [UNIT, AFTER_YES]})], 1 + 2 + 2),
    ],
)
def test_rules_that_read_a_declared_question_give_equations_about_its_groups(
    questions: list[ManifestQuestion], equations: int
) -> None:
    manifest = make_manifest(*questions)
    found = find_condition(manifest, list_tables(manifest), mask=None)
    assert found is not None
    assert (found.symbol, found.classes) == ("q0", (0, 1))
    assert found.needed == max(manifest.crowd, 10 * equations)


@pytest.mark.parametrize(
    "questions",
    [
        [WHERE, PLAIN, SCALE, make_question("q2", Type.YES_NO, AFTER_SCALE)],
        [WHERE, AGE, BEHIND[0], BEHIND_AGE],
        [WHERE, AGE, make_question("q4", Type.YES_NO, {"all": [UNIT, {"name": "q9", "is": [1]}]})],
    ],
)
def test_no_figure_depends_on_several_declared_questions(
    questions: list[ManifestQuestion],
) -> None:
    manifest = make_manifest(*questions)
    assert find_condition(manifest, list_tables(manifest), mask=None) is None


def test_blocks_of_a_random_subset_give_equations_about_different_people() -> None:
    manifest = make_manifest(WHERE, *BEHIND, drawn=1)
    tables = list_tables(manifest)
    found = [find_condition(manifest, tables, mask=mask) for mask in range(3)]
    assert [one.needed for one in found if one] == [manifest.crowd] * 3
