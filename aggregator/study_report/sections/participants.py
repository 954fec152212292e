"""Write Table 1, which shows the declared groups of those who took part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aggregator.results.blocks import NOT_SHOWN, Block
from aggregator.study_report.content import Paragraph, Part, Row, Section, Table, Words
from aggregator.study_report.sections.findings import ALL_SHARES
from surveys.formatting import whole

PARTICIPANTS = "participants"
NONE_ASKED = (
    "The survey had no questions whose answers are sent as they are, so nothing is known about "
    "those who took part beyond the results below."
)
COUNTED = (
    "Respondents sent these answers as they are, so the numbers are exact for those who took part. "
    "The intervals apply to the people they represent, if those who took part were drawn at "
    "random. Groups that are too small are not shown, nor are groups that would reveal them by "
    "subtraction."
)


def write_participants(blocks: Iterable[Block]) -> Section:
    declared = [block for block in blocks if block.is_declared]
    return Section(
        anchor=PARTICIPANTS,
        heading="Who took part",
        parts=(_write_groups(declared) if declared else Paragraph(text=NONE_ASKED),),
    )


def _write_groups(declared: list[Block]) -> Part:
    counted = [block for block in declared if block.rows]
    if not counted:
        return Paragraph(text=declared[0].note)
    return Table(
        caption="Table 1. Groups of those who took part",
        header=("Group", "Reports", "Share", "95 % interval"),
        rows=tuple(row for block in counted for row in _list_rows(block)),
        widths=(1,),
        axis=ALL_SHARES if any(row.is_shown for block in counted for row in block.rows) else "",
        notes=(COUNTED,),
    )


def _list_rows(block: Block) -> Iterator[Row]:
    name = Words(text=f"Q{block.number} {block.text}", is_authors=True)
    yield Row(cells=(name,), is_heading=True)
    for row in block.rows:
        count = row.group.count if row.group else None
        cells = (
            Words(text=row.label, is_authors=row.is_in_survey_language),
            Words(text=NOT_SHOWN if count is None else whole(count)),
            Words(text=row.number or "–"),
            Words(text=row.range or "–"),
        )
        yield Row(cells=cells, whisker=row.whisker)
