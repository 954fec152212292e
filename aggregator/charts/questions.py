"""Draw one question or all questions, with options as rows and a mean on a separate scale.

The chart of a long survey is divided into several pictures, each of which fits on a page of a
journal. The division is the same for both widths, so each part always shows the same questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aggregator.charts.figure import (
    Figure,
    Panel,
    Row,
    Section,
    make_mean_axis,
    make_share_axis,
)
from aggregator.charts.layout import POINTS_PER_MM, SHEETS, measure_section
from aggregator.results.blocks import Block, BlockRow, list_blocks
from aggregator.results.display import Results
from aggregator.results.sentences import CAUTION
from aggregator.results.snapshots import ended_at_cap
from surveys.formatting import whole

PART_HEIGHT_MM = 205  # without the axis and the notes below it
REHEARSAL = "Rehearsal: invented answers. No person sent these reports."
FIXED_END = "95 % intervals; the end was fixed before opening"
AT_CAP = "95 % intervals; the number of reports was fixed before opening"
EVERY_LOOK = "95 % intervals, for all looks together"
ONE_LOOK = "95 % intervals"
DASHED = "A dashed line means that too little is known to show a value."
TRUTH = "Upright lines show the known truth of the demo."
CONTRADICTS = "The reports contradict this question’s design."


def divide(sections: Sequence[Section]) -> list[list[Section]]:
    """Divide questions into parts that each fit on a page, in the order of the survey."""
    axis = make_share_axis()
    room = PART_HEIGHT_MM * POINTS_PER_MM
    parts: list[list[Section]] = []
    left = 0.0
    for section in sections:
        height = max(measure_section(section, axis, width_mm=width) for width in SHEETS)
        if not parts or height > left:
            parts.append([])
            left = room
        parts[-1].append(section)
        left -= height
    return parts


def divide_blocks(blocks: Sequence[Block]) -> list[list[Block]]:
    """Divide the questions of a survey into the parts of its chart."""
    each = iter(blocks)
    return [[next(each) for _ in part] for part in divide([_make_section(one) for one in blocks])]


def make_figure(
    results: Results, blocks: Sequence[Block], *, ends_at_data: bool, part: tuple[int, int] = (1, 1)
) -> Figure:
    """Make the figure of some questions; `part` is the figure's number and the number of parts."""
    sections = tuple(_make_section(block, numbered=len(blocks) > 1) for block in blocks)
    rows = [row for section in sections for row in section.rows]
    shares = [row.high for row in rows if row.axis is None and row.high is not None]
    truths = [row.truth for row in rows if row.axis is None and row.truth is not None]
    axis = make_share_axis([*shares, *truths]) if ends_at_data and shares else make_share_axis()
    number, of = part
    notes = list(_list_notes(results, blocks, rows))
    if of > 1:
        notes.append(f"Part {number} of {of}.")
    return Figure(
        title=f"{results.manifest.title}: estimates with 95 % intervals",
        panels=(Panel(axis=axis, sections=sections),),
        footnotes=tuple(notes),
        warning=REHEARSAL if results.wave.survey.rehearsal else "",
    )


def _list_notes(results: Results, blocks: Sequence[Block], rows: Sequence[Row]) -> Iterator[str]:
    kind = ONE_LOOK if results.is_one_look else EVERY_LOOK
    if results.fixed_end:
        kind = AT_CAP if ended_at_cap(results.wave) else FIXED_END
    yield f"{_describe_reports(results, blocks)}. {kind}."
    if any(row.is_cautious for row in rows):
        yield CAUTION
    if any(row.value is None for row in rows):
        yield DASHED
    if any(row.truth is not None for row in rows):
        yield TRUTH


def _describe_reports(results: Results, blocks: Sequence[Block]) -> str:
    """Say how many reports there are and, for random subsets, the range of reports per question."""
    total = results.snapshot.total
    if blocks and all(block.is_declared for block in blocks):
        return f"{whole(total)} reports, with answers sent as they are"
    asked = sorted({block.total for block in blocks if block.total})
    if not asked or asked == [total]:
        return f"{whole(total)} randomized reports"
    ends = " to ".join(dict.fromkeys(whole(number) for number in (asked[0], asked[-1])))
    return f"{ends} of {whole(total)} randomized reports"


def _make_section(block: Block, *, numbered: bool = True) -> Section:
    notes = [CONTRADICTS] if block.contradiction or block.alarm else []
    if block.among or block.asked_text:
        group = "; ".join(filter(None, (block.among, block.asked_text)))
        notes.append(f"{group[0].upper()}{group[1:]}.")
    elif not block.rows:
        notes.append(block.note)
    return Section(
        heading=f"Q{block.number}  {block.text}" if numbered else block.text,
        note=" ".join(notes),
        rows=tuple(make_row(row) for row in block.rows),
    )


def make_row(row: BlockRow) -> Row:
    """Make the row of one figure; a mean gets its own axis."""
    return Row(
        label=f"{row.label} ({row.among})" if row.among else row.label,
        text=f"{row.text}{' ' if row.mark else ''}{row.mark}",
        value=row.value,
        low=row.low,
        high=row.high,
        is_cautious=bool(row.mark),
        truth=row.truth,
        axis=make_mean_axis(row.axis) if row.is_mean else None,
        ends=row.axis.ends,
    )


def list_menu(results: Results) -> list[tuple[str, str]]:
    """List each chart of a survey with the start of its file name and what the chart shows."""
    blocks = list_blocks(results)
    parts = divide_blocks(blocks)
    menu = []
    for place, part in enumerate(parts, start=1):
        stem = "chart" if place == 1 else f"chart-part{place}"
        which = "All questions" if len(parts) == 1 else _name_part(part)
        menu.append((stem, which))
    return menu + [
        (f"chart-{block.name}", f"Q{block.number} {block.text}") for block in blocks if block.rows
    ]


def _name_part(part: Sequence[Block]) -> str:
    first, last = part[0].number, part[-1].number
    return f"Q{first}" if first == last else f"Q{first} to Q{last}"
