"""Write the report as a PDF."""

from __future__ import annotations

from pathlib import Path

from aggregator.study_report.content import StudyReport, to_json
from aggregator.typesetting.typst_files import NoFontError, typeset

LAYOUT = Path(__file__).with_name("layout") / "report.typ"


def make_pdf(report: StudyReport) -> bytes:
    """Lay out the report; the same report gives the same bytes.

    If a character is in no font, the file says so and does not claim to be accessible.
    """
    data = {"report": to_json(report), "footer": _write_footer(report)}
    try:
        return typeset(LAYOUT, data={**data, "is_missing": False}, is_accessible=True)
    except NoFontError:
        return typeset(LAYOUT, data={**data, "is_missing": True})


def _write_footer(report: StudyReport) -> str:
    return report.title if len(report.title) <= 80 else f"{report.title[:79]}…"
