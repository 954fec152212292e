"""The results, question by question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aggregator.results.blocks import Block, BlockRow
from aggregator.results.display import Results, Standing, View
from aggregator.results.sentences import (
    CONTRADICTION,
    CONTRADICTION_CAUSES,
    describe_alarm,
    describe_caution,
    describe_intervals,
)
from aggregator.study_report.content import (
    Heading,
    Paragraph,
    Part,
    Row,
    Section,
    Table,
    Tone,
    Words,
)
from surveys.formatting import whole

RESULTS = "results"
KEPT = " Only counts of codes are kept, for releases."
ALL_SHARES = "0–100 %"


def write_findings(results: Results, blocks: Iterable[Block]) -> Section:
    scrambled = [block for block in blocks if not block.is_declared]
    parts: list[Part] = [Paragraph(text=describe_intervals(results))]
    alarm = describe_alarm(results)
    if alarm:
        parts.append(Paragraph(text=alarm, tone=Tone.NOTICE))
    caution = describe_caution(one for question in results.questions for one in question.shown)
    if caution:
        parts.append(Paragraph(text=caution))
    for block in scrambled:
        parts += _write_block(block, reports=results.snapshot.total)
    return Section(anchor=RESULTS, heading="Results", parts=tuple(parts))


def _write_block(block: Block, *, reports: int) -> Iterator[Part]:
    yield Heading(words=Words(text=block.text, is_authors=True), number=f"Q{block.number}")
    if block.contradiction:
        yield Paragraph(text=f"{CONTRADICTION} {CONTRADICTION_CAUSES}", tone=Tone.NOTICE)
    if not block.rows:
        yield Paragraph(text=block.note)
        return
    axis = _find_axis(block)
    yield Table(
        caption=_write_caption(block, reports=reports),
        header=("Answer", "Estimate", "95 % interval"),
        rows=tuple(_write_row(row, axis=axis) for row in block.rows),
        widths=(1,),
        notes=(block.note,) if block.note else (),
        axis=axis,
    )


def _find_axis(block: Block) -> str:
    """Return the heading of the column of whiskers; a mean among shares has no whisker."""
    shown = [row for row in block.rows if row.is_shown]
    if any(not row.is_mean for row in shown):
        return ALL_SHARES
    return "–".join(shown[0].axis.ends) if shown else ""


def _write_caption(block: Block, *, reports: int) -> str:
    """Say whom the figures describe, and how many reports there are."""
    whom = f"Q{block.number}, {block.among}" if block.among else f"Q{block.number}"
    people = [block.asked_text] if block.asked_text else []
    if block.total != reports:
        people.append(f"asked in {whole(block.total)} reports")
    else:
        people.append(f"{whole(block.total)} reports")
    return f"{whom} ({'; '.join(people)})"


def _write_row(row: BlockRow, *, axis: str) -> Row:
    label = f"{row.label} ({row.among})" if row.among else row.label
    if row.is_mean:
        label = f"{label}, from {row.axis.ends[0]} to {row.axis.ends[1]}"
    cells = (
        Words(text=label, is_authors=row.is_in_survey_language),
        Words(text=(row.number + row.mark) if row.is_shown else row.text),
        Words(text=row.range or "–"),
    )
    has_whisker = not row.is_mean or axis != ALL_SHARES
    return Row(cells=cells, whisker=row.whisker if has_whisker else None)


def explain_nothing(view: View) -> Section:
    """Say why the report has no results yet, or will never have any."""
    wave = view.wave
    assert wave is not None
    text = {
        Standing.WAITING: "There are no results yet. They appear with the first look at the "
        "reports.",
        Standing.RECOMPUTING: "Murmur was upgraded and is computing the results again.",
        Standing.EMPTY: "The survey closed without a single report.",
        Standing.DISCARDED: (
            f"The survey closed with fewer than {whole(wave.minimum_batch)} reports. A group that "
            "small cannot hide its members, so its reports were "
            f"deleted.{KEPT if wave.keeps_counts else ''}"
        ),
        Standing.AT_CLOSE: (
            "Each person is asked only some of the questions, so results appear only at the close."
        ),
        Standing.TOO_FEW: (
            f"Results need {whole(wave.crowd)} sealed reports, and there are fewer."
        ),
    }[view.standing]
    return Section(anchor=RESULTS, heading="Results", parts=(Paragraph(text=text),))
