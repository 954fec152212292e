"""The report of a protected survey lists its releases, and says that its own figures are exact."""

from __future__ import annotations

import pytest

from aggregator.releases.figures import TableFigures, read_figures
from aggregator.results.display import find_view
from aggregator.study_report.content import StudyReport, Table, list_texts
from aggregator.study_report.files.pdf import make_pdf
from aggregator.study_report.files.word_file import make_word_file
from aggregator.study_report.sections.head import NOT_FOR_PUBLICATION
from aggregator.study_report.sections.releases import NONE_YET, RELEASES
from aggregator.study_report.writing import write_report
from surveys.authoring.services import add_question
from surveys.formatting import day
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind
from surveys.models import Survey, today
from tests.aggregator.study_report.report_text import find_section, text_of_section
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field
from tests.support.releases.stored import finish, plan, store, store_table

pytestmark = pytest.mark.django_db
NOT_HIDDEN = "The survey does not hide that a person took part."


def report_of(survey: Survey) -> StudyReport:
    return write_report(find_view(survey))


@pytest.mark.parametrize("chosen", Publication)
def test_only_a_protected_survey_has_the_section_and_the_mark(chosen: Publication) -> None:
    survey = field(make_launched_survey(publication=chosen), yes=[60, 30], total=100)
    report = report_of(survey)
    is_protected = chosen == Publication.PROTECTED
    assert (NOT_FOR_PUBLICATION in report.marks) == is_protected
    assert any(section.anchor == RELEASES for section in report.sections) == is_protected
    assert (NOT_HIDDEN in list_texts(report)) != is_protected


def test_without_a_release_it_says_so_and_what_may_be_spent() -> None:
    wave = make_launched_survey(publication=Publication.PROTECTED, release_epsilon_hundredths=150)
    survey = field(wave, yes=[60, 30], total=100)
    text = text_of_section(report_of(survey), RELEASES)
    assert NONE_YET in text
    assert "may spend ε = 1.50, and 0.00 is spent" in text


def test_a_table_has_the_noisy_figures_of_the_release() -> None:
    wave = make_launched_survey(publication=Publication.PROTECTED)
    survey = field(wave, yes=[600, 300], total=1000)
    release = store_table(wave, "q1", "q2", epsilon=50, seed=8)
    figures = read_figures(release, wave.description)
    assert isinstance(figures, TableFigures)
    report = report_of(survey)
    [table] = [one for one in find_section(report, RELEASES).parts if isinstance(one, Table)]
    shown = [row.cells[1].text for row in table.rows if not row.is_heading]
    assert shown == [
        f"{100 * question.rows[0].share:.0f}\N{NO-BREAK SPACE}%" for question in figures.questions
    ]
    assert f"public from {day(today())}" in table.caption
    text = text_of_section(report, RELEASES)
    assert f"About {figures.people:,} ± {figures.margin} people took part (noise included)." in text
    assert "may spend ε = 1.00, and 0.50 is spent" in text
    assert "Took part: ε = 0.50." in text
    assert "Mechanism: Discrete Laplace noise of scale 4" in text


def test_a_choice_and_too_few_people_are_told_in_words() -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    add_question(survey=survey, type="declared", text="Where?", options=["Town", "Country"])
    wave = open_survey(survey=survey)
    store(
        finish(plan(wave.description, "q3", kind=ReleaseKind.LEADER, epsilon=50), {"code": 1}),
        wave,
    )
    store_table(wave, "q1", people=10, epsilon=20)
    text = text_of_section(report_of(survey), RELEASES)
    assert "It is shown only beside a table of the same question." in text
    store_table(wave, "q3", people=2000, epsilon=20)
    text = text_of_section(report_of(survey), RELEASES)
    assert "Leader of Q3: Country" in text
    assert "Too few people for this table: it takes about 50." in text


def test_pdf_and_word_file_have_the_section() -> None:
    wave = make_launched_survey(publication=Publication.PROTECTED)
    survey = field(wave, yes=[600, 300], total=1000)
    store_table(wave, "q1", "q2", epsilon=50)
    report = report_of(survey)
    assert make_pdf(report).startswith(b"%PDF")
    assert make_word_file(report).startswith(b"PK")
