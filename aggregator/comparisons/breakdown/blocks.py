"""One block for each question of a breakdown, in which each answer has a row for every group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aggregator.comparisons.breakdown.result import (
    BreakdownResult,
    CrossedCount,
    GroupDifference,
    GroupSize,
)
from aggregator.results.blocks import (
    NOT_SHOWN,
    BlockRow,
    RowKind,
    row_of_estimate,
    row_of_share,
)
from aggregator.results.estimands import Among, Estimand, estimands_of
from aggregator.results.sentences import MAY_BE_ZERO, describe_group, name_estimand
from surveys.formatting import points
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import REFUSED_TEXT, ManifestQuestion

NOT_TOGETHER = "Not shown: the file of rows does not include both questions."


@dataclass(frozen=True, kw_only=True)
class DifferenceLine:
    """The difference between a group and all other people, such as "+10 points (1 to 20)"."""

    answer: str
    group: str
    text: str
    note: str  # says that the difference may be zero, or is empty
    found: GroupDifference


@dataclass(frozen=True, kw_only=True)
class AnswerRows:
    """The name of one share or mean, with one row for each group."""

    label: str
    among: str
    rows: tuple[BlockRow, ...]
    estimand: Estimand | None = None  # None for an answer to another declared question

    @property
    def is_in_survey_language(self) -> bool:
        """Whether the label is in the survey's language; "Mean" and the like are English."""
        is_share = self.estimand is None or not (self.estimand.is_mean or self.estimand.is_asked)
        return is_share and self.label != REFUSED_TEXT


@dataclass(frozen=True, kw_only=True)
class BrokenBlock:
    """Everything that a breakdown says about one question."""

    question: ManifestQuestion
    answers: tuple[AnswerRows, ...]
    differences: tuple[DifferenceLine, ...] = ()
    among: str = ""
    note: str = ""

    @property
    def title_id(self) -> str:
        return f"{self.question.name}-title"

    @property
    def has_caution(self) -> bool:
        return any(row.mark for answer in self.answers for row in answer.rows)


def list_broken_blocks(
    manifest: Manifest, declared: ManifestQuestion, result: BreakdownResult
) -> list[BrokenBlock]:
    """Build a block for each question that the breakdown shows, in the order of the survey."""
    return [build_block(one, declared, result) for one in list_others(manifest, declared)]


def list_others(manifest: Manifest, declared: ManifestQuestion) -> list[ManifestQuestion]:
    """List the questions that a breakdown shows: all that people answer except the declared one."""
    return [one for one in manifest.questions if one.is_answered and one.name != declared.name]


def build_block(
    question: ManifestQuestion, declared: ManifestQuestion, result: BreakdownResult
) -> BrokenBlock:
    build = _cross if question.is_declared else _break_down
    return build(question, declared, result)


def count_answers(question: ManifestQuestion) -> int:
    """Count the answers (or shares and means) of a question; each has a row per group."""
    if question.is_declared:
        return question.k
    return sum(one.shown for one in estimands_of(question))


def count_differences(result: BreakdownResult) -> int:
    compared = set(list_compared(result))
    return sum(one.group in compared for one in result.differences)


def name_groups(declared: ManifestQuestion, result: BreakdownResult) -> dict[int, str]:
    return {group.code: name_level(group, declared) for group in result.groups}


def name_level(level: GroupSize | CrossedCount, question: ManifestQuestion) -> str:
    """Name a group by its answers, such as "Work or School"."""
    return " or ".join(question.name_code(code) for code in (level.code, *level.others))


def _break_down(
    question: ManifestQuestion, declared: ManifestQuestion, result: BreakdownResult
) -> BrokenBlock:
    names = name_groups(declared, result)
    estimands = [one for one in estimands_of(question) if one.shown]
    usual = next((one.of for one in estimands), Among.EVERYONE)
    return BrokenBlock(
        question=question,
        answers=tuple(
            AnswerRows(
                label=name_estimand(estimand),
                among="" if estimand.of is usual else describe_group(estimand) or "of everyone",
                rows=tuple(
                    _build_row(estimand, group.code, names[group.code], result, usual)
                    for group in result.shown
                ),
                estimand=estimand,
            )
            for estimand in estimands
        ),
        differences=tuple(_list_differences(estimands, names, result)),
        among=describe_group(estimands[0]) if estimands else "",
    )


def _build_row(
    estimand: Estimand, group: int, name: str, result: BreakdownResult, usual: Among
) -> BlockRow:
    found = result.estimates_by_key.get((estimand.question.name, estimand.name, group))
    if found is None:
        return _row_of_nothing(f"{estimand.key} {group}", name)
    row = row_of_estimate(found.as_estimate(estimand), usual=usual)
    return replace(row, key=f"{row.key} {group}", label=name, among="", is_labelled_by_group=True)


def _row_of_nothing(key: str, label: str) -> BlockRow:
    return row_of_share(key=key, label=label, value=None, low=None, high=None, nothing=NOT_SHOWN)


def _list_differences(
    estimands: Sequence[Estimand], names: dict[int, str], result: BreakdownResult
) -> Iterator[DifferenceLine]:
    for estimand in estimands:
        for group in list_compared(result):
            found = result.differences_by_key.get((estimand.question.name, estimand.name, group))
            if found is not None:
                shown = _find_two(estimand, result)
                yield DifferenceLine(
                    answer=name_estimand(estimand),
                    group=names[group],
                    text=write_difference(found, estimand, shown=shown),
                    note=MAY_BE_ZERO if found.may_be_zero else "",
                    found=found,
                )


def list_compared(result: BreakdownResult) -> list[int]:
    """List the groups whose differences are shown: only the first if two include everyone."""
    shown = [group.code for group in result.shown]
    return shown[:1] if _are_everybody(result) else shown


def _are_everybody(result: BreakdownResult) -> bool:
    """Return whether exactly two groups are shown and together include everyone."""
    return len(result.shown) == 2 and sum(group.n or 0 for group in result.shown) == result.n


def _find_two(estimand: Estimand, result: BreakdownResult) -> tuple[float, float] | None:
    """Find the two figures shown next to their difference, if two groups include everyone."""
    if not _are_everybody(result):
        return None
    first, second = (
        result.estimates_by_key[estimand.question.name, estimand.name, group.code]
        .as_estimate(estimand)
        .displayed
        for group in result.shown
    )
    return None if first is None or second is None else (first, second)


def write_difference(
    found: GroupDifference, estimand: Estimand, *, shown: tuple[float, float] | None = None
) -> str:
    """Write a difference, such as "+10 points (1 to 20)" or "−0.4 days (−0.9 to 0.1)".

    If `shown` has the two figures displayed next to the difference, their rounded values are
    subtracted.
    """
    width = found.high - found.low
    digits = (2 if width < 0.3 else 1) if estimand.is_mean else int(width < 0.03)

    def write(value: float) -> str:
        text = f"{value:,.{digits}f}" if estimand.is_mean else points(value, digits)
        return text.replace("-", "\N{MINUS SIGN}")

    difference = found.difference
    if shown is not None:
        first, second = (
            round(value, digits if estimand.is_mean else digits + 2) for value in shown
        )
        difference = first - second
    number = write(difference)
    points_or_point = "point" if number.lstrip("\N{MINUS SIGN}") == "1" else "points"
    unit = estimand.question.unit if estimand.is_mean else points_or_point
    sign = "+" if difference > 0 and number != "0" else ""
    number = f"{sign}{number} {unit}".rstrip()
    return f"{number} ({write(found.low)} to {write(found.high)})"


def _cross(
    question: ManifestQuestion, declared: ManifestQuestion, result: BreakdownResult
) -> BrokenBlock:
    answers = {one.code: one for one in result.crossed if one.question == question.name}
    if not answers:
        return BrokenBlock(question=question, answers=(), note=NOT_TOGETHER)
    names = name_groups(declared, result)
    return BrokenBlock(
        question=question,
        answers=tuple(
            AnswerRows(
                label=name_level(answer, question),
                among="",
                rows=tuple(
                    _count_row(question, code, group.code, names[group.code], result)
                    for group in result.shown
                ),
            )
            for code, answer in answers.items()
        ),
    )


def _count_row(
    question: ManifestQuestion, code: int, group: int, name: str, result: BreakdownResult
) -> BlockRow:
    key = f"{question.name} {code} {group}"
    found = result.crossed_by_key.get((question.name, code, group))
    people = next(one.n for one in result.groups if one.code == group)
    if found is None or not people:
        return _row_of_nothing(key, name)
    share = found.count / people
    row = row_of_share(key=key, label=name, value=share, low=found.low, high=found.high)
    return replace(row, kind=RowKind.GROUP)
