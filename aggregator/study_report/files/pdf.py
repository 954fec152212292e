"""The report as a PDF, laid out by Typst. Only workers call this: Typst is imported here alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aggregator.study_report.content import StudyReport, to_json

LAYOUT = Path(__file__).with_name("layout")
# Tagged and with a language and a title, as PDF/UA-1 asks for readers that speak.
_STANDARD = "ua-1"
# What Typst says if PDF/UA forbids a character that no font has.
_NO_FONT = "could not be displayed"


def make_pdf(report: StudyReport) -> bytes:
    """Lay out the report; the same report gives the same bytes on the same computer.

    The words are data to Typst, so nothing in them is run. Latin, Greek and Cyrillic letters come
    from the font in Typst's package, all others from the fonts of the computer. If it has none
    for a character, the file says so and does not call itself accessible.
    """
    import typst  # 25 MB that web processes do not need

    try:
        return _compile(report, standards=[_STANDARD], is_missing=False)
    except typst.TypstError as error:
        if _NO_FONT not in str(error):
            raise
    return _compile(report, standards=[], is_missing=True)


def _compile(report: StudyReport, *, standards: list[Any], is_missing: bool) -> bytes:
    import typst

    pdf: bytes = typst.compile(
        str(LAYOUT / "report.typ"),
        root=str(LAYOUT),
        format="pdf",
        sys_inputs={
            "report": json.dumps(to_json(report), ensure_ascii=False),
            "footer": _write_footer(report),
            "missing": "yes" if is_missing else "no",
        },
        pdf_standards=standards,
    )
    return pdf


def _write_footer(report: StudyReport) -> str:
    return report.title if len(report.title) <= 80 else f"{report.title[:79]}…"
