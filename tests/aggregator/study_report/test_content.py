"""The report's figures match the results, and the limits that it states follow from the survey."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from aggregator.comparisons.planned import list_planned, request_planned
from aggregator.comparisons.sentences import PLANNED_BUT_WARNED, PLANNED_STILL_OPEN
from aggregator.models import Comparison
from aggregator.results.blocks import COUNTED_LATER, NOT_SHOWN, list_blocks
from aggregator.results.display import Results, find_view
from aggregator.study_report.content import Heading, StudyReport, Table
from aggregator.study_report.sections.comparisons import EXPLORATORY, LATER, PLANNED, TRIED
from aggregator.study_report.sections.findings import RESULTS
from aggregator.study_report.sections.limits import HONESTY, LIMITS, ONE_REPORT, SELF_SELECTION
from aggregator.study_report.sections.methods import METHODS
from aggregator.study_report.sections.participants import PARTICIPANTS
from aggregator.study_report.sections.protection import PROTECTION, name_questions
from aggregator.study_report.sections.references import REFERENCES, SOURCES
from aggregator.study_report.writing import write_report
from surveys.authoring.services import add_question
from surveys.formatting import epsilon
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Manifest, Publication
from surveys.models import Survey, Wave
from tests.aggregator.study_report.report_text import find_section, text_of_section
from tests.support.comparisons import ask, compute, end, make_planned_wave
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_codes, send_people
from tests.support.waves import send_many

DOCUMENTS = Path(settings.BASE_DIR) / "docs"


def results_of(survey: Survey) -> Results:
    results = find_view(survey).results
    assert results is not None
    return results


def tables(report: StudyReport, anchor: str) -> list[Table]:
    return [part for part in find_section(report, anchor).parts if isinstance(part, Table)]


def test_every_figure_is_that_of_the_results(study: Survey) -> None:
    blocks = [one for one in list_blocks(results_of(study)) if not one.is_declared]
    report = write_report(find_view(study))
    parts = find_section(report, RESULTS).parts
    headings = [(one.number, one.words.text) for one in parts if isinstance(one, Heading)]
    assert headings == [(f"Q{block.number}", block.text) for block in blocks]
    for block, table in zip(blocks, tables(report, RESULTS), strict=True):
        shown = [tuple(words.text for words in row.cells) for row in table.rows]
        assert [(value, ends) for _, value, ends in shown] == [
            (row.number + row.mark, row.range) if row.is_shown else (row.text, "–")
            for row in block.rows
        ]
        assert block.asked_text in table.caption


def test_table_1_has_the_number_share_and_interval_of_each_declared_group(study: Survey) -> None:
    (declared,) = results_of(study).declared
    (table,) = tables(write_report(find_view(study)), PARTICIPANTS)
    heading, *rows = table.rows
    assert heading.is_heading
    assert heading.cells[0].text == "Q8 Where do you work?"
    for row, group in zip(rows, declared.groups, strict=True):
        text, count, share, _ends = (words.text for words in row.cells)
        assert (text, count) == (group.text, f"{group.count:,}")
        assert group.share is not None
        assert share == f"{100 * group.share:.0f}\N{NO-BREAK SPACE}%"


@pytest.mark.django_db
def test_small_groups_are_not_shown_and_no_group_is_before_the_end() -> None:
    survey = make_survey(display_minimum=50)
    add_question(survey=survey, text="Where?", type="declared", options=["A", "B", "C"])
    wave = open_survey(survey=survey)
    send_many(wave, [bytes((0, 0, place)) for place in (0,) * 200 + (1,) * 60 + (2,) * 5])
    process(wave)
    assert COUNTED_LATER in text_of_section(write_report(find_view(survey)), PARTICIPANTS)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    (table,) = tables(write_report(find_view(survey)), PARTICIPANTS)
    counts = {row.cells[0].text: row.cells[1].text for row in table.rows[1:]}
    assert counts == {"A": "200", "B": NOT_SHOWN, "C": NOT_SHOWN}


def test_protection_has_the_epsilon_of_every_question_and_the_hash(study: Survey) -> None:
    manifest: Manifest = results_of(study).manifest
    report = write_report(find_view(study))
    (table,) = tables(report, PROTECTION)
    told = {row.cells[0].text: row.cells[3].text for row in table.rows}
    for question in manifest.questions:
        if question.is_scrambled:
            (names,) = (names for names in told if re.search(rf"Q{question.number}\b", names))
            assert told[names] == epsilon(question.epsilon)
    words = text_of_section(report, PROTECTION)
    assert f"have an ε of at most {epsilon(manifest.drawn_epsilon)}" in words
    assert results_of(study).wave.manifest_hash_hex in words
    assert "Answers to Q8 were sent as they are." in words


def test_numbers_of_questions_are_joined_to_spans() -> None:
    questions = [type("Asked", (), {"number": number})() for number in (3, 1, 2, 5, 8, 7)]
    assert name_questions(questions) == "Q1–Q3, Q5, Q7–Q8"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ending", "cap", "said"),
    [
        (Wave.Ending.OWNER, None, "closed the survey without a fixed end"),
        (Wave.Ending.OWNER, 500, "closed the survey before the end that had been fixed"),
        (Wave.Ending.CAP, 160, "stopped at a number of reports"),
    ],
)
def test_limits_tell_how_the_survey_ended(ending: Wave.Ending, cap: int | None, said: str) -> None:
    survey = field(make_launched_survey(cap=cap), yes=[60, 80], total=160, ending=ending)
    words = text_of_section(write_report(find_view(survey)), LIMITS)
    assert said in words
    for always in (SELF_SELECTION, ONE_REPORT, HONESTY):
        assert always in words


@pytest.mark.django_db
def test_limits_name_what_the_design_cannot_explain_and_what_is_not_shown() -> None:
    survey = field(make_launched_survey(), yes=[0, 100], total=200, ending=Wave.Ending.OWNER)
    results = results_of(survey)
    words = text_of_section(write_report(find_view(survey)), LIMITS)
    assert results.alarms
    assert "The codes of Q1 probably did not all come from the survey’s page." in words
    hidden = [row for block in list_blocks(results) for row in block.rows if not row.is_shown]
    assert len(hidden) == 1
    assert "1 is too uncertain to be shown" in words
    assert "200 reports carry as much information as about" in words


@pytest.mark.django_db
def test_the_methods_have_the_parameters_the_reason_for_the_intervals_and_the_rules() -> None:
    ended = field(make_launched_survey(cap=160), yes=[60, 80], total=160, ending=Wave.Ending.CAP)
    words = text_of_section(write_report(find_view(ended)), METHODS)
    assert "k = 2, t = 0.7500, ε = 1.10 in Q1–Q2" in words
    assert "likelihood-ratio intervals (Wilks 1938)" in words
    assert "was fixed before it opened" in words
    assert "in batches of at least 10" in words
    assert f"Murmur {settings.VERSION}" in words
    watched = field(make_launched_survey(), yes=[240, 320], total=600)
    words = text_of_section(write_report(find_view(watched)), METHODS)
    assert "Clopper–Pearson intervals" in words
    assert "at 95 % for all looks together, by a group-sequential design" in words
    assert "Wilks" not in words


def test_every_source_that_is_cited_is_listed_and_no_other(report: StudyReport) -> None:
    listed = text_of_section(report, REFERENCES)
    cited = "\n".join(
        text_of_section(report, one.anchor) for one in report.sections if one.anchor != REFERENCES
    )
    for key, source in SOURCES.items():
        assert (source in listed) == (key in cited), key


def test_the_methods_pages_list_every_source() -> None:
    known = " ".join((DOCUMENTS / "methods" / "sources.md").read_text(encoding="utf-8").split())
    for source in SOURCES.values():
        assert source in known


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    assert project["version"] == settings.VERSION


@pytest.mark.django_db
def test_planned_comparisons_come_with_their_results_after_the_close() -> None:
    wave = make_planned_wave(pairs=(("q2", "q1"), ("q3", "q1")))
    words = text_of_section(write_report(find_view(wave.survey)), PLANNED)
    assert LATER in words
    assert PLANNED_STILL_OPEN not in words
    assert "Q2 by Q1" in words
    request_planned(wave_id=end(wave).pk)
    for comparison in wave.comparisons.all():
        compute(comparison)
    report = write_report(find_view(wave.survey))
    words = text_of_section(report, PLANNED)
    assert PLANNED_BUT_WARNED in words  # in a test, all reports come within seconds
    assert "Intervals hold at 95 % for both planned comparisons and all looks together." in words
    for planned in list_planned(results_of(wave.survey)):
        assert planned.title in words
        assert f"{planned.sentence} {planned.verdict}".rstrip() in words
    assert EXPLORATORY not in [one.anchor for one in report.sections]


@pytest.mark.django_db
def test_what_was_tried_is_counted_and_marked_as_exploratory() -> None:
    wave = end(make_planned_wave(pairs=()))
    assert EXPLORATORY not in [one.anchor for one in write_report(find_view(wave.survey)).sections]
    compute(ask(wave, Comparison.Kind.TABLE, "q2", "q1"))
    compute(ask(wave, Comparison.Kind.REGRESSION, "q2", "q1", "q3"))
    compute(ask(wave, Comparison.Kind.PAIRS))
    ask(wave, Comparison.Kind.TABLE, "q3", "q1")  # this comparison is still waiting
    report = write_report(find_view(wave.survey))
    words = text_of_section(report, EXPLORATORY)
    assert TRIED in words
    assert (
        "4 comparisons were tried, including any made while the survey was open. 3 of them are "
        "listed" in words
    )
    assert "Q2 by Q1" in words
    assert "Q2 explained by Q1 and Q3" in words
    assert "All pairs of questions" in words
    (terms,) = tables(report, EXPLORATORY)
    assert [row.cells[0].text for row in terms.rows] == ["Yes to Q1", "Yes to Q3"]
    assert PLANNED not in [one.anchor for one in report.sections]


@pytest.mark.django_db
def test_a_random_subset_is_told_with_the_reports_of_each_question() -> None:
    survey = make_survey(questions=[f"Question {number}?" for number in range(4)], drawn=2)
    wave = open_survey(survey=survey)
    send_people(wave, people=400)
    end(wave)
    report = write_report(find_view(survey))
    assert "asked 2 of 4 blocks" in text_of_section(report, LIMITS)
    captions = [table.caption for table in tables(report, RESULTS)]
    totals = [question.total for question in results_of(survey).questions]
    for caption, total in zip(captions, totals, strict=True):
        assert f"asked in {total:,} reports" in caption


@pytest.mark.django_db
def test_an_open_survey_has_an_interim_report_of_its_newest_look() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[60, 80], total=160)
    process(wave)
    sealed = results_of(wave.survey).snapshot.total
    send_codes(wave, yes=[5, 5], total=10)
    report = write_report(find_view(wave.survey))
    assert f"Sealed reports\n{sealed:,}" in text_of_section(report, RESULTS)
    assert report.day is None


@pytest.mark.django_db
@pytest.mark.parametrize("publication", Publication)
def test_the_report_says_what_anyone_may_see(publication: Publication) -> None:
    wave = make_launched_survey(publication=publication)
    words = text_of_section(write_report(find_view(wave.survey)), RESULTS)
    assert ("Anyone may see" in words) == (publication is not Publication.NONE)
    assert (publication.label in words) == (publication is not Publication.NONE)
