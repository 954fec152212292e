"""The file of a breakdown contains every figure of the page, in full precision."""

from __future__ import annotations

import csv
import io

import pytest

from aggregator.exports.breakdown import COLUMNS
from aggregator.exports.csv_format import WAVE
from surveys.authoring.services import add_question
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import (
    break_down,
    field_people,
    make_closed_wave,
    make_grouped_survey,
)
from tests.support.factories import open_survey
from tests.support.fielding import sign_in

pytestmark = pytest.mark.django_db
HEAD = ("through_batch", "method_version", "standing", "group_question", "group_question_text")


def read(wave: Wave) -> list[dict[str, str]]:
    client = sign_in(wave.survey.owner)
    response = client.get(f"/surveys/{wave.survey.slug}/breakdown/q1/breakdown.csv")
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "_RANDOMIZED_breakdown_q1.csv" in response["Content-Disposition"]
    text = response.content.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == [*WAVE, *HEAD, *COLUMNS]
    return rows


def test_there_is_no_file_before_the_result() -> None:
    wave = make_closed_wave()
    client = sign_in(wave.survey.owner)
    address = f"/surveys/{wave.survey.slug}/breakdown/q1/breakdown.csv"
    assert client.get(address).status_code == 404
    break_down(wave)
    assert client.get(address).status_code == 200


def test_every_figure_is_a_row_in_full_precision() -> None:
    wave = make_closed_wave(people=1200)
    result = break_down(wave)
    rows = read(wave)
    estimates = [row for row in rows if row["section"] == "estimate"]
    assert len(estimates) == len(result.estimates)
    written = {code: str(code + 1) for code in range(3)} | {3: "-97"}
    variables = {one.name: one.var for one in wave.description.questions}
    for row, one in zip(estimates, result.estimates, strict=True):
        assert (row["question"], row["estimand"]) == (variables[one.question], one.estimand)
        assert row["group"] == written[one.group]
        assert row["value"] == ("" if one.value is None else repr(one.value))
        assert (row["low"], row["high"]) == (repr(one.low), repr(one.high))
        assert (row["n"], row["count"]) == (str(one.n), str(one.count))
        assert row["reliability"] in ("publishable", "caution", "not_shown")
    sizes = {row["group_text"]: row["group_n"] for row in rows}
    assert sizes == dict(
        zip(
            ("Kitchen", "Ward", "Office", "Prefer not to say"),
            (str(group.n) for group in result.groups),
            strict=True,
        )
    )
    differences = [row for row in rows if row["section"] == "difference"]
    assert len(differences) == len(result.differences)
    for row, found in zip(differences, result.differences, strict=True):
        assert row["value"] == repr(found.difference)
        assert (row["low"], row["high"], row["method"]) == (
            repr(found.low),
            repr(found.high),
            "mover",
        )


def test_another_declared_question_is_counted_and_texts_are_no_formulas() -> None:
    survey = make_grouped_survey(groups=["=Kitchen", "Ward"])
    add_question(
        survey=survey, type=Question.Type.DECLARED, text="+When?", options=["Day", "Night"]
    )
    wave = open_survey(survey=survey)
    field_people(wave, people=1200)
    result = break_down(wave)
    rows = [row for row in read(wave) if row["section"] == "count"]
    assert len(rows) == len(result.crossed) == 3 * 2
    assert {row["group_text"] for row in rows} == {"'=Kitchen", "Ward", "Prefer not to say"}
    assert {row["question_text"] for row in rows} == {"'+When?"}
    for row, one in zip(rows, result.crossed, strict=True):
        assert row["estimand"] == str(one.code + 1)
        assert row["value"] == repr(one.count / int(row["group_n"]))
