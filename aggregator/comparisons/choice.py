"""Decide which questions can be compared and from which batches, or say what else to choose."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aggregator.background.levels import find_levels, read_background
from aggregator.batches.cross_tabulation import MAX_CELLS as MAX_CODES
from aggregator.comparisons.segments import check_segments
from aggregator.models import Comparison, RowsFile, SealedHalf, Snapshot
from aggregator.results.looks import EVERYBODY, find_part
from surveys.comparing.choice import (
    GROUP,
    OUTCOME,
    PREDICTORS,
    TOO_LARGE,
    NotComparable,
    check_regression,
    check_two_questions,
    find_chosen,
)
from surveys.comparing.indicators import (
    Factor,
    Indicator,
    find_indicators,
)
from surveys.comparing.pairs import list_pair_indicators, list_pairs
from surveys.manifest.manifest import Manifest

NO_PAIR_ASKED = (
    "Each person was asked one block of questions, and no block has two questions that can be "
    "compared. So there are no pairs to test."
)
_FEW_TOGETHER = "Too few people were asked the same blocks, so"
_APART = f"{_FEW_TOGETHER} questions from different blocks are not compared."
NO_PAIR_TOGETHER = (
    f"{_APART} No block has two questions that can be compared, so there are no pairs to test."
)
NO_PAIR = "No two questions of this survey can be compared, so there are no pairs to test."
MOST_PAIRS = 20_000
TOO_MANY_PAIRS = (
    "These questions form {pairs:,} pairs, but Murmur tests at most {most:,}. Compare only two "
    "questions."
)
GROUPS_AFTER_CLOSE = (
    "Background groups are compared only once the survey has closed and all its reports are "
    "counted. Until then, choose scrambled questions."
)
FEWER_PEOPLE = (
    "Comparisons need {crowd:,} people. An earlier version of Murmur showed results with fewer. "
    "Those results stay, but nothing more is computed from them."
)
SMALL_GROUPS = (
    "One of the halves has too few people in a background group, or in a combination of groups. So "
    "halves are not divided by groups. Choose scrambled questions."
)
NOT_DECLARED = "Choose a declared question of this survey."
CHOOSE_FIRST = (
    "Background questions can be compared once you have chosen which of them the file of rows "
    "includes. You choose them on the Data page, and only once."
)
NOT_IN_ROWS = (
    "The file of rows does not include Q{number}, so no comparison can use that question. Break "
    "down the results by Q{number} to see its groups one question at a time."
)
MERGED = (
    "The file of rows does not tell {label} from other groups of Q{number}. Choose a group that "
    "the file lists separately."
)
PREPARING = (
    "Murmur is preparing the file of rows, which decides what may be compared across blocks. Try "
    "again in a few seconds."
)
ONE_GROUP = (
    "The file of rows distinguishes too few groups of Q{number} to compare all of them. Choose one "
    "group, or a different question."
)
BLOCKS_APART = f"{_APART} Choose questions from one block."
TWO_BLOCKS = (
    f"{_FEW_TOGETHER} a comparison across blocks can use only one "
    "question from each of two blocks. Choose two questions, or questions from one block."
)
# A third question could belong to a third block, and fewer people were asked all three blocks.
MOST_ACROSS = 2
BLOCKS_MOVE_APART = (
    "While the survey is open, the blocks of questions are updated at different times. You can "
    "compare questions from different blocks once the survey is closed."
)
PAIRS_AFTER_CLOSE = (
    "All pairs are tested only once the survey has closed and all its reports are counted. Until "
    "then, compare two questions."
)


class NotPrepared(NotComparable):
    """No worker has proposed the file of rows yet; try again later."""


def check_people(manifest: Manifest, snapshot: Snapshot) -> None:
    """Raise NotComparable if fewer than C reports are shown, as earlier versions allowed."""
    if snapshot.total < manifest.crowd:
        raise NotComparable(FEWER_PEOPLE.format(crowd=manifest.crowd))


def check_choice(
    *,
    manifest: Manifest,
    kind: str,
    names: Sequence[str],
    is_final: bool,
    rows_file: RowsFile | None,
    half: SealedHalf | None = None,
) -> None:
    """Raise NotComparable unless these indicators make a comparison of this kind.

    `is_final` says whether the wave is closed and counted; until then, no declared group is
    compared. Afterwards, groups are those in the chosen background of the file of rows. `half` is
    passed if an open half is counted and its tables may have groups.
    """
    if kind == Comparison.Kind.TABLE and half is not None:
        check_claim(manifest=manifest, names=names, half=half)
        return
    if kind == Comparison.Kind.BREAKDOWN:
        _check_breakdown(manifest, names, is_final=is_final)
        if rows_file is None or rows_file.chosen is None:
            raise NotComparable(CHOOSE_FIRST)
        return
    chosen = find_chosen(manifest, names)
    if kind == Comparison.Kind.PAIRS:
        _check_pairs(manifest)
        if is_final:
            _check_pairs_of_blocks(manifest, rows_file)
        return
    if kind == Comparison.Kind.SEGMENTS:
        check_segments(manifest, chosen, is_final=is_final)
        _check_blocks(manifest, chosen, rows_file)
        return
    _check_groups(chosen, kind, is_final=is_final, rows_file=rows_file)
    chosen = settle_answers(chosen, rows_file)
    if is_final:
        _check_blocks(manifest, chosen, rows_file)
    if kind == Comparison.Kind.TABLE:
        check_two_questions(manifest=manifest, names=names)
    else:
        check_regression(manifest=manifest, chosen=chosen)
    _check_codes(chosen)


def check_claim(*, manifest: Manifest, names: Sequence[str], half: SealedHalf) -> None:
    """Raise NotComparable unless a table in each half can compare just these two answers."""
    chosen = find_chosen(manifest, names)
    check_two_questions(manifest=manifest, names=names)
    for indicator, field in zip(chosen, (OUTCOME, GROUP), strict=True):
        if indicator.is_known and not half.has_groups:
            raise NotComparable(SMALL_GROUPS, field=field)
    _check_codes(chosen)


def find_through_batch(
    *, manifest: Manifest, snapshot: Snapshot, kind: str, names: Sequence[str]
) -> int:
    """Return the last batch that a comparison reads, which made the last look at its questions.

    The comparison of all pairs waits for the close, because its p-values do not hold at several
    looks. The open half of a closed wave counts as one look.

    A table of two blocks counts people who were asked both. A look at either block could add fewer
    than K of these people to the table, so NotComparable is raised until the last look.
    """
    if kind == Comparison.Kind.PAIRS and not (snapshot.final or snapshot.is_half):
        raise NotComparable(PAIRS_AFTER_CLOSE)
    looks = find_looks(manifest=manifest, snapshot=snapshot, kind=kind, names=names)
    if snapshot.final or len(looks) == 1:
        return max(looks.values())
    raise NotComparable(BLOCKS_MOVE_APART, field=GROUP if kind == Comparison.Kind.TABLE else "")


def find_looks(
    *, manifest: Manifest, snapshot: Snapshot, kind: str, names: Sequence[str]
) -> dict[int, int]:
    """Map the parts of the survey that a comparison reads to the batches of their last looks."""
    if kind == Comparison.Kind.PAIRS:
        parts = {find_part(manifest, block) for block in manifest.blocks.values()}
    elif kind == Comparison.Kind.BREAKDOWN:
        parts = {EVERYBODY, *(find_part(manifest, block) for block in manifest.blocks.values())}
    else:
        chosen = find_indicators(manifest, names)
        parts = {find_part(manifest, one.symbol.block) for one in chosen}
        # A question for everyone is counted only in reports in which the block was also asked.
        parts = parts - {EVERYBODY} or parts
    return {part: snapshot.find_look(part) for part in parts}


def _check_groups(
    chosen: Sequence[Indicator], kind: str, *, is_final: bool, rows_file: RowsFile | None
) -> None:
    """Raise NotComparable unless the file of rows keeps every declared group separate."""
    others = GROUP if kind == Comparison.Kind.TABLE else PREDICTORS
    for place, indicator in enumerate(chosen):
        problem = find_problem(indicator, is_final=is_final, rows_file=rows_file)
        if problem:
            raise NotComparable(problem, field=others if place else OUTCOME)


def find_problem(indicator: Indicator, *, is_final: bool, rows_file: RowsFile | None) -> str:
    """Say why a declared group cannot be compared; return "" if it can or answers are scrambled."""
    if not indicator.is_known:
        return ""
    if not is_final:
        return GROUPS_AFTER_CLOSE
    if rows_file is None or rows_file.chosen is None:
        return CHOOSE_FIRST
    levels = find_levels(read_background(rows_file.chosen), indicator.question.name)
    if levels is None:
        return NOT_IN_ROWS.format(number=indicator.number)
    if isinstance(indicator, Factor):
        return "" if len(levels.shown) > 1 else ONE_GROUP.format(number=indicator.number)
    if indicator.yes not in levels.shown:
        return MERGED.format(label=indicator.label, number=indicator.number)
    return ""


def settle_answers(chosen: Sequence[Indicator], rows_file: RowsFile | None) -> list[Indicator]:
    """Give each declared factor the groups that the file of rows distinguishes."""
    background = read_background((rows_file.chosen if rows_file else None) or [])
    settled = list(chosen)
    for place, one in enumerate(chosen):
        levels = find_levels(background, one.question.name)
        if isinstance(one, Factor) and one.is_known and levels is not None:
            settled[place] = one.with_answers(levels.shown)
    return settled


def _check_blocks(
    manifest: Manifest, chosen: Sequence[Indicator], rows_file: RowsFile | None
) -> None:
    """Raise NotComparable if a comparison across blocks could reveal something about few people.

    Where each block has its own file, several questions of one block would reveal too much about
    which of its rows belong to people who were asked the other block.
    """
    if not is_across_blocks(manifest, chosen):
        return
    if rows_file is None:
        raise NotPrepared(PREPARING)
    if not rows_file.crosses_blocks:
        raise NotComparable(BLOCKS_APART)
    if rows_file.has_files_of_blocks and len(chosen) > MOST_ACROSS:
        raise NotComparable(TWO_BLOCKS)


def _check_pairs_of_blocks(manifest: Manifest, rows_file: RowsFile | None) -> None:
    """Raise NotComparable if no pair of questions may be compared, or if that is still unknown."""
    listed = list_pair_indicators(manifest)
    if any(one.is_known for one in listed) and (rows_file is None or rows_file.chosen is None):
        raise NotComparable(CHOOSE_FIRST)
    if not is_across_blocks(manifest, listed):
        return
    if rows_file is None:
        raise NotPrepared(PREPARING)
    pairs = list_pairs(listed)
    if not rows_file.crosses_blocks and all(is_across_blocks(manifest, pair) for pair in pairs):
        raise NotComparable(NO_PAIR_TOGETHER)


def is_across_blocks(manifest: Manifest, indicators: Sequence[Indicator]) -> bool:
    """Return whether these indicators belong to several blocks of a random subset."""
    blocks = {one.symbol.block for one in indicators} - {None}
    return manifest.drawn is not None and len(blocks) > 1


def _check_breakdown(manifest: Manifest, names: Sequence[str], *, is_final: bool) -> None:
    declared = {question.name for question in manifest.questions if question.is_declared}
    if len(names) != 1 or not declared.issuperset(names):
        raise NotComparable(NOT_DECLARED)
    if not is_final:
        raise NotComparable(GROUPS_AFTER_CLOSE)


def _check_pairs(manifest: Manifest) -> None:
    pairs = list(list_pairs(list_pair_indicators(manifest)))
    if not pairs:
        raise NotComparable(NO_PAIR)
    if manifest.drawn == 1 and all(is_across_blocks(manifest, pair) for pair in pairs):
        raise NotComparable(NO_PAIR_ASKED)
    if len(pairs) > MOST_PAIRS:
        raise NotComparable(TOO_MANY_PAIRS.format(pairs=len(pairs), most=MOST_PAIRS))


def _check_codes(chosen: Sequence[Indicator]) -> None:
    if prod(indicator.codes for indicator in chosen) > MAX_CODES:
        raise NotComparable(TOO_LARGE)
