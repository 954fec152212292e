"""Place the parts of a figure on a page of a given width; all positions are in points.

The names of rows are on the left, dots and intervals in the middle, and numbers on the right. Text
takes as many lines as it needs, and its row grows to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from aggregator.charts.figure import Axis, Figure, Panel, Row, Section
from aggregator.charts.text_widths import wrap

MARGIN = 3.0
LINE = 1.2  # line height, as a multiple of the letter size
ROW_GAP = 3.5
INDENT = 8.0  # of a row below a caption
SECTION_GAP = 8.0
PANEL_GAP = 6.0
AXIS_HEIGHT = 24.0  # with its numbers and its title
END_HEIGHT = 3.0  # between a mean's axis and its end labels


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The width of a picture, its columns, and the sizes of its letters, in points."""

    width: float
    plot: tuple[float, float]
    heading: float
    text: float
    small: float

    @property
    def numbers(self) -> float:
        """The left edge of the column of numbers."""
        return self.plot[1] + 7

    @property
    def label_width(self) -> float:
        return self.plot[0] - 6 - MARGIN

    @property
    def number_width(self) -> float:
        return self.width - MARGIN - self.numbers

    @property
    def full_width(self) -> float:
        return self.width - 2 * MARGIN


POINTS_PER_MM = 72 / 25.4
# The sheets that are one or two columns of a journal wide, by width in millimetres.
SHEETS = {
    85: Sheet(width=85 * POINTS_PER_MM, plot=(87.0, 175.0), heading=7.5, text=6.5, small=6.0),
    180: Sheet(width=180 * POINTS_PER_MM, plot=(198.0, 408.0), heading=8.5, text=7.5, small=6.5),
}


@dataclass(frozen=True, kw_only=True)
class PlacedRow:
    row: Row
    axis: Axis
    top: float
    height: float
    label: list[str]
    label_left: float
    text: list[str]
    ends: tuple[list[str], list[str]]
    ends_height: float

    @property
    def middle(self) -> float:
        return self.top + (self.height - self.ends_height) / 2


@dataclass(frozen=True, kw_only=True)
class PlacedSection:
    top: float
    heading: list[str]
    note: list[str]
    note_top: float
    rows: list[PlacedRow]
    bottom: float


@dataclass(frozen=True, kw_only=True)
class PlacedPanel:
    axis: Axis
    sections: list[PlacedSection]
    has_axis: bool  # False if no row is placed on the shared axis
    bottom: float  # where its axis begins


@dataclass(frozen=True, kw_only=True)
class Layout:
    figure: Figure
    sheet: Sheet
    warning: list[str]
    panels: list[PlacedPanel]
    footnotes: list[str]
    footnotes_top: float

    @cached_property
    def height(self) -> float:
        return self.footnotes_top + len(self.footnotes) * self.sheet.small * LINE + MARGIN


def place(figure: Figure, *, width_mm: int) -> Layout:
    sheet = SHEETS[width_mm]
    warning = _wrap_full(figure.warning, sheet, bold=True)
    top = MARGIN + (len(warning) * sheet.text * LINE + SECTION_GAP if warning else 0)
    panels = []
    for panel in figure.panels:
        placed = _place_panel(panel, sheet, top)
        panels.append(placed)
        top = placed.bottom + (AXIS_HEIGHT if placed.has_axis else 0) + PANEL_GAP
    return Layout(
        figure=figure,
        sheet=sheet,
        warning=warning,
        panels=panels,
        footnotes=[line for note in figure.footnotes for line in _wrap_full(note, sheet)],
        footnotes_top=top - PANEL_GAP + 4,
    )


def measure_section(section: Section, axis: Axis, *, width_mm: int) -> float:
    """Return the height of a section, to decide which sections fit on a page."""
    return _place_section(section, axis, SHEETS[width_mm], 0.0).bottom + SECTION_GAP


def _wrap_full(text: str, sheet: Sheet, *, bold: bool = False) -> list[str]:
    size = sheet.text if bold else sheet.small
    return wrap(text, width=sheet.full_width, size=size, bold=bold)


def _place_panel(panel: Panel, sheet: Sheet, top: float) -> PlacedPanel:
    sections: list[PlacedSection] = []
    for section in panel.sections:
        placed = _place_section(section, panel.axis, sheet, top)
        sections.append(placed)
        top = placed.bottom + SECTION_GAP
    return PlacedPanel(
        axis=panel.axis,
        sections=sections,
        has_axis=any(
            row.axis is None and not row.is_caption for one in panel.sections for row in one.rows
        ),
        bottom=top - SECTION_GAP + 2,
    )


def _place_section(section: Section, axis: Axis, sheet: Sheet, top: float) -> PlacedSection:
    heading = wrap(section.heading, width=sheet.full_width, size=sheet.heading, bold=True)
    note = _wrap_full(section.note, sheet)
    note_top = top + len(heading) * sheet.heading * LINE
    bottom = note_top + len(note) * sheet.small * LINE + 2
    rows = []
    for row in section.rows:
        placed = _place_row(row, axis, sheet, bottom)
        rows.append(placed)
        bottom += placed.height
    return PlacedSection(
        top=top, heading=heading, note=note, note_top=note_top, rows=rows, bottom=bottom
    )


def _place_row(row: Row, axis: Axis, sheet: Sheet, top: float) -> PlacedRow:
    indent = INDENT if row.is_indented else 0.0
    label_width = sheet.full_width if row.is_caption else sheet.label_width - indent
    label = wrap(row.label, width=label_width, size=sheet.text)
    text = wrap(row.text, width=sheet.number_width, size=sheet.text)
    half = (sheet.plot[1] - sheet.plot[0]) / 2 - 2
    low, high = (wrap(end, width=half, size=sheet.small) for end in row.ends)
    lines = max(len(low), len(high))
    ends_height = lines * sheet.small * LINE + END_HEIGHT if lines else 0.0
    height = max(len(label), len(text), 1) * sheet.text * LINE + ROW_GAP
    return PlacedRow(
        row=row,
        axis=row.axis or axis,
        top=top,
        height=height + ends_height,
        label=label,
        label_left=MARGIN + indent,
        text=text,
        ends=(low, high),
        ends_height=ends_height,
    )
