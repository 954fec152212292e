"""One block for each question: its figures as rows on axes, or why they are not shown.

Results pages, the public page, reports and breakdowns show the same blocks. A block holds only what
a page shows, and `sentences.py` writes its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import compress

from aggregator.batches.joint_tables import find_too_large
from aggregator.results.display import DeclaredResult, GroupResult, Results
from aggregator.results.estimands import Among
from aggregator.results.estimate import Estimate, QuestionResult
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import (
    CAUTION_MARK,
    EMPTY,
    EXACT,
    NOTHING,
    OF_CODES,
    TOO_FEW,
    DetailRow,
    Details,
    Heading,
    describe_details,
    describe_group,
    describe_reports,
    digits_for,
    name_estimand,
    summarize,
    write_ends,
    write_value,
)
from surveys.axis import SHARES, Axis, Whisker
from surveys.formatting import percent, points, whole
from surveys.manifest.questions import REFUSED_TEXT, ManifestQuestion

# A block with more rows than this, or more characters in its question, may break across printed
# pages.
MOST_ROWS_ON_PAPER = 20
LONGEST_ON_PAPER = 600
NOT_SHOWN = "not shown"
SEVERAL = "more than one answer possible"
CONTRADICTING = (
    "The reports contradict the design of this question. Treat its figures as a warning."
)
TOO_FEW_ASKED = "Too few people were asked this to show anything: results need {crowd}."
NEVER_COUNTED = "Sent unscrambled. Not shown, because too few people took part."
COUNTED_LATER = "Sent unscrambled. Counted after the survey has closed."
COUNTED_WITH_HALF = "Sent unscrambled. Counted once the sealed half is open."
COUNTED_NOW = (
    "Sent unscrambled, so exact for those who took part. The intervals assume a random sample."
)
HIDDEN = "Small groups are not shown, nor are groups that would reveal them by subtraction."


class RowKind(StrEnum):
    """The kind of figure that a row shows."""

    SHARE = "share"
    MEAN = "mean"
    ASKED = "asked"  # the share of people who were asked a question behind a rule
    GROUP = "group"  # the share of an answer that was sent as it is


@dataclass(frozen=True, kw_only=True)
class BlockRow:
    """One figure: a share of some group, or a mean. It has no value if too little is known."""

    key: str  # unique in a survey: "q3 1"
    kind: RowKind
    label: str
    among: str = ""  # the group that the row describes, unless its block names it
    value: float | None  # as displayed: a fraction, or a mean in its unit
    low: float | None
    high: float | None
    axis: Axis = SHARES  # the axis of a mean has labelled ends
    number: str  # "45 %", or an empty string
    range: str  # "39–51", or an empty string
    text: str  # "45 % (39–51)", or why there is no value
    mark: str = ""  # † if the value must be used with caution
    truth: float | None = None
    truth_text: str = ""
    is_labelled_by_group: bool = False  # only in a breakdown
    estimate: Estimate | None = None
    group: GroupResult | None = None

    @property
    def is_shown(self) -> bool:
        return self.value is not None

    @property
    def is_mean(self) -> bool:
        return self.kind is RowKind.MEAN

    @property
    def is_in_survey_language(self) -> bool:
        """Whether the label is in the survey's language; Murmur's own labels are English."""
        is_authors = self.is_labelled_by_group or self.kind in (RowKind.SHARE, RowKind.GROUP)
        return is_authors and self.label != REFUSED_TEXT

    @property
    def whisker(self) -> Whisker | None:
        return self.axis.place_whisker(low=self.low, value=self.value, high=self.high)

    @property
    def truth_mark(self) -> str:
        return self.axis.mark(self.truth)


@dataclass(frozen=True, kw_only=True)
class Block:
    """Everything that is said about one question."""

    question: ManifestQuestion
    total: int  # reports in which the question was asked; 0 for groups not counted yet
    is_declared: bool
    rows: tuple[BlockRow, ...]
    among: str = ""  # the group that most of its rows describe, or "" for everyone
    asked: BlockRow | None = None  # the share of people who were asked, where a rule applies
    asked_text: str = ""  # "asked ≈ 95 (0–245)"
    note: str = ""  # why there are no rows, or what the rows are
    warning: str = ""  # why the figures must not be used
    contradiction: bool = False
    alarm: bool = False
    details: Details | None = None  # how certain its figures are, if requested

    @property
    def name(self) -> str:
        """The question's name in files and addresses, and the id of this block."""
        return self.question.name

    @property
    def number(self) -> int:
        return self.question.number

    @property
    def text(self) -> str:
        return self.question.full_text

    @property
    def caption(self) -> str:
        """The note, or else whom the rows describe and whether several answers are possible."""
        several = SEVERAL if self.question.has_items else ""
        described = "; ".join(part for part in (self.among, several) if part)
        return self.note or described[:1].upper() + described[1:]

    @property
    def is_long(self) -> bool:
        """Whether the block may be too long for one printed page."""
        return len(self.rows) > MOST_ROWS_ON_PAPER or len(self.text) > LONGEST_ON_PAPER

    @property
    def title_id(self) -> str:
        return f"{self.name}-title"

    @property
    def has_caution(self) -> bool:
        return any(row.mark for row in self.figures)

    @property
    def figures(self) -> tuple[BlockRow, ...]:
        """All rows, and the share of people who were asked."""
        return self.rows if self.asked is None else (*self.rows, self.asked)


def list_blocks(
    results: Results,
    *,
    truth: Mapping[str, float] = EMPTY,
    with_details: bool = False,
    is_public: bool = False,
) -> list[Block]:
    """List a block for each question that people answer, in the order of the survey.

    `truth` is known only for a demo; its keys are `Estimand.key`. Public blocks cover only the
    questions for everyone, and leave out details about codes.
    """
    manifest = results.manifest
    protected = {result.question.name: result for result in results.questions}
    declared = {result.question.name: result for result in results.declared}
    too_large = find_too_large(manifest)

    def build(question: ManifestQuestion) -> Block:
        if question.is_declared:
            block = _build_declared(question, declared.get(question.name), results)
            return replace(block, details=_count_groups(block)) if with_details else block
        result = protected[question.name]
        block = _build_block(result, results=results, truth=truth)
        if not with_details or not result.estimates:
            return block
        details = describe_details(
            result,
            truth={row.key: row.truth_text for row in block.figures},
            fixed_end=results.fixed_end,
            uses_own_codes=question.name in too_large,
        )
        return replace(block, details=_without_codes(details) if is_public else details)

    return [
        build(question)
        for question in manifest.questions
        if question.is_answered and not (is_public and not manifest.is_for_everyone(question))
    ]


def _without_codes(details: Details) -> Details:
    kept = [heading.text not in OF_CODES for heading in details.headings]
    headings = tuple(compress(details.headings, kept))
    rows = (replace(row, cells=tuple(compress(row.cells, kept))) for row in details.rows)
    return replace(details, headings=headings, rows=tuple(rows) if headings else ())


def row_of_share(
    *,
    key: str,
    label: str,
    value: float | None,
    low: float | None,
    high: float | None,
    nothing: str = TOO_FEW,
) -> BlockRow:
    """Build the row of any share; a row without a value shows `nothing`."""
    empty = value is None or low is None or high is None
    number = range_ = ""
    if value is not None and low is not None and high is not None:
        digits = 0 if high - low >= 0.03 else 1
        number, range_ = percent(value, digits), f"{points(low, digits)}–{points(high, digits)}"
    return BlockRow(
        key=key,
        kind=RowKind.SHARE,
        label=label,
        value=None if empty else value,
        low=None if empty else low,
        high=None if empty else high,
        number=number,
        range=range_,
        text=nothing if empty else f"{number} ({range_})",
    )


def _build_block(result: QuestionResult, *, results: Results, truth: Mapping[str, float]) -> Block:
    shown = [estimate for estimate in result.shown if not estimate.estimand.is_asked]
    among = shown[0].estimand.of if shown else Among.EVERYONE
    asked = next((one for one in result.estimates if one.estimand.is_asked), None)
    return Block(
        question=result.question,
        total=result.total,
        is_declared=False,
        rows=tuple(row_of_estimate(estimate, usual=among, truth=truth) for estimate in shown),
        among=describe_group(shown[0].estimand) if shown else "",
        asked=None if asked is None else row_of_estimate(asked, usual=among, truth=truth),
        asked_text=_write_asked(asked) if asked and shown else "",
        note="" if shown else TOO_FEW_ASKED.format(crowd=whole(results.wave.crowd)),
        warning=CONTRADICTING if result.contradiction else "",
        contradiction=result.contradiction,
        alarm=result.alarm,
    )


def row_of_estimate(
    estimate: Estimate, *, usual: Among, truth: Mapping[str, float] = EMPTY
) -> BlockRow:
    """Build the row of an estimate; the row names its group unless the group is `usual`."""
    estimand = estimate.estimand
    shown, true_value = estimate.is_shown, truth.get(estimand.key)
    digits = digits_for(estimate)
    return BlockRow(
        key=estimand.key,
        kind=_find_kind(estimate),
        label=name_estimand(estimand),
        among="" if estimand.of is usual else describe_group(estimand) or "of everyone asked",
        value=estimate.displayed if shown else None,
        low=estimate.low if shown else None,
        high=estimate.high if shown else None,
        axis=_find_axis(estimate),
        number=write_value(estimate, estimate.displayed, digits, unit=estimate.unit)
        if shown
        else "",
        range=write_ends(estimate) if shown and estimate.method != EXACT else "",
        text=summarize(estimate).replace(CAUTION_MARK, ""),
        mark=CAUTION_MARK if estimate.reliability is Reliability.CAUTION else "",
        truth=true_value,
        truth_text=""
        if true_value is None
        else write_value(estimate, true_value, digits, unit=estimate.unit),
        estimate=estimate,
    )


def _find_kind(estimate: Estimate) -> RowKind:
    if estimate.is_mean:
        return RowKind.MEAN
    return RowKind.ASKED if estimate.estimand.is_asked else RowKind.SHARE


def _find_axis(estimate: Estimate) -> Axis:
    """Name the ends of a mean's scale; add their labels if no other row of the block has them."""
    if not estimate.is_mean:
        return SHARES
    question, scale = estimate.estimand.question, estimate.estimand.scale
    ends = [f"{end:,.0f}".replace("-", "−") for end in scale]
    if question.is_rounded:
        labels = (question.low_label, question.high_label)
        ends = [f"{end} {label}".rstrip() for end, label in zip(ends, labels, strict=True)]
    return Axis(least=scale[0], greatest=scale[1], ends=(ends[0], ends[1]))


def _write_asked(asked: Estimate) -> str:
    """Write the estimated number of people who were asked, such as "asked ≈ 95 (0–245)"."""
    if not asked.is_shown or asked.displayed is None:
        return "asked: too uncertain to say"
    value, low, high = (
        whole(round(asked.total * share)) for share in (asked.displayed, asked.low, asked.high)
    )
    return f"asked {value}" if asked.method == EXACT else f"asked ≈ {value} ({low}–{high})"


def _build_declared(
    question: ManifestQuestion, found: DeclaredResult | None, results: Results
) -> Block:
    if found is None:
        later = COUNTED_WITH_HALF if results.snapshot.is_half else COUNTED_LATER
        note = NEVER_COUNTED if results.is_settled else later
        return Block(question=question, total=0, is_declared=True, rows=(), note=note)
    return Block(
        question=question,
        total=found.total,
        is_declared=True,
        rows=tuple(_list_groups(found)),
        note=f"{COUNTED_NOW} {HIDDEN}" if found.hidden else COUNTED_NOW,
    )


def _count_groups(block: Block) -> Details | None:
    if not block.rows:
        return None
    return Details(
        headings=(Heading(text="Reports", anchor="declared-groups"),),
        rows=tuple(
            DetailRow(
                label=row.label,
                is_in_survey_language=row.is_in_survey_language,
                cells=(_write_count(row.group),),
            )
            for row in block.rows
        ),
        sentences=(describe_reports(block.total),),
        anchors=("declared-groups",),
    )


def _write_count(group: GroupResult | None) -> str:
    return NOTHING if group is None or group.count is None else whole(group.count)


def _list_groups(found: DeclaredResult) -> Iterator[BlockRow]:
    for group in found.groups:
        row = row_of_share(
            key=f"{found.question.name} {group.code}",
            label=group.text,
            value=group.share,
            low=group.low,
            high=group.high,
            nothing=NOT_SHOWN,
        )
        yield replace(row, kind=RowKind.GROUP, group=group)
