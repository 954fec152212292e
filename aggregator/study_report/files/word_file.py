"""Write the report as a Word file, only in workers; no other module imports python-docx."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from aggregator.study_report.content import (
    Facts,
    Heading,
    Listing,
    Paragraph,
    Part,
    StudyReport,
    Table,
    Tone,
    Words,
)

if TYPE_CHECKING:
    from docx.document import Document

# A file needs a date even if its report has none. Zip files allow no date before 1980.
_NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
_COLOUR = "4B3B7A"
_FONT = "Calibri"
# All sizes are in millimetres, on A4.
_PAGE = (210, 297)
_MARGINS = (22, 20)
_TEXT_WIDTH = _PAGE[0] - 2 * _MARGINS[0]
_FIGURE_WIDTH = 25
# XML does not allow these characters.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def make_word_file(report: StudyReport) -> bytes:
    """Write the report with real headings and tables; the same report gives the same bytes."""
    import docx  # 20 MB that web processes do not need

    document = docx.Document()
    writer = _Writer(document, report)
    writer.write()
    written = BytesIO()
    document.save(written)
    return _repack(written.getvalue())


def _repack(content: bytes) -> bytes:
    """Rewrite the parts of a file without the times at which they were written."""
    again = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(again, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            part.compress_type = ZIP_DEFLATED
            new.writestr(part, old.read(name))
    return again.getvalue()


class _Writer:
    """Writes the parts of a report into a document, one after the other."""

    def __init__(self, document: Document, report: StudyReport) -> None:
        self._document = document
        self._report = report

    def write(self) -> None:
        self._set_properties()
        self._set_styles()
        report = self._report
        title = self._document.add_heading(level=0)
        self._say(title, Words(text=report.title, is_authors=True))
        for mark in report.marks:
            self._document.add_paragraph(mark, style="Intense Quote")
        self._write_part(report.facts)
        for section in report.sections:
            self._document.add_heading(section.heading, level=1)
            for part in section.parts:
                self._write_part(part)

    def _set_properties(self) -> None:
        properties, report = self._document.core_properties, self._report
        day = report.day
        moment = datetime.combine(day, time(), tzinfo=UTC) if day else _NO_DATE
        properties.title = _clean(report.title)[:255]  # python-docx rejects longer titles
        properties.author = properties.last_modified_by = properties.comments = ""
        properties.language = "en"
        properties.created = properties.modified = moment.replace(tzinfo=None)
        properties.revision = 1

    def _set_styles(self) -> None:
        from docx.oxml.ns import qn
        from docx.shared import Mm, Pt, RGBColor

        styles = self._document.styles
        normal = styles["Normal"]
        normal.font.name, normal.font.size = _FONT, Pt(10.5)
        language = styles.element.find(f".//{qn('w:lang')}")
        if language is not None:
            language.set(qn("w:val"), "en-GB")
        for name in ("Title", "Heading 1", "Heading 2"):
            style = styles[name]
            style.font.name, style.font.color.rgb = _FONT, RGBColor.from_string(_COLOUR)
            # Fonts of the theme would take precedence.
            fonts = style.element.rPr.rFonts
            for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
                fonts.attrib.pop(qn(f"w:{theme}"), None)
        page = self._document.sections[0]
        page.page_width, page.page_height = map(Mm, _PAGE)
        page.left_margin = page.right_margin = Mm(_MARGINS[0])
        page.top_margin = page.bottom_margin = Mm(_MARGINS[1])

    def _write_part(self, part: Part) -> None:
        if isinstance(part, Heading):
            heading = self._document.add_heading(level=2)
            if part.number:
                heading.add_run(f"{part.number} ")
            self._say(heading, part.words)
        elif isinstance(part, Paragraph):
            style = None if part.tone is Tone.PLAIN else "Quote"
            self._document.add_paragraph(_clean(part.text), style=style)
        elif isinstance(part, Listing):
            for item in part.items:
                self._document.add_paragraph(_clean(item), style="List Bullet")
        elif isinstance(part, Facts):
            self._write_facts(part)
        else:
            self._write_table(part)

    def _write_facts(self, facts: Facts) -> None:
        for fact in facts.rows:
            paragraph = self._document.add_paragraph()
            paragraph.paragraph_format.space_after = 0
            paragraph.add_run(f"{fact.name}: ").bold = True
            self._say(paragraph, fact.value)

    def _write_table(self, part: Table) -> None:
        from docx.shared import Mm

        for text in (part.caption, *part.notes):
            caption = self._document.add_paragraph(_clean(text), style="Caption")
            caption.paragraph_format.keep_with_next = True
        table = self._document.add_table(rows=1, cols=len(part.header))
        table.style = "Light List Accent 4"
        self._set_title(table, part)
        for column, width in zip(table.columns, _list_widths(part), strict=True):
            column.width = Mm(width)
        self._fill(table.rows[0], [Words(text=name) for name in part.header], part)
        _repeat_as_header(table.rows[0])
        for row in part.rows:
            added = table.add_row()
            if row.is_heading:
                added.cells[0].merge(added.cells[-1])
            self._fill(added, row.cells, part)
        self._document.add_paragraph()  # without it, two tables would become one

    def _set_title(self, table: Any, part: Table) -> None:
        """Give the table a title for screen readers."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        title = OxmlElement("w:tblCaption")
        title.set(qn("w:val"), _clean(part.caption))
        table._tbl.tblPr.append(title)

    def _fill(self, row: Any, cells: Sequence[Words], part: Table) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH

        # A heading has fewer cells.
        for place, (cell, words) in enumerate(zip(row.cells, cells, strict=False)):
            paragraph = cell.paragraphs[0]
            if place >= len(part.widths):
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            self._say(paragraph, words)

    def _say(self, paragraph: Any, words: Words) -> None:
        """Add words with their language, and right-to-left words also with their direction."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        run = paragraph.add_run(_clean(words.text))
        if not words.is_authors or self._report.tag == "en":
            return
        language = OxmlElement("w:lang")
        is_rtl = self._report.direction == "rtl"
        names = ["bidi"] if is_rtl else ["val", "eastAsia"]
        for name in names:
            language.set(qn(f"w:{name}"), self._report.tag)
        run._r.get_or_add_rPr().append(language)
        if is_rtl:
            run.font.rtl = True


def _list_widths(part: Table) -> list[float]:
    """List column widths in millimetres; columns of words share the space that figures leave."""
    figures = len(part.header) - len(part.widths)
    rest = _TEXT_WIDTH - _FIGURE_WIDTH * figures
    words = [rest * width / sum(part.widths) for width in part.widths]
    return [*words, *[_FIGURE_WIDTH] * figures]


def _clean(text: str) -> str:
    return _IMPOSSIBLE.sub("", text)


def _repeat_as_header(row: Any) -> None:
    """Mark a row as the header of its table, which is repeated on every page."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    header = OxmlElement("w:tblHeader")
    header.set(qn("w:val"), "true")
    row._tr.get_or_add_trPr().append(header)
