"""How a worker makes the report as a file."""

from __future__ import annotations

from collections.abc import Callable

from aggregator.renderings.recipes import Recipe
from aggregator.results.display import Results, Standing, View
from aggregator.study_report.content import StudyReport, identify
from aggregator.study_report.files.pdf import make_pdf
from aggregator.study_report.files.word_file import make_word_file
from aggregator.study_report.writing import write_report
from surveys.manifest.modes import Mode

MAKERS: dict[str, Callable[[StudyReport], bytes]] = {
    "report.pdf": make_pdf,
    "report.docx": make_word_file,
}


def _find_inputs(results: Results, name: str) -> str | None:
    """Return a text for these words; the report of a survey is that of its browsers' wave."""
    if name not in MAKERS or results.wave.mode != Mode.ELECTRONIC:
        return None
    return identify(_write(results))


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
