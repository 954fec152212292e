"""Surveys with variable names use them in all files; files of earlier surveys keep every byte."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from typing import Any

import pytest

from aggregator.exports.codebook import CODEBOOK_COLUMNS
from aggregator.exports.comparisons import Quantity, name_in_files
from aggregator.simulation.demo_surveys import STUDY
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, copy_survey
from surveys.authoring.variable_names import find_name_problem
from surveys.lifecycle.services import close_wave
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, send_people, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
# SHA-256 of the files of the survey below, written by a version without variables.
BEFORE = {
    "reports": "c26ac2f162ab5550334fad3faaec090fa03e3d8c70e6b7f2e527942706019bab",
    "codebook": "d3b7c20260e955b2a977c63c0ffe5b197edde4c07d134b81d22c04d2c26deb34",
}


def field(*, named: bool) -> Survey:
    survey = make_survey(questions=(), display_minimum=10)
    STUDY.add_questions(survey)
    if not named:  # as in all surveys before variables existed
        survey.questions.update(name="")
    wave = open_survey(survey=survey)
    send_people(wave, people=300)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return survey


def read(survey: Survey, name: str) -> str:
    response: Any = sign_in(survey.owner).get(f"/surveys/{survey.slug}/results/{name}.csv")
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def read_rows(survey: Survey, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read(survey, name), newline="")))


def list_columns(rows: Sequence[dict[str, str]], *names: str) -> set[tuple[str, ...]]:
    return {tuple(row[name] for name in names) for row in rows}


def test_files_of_surveys_that_were_opened_before_keep_every_byte() -> None:
    survey = field(named=False)
    assert b'"var"' not in bytes(survey.waves.get().manifest)
    for name, expected in BEFORE.items():
        assert hashlib.sha256(read(survey, name).encode()).hexdigest() == expected, name
    estimates = read_rows(survey, "estimates")
    assert ("q6", "q6_2") in list_columns(estimates, "question", "symbol")
    assert all(row["question"] in row["symbol"] for row in estimates)


def test_files_and_the_api_use_variables() -> None:
    survey = field(named=True)
    variables = [one.var for one in survey.waves.get().description.questions if one.is_answered]
    assert len(set(variables)) == 8
    reports, codebook = read_rows(survey, "reports"), read_rows(survey, "codebook")
    estimates = read_rows(survey, "estimates")
    assert list(codebook[0]) == [*CODEBOOK_COLUMNS, "short_label"]
    assert set(reports[0]) <= {row["column"] for row in codebook}
    assert all(name.startswith(("data", *variables)) for name in reports[0])
    assert all(len(name) <= 32 for name in reports[0])
    columns = list_columns(codebook, "symbol")
    assert {row["question"] for row in estimates} < set(variables)
    assert list_columns(estimates, "symbol") <= columns
    answer = sign_in(survey.owner).get(f"/api/surveys/{survey.slug}/results").json()
    listed = [*answer["declared"], *answer["questions"]]
    assert [one["name"] for one in listed] == variables
    for question in answer["questions"]:
        assert all(one["symbol"].startswith(question["name"]) for one in question["estimates"])


def test_the_rows_of_a_comparison_have_variables() -> None:
    manifest = make_launched_survey(questions=["Do you smoke?", "Are you ill?"]).description
    written = name_in_files(
        Quantity(section="pairs", row="q1;q2.3", first="q1", second="q2.3", quantity="n", value=1),
        manifest,
    )
    assert (written.row, written.first, written.second) == ("smoke;ill.3", "smoke", "ill.3")
    cell = Quantity(section="cells", row="1;0", first="", second="q9", quantity="n", value=1)
    assert name_in_files(cell, manifest) == cell


def test_labels_and_source_names_never_travel_and_reach_the_codebook_only() -> None:
    survey = make_survey(questions=())
    add_question(
        survey=survey, text="Smoke?", name="phq9_i1", source_name="PHQ9_1", short_label="SECRET"
    )
    content = serialize_manifest(build_manifest(survey=survey, wave_number=1)).decode()
    assert '"var":"phq9_i1"' in content
    assert "SECRET" not in content
    assert "PHQ9_1" not in content
    wave = open_survey(survey=survey)
    page = sign_in(survey.owner).get(f"/s/{survey.slug}").content
    assert b"SECRET" not in page
    assert b"PHQ9_1" not in page
    send_people(wave, people=30)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    labels = list_columns(read_rows(survey, "codebook"), "column", "short_label")
    assert ("phq9_i1_rnd", "SECRET") in labels


def test_a_copy_of_a_survey_without_variables_gets_suggested_ones() -> None:
    survey = make_survey(questions=["Do you smoke?", "Do you smoke?"])
    survey.questions.update(name="")
    copied = copy_survey(survey=survey)
    assert [one.name for one in copied.questions.all()] == ["smoke", "smoke_b"]
    again = copy_survey(survey=copied)
    assert [one.name for one in again.questions.all()] == ["smoke", "smoke_b"]


def test_ten_questions_weigh_at_most_300_bytes_more() -> None:
    survey = make_survey(questions=())
    for number in range(10):
        name = f"{'a' * 18}{number}a"
        add_question(survey=survey, text=f"Question {number}?", name=name)
    heavy = serialize_manifest(build_manifest(survey=survey, wave_number=1))
    survey.questions.update(name="")
    assert len(heavy) - len(serialize_manifest(build_manifest(survey=survey, wave_number=1))) <= 300


def test_information_has_no_name() -> None:
    survey = make_survey(questions=())
    text = add_question(survey=survey, type=Question.Type.INFORMATION, text="Read.", name="read_it")
    assert text.name == ""
    assert find_name_problem(text.name, taken=[])
