"""Breakdowns: each group is estimated as if only its members had been surveyed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection

import numpy as np
import pytest

from aggregator.background.levels import Background, Levels
from aggregator.batches.combinations import list_declared
from aggregator.comparisons.breakdown.computing import find_place
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.exports.codebook import list_rows
from aggregator.exports.report_codes import list_columns
from aggregator.exports.reports import find_rows
from aggregator.results.display import find_view
from aggregator.results.estimate import Estimate, QuestionResult
from aggregator.results.estimating import compute_estimates
from aggregator.results.snapshots import list_looks_before_close
from surveys.authoring.services import add_question
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import (
    MINIMUM,
    break_down,
    count_groups,
    count_rows,
    field_people,
    find_question,
    finish,
    make_closed_wave,
    make_grouped_survey,
    read_rows,
    send_rows,
)
from tests.support.factories import make_survey, open_survey

pytestmark = pytest.mark.django_db


def rows_of_groups(wave: Wave, groups: Collection[int], name: str = "q1") -> np.ndarray:
    manifest = wave.description
    rows = read_rows(wave)
    masks = len(rows[0]) - len(manifest.symbols)
    place = find_place(manifest, find_question(manifest, name))
    chosen: np.ndarray = rows[np.isin(rows[:, masks + place], list(groups))]
    return chosen


def list_shown(results: list[QuestionResult]) -> dict[tuple[str, str], Estimate]:
    return {
        (result.question.name, one.estimand.name): one for result in results for one in result.shown
    }


def estimate_alone(wave: Wave, rows: np.ndarray) -> list[QuestionResult]:
    """Compute the estimates as if these were the survey's only reports."""
    manifest = wave.description
    counts, tables = count_rows(manifest, rows)
    told = [one.name for one in list_declared(manifest)]
    return compute_estimates(
        manifest=manifest,
        counts=counts,
        tables=tables,
        shown_at=list_looks_before_close(wave),
        told=told,
    )


@pytest.mark.parametrize("drawn", [None, 3])
def test_the_groups_add_up_to_everything_and_each_is_counted_as_alone(drawn: int | None) -> None:
    wave = make_closed_wave(drawn=drawn)
    counts = count_groups(wave)
    everything = range(len(counts.columns[0]))
    assert counts.gather(everything) == count_rows(wave.description, read_rows(wave))
    for group in everything:
        rows = rows_of_groups(wave, [group])
        assert len(rows) > 0
        assert counts.gather([group]) == count_rows(wave.description, rows)


@pytest.mark.parametrize("ending", [Wave.Ending.OWNER, Wave.Ending.DATE])
@pytest.mark.parametrize(
    ("drawn", "people", "background"),
    [(None, 800, None), (None, 1200, ()), (3, 2400, None), (3, 2000, ())],
)
def test_a_group_is_estimated_as_a_survey_of_only_its_reports(
    ending: Wave.Ending, drawn: int | None, people: int, background: Background | None
) -> None:
    """This holds whether or not the file of rows contains the question."""
    wave = open_survey(survey=make_grouped_survey(drawn=drawn))
    field_people(wave, people=people, ending=ending, background=background)
    result = break_down(wave)
    # A survey with a random subset shows nothing before the close, so the results could not tell
    # its author when to close it.
    is_watched = ending == Wave.Ending.OWNER and drawn is None
    assert bool(list_looks_before_close(wave)) == is_watched
    assert len(result.shown) > 2
    assert result.least == (MINIMUM if background is None else 220)
    for group in result.shown:
        rows = rows_of_groups(wave, {group.code, *group.others})
        assert group.n == len(rows)
        assert_estimated_alone(wave, result, group.code, rows)


def assert_estimated_alone(
    wave: Wave, result: BreakdownResult, group: int, rows: np.ndarray
) -> None:
    alone = list_shown(estimate_alone(wave, rows))
    found = {key[:2]: one for key, one in result.estimates_by_key.items() if key[2] == group}
    assert found.keys() == alone.keys()
    for key, own in alone.items():
        one = found[key].as_estimate(own.estimand)
        assert (one.total, one.count) == (own.total, own.count)
        assert (one.value, one.standard_error) == (own.value, own.standard_error)
        assert one.intervals.main == own.intervals.main
        assert one.reliability == own.reliability
        assert one.status == own.status


def read_file(wave: Wave) -> list[dict[str, str]]:
    results = find_view(wave.survey).results
    assert results is not None
    text = b"".join(find_rows(results).stream()).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3), (0, 1, 0, 3)])
def test_a_question_of_the_rows_is_broken_down_as_anybody_can_from_the_file(
    numbers: tuple[int, ...],
) -> None:
    """The owner chose the levels: Kitchen and Office as one level, or each as its own level."""
    groups = Levels(question="q1", levels=((0,), (1,), (2,), (3,)), hidden=frozenset())
    survey = make_grouped_survey()
    add_question(survey=survey, type=Question.Type.DECLARED, text="When?", options=["Day", "Night"])
    shifts = Levels(question="q8", levels=((0,), (1,)), hidden=frozenset())
    background = (groups.merge(numbers), shifts)
    wave = field_people(open_survey(survey=survey), people=1200, background=background)
    rows, result = read_file(wave), break_down(wave)
    work, shift = (one.var for one in wave.description.questions if one.name in ("q1", "q8"))
    assert [(group.code, *group.others) for group in result.groups] == list(background[0].levels)
    linked = [
        one
        for one in list_rows(
            wave.description, list_columns(wave.description, background), labels={}
        )
        if one.estimand
    ]
    for group in result.groups:
        written = "-97" if group.code == 3 else str(group.code + 1)
        own = [row for row in rows if row[work] == written]
        assert group.n == len(own)
        counted = 0
        for one in linked:
            key = one.column.question.name, one.estimand or "", group.code
            if key in result.estimates_by_key:
                counted += 1
                found = result.estimates_by_key[key]
                shown = Counter(row[one.column.name] for row in own)
                assert (found.n, found.count) == (len(own), shown[str(one.code.written)])
        assert counted > 12
        for code in (0, 1):
            crossed = result.crossed_by_key["q8", code, group.code]
            assert crossed.count == sum(row[shift] == str(code + 1) for row in own)


def test_one_group_with_everybody_has_exactly_the_results_of_all() -> None:
    wave = open_survey(survey=make_grouped_survey(groups=["All", "Nobody"]))
    field_people(wave)
    rows = [bytes([0, *row[1:].tolist()]) for row in read_rows(wave)]
    again = open_survey(survey=make_grouped_survey(groups=["All", "Nobody"]))
    send_rows(again, rows)
    finish(again)
    result = break_down(again)
    assert [(group.code, group.n) for group in result.groups] == [(0, 600), (1, 0), (2, 0)]
    assert result.differences == ()
    everybody = list_shown(
        compute_estimates(
            manifest=again.description,
            counts=again.snapshots.get().counts,
            tables=again.snapshots.get().tables or [],
            shown_at=list_looks_before_close(again),
            told=again.snapshots.get().told,
        )
    )
    assert len(everybody) == len(result.estimates)
    for (question, estimand), own in everybody.items():
        one = result.estimates_by_key[question, estimand, 0].as_estimate(own.estimand)
        assert (one.value, one.low, one.high, one.total) == (
            own.value,
            own.low,
            own.high,
            own.total,
        )


def test_a_difference_is_between_a_group_and_everybody_else() -> None:
    survey = make_survey(questions=["Ill?"], display_minimum=50)
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=["A", "B", "C"])
    wave = open_survey(survey=survey)
    ones = {0: 300, 1: 150, 2: 30}
    send_rows(
        wave,
        [
            bytes([number < ones[group], group])
            for group, people in ((0, 400), (1, 300), (2, 60))
            for number in range(people)
        ],
    )
    finish(wave)
    result = break_down(wave, "q2")
    found = result.differences_by_key["q1", "1", 0]
    first, others = 2 * 300 / 400 - 0.5, 2 * 180 / 360 - 0.5
    assert found.difference == pytest.approx(first - others)
    assert found.low > 0
    assert not found.may_be_zero
    assert result.differences_by_key["q1", "1", 1].high < 0


def test_nothing_within_a_group_depends_on_another_declared_question() -> None:
    """Using a rule that reads another declared question would cross the two questions."""
    types = Question.Type
    survey = make_survey(questions=["Ill?"], display_minimum=50)
    where, when = (
        add_question(survey=survey, type=types.DECLARED, text=text, options=["A", "B"])
        for text in ("Where?", "When?")
    )
    add_question(survey=survey, text="Tired?", rule={"name": str(when.pk), "is": [1]})
    add_question(survey=survey, text="Late?", rule={"name": str(where.pk), "is": [0]})
    wave = open_survey(survey=survey)
    field_people(wave, people=800, ending=Wave.Ending.DATE)
    result = break_down(wave, "q2")
    # In each group, it is known whether the rule that reads the broken-down question holds …
    for code, share in ((0, 1.0), (1, 0.0)):
        asked = result.estimates_by_key["q5", "asked", code]
        assert (asked.value, asked.low, asked.high, asked.method) == (share, share, share, "exact")
    # … but the share for whom the other rule holds is estimated, from the codes of q4 itself.
    for code in (0, 1):
        asked = result.estimates_by_key["q4", "asked", code]
        assert asked.method != "exact"
        assert 0.2 < (asked.value or 0) < 0.8
