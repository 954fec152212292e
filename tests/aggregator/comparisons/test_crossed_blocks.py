"""Comparisons by groups agree with the file of rows; across blocks, no sum reveals few people."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from aggregator.background.levels import Background, find_levels, read_background
from aggregator.batches.columns import Columns
from aggregator.comparisons.analysis import analyse_regression, analyse_table
from aggregator.comparisons.choice import (
    BLOCKS_APART,
    MERGED,
    NO_PAIR_TOGETHER,
    NOT_IN_ROWS,
    PREPARING,
    TWO_BLOCKS,
)
from aggregator.comparisons.empty_groups import NOBODY
from aggregator.comparisons.jobs import OLDER_METHOD
from aggregator.comparisons.result import PairsResult, TwoQuestionsResult
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.stored import read_result, write_result
from aggregator.exports.report_codes import list_columns
from aggregator.exports.reports import find_rows
from aggregator.models import Comparison, RowsFile
from aggregator.results.display import find_view
from aggregator.upkeep.verification.waves import check_rows_file
from surveys.authoring.services import add_question
from surveys.comparing.choice import NotComparable
from surveys.comparing.indicators import Indicator, find_indicators, list_names
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import finish, send_rows
from tests.support.comparisons import ask, compute, list_times, snapshot_of
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import prepare_rows, process
from tests.support.waves import make_wave as make_plain_wave

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind
MINIMUM = 50
SCALE: Any = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Always"}


def make_wave() -> Wave:
    """Open a survey with two scrambled questions and two declared ones with three groups each."""
    survey = make_survey(questions=("Ill?", "Late?"), display_minimum=MINIMUM)
    for text in ("Where?", "When?"):
        options = [f"{text} {number}" for number in range(3)]
        add_question(survey=survey, type=Question.Type.DECLARED, text=text, options=options)
    return open_survey(survey=survey)


def close_with(crossing: Sequence[Sequence[int]], *, background: Background | None = None) -> Wave:
    """Send as many reports for each pair of groups as `crossing` states."""
    wave = make_wave()
    rows = [
        bytes([number % 2, number % 3 == 0, first, second])
        for first, line in enumerate(crossing)
        for second, people in enumerate(line)
        for number in range(people)
    ]
    send_rows(wave, rows)
    return finish(wave, background=background)


EVEN = [[60, 70, 80], [60, 70, 80], [60, 70, 80]]
HOLE = [[0, 120, 80], [60, 70, 80], [60, 70, 80]]
ONE_SMALL = [[60, 70, 80], [60, 70, 80], [60, 70, 3]]
FEW_IN_FIRST = [[1, 1, 1], [60, 70, 80], [60, 70, 80]]


def count_in_file(wave: Wave, indicators: Sequence[Indicator]) -> np.ndarray:
    """Count the file's rows by the codes of indicators; a level counts as its first answer."""
    results = find_view(wave.survey).results
    assert results is not None
    text = b"".join(find_rows(results).stream()).decode()
    background = read_background(RowsFile.objects.get(wave=wave).chosen or [])
    columns = {one.symbol.name: one for one in list_columns(wave.description, background)}
    own = [columns[one.symbol.name] for one in indicators]
    sent = [{str(code.written): code.sent[0] for code in column.codes} for column in own]
    counts = np.zeros([one.codes for one in indicators], dtype=np.int64)
    for row in csv.DictReader(io.StringIO(text, newline="")):
        counts[tuple(codes[row[one.name]] for codes, one in zip(sent, own, strict=True))] += 1
    return counts


@pytest.mark.parametrize(
    ("crossing", "names"),
    [
        (EVEN, ("q1", "q3.1", "q4.2")),
        (EVEN, ("q3.0", "q1", "q4.0")),
        (HOLE, ("q1", "q2", "q3.1")),
        (ONE_SMALL, ("q1", "q3.0")),
        (FEW_IN_FIRST, ("q1", "q3.2", "q4.0")),
    ],
)
def test_a_comparison_by_groups_is_what_anybody_computes_from_the_file(
    crossing: list[list[int]], names: tuple[str, ...]
) -> None:
    wave = close_with(crossing)
    indicators = find_indicators(wave.description, names)
    counts = count_in_file(wave, indicators)
    found = compute(ask(wave, Kind.REGRESSION, *names))
    assert found.result is not None, found.problem
    expected = write_result(analyse_regression(indicators=indicators, counts=counts))
    assert found.result == expected
    table = compute(ask(wave, Kind.TABLE, *names[:2]))
    indicators = find_indicators(wave.description, names[:2])
    times = [] if any(one.is_known for one in indicators) else list_times(wave)
    counts = count_in_file(wave, indicators)
    expected = write_result(analyse_table(indicators=indicators, counts=counts, times=times))
    assert table.result == expected


@pytest.mark.parametrize("crossing", [EVEN, HOLE, ONE_SMALL, FEW_IN_FIRST])
def test_only_groups_that_the_file_has_by_themselves_are_compared(
    crossing: list[list[int]],
) -> None:
    wave = close_with(crossing)
    background = read_background(RowsFile.objects.get().chosen or [])
    for name in (f"{question}.{code}" for question in ("q3", "q4") for code in range(3)):
        [indicator] = find_indicators(wave.description, [name])
        levels = find_levels(background, indicator.question.name)
        for names in (("q1", name), (name, "q1"), ("q1", "q2", name)):
            if levels is not None and indicator.yes in levels.shown:
                assert ask(wave, Kind.REGRESSION, *names).state == Comparison.State.WAITING
                continue
            problem = (
                NOT_IN_ROWS.format(number=indicator.number)
                if levels is None
                else MERGED.format(label=indicator.label, number=indicator.number)
            )
            with pytest.raises(NotComparable) as refused:
                ask(wave, Kind.REGRESSION, *names)
            assert str(refused.value) == problem


def test_a_group_of_nobody_is_in_the_file_but_not_compared() -> None:
    wave = close_with([[60, 70, 80], [0, 0, 0], [60, 70, 80]])
    found = compute(ask(wave, Kind.TABLE, "q1", "q3.1"))
    label = find_indicators(wave.description, ["q3.1"])[0].label
    assert (found.result, found.problem) == (None, NOBODY.format(label=label))
    assert compute(ask(wave, Kind.TABLE, "q1", "q3.0")).result is not None


@pytest.mark.parametrize("method", [6, 7, 9])
@pytest.mark.parametrize(
    ("kind", "names"),
    [(Kind.REGRESSION, ("q1", "q3.2", "q4.2")), (Kind.TABLE, ("q1", "q3.2"))],
)
def test_a_comparison_by_groups_that_an_earlier_version_computed_is_withdrawn(
    method: int, kind: Comparison.Kind, names: tuple[str, ...]
) -> None:
    wave = close_with(EVEN)
    stored = compute(ask(wave, kind, *names))
    assert find_standing(stored).result is not None
    Comparison.objects.filter(pk=stored.pk).update(method_version=method)
    stored.refresh_from_db()
    assert find_standing(stored).result is None
    assert (stored.state, stored.result, stored.problem) == ("failed", None, OLDER_METHOD)
    again = ask(wave, kind, *names)
    assert again != stored
    assert find_standing(compute(again)).result is not None


def test_a_comparison_of_scrambled_answers_by_an_older_method_stays() -> None:
    stored = compute(ask(close_with(EVEN), Kind.TABLE, "q1", "q2"))
    Comparison.objects.filter(pk=stored.pk).update(method_version=9)
    stored.refresh_from_db()
    assert find_standing(stored).result is not None


def list_tested(wave: Wave) -> set[tuple[str, str]]:
    """Test all pairs, and return the pairs that have a result."""
    found = compute(ask(wave, Kind.PAIRS))
    names = list_names(wave.description)
    result = read_result(found.kind, found.result, indicators=names)
    assert isinstance(result, PairsResult)
    return {pair.indicators for pair in result.pairs}


def test_without_a_random_subset_there_are_no_blocks_to_cross() -> None:
    survey = make_survey(questions=("Ill?", "Late?"))
    rule = {"name": str(survey.questions.get(position=1).pk), "is": [1]}
    add_question(survey=survey, type=Question.Type.SCALE, text="How?", rule=rule, **SCALE)
    wave = open_survey(survey=survey)
    send_rows(wave, [bytes([number % 2, number % 3 == 0, 0]) for number in range(60)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    # Q1 decides whether Q3 is asked.
    assert list_tested(wave) == {("q1", "q2"), ("q2", "q3.all")}


Drawn = tuple[int, ...]
# The number of people who drew each pair of five blocks. Few drew the last pair.
PAIRS: dict[Drawn, int] = {**dict.fromkeys(combinations(range(5), 2), 40), (3, 4): 1}
# Few people drew one set of three blocks, but many drew each pair of blocks.
TRIPLES: dict[Drawn, int] = {**dict.fromkeys(combinations(range(5), 3), 40), (2, 3, 4): 1}
ONE_FILE: dict[Drawn, int] = {(0, 1): 40, (0, 2): 50, (1, 2): 30}


def close_blocks(people: dict[Drawn, int]) -> Wave:
    return finish(send_blocks(people))


def send_blocks(people: dict[Drawn, int]) -> Wave:
    questions = len({block for drawn in people for block in drawn})
    wave = make_plain_wave(questions=questions, drawn=len(next(iter(people))))
    rows = []
    for drawn, count in people.items():
        for number in range(count):
            codes = [NOT_DRAWN] * questions
            for place, block in enumerate(drawn, 2):
                codes[block] = number % place == 0
            rows.append(bytes(codes))
    send_rows(wave, rows)
    return wave


def list_crossed(wave: Wave) -> dict[tuple[str, str], np.ndarray]:
    """Compare every pair of questions, and return the counts of each pair that has a result."""
    found = {}
    names = [one.name for one in wave.description.questions]
    for pair in combinations(names, 2):
        with suppress(NotComparable):
            table = compute(ask(wave, Kind.TABLE, *pair))
            result = read_result(table.kind, table.result, indicators=names)
            assert isinstance(result, TwoQuestionsResult)
            found[pair] = np.array(result.counts)
    return found


@pytest.mark.parametrize("few", [1, 29])
def test_a_block_less_its_comparisons_is_about_nobody_or_many_people(few: int) -> None:
    """Each pair of blocks is drawn by different people, whose codes such sums would reveal too."""
    wave = close_blocks({**PAIRS, (3, 4): few})
    assert RowsFile.objects.get().has_files_of_blocks
    crossed = list_crossed(wave)
    counts = Columns.of(wave.description).read_counts(snapshot_of(wave).counts)
    for question, (no, yes, *_) in zip(wave.description.questions, counts, strict=True):
        sizes = [int(table.sum()) for pair, table in crossed.items() if question.name in pair]
        for some in range(len(sizes) + 1):
            for less in combinations(sizes, some):
                left = no + yes - sum(less)
                assert left == 0 or left >= wave.crowd


def test_blocks_with_files_of_their_own_are_compared_all_or_not_at_all() -> None:
    wave = close_blocks(TRIPLES)
    everything = set(combinations([one.name for one in wave.description.questions], 2))
    assert list_crossed(wave).keys() == list_tested(wave) == everything
    with pytest.raises(NotComparable) as refused:
        ask(wave, Kind.REGRESSION, "q1", "q2", "q3")
    assert str(refused.value) == TWO_BLOCKS
    wave = close_blocks(PAIRS)
    assert list_crossed(wave) == {}
    with pytest.raises(NotComparable) as refused:
        ask(wave, Kind.PAIRS)
    assert str(refused.value) == NO_PAIR_TOGETHER


def test_in_one_file_every_pair_of_blocks_that_enough_were_asked_is_compared() -> None:
    wave = close_blocks(ONE_FILE)
    assert not RowsFile.objects.get().has_files_of_blocks
    assert len(list_crossed(wave)) == 3


def test_a_crossing_that_an_earlier_version_requested_is_refused() -> None:
    wave = close_blocks(TRIPLES)
    asked = ask(wave, Kind.TABLE, "q1", "q2")
    RowsFile.objects.update(crosses_files=False)
    asked = compute(asked)
    assert (asked.result, asked.problem) == (None, BLOCKS_APART)


@pytest.mark.parametrize(("kind", "names"), [(Kind.PAIRS, ()), (Kind.TABLE, ("q1", "q2"))])
def test_a_crossing_that_an_earlier_version_computed_is_withdrawn(
    kind: Comparison.Kind, names: tuple[str, ...]
) -> None:
    wave = close_blocks(ONE_FILE)
    stored = compute(ask(wave, kind, *names))
    assert find_standing(stored).result is not None
    Comparison.objects.filter(pk=stored.pk).update(method_version=10)
    stored.refresh_from_db()
    assert find_standing(stored).result is None
    assert (stored.result, stored.problem) == (None, OLDER_METHOD)


def test_that_blocks_are_compared_is_verified() -> None:
    wave = close_blocks(PAIRS)
    assert list(check_rows_file(wave)) == []
    RowsFile.objects.update(crosses_files=True)
    assert [one.kind for one in check_rows_file(wave)] == ["rows"]


@pytest.mark.parametrize(("kind", "names"), [(Kind.PAIRS, ()), (Kind.TABLE, ("q1", "q2"))])
def test_nothing_across_blocks_is_compared_before_the_file_of_rows_is_prepared(
    kind: Comparison.Kind, names: tuple[str, ...]
) -> None:
    wave = finish(send_blocks(ONE_FILE))
    asked = ask(wave, kind, *names)
    RowsFile.objects.all().delete()  # as in the seconds before a worker makes the row
    with pytest.raises(NotComparable) as refused:
        ask(wave, kind, *names)
    assert str(refused.value) == PREPARING
    asked = compute(asked)  # requested by an earlier version
    assert (asked.state, asked.result) == (Comparison.State.WAITING, None)
    prepare_rows(wave)
    Comparison.objects.update(leased_until=None)
    assert find_standing(compute(asked)).result is not None


def test_within_a_block_that_has_a_file_of_its_own_everything_is_compared() -> None:
    survey = make_survey(questions=("Ill?", "Late?", "Sad?"), drawn=2)
    first = survey.questions.get(position=1)
    for text in ("Long?", "Again?"):
        add_question(survey=survey, text=text, rule={"name": str(first.pk), "is": [1]})
    wave = open_survey(survey=survey)
    drawn = [(1, 1, 0), (1, 0, 1), (0, 1, 1)]
    rows = []
    for has, people in zip(drawn, (60, 60, 5), strict=True):
        for number in range(people):
            codes = [number % 2 if one else NOT_DRAWN for one in has]
            rows.append(bytes([*codes, *[number % 3 if has[0] else NOT_DRAWN] * 2]))
    send_rows(wave, rows)
    finish(wave)
    assert RowsFile.objects.get().has_files_of_blocks
    assert ask(wave, Kind.REGRESSION, "q4", "q5").state == Comparison.State.WAITING
    for kind, names in ((Kind.REGRESSION, ("q2", "q4", "q5")), (Kind.TABLE, ("q2", "q4"))):
        with pytest.raises(NotComparable) as refused:
            ask(wave, kind, *names)
        assert str(refused.value) == BLOCKS_APART
