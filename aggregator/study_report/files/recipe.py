"""Make the report as a file, in a worker."""

from __future__ import annotations

from collections.abc import Callable

from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.display import Results, Standing, View
from aggregator.study_report.content import StudyReport, identify
from aggregator.study_report.files.pdf import make_pdf
from aggregator.study_report.files.word_file import make_word_file
from aggregator.study_report.writing import write_report
from surveys.formatting import whole
from surveys.manifest.modes import Mode

MAKERS: dict[str, Callable[[StudyReport], bytes]] = {
    "report.pdf": make_pdf,
    "report.docx": make_word_file,
}


# Typst takes 50 kB of memory per table row, and half a gigabyte at once for 9,000 rows.
MAX_PDF_ROWS = 2_000
TOO_LONG = (
    "The tables of this report have {rows} rows, but a PDF can hold at most {most}. The Word file "
    "has the whole report."
)


def _find_inputs(results: Results, name: str) -> str | None:
    """Return what determines the file; only electronic waves have a report."""
    if name not in MAKERS or results.wave.mode != Mode.ELECTRONIC:
        return None
    report = _write(results)
    if MAKERS[name] is make_pdf and report.row_count > MAX_PDF_ROWS:
        rows, most = whole(report.row_count), whole(MAX_PDF_ROWS)
        raise NotRenderable(TOO_LONG.format(rows=rows, most=most))
    return identify(report)


def _make(results: Results, name: str) -> bytes:
    return MAKERS[name](_write(results))


def _write(results: Results) -> StudyReport:
    return write_report(
        View(
            survey=results.wave.survey,
            wave=results.wave,
            standing=Standing.SHOWN,
            manifest=results.manifest,
            snapshot=results.snapshot,
            results=results,
        )
    )


REPORT = Recipe(find_inputs=_find_inputs, render=_make)
