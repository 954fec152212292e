"""Draw a placed figure as SVG on white: no visible title, letters kept as text, legible in grey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from aggregator.charts.figure import Axis
from aggregator.charts.ink import PALE, find_ink
from aggregator.charts.layout import (
    AXIS_HEIGHT,
    END_HEIGHT,
    LINE,
    MARGIN,
    POINTS_PER_MM,
    Layout,
    PlacedPanel,
    PlacedRow,
    PlacedSection,
)

NAMESPACE = "http://www.w3.org/2000/svg"
# PDF and PNG files use the first font, from aggregator/typesetting. The first three fonts have
# equal widths.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WHITE, INK, MUTED, GRID, REFERENCE, TRUTH = (
    "#ffffff",
    "#000000",
    "#555555",
    "#dddddd",
    "#777777",
    "#b4571f",
)
UNKNOWN = "#" + "".join(f"{part:02x}" for part in PALE)
BASELINE = 0.36  # from the middle of a line to its baseline, as a multiple of the letter size
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw(layout: Layout) -> Element:
    """Draw a figure as an SVG element; its size is in millimetres, and positions are in points."""
    width, height = layout.sheet.width, layout.height
    size = [
        f"{side / POINTS_PER_MM:.3f}".rstrip("0").rstrip(".") + "mm" for side in (width, height)
    ]
    root = Element(
        "svg",
        {
            "xmlns": NAMESPACE,
            "width": size[0],
            "height": size[1],
            "viewBox": f"0 0 {width:.3f} {height:.3f}",
            "role": "img",
            "aria-labelledby": "title description",
            "font-family": FONT,
        },
    )
    SubElement(root, "title", {"id": "title"}).text = _clean(layout.figure.title)
    SubElement(root, "desc", {"id": "description"}).text = _clean(layout.figure.description)
    # The background is wider than the picture, so that no edge is half transparent.
    paper = {"x": "-9", "y": "-9", "width": f"{width + 18:.3f}", "height": f"{height + 18:.3f}"}
    SubElement(root, "rect", {**paper, "fill": WHITE})
    sheet = layout.sheet
    _write(root, layout.warning, x=MARGIN, top=MARGIN, size=sheet.text, bold=True)
    for panel in layout.panels:
        _draw_panel(root, panel, layout)
    _write(root, layout.footnotes, x=MARGIN, top=layout.footnotes_top, size=sheet.small, fill=MUTED)
    return root


def _draw_panel(root: Element, panel: PlacedPanel, layout: Layout) -> None:
    sheet = layout.sheet
    for section in panel.sections:
        _write(root, section.heading, x=MARGIN, top=section.top, size=sheet.heading, bold=True)
        _write(root, section.note, x=MARGIN, top=section.note_top, size=sheet.small, fill=MUTED)
        _draw_grid(root, section, panel.axis, layout)
        for row in section.rows:
            _draw_row(root, row, layout)
    if panel.has_axis:
        _draw_axis(root, panel, layout)


def _draw_grid(root: Element, section: PlacedSection, axis: Axis, layout: Layout) -> None:
    """Draw thin lines behind the rows that share the axis; skip means, which have separate axes."""
    shared = [one for one in section.rows if one.row.axis is None and not one.row.is_caption]
    for row in shared:
        for value, _ in axis.ticks:
            is_reference = axis.reference is not None and abs(value - axis.reference) < 1e-9
            _line(
                root,
                x1=_x(axis, value, layout),
                x2=_x(axis, value, layout),
                y1=row.top,
                y2=row.top + row.height,
                color=REFERENCE if is_reference else GRID,
                width=0.6 if is_reference else 0.4,
            )


def _draw_axis(root: Element, panel: PlacedPanel, layout: Layout) -> None:
    sheet, axis = layout.sheet, panel.axis
    start, end = sheet.plot
    _line(root, x1=start, x2=end, y1=panel.bottom, y2=panel.bottom, color=MUTED, width=0.5)
    for value, text in axis.ticks:
        x = _x(axis, value, layout)
        _line(root, x1=x, x2=x, y1=panel.bottom, y2=panel.bottom + 2, color=MUTED, width=0.5)
        _write(
            root, [text], x=x, top=panel.bottom + 2, size=sheet.small, fill=MUTED, anchor="middle"
        )
    _write(
        root,
        [axis.title],
        x=(start + end) / 2,
        top=panel.bottom + AXIS_HEIGHT - sheet.small * LINE - 3,
        size=sheet.small,
        fill=MUTED,
        anchor="middle",
    )


def _draw_row(root: Element, placed: PlacedRow, layout: Layout) -> None:
    sheet, row = layout.sheet, placed.row
    lines = len(placed.label)
    _write(
        root,
        placed.label,
        x=placed.label_left,
        top=placed.middle - lines * sheet.text * LINE / 2,
        size=sheet.text,
    )
    if row.is_caption:
        return
    _write(
        root,
        placed.text,
        x=sheet.numbers,
        top=placed.middle - len(placed.text) * sheet.text * LINE / 2,
        size=sheet.text,
        fill=INK if row.value is not None else MUTED,
    )
    if row.axis is not None:
        _draw_own_axis(root, placed, layout)
    _draw_mark(root, placed, layout)


def _draw_own_axis(root: Element, placed: PlacedRow, layout: Layout) -> None:
    """Draw the scale of a mean, with labels below its ends."""
    sheet = layout.sheet
    start, end = sheet.plot
    y = placed.middle
    _line(root, x1=start, x2=end, y1=y, y2=y, color=GRID, width=0.5)
    for x in sheet.plot:
        _line(root, x1=x, x2=x, y1=y - 2.5, y2=y + 2.5, color=REFERENCE, width=0.5)
    top = placed.top + placed.height - placed.ends_height + END_HEIGHT - 2
    low, high = placed.ends
    _write(root, low, x=start, top=top, size=sheet.small, fill=MUTED)
    _write(root, high, x=end, top=top, size=sheet.small, fill=MUTED, anchor="end")


def _draw_mark(root: Element, placed: PlacedRow, layout: Layout) -> None:
    row, axis, y = placed.row, placed.axis, placed.middle
    if row.value is None or row.low is None or row.high is None:
        start, end = layout.sheet.plot
        _line(root, x1=start, x2=end, y1=y, y2=y, color=UNKNOWN, width=0.5, dashes="1.5 2.5")
    else:
        ink = find_ink(row, axis)
        low, high = _x(axis, row.low, layout), _x(axis, row.high, layout)
        _line(root, x1=low, x2=high, y1=y, y2=y, color=ink.color, width=ink.line, role="interval")
        _draw_arrows(root, placed, layout, color=ink.color)
        dot = SubElement(root, "circle", {"data-mark": "estimate"})
        dot.attrib |= {
            "cx": f"{_x(axis, row.value, layout):.2f}",
            "cy": f"{y:.2f}",
            "r": f"{ink.dot:.2f}",
            "fill": WHITE if row.is_cautious else ink.color,
            "stroke": ink.color,
            "stroke-width": "0.8",
        }
    if row.truth is not None:
        x = _x(axis, row.truth, layout)
        _line(root, x1=x, x2=x, y1=y - 5, y2=y + 5, color=TRUTH, width=1.2, role="truth")


def _draw_arrows(root: Element, placed: PlacedRow, layout: Layout, *, color: str) -> None:
    """Draw an arrow where an interval continues beyond the axis."""
    row, axis, y = placed.row, placed.axis, placed.middle
    assert row.low is not None
    assert row.high is not None
    start, end = layout.sheet.plot
    for beyond, x, back in (
        (row.low < axis.least - 1e-9, start, 3.5),
        (row.high > axis.greatest + 1e-9, end, -3.5),
    ):
        if beyond:
            points = f"{x:.2f},{y:.2f} {x + back:.2f},{y - 2:.2f} {x + back:.2f},{y + 2:.2f}"
            SubElement(root, "polygon", {"points": points, "fill": color})


def _x(axis: Axis, value: float, layout: Layout) -> float:
    start, end = layout.sheet.plot
    return start + (end - start) * axis.place(value)


def _line(
    root: Element,
    *,
    x1: float,
    x2: float,
    y1: float,
    y2: float,
    color: str,
    width: float,
    dashes: str = "",
    role: str = "",
) -> None:
    ends = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    line = SubElement(root, "line", {name: f"{value:.2f}" for name, value in ends.items()})
    line.attrib |= {"stroke": color, "stroke-width": f"{width:.2f}"}
    if dashes:
        line.set("stroke-dasharray", dashes)
        line.set("data-mark", "unknown")
    if role:
        line.set("data-mark", role)


def _write(
    root: Element,
    lines: Sequence[str],
    *,
    x: float,
    top: float,
    size: float,
    fill: str = INK,
    anchor: str = "start",
    bold: bool = False,
) -> None:
    for place, line in enumerate(lines):
        middle = top + (place + 0.5) * size * LINE
        text = SubElement(root, "text", {"x": f"{x:.2f}", "y": f"{middle + size * BASELINE:.2f}"})
        text.attrib |= {"font-size": f"{size:g}", "fill": fill}
        if anchor != "start":
            text.set("text-anchor", anchor)
        if bold:
            text.set("font-weight", "bold")
        text.text = _clean(line)


def _clean(text: str) -> str:
    """Leave out characters that no XML file may contain."""
    return NOT_IN_XML.sub("", text)
