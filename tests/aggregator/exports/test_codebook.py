"""codebook.csv explains every code of reports.csv, for every type of question and for old waves."""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections import Counter
from typing import Any

import pytest

from aggregator.exports.codebook import CODEBOOK_COLUMNS, RELIABILITY_COLUMN
from aggregator.exports.estimates import ESTIMATE_COLUMNS
from aggregator.models import RawReport
from aggregator.results.reliability import Reliability
from aggregator.simulation.demo_surveys import STUDY
from aggregator.simulation.respondents import randomize_answers
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import NOT_DRAWN
from surveys.manifest.serialization import hash_manifest
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
Type = Question.Type


def read_file(survey: Survey, kind: str, *, folder: str = "results") -> list[dict[str, str]]:
    address = f"/surveys/{survey.slug}/{folder}/{kind}.csv"
    response: Any = sign_in(survey.owner).get(address)
    assert response.status_code == 200
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_codebook(survey: Survey, *, folder: str = "results") -> list[dict[str, str]]:
    """Return the rows of the codebook that explain reports.csv."""
    rows = read_file(survey, "codebook", folder=folder)
    return [row for row in rows if row["kind"] != RELIABILITY_COLUMN]


def send(wave: Wave, rows: list[bytes]) -> Survey:
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=row) for row in rows
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


@pytest.fixture
def study() -> Survey:
    """Make a survey with every type of question, rules, refusals, and five of six blocks drawn.

    There are declared groups of 700 and 500 people. Five of six blocks can be drawn in six ways, so
    each combination has more than thirty people.
    """
    survey = make_survey(questions=(), drawn=5, display_minimum=10)
    STUDY.add_questions(survey)
    survey.questions.update(name="")  # test_variables.py has a survey with variables
    people = STUDY.people()
    first = [one for one in people if one["q1"] == 0][:500]
    later = [one for one in people if one["q1"] == 1][:700]
    wave = open_survey(survey=survey)
    return send(wave, [randomize_answers(wave.description, one) for one in first + later])


def test_every_column_and_every_code_of_the_reports_is_explained(study: Survey) -> None:
    reports, codebook = read_file(study, "reports"), read_codebook(study)
    assert list(codebook[0]) == list(CODEBOOK_COLUMNS)
    assert (codebook[0]["column"], codebook[0]["code"]) == ("data", "survey")
    pairs = [(row["column"], row["code"]) for row in codebook]
    assert len(set(pairs)) == len(pairs)  # no code has two meanings
    assert list(dict.fromkeys(column for column, _ in pairs)) == list(reports[0])
    found = {(column, code) for report in reports for column, code in report.items()}
    assert found <= set(pairs)
    assert len(found) > 0.9 * len(pairs)  # few codes occur in no report
    for row in codebook[1:]:
        assert row["meaning"]
        assert row["question_text"]
        assert row["randomization"]
        assert (row["block"] == "") == (row["column"] == "q1")


def test_the_counts_of_the_estimates_follow_from_the_reports(study: Survey) -> None:
    """The codebook leads from a row of estimates.csv to the reports behind it."""
    reports, codebook = read_file(study, "reports"), read_codebook(study)
    estimates = {(row["question"], row["estimand"]): row for row in read_file(study, "estimates")}
    linked = [row for row in codebook if row["estimand"]]
    assert len(linked) == 22
    for row in linked:
        estimate = estimates[row["question"], row["estimand"]]
        shown = Counter(report[row["column"]] for report in reports)
        assert int(estimate["count"]) == shown[row["code"]], row
        assert int(estimate["n"]) == len(reports) - shown[""]
        assert estimate["symbol"] == row["symbol"]
        assert (estimate["k"], estimate["keep_probability"]) == (
            row["k"], row["probability_if_true"],
        )  # fmt: skip
        assert estimate["other_probability"] == row["probability_if_not_true"]


def test_the_codebook_speaks_plainly(study: Survey) -> None:
    codebook = {(row["column"], row["code"]): row for row in read_file(study, "codebook")}
    meanings = {key: row["meaning"] for key, row in codebook.items()}
    assert meanings["q5_randomized", "1"] == "1 (Never)"
    assert meanings["q5_randomized", "-97"] == "Declined: “Prefer not to say”"
    assert meanings["q3_rounded_up_randomized", "1"] == "Rounded up to 30 days"
    assert meanings["q3_rounded_up_randomized", "-98"].startswith("Not asked")
    assert meanings["q4_randomized", "3"] == "Drink alcohol"
    assert "5 of 6 blocks" in meanings["q4_randomized", ""]
    assert ("q1", "") not in meanings
    assert "q6_gate_randomized" in meanings["q6_2_randomized", "0"]
    for other in (("q6_2_randomized", "1"), ("q2_randomized", "0")):
        assert "did not answer" not in meanings[other]
    assert codebook["q6_2_randomized", "1"]["randomization"].endswith("otherwise the other one")
    assert codebook["q6_2_randomized", "1"]["part"] == "Medicine"
    assert codebook["q8_randomized", "2"]["part"] == "If yes: Did you tell anybody?"
    assert "Not randomized" in codebook["q1", "1"]["randomization"]
    # The information text has no question number on respondents' pages.
    assert {row["question_number"] for row in codebook.values() if row["question"] == "q8"} == {"8"}
    # A question and those that depend on it share a block.
    blocks = {row["question"]: row["block"] for row in codebook.values()}
    assert blocks["q2"] == blocks["q3"] != blocks["q4"]
    rounded = codebook["q3_rounded_up_randomized", "0"]["randomization"]
    assert "(x − 0) / 30" in rounded
    assert rounded.endswith("and otherwise one of the 3 others, each equally likely")
    declined = codebook["q3_rounded_up_randomized", "-97"]["randomization"]
    assert declined.startswith("Randomized in the browser: it sent the true code with probability")


def test_the_codebook_of_files_of_blocks_has_no_empty_cells_and_no_background() -> None:
    survey = make_survey(questions=[f"Question {n}?" for n in range(1, 5)], drawn=1)
    options = ["North", "South"]
    add_question(survey=survey, type=Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    # Few people drew the last question, so no file has it, but the codebook explains its codes.
    rows = [
        bytes([*(number % 2 if one == place else NOT_DRAWN for one in range(4)), number % 2])
        for place, people in enumerate((40, 40, 40, 10))
        for number in range(people)
    ]
    codebook = read_codebook(send(wave, rows))
    assert [(row["column"], row["code"]) for row in codebook[1:]] == [
        (f"question_{n}_rnd", code) for n in "abcd" for code in ("1", "0")
    ]


def test_the_codebook_names_the_levels_of_the_file() -> None:
    survey = make_survey(questions=["Ill?"])
    options = [f"Ward {number}" for number in range(4)]
    add_question(survey=survey, type=Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    sizes = (3, 50, 40, 60)
    groups = [bytes([number % 2, group]) for group, n in enumerate(sizes) for number in range(n)]
    codebook = [row for row in read_codebook(send(wave, groups)) if row["column"] == "where_a"]
    assert [(row["code"], row["kind"]) for row in codebook] == [
        ("2", "answer"), ("4", "answer"), ("-99", "not_shown"),
    ]  # fmt: skip
    assert [row["meaning"] for row in codebook[:2]] == ["Ward 1", "Ward 3"]
    assert codebook[2]["meaning"].startswith("Groups that no page shows")


def test_the_wording_of_authors_is_no_formula() -> None:
    wave = make_launched_survey(questions=["=1+1", "Two?"])
    codebook = read_codebook(send(wave, [b"\1\0"] * 30))
    assert [row["question_text"] for row in codebook] == ["", *["'=1+1"] * 2, *["Two?"] * 2]
    assert [row["code"] for row in codebook] == ["survey", *["1", "0"] * 2]


def test_the_last_rows_explain_the_classes_of_reliability() -> None:
    survey = send(make_launched_survey(), [b"\1\0"] * 30)
    rows = read_file(survey, "codebook")[-len(Reliability) :]
    assert [row["code"] for row in rows] == [each.value for each in Reliability]
    assert {row["column"] for row in rows} == {"reliability"} <= set(ESTIMATE_COLUMNS)
    assert "of a share of 20 % would be at most 26 points wide" in rows[0]["meaning"]
    assert "wider than 50 points" in rows[2]["meaning"]


# A scale that an earlier version froze; its points have since become codes of missing answers.
OLD_SCALE = {
    "name": "q2", "type": "scale", "text": "How cold?", "k": 7, "flips": 25,
    "threshold": 1431655765, "minimum": -99, "maximum": -95, "refusal": True,
    "options": [{"code": code, "text": str(code - 99)} for code in range(5)],
    "rule": {"is": [1], "name": "q1"},
}  # fmt: skip


def make_old_wave() -> Wave:
    survey = make_survey(questions=())
    yes_no = [{"code": 1, "text": "Yes"}, {"code": 0, "text": "No"}]
    first = {
        "name": "q1", "type": "yes_no", "text": "Outside?", "k": 2, "flips": 25,
        "threshold": 3221225472, "options": yes_no,
    }  # fmt: skip
    content = json.dumps(
        {
            "format": 1, "survey": survey.slug, "wave": 1, "title": "Old", "introduction": "",
            "language": "en", "minimum_batch": 10, "display_minimum": 10, "opens": None,
            "closes": None, "cap": None, "questions": [first, OLD_SCALE],
        },
        sort_keys=True, separators=(",", ":"),
    ).encode()  # fmt: skip
    return Wave.objects.create(
        survey=survey, number=1, manifest=content, manifest_hash=hash_manifest(content),
        minimum_batch=10, display_minimum=10,
    )  # fmt: skip


def test_an_old_wave_is_exported_with_the_new_codes() -> None:
    wave = make_old_wave()
    survey = send(wave, [bytes([1, code]) for code in range(7)] * 20)
    reports = read_file(survey, "reports")
    assert Counter(row["q2_randomized"] for row in reports) == dict.fromkeys(
        ["-99", "-98", "-97", "-96", "-95", "-997", "-998"], 20
    )
    kinds = {row["code"]: row["kind"] for row in read_codebook(survey)[3:]}
    assert kinds == {
        **dict.fromkeys(["-99", "-98", "-97", "-96", "-95"], "answer"),
        "-997": "declined",
        "-998": "not_asked",
    }
