"""The PDF and the Word file say what the page says, whatever words an author writes."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

import docx
import pytest
from docx.document import Document
from docx.oxml.ns import qn

from aggregator.results.display import find_view
from aggregator.study_report.content import (
    Heading,
    Section,
    StudyReport,
    Table,
    Words,
    identify,
    list_texts,
)
from aggregator.study_report.files import recipe
from aggregator.study_report.files.pdf import make_pdf
from aggregator.study_report.files.word_file import make_word_file
from aggregator.study_report.writing import write_report
from surveys.authoring.services import add_question
from surveys.models import MAX_OPTION_LENGTH, MAX_QUESTION_LENGTH, MAX_QUESTIONS, Survey
from tests.aggregator.study_report.pdf_text import read_pages, squeeze
from tests.aggregator.study_report.report_text import find_section
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, sign_in

MARKUP = '#panic("x") $a^2$ _b_ *c* =1+1 <script>alert(1)</script> @y \\ [z] `r` // "q" ~ {{ n }}'
ARABIC, CHINESE = "مسح عن العمل", "关于工作的调查"


def read_pdf(pdf: bytes, title: str) -> str:
    """Return the text of all pages without spaces or page footers."""
    short = title if len(title) <= 80 else f"{title[:79]}…"
    foot = re.compile(re.escape(squeeze(short)) + r"\d+/\d+$")
    return "".join(foot.sub("", squeeze(page)) for page in read_pages(pdf))


def open_word_file(content: bytes) -> Document:
    return docx.Document(BytesIO(content))


def read_word_file(document: Document) -> str:
    return squeeze("".join(text.text or "" for text in document.element.body.iter(qn("w:t"))))


def read_page(survey: Survey) -> str:
    response = sign_in(survey.owner).get(f"/surveys/{survey.slug}/report")
    return squeeze(html.unescape(re.sub(r"<[^>]+>", "", response.content.decode())))


def find_missing(report: StudyReport, shown: str) -> list[str]:
    return [text for text in list_texts(report) if squeeze(text) not in shown]


def with_words(report: StudyReport, text: str, **changes: str) -> StudyReport:
    """Put this text wherever an author's words can appear: in a title, a question and an answer."""
    words = Words(text=text, is_authors=True)
    table = find_section(report, "results").parts[-1]
    assert isinstance(table, Table)
    row = replace(table.rows[0], cells=(words, *table.rows[0].cells[1:]))
    section = Section(
        anchor="results",
        heading="Results",
        parts=(Heading(words=words, number="Q1"), replace(table, rows=(row,))),
    )
    return replace(report, title=text, sections=(section,), **changes)  # type: ignore[arg-type]


def test_the_pdf_says_everything_that_the_report_says(report: StudyReport) -> None:
    assert find_missing(report, read_pdf(make_pdf(report), report.title)) == []


def test_the_word_file_says_everything_that_the_report_says(report: StudyReport) -> None:
    assert find_missing(report, read_word_file(open_word_file(make_word_file(report)))) == []


@pytest.mark.usefixtures("static_files")
def test_the_page_says_everything_that_the_report_says(study: Survey) -> None:
    assert find_missing(write_report(find_view(study)), read_page(study)) == []


def test_the_same_report_gives_the_same_bytes(report: StudyReport) -> None:
    assert make_pdf(report) == make_pdf(report)
    assert make_word_file(report) == make_word_file(report)


def test_a_changed_number_of_people_asks_for_other_files(study: Survey) -> None:
    before = identify(write_report(find_view(study)))
    assert identify(write_report(find_view(study))) == before
    study.people_invited = 5000
    assert identify(write_report(find_view(study))) != before


def test_the_pdf_is_tagged_and_has_a_title_a_language_and_the_day_of_the_close(
    report: StudyReport,
) -> None:
    pdf = make_pdf(report)
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf
    assert b"/Lang(en)" in pdf
    assert b"Colours of work" in pdf
    assert report.day is not None
    assert report.day.strftime("D:%Y%m%d").encode() in pdf


def test_the_word_file_has_headings_header_rows_a_title_and_a_language(
    report: StudyReport,
) -> None:
    document = open_word_file(make_word_file(report))
    styles = [paragraph.style.name for paragraph in document.paragraphs if paragraph.style]
    assert styles[0] == "Title"
    assert styles.count("Heading 1") == len(report.sections)
    tables = [part for one in report.sections for part in one.parts if isinstance(part, Table)]
    assert len(document.tables) == len(tables)
    for written, table in zip(document.tables, tables, strict=True):
        header = written.rows[0]
        assert [cell.text for cell in header.cells] == list(table.header)
        assert header._tr.trPr is not None
        assert header._tr.trPr.find(qn("w:tblHeader")) is not None
    assert document.core_properties.title == report.title
    assert document.core_properties.language == "en"


@pytest.mark.parametrize("text", [MARKUP, ARABIC, CHINESE, "=1+1", "A \x0b\x1f sign", "😀 emoji"])
def test_words_arrive_as_they_are_and_run_nothing(report: StudyReport, text: str) -> None:
    changed = with_words(report, text)
    printable = re.sub(r"[\x00-\x1f]", "", text)
    assert read_word_file(open_word_file(make_word_file(changed))).count(squeeze(printable)) == 3
    pdf = make_pdf(changed)
    assert pdf.startswith(b"%PDF-")
    if text in (MARKUP, "=1+1"):
        assert squeeze("".join(read_pages(pdf))).count(squeeze(text)) >= 3


def test_words_from_right_to_left_have_their_direction_and_language(report: StudyReport) -> None:
    changed = with_words(report, ARABIC, tag="ar", direction="rtl")
    assert b"/Lang(ar)" in make_pdf(changed)
    body = open_word_file(make_word_file(changed)).element.body
    runs = [run for run in body.iter(qn("w:r")) if ARABIC in "".join(run.itertext())]
    assert len(runs) == 3
    for run in runs:
        assert run.find(f".//{qn('w:rtl')}") is not None
        language = run.find(f".//{qn('w:lang')}")
        assert language is not None
        assert language.get(qn("w:bidi")) == "ar"


def test_a_character_that_no_font_has_is_told_in_the_pdf(report: StudyReport) -> None:
    pdf = make_pdf(with_words(report, "\U0001f9ff\U00013000\U000e0041 \ue123"))
    assert "has no font for some characters" in " ".join(read_pages(pdf))
    assert b"pdfuaid" not in pdf


@pytest.mark.long
@pytest.mark.django_db
def test_the_longest_survey_fits_into_all_files() -> None:
    survey = make_survey(questions=(), title="W" * 200, drawn=5)
    long = "Question that says very much. " * 50
    options = [f"{number} {'long option ' * 30}"[:MAX_OPTION_LENGTH] for number in range(64)]
    add_question(survey=survey, text="Which?", type="choice", flips=5, options=options)
    for number in range(MAX_QUESTIONS - 1):
        text = f"{number} {long}"[:MAX_QUESTION_LENGTH].strip()
        add_question(survey=survey, text=text, type="yes_no", flips=5)
    wave = open_survey(survey=survey)
    closed = field(wave, yes=[10] * 100, total=200)
    report = write_report(find_view(closed))
    pdf = make_pdf(report)
    assert find_missing(report, read_pdf(pdf, report.title)) == []
    assert find_missing(report, read_word_file(open_word_file(make_word_file(report)))) == []


def run(code: Sequence[str]) -> str:
    setup = ("import sys, django", "django.setup()")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((*setup, *code))],
        env={"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_web_processes_load_neither_typst_nor_python_docx() -> None:
    assert run(["import config.urls", "print({'typst', 'docx'} & set(sys.modules))"]) == "set()\n"


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_a_report_too_long_for_a_pdf_says_so_and_is_a_word_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    client, address = sign_in(survey.owner), f"/surveys/{survey.slug}/files/report"
    assert client.get(f"{address}.pdf").status_code == 202
    monkeypatch.setattr(recipe, "MAX_PDF_ROWS", 1)
    refused = client.get(f"{address}.pdf")
    assert refused.status_code == 409
    assert "but a PDF can hold at most 1." in html.unescape(refused.text)
    assert client.get(f"{address}.docx").status_code == 202
