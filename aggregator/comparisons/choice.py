"""Which questions can be compared, from which batches, and what to choose instead of others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aggregator.batches.cross_tabulation import MAX_CELLS as MAX_CODES
from aggregator.comparisons.analysis import MAX_PREDICTORS
from aggregator.comparisons.indicators import (
    Indicator,
    find_indicators,
    find_plain_indicators,
    list_indicators,
)
from aggregator.models import Comparison, Snapshot
from aggregator.results.looks import EVERYBODY, find_part
from privacy.associations.tables import MAX_CELLS
from surveys.manifest.manifest import Manifest

OUTCOME, GROUP, PREDICTORS = "outcome", "group", "predictors"
UNKNOWN_QUESTION = "Choose questions from this survey."
NO_PAIR_ASKED = (
    "Each person was asked one block of questions, so nobody was asked two of the plain yes/no "
    "questions. There are no pairs to test."
)
TOO_FEW_PLAIN = (
    "Fewer than two questions are plain yes/no questions that everybody could answer, so there are "
    "no pairs to test. Compare two questions instead."
)
ALL_KNOWN = (
    "These answers are not scrambled, so there is nothing to estimate. Choose a scrambled question "
    "as the outcome."
)
GROUPS_AFTER_CLOSE = (
    "Declared groups are compared only once the survey has closed and all its reports are counted. "
    "Until then, choose scrambled questions."
)
TWO_QUESTIONS = "Choose two questions."
DIFFERENT_QUESTIONS = "Choose two different questions."
NO_PREDICTOR = "Choose an outcome and at least one predictor."
OUTCOME_AS_PREDICTOR = "The outcome cannot be one of its predictors. Choose other predictors."
SAME_QUESTION = (
    "Two predictors are answers to the same question. Murmur cannot use several answers of one "
    "question as predictors; choose one of them."
)
TOO_MANY_PREDICTORS = (
    f"Choose at most {MAX_PREDICTORS} predictors. Each predictor doubles the table of true answers "
    "that has to be estimated."
)
TOO_LARGE = (
    "These questions have too many combinations of answers. Choose fewer questions, or questions "
    "with fewer answers."
)
BLOCKS_MOVE_APART = (
    "While the survey is open, each block of questions is updated at different times. You can "
    "compare questions from different blocks once the survey is closed."
)
ALL_BLOCKS_MOVE_APART = (
    "While the survey is open, each block of questions is updated at different times. You can test "
    "all pairs once the survey is closed."
)


class NotComparable(Exception):
    """These questions cannot be compared; the message says what to choose instead.

    `field` names the form field to change, if there is one.
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def check_choice(
    *, manifest: Manifest, kind: Comparison.Kind, names: Sequence[str], is_final: bool
) -> None:
    """Raise NotComparable unless these indicators make a comparison of this kind.

    `is_final` says whether the wave is closed and counted; before, no declared group is compared.
    """
    if not set(names) <= {indicator.name for indicator in list_indicators(manifest)}:
        raise NotComparable(UNKNOWN_QUESTION)
    if kind == Comparison.Kind.PAIRS:
        _check_pairs(manifest)
        return
    chosen = find_indicators(manifest, names)
    if not is_final:
        _check_no_group(chosen, kind)
    if chosen and all(indicator.is_known for indicator in chosen):
        raise NotComparable(ALL_KNOWN, field=OUTCOME)
    if kind == Comparison.Kind.TABLE:
        _check_table(chosen)
    else:
        _check_regression(chosen)
    _check_size(chosen)
    _check_asked_together(manifest, chosen)
    _check_not_decided(manifest, chosen, field=GROUP if kind == Comparison.Kind.TABLE else "")


def find_through_batch(
    *, manifest: Manifest, snapshot: Snapshot, kind: str, names: Sequence[str]
) -> int:
    """Return the last batch that a comparison reads: that of the last look at its questions.

    A table of two blocks would count people who were asked both. It could move by fewer than K of
    them at a look at either block, so NotComparable is raised until the last look.
    """
    looks = find_looks(manifest=manifest, snapshot=snapshot, kind=kind, names=names)
    if snapshot.final or len(looks) == 1:
        return max(looks.values())
    if kind == Comparison.Kind.PAIRS:
        raise NotComparable(ALL_BLOCKS_MOVE_APART)
    raise NotComparable(BLOCKS_MOVE_APART, field=GROUP if kind == Comparison.Kind.TABLE else "")


def find_looks(
    *, manifest: Manifest, snapshot: Snapshot, kind: str, names: Sequence[str]
) -> dict[int, int]:
    """Map the parts of the survey that move a comparison to the batches of their last looks."""
    if kind == Comparison.Kind.PAIRS:
        parts = {find_part(manifest, block) for block in manifest.blocks.values()}
    else:
        chosen = find_indicators(manifest, names)
        parts = {find_part(manifest, one.symbol.block) for one in chosen}
        # In a table, what everybody is asked is counted only where the block was asked too.
        parts = parts - {EVERYBODY} or parts
    return {part: snapshot.find_look(part) for part in parts}


def _check_no_group(chosen: Sequence[Indicator], kind: Comparison.Kind) -> None:
    others = GROUP if kind == Comparison.Kind.TABLE else PREDICTORS
    for place, indicator in enumerate(chosen):
        if indicator.is_known:
            raise NotComparable(GROUPS_AFTER_CLOSE, field=others if place else OUTCOME)


def _check_pairs(manifest: Manifest) -> None:
    plain = find_plain_indicators(manifest)
    blocks = {indicator.symbol.block for indicator in plain}
    if manifest.drawn == 1 and len(blocks) == len(plain) > 1:
        raise NotComparable(NO_PAIR_ASKED)
    if len(plain) < 2:
        raise NotComparable(TOO_FEW_PLAIN)


def _check_table(chosen: Sequence[Indicator]) -> None:
    if len(chosen) != 2:
        raise NotComparable(TWO_QUESTIONS, field=GROUP)
    if len(_symbols(chosen)) < 2:
        raise NotComparable(DIFFERENT_QUESTIONS, field=GROUP)
    _check_no_number(chosen[1:], field=GROUP)


def _check_regression(chosen: Sequence[Indicator]) -> None:
    if len(chosen) < 2:
        raise NotComparable(NO_PREDICTOR, field=PREDICTORS)
    _check_no_number(chosen[:1], field=OUTCOME)
    _check_no_number(chosen[1:], field=PREDICTORS)
    if chosen[0].symbol.name in _symbols(chosen[1:]):
        raise NotComparable(OUTCOME_AS_PREDICTOR, field=PREDICTORS)
    if len(_symbols(chosen)) < len(chosen):
        raise NotComparable(SAME_QUESTION, field=PREDICTORS)
    if len(chosen) > MAX_PREDICTORS + 1:
        raise NotComparable(TOO_MANY_PREDICTORS, field=PREDICTORS)


def _check_no_number(indicators: Sequence[Indicator], *, field: str) -> None:
    for indicator in indicators:
        if indicator.is_number:
            raise NotComparable(
                f"{indicator.label} is a number that each browser rounds to one bit, so it cannot "
                "form groups or be used in a regression. To compare its mean, choose it as the "
                "outcome of two questions.",
                field=field,
            )


def _symbols(indicators: Sequence[Indicator]) -> set[str]:
    return {indicator.symbol.name for indicator in indicators}


def _check_size(chosen: Sequence[Indicator]) -> None:
    cells = prod(indicator.variable.size for indicator in chosen)
    if cells > MAX_CELLS or prod(indicator.codes for indicator in chosen) > MAX_CODES:
        raise NotComparable(TOO_LARGE)


def _check_asked_together(manifest: Manifest, chosen: Sequence[Indicator]) -> None:
    blocks = {indicator.symbol.block for indicator in chosen} - {None}
    if manifest.drawn is not None and len(blocks) > manifest.drawn:
        raise NotComparable(
            f"Each person was asked {manifest.drawn} of {manifest.block_count} blocks of "
            f"questions, so nobody was asked all of these. Choose questions from at most "
            f"{manifest.drawn} blocks."
        )


def _check_not_decided(manifest: Manifest, chosen: Sequence[Indicator], *, field: str) -> None:
    for one in chosen:
        deciders = manifest.deciders_of(one.question)
        for other in chosen:
            if other.question.name in deciders:
                raise NotComparable(
                    f"Answers to Q{other.number} decide whether Q{one.number} is asked, so some "
                    "combinations of the two never occur. Choose questions that do not decide on "
                    f"each other; the results page shows Q{one.number} among those who were asked.",
                    field=field,
                )
