"""Whole rows and part rows of reports.csv: nobody stands out, and every count stays right."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.report_codes import ReportColumn, list_columns
from aggregator.exports.reports import stream_reports
from aggregator.models import Batch
from aggregator.results.display import Results, find_view
from aggregator.simulation.demo_surveys import STUDY
from surveys.authoring.services import add_question, close_wave
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_codes, send_people
from tests.support.waves import send

pytestmark = pytest.mark.django_db
Type = Question.Type
Row = dict[str, str]
EIGHT = [f"Group {number}" for number in range(1, 9)]


def close(wave: Wave) -> Results:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return read_results(wave.survey)


def read_results(survey: Survey) -> Results:
    results = find_view(survey).results
    assert results is not None
    return results


def read_lines(results: Results) -> list[str]:
    text = b"".join(stream_reports(results)).decode()
    assert text.endswith("\r\n")
    return text.split("\r\n")[:-1]


def read_rows(results: Results) -> list[Row]:
    return list(csv.DictReader(io.StringIO("\r\n".join(read_lines(results)), newline="")))


def add_groups(survey: Survey, number: int, options: Sequence[str] = EIGHT) -> None:
    for place in range(number):
        add_question(survey=survey, type=Type.DECLARED, text=f"Where {place}?", options=options)


def combination_of(row: Row, columns: Sequence[ReportColumn]) -> tuple[str, ...]:
    """What anybody may know of a row: its declared codes, and the blocks that it has."""
    return tuple(
        row[column.name] if column.question.is_declared else str(row[column.name] == "")
        for column in columns
    )


def count_true_combinations(results: Results) -> Counter[tuple[str, ...]]:
    """The same from the batches, where nothing is hidden."""
    layout, columns = Columns.of(results.manifest), list_columns(results.manifest)
    found: Counter[tuple[str, ...]] = Counter()
    for batch in Batch.objects.filter(wave=results.wave):
        matrix = unpack_reports(bytes(batch.packed), size=batch.size, ks=layout.ks)
        for codes in layout.read_symbols(matrix).tolist():
            written = (
                {one.sent: one.written for one in column.codes}[code]
                for column, code in zip(columns, codes, strict=True)
            )
            row = {
                column.name: "" if cell is None else str(cell)
                for column, cell in zip(columns, written, strict=True)
            }
            found[combination_of(row, columns)] += 1
    return found


def assert_nobody_stands_out(results: Results) -> list[Row]:
    """Check every row against the rules; return the rows."""
    rows, columns = read_rows(results), list_columns(results.manifest)
    minimum = results.wave.display_minimum
    everybody = count_true_combinations(results)
    whole = Counter(combination_of(row, columns) for row in rows if row["row"] == "whole")
    # A combination leaves whole with all its people, or not at all.
    assert all(count >= minimum and everybody[one] == count for one, count in whole.items())
    hidden = everybody - whole
    for place in range(len(columns)):
        for code in {one[place] for one in everybody} - {"True"}:
            some = sum(count for one, count in hidden.items() if one[place] == code)
            among = sum(count for one, count in everybody.items() if one[place] == code)
            assert some == 0 or some >= minimum or some == among
    assert hidden.total() == 0 or hidden.total() >= minimum
    assert_groups_of_blocks_hide_many(columns, everybody, hidden, minimum=minimum)
    assert_parts_hold_one_block_each(rows, columns, hidden, minimum=minimum)
    return rows


def assert_groups_of_blocks_hide_many(
    columns: list[ReportColumn],
    everybody: Counter[tuple[str, ...]],
    hidden: Counter[tuple[str, ...]],
    *,
    minimum: int,
) -> None:
    """A break down counts each block by groups: less the whole rows, that must be many people."""
    declared = [place for place, one in enumerate(columns) if one.question.is_declared]
    blocks = {one.symbol.block: place for place, one in enumerate(columns)}
    for place in declared:
        for code in {one[place] for one in everybody}:
            for block in (asked for number, asked in blocks.items() if number is not None):
                some, among = (
                    sum(
                        n for one, n in crowd.items() if (one[place], one[block]) == (code, "False")
                    )
                    for crowd in (hidden, everybody)
                )
                assert some == 0 or some >= minimum or some == among


def assert_parts_hold_one_block_each(
    rows: list[Row], columns: list[ReportColumn], hidden: Counter[tuple[str, ...]], *, minimum: int
) -> None:
    blocks: Counter[int] = Counter()
    for row in rows:
        if row["row"] == "part":
            filled = {one.symbol.block for one in columns if row[one.name] not in ("", "-99")}
            assert {row[one.name] for one in columns if one.question.is_declared} <= {"-99"}
            [block] = filled
            assert block is not None
            assert all(row[one.name] for one in columns if one.symbol.block == block)
            blocks[block] += 1
    places = {one.symbol.block: place for place, one in enumerate(columns)}
    for block, place in places.items():
        if block is not None:
            asked = sum(count for one, count in hidden.items() if one[place] == "False")
            assert blocks[block] == (asked if asked >= minimum else 0)


def assert_counts_are_the_snapshots(results: Results, rows: list[Row]) -> None:
    counts = Columns.of(results.manifest).read_counts(results.snapshot.counts)
    for column, expected in zip(list_columns(results.manifest), counts, strict=True):
        if column.question.is_declared or sum(expected) < results.wave.display_minimum:
            continue
        shown = Counter(row[column.name] for row in rows)
        for code in column.codes:
            if code.written is not None:
                assert shown.pop(str(code.written), 0) == expected[code.sent]
        assert set(shown) <= {""}


def test_nobody_is_alone_in_three_declared_groups_of_eight() -> None:
    survey = make_survey(display_minimum=20)
    add_groups(survey, 3)
    wave = open_survey(survey=survey)
    send_people(wave, people=320, seed=16)
    results = close(wave)
    alone = [one for one, count in count_true_combinations(results).items() if count == 1]
    assert len(alone) > 150
    rows = assert_nobody_stands_out(results)
    assert Counter(row["row"] for row in rows) == {"part": 640}
    assert_counts_are_the_snapshots(results, rows)
    # The groups themselves are large, and the page shows them.
    assert all(not declared.hidden for declared in results.declared)


def test_nobody_is_alone_in_random_subsets_of_8_among_16_questions() -> None:
    questions = [f"Question {number}?" for number in range(1, 17)]
    wave = make_launched_survey(questions=questions, drawn=8, display_minimum=20, flips=40)
    send_people(wave, people=320, seed=16)
    results = close(wave)
    alone = [one for one, count in count_true_combinations(results).items() if count == 1]
    assert len(alone) > 280
    rows = assert_nobody_stands_out(results)
    assert Counter(row["row"] for row in rows) == {"part": 8 * 320}
    assert_counts_are_the_snapshots(results, rows)


def test_each_group_of_each_block_hides_many_people_or_nobody() -> None:
    """Three of a group drew other blocks than all others, among many hidden people elsewhere."""
    survey = make_survey(questions=("Ill?", "Late?", "Sad?"), display_minimum=20, drawn=2)
    add_groups(survey, 1, ["Kitchen", "Ward"])
    wave = open_survey(survey=survey)
    drawn = {(0, 1): (60, 60), (0, 2): (3, 60), (1, 2): (60, 18)}
    for (one, other), people in drawn.items():
        for group in (0, 1):
            for number in range(people[group]):
                codes = [NOT_DRAWN] * 3
                codes[one] = codes[other] = number % 2
                send(wave, bytes([*codes, group]))
    results = close(wave)
    rows = assert_nobody_stands_out(results)
    assert_counts_are_the_snapshots(results, rows)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [None, 2, 4, 5])
@pytest.mark.parametrize(("groups", "people", "minimum"), [
    ([], 150, 10), (["North", "South"], 150, 10), (["North", "South"], 400, 40), (EIGHT, 300, 20),
])  # fmt: skip
def test_surveys_of_all_types_show_nobody_and_count_everybody(
    drawn: int | None, groups: list[str], people: int, minimum: int
) -> None:
    survey = make_survey(questions=(), drawn=drawn, display_minimum=minimum)
    STUDY.add_questions(survey)
    if groups:
        add_groups(survey, 1, groups)
    wave = open_survey(survey=survey)
    send_people(wave, people=people, seed=people + minimum)
    results = close(wave)
    rows = assert_nobody_stands_out(results)
    assert_counts_are_the_snapshots(results, rows)


def test_rows_of_a_survey_that_knows_nothing_of_people_are_whole() -> None:
    results = read_results(field(make_launched_survey(), yes=[30, 50], total=100))
    rows = assert_nobody_stands_out(results)
    assert Counter(row["row"] for row in rows) == {"whole": 100}


def test_a_survey_of_declared_questions_only_has_only_the_rows_of_large_combinations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Such a survey can be opened no more, but may have been once.
    monkeypatch.setattr("surveys.authoring.services.find_launch_problems", lambda **_: [])
    survey = make_survey(questions=(), display_minimum=30)
    add_question(survey=survey, type=Type.INFORMATION, text="Read this first.")
    add_groups(survey, 1, ["Kitchen", "Ward"])
    add_groups(survey, 1, ["Day", "Night"])
    wave = open_survey(survey=survey)
    send_people(wave, people=140, seed=3)
    results = close(wave)
    everybody = count_true_combinations(results)
    assert sorted(everybody.values())[0] < 30 <= sorted(everybody.values())[1]
    rows = assert_nobody_stands_out(results)
    assert {row["row"] for row in rows} == {"whole"}
    assert 0 < len(rows) <= 140 - 30


def test_people_of_a_hidden_group_leave_no_whole_row() -> None:
    survey = make_survey(questions=("Ill?",), display_minimum=30)
    add_groups(survey, 1, ["Kitchen", "Ward", "Office"])
    wave = open_survey(survey=survey)
    for group, people in enumerate([3, 50, 40]):
        for number in range(people):
            send(wave, bytes([number % 2, group]))
    results = close(wave)
    rows = assert_nobody_stands_out(results)
    assert Counter((row["row"], row["q2"]) for row in rows) == {
        ("whole", "2"): 50,
        ("part", "-99"): 43,
    }


def test_the_file_shows_no_batches_and_is_the_same_at_each_download() -> None:
    wave = make_launched_survey()
    for yes in (3, 17, 9):
        send_codes(wave, yes=[yes, 20 - yes], total=20)
        process(wave)
    results = close(wave)
    assert Batch.objects.filter(wave=wave).count() > 2
    _, *lines = read_lines(results)
    assert lines == sorted(lines)
    assert read_lines(results)[1:] == lines


def test_lines_of_every_kind_are_sorted_over_the_whole_file() -> None:
    survey = make_survey(questions=(), drawn=4, display_minimum=20)
    STUDY.add_questions(survey)
    wave = open_survey(survey=survey)
    for seed in (1, 2):
        send_people(wave, people=200, seed=seed)
        process(wave)
    _, *lines = read_lines(close(wave))
    assert lines == sorted(lines)


def test_rows_of_an_open_wave_cannot_be_written() -> None:
    wave = make_launched_survey()
    send_people(wave, people=100)
    process(wave)
    with pytest.raises(ValueError, match="closed, counted and large enough"):
        read_lines(read_results(wave.survey))


def test_a_damaged_batch_gives_no_file() -> None:
    survey = make_survey(questions=())
    add_question(survey=survey, type=Type.CHOICE, text="Which?", options=["A", "B", "C"])
    wave = open_survey(survey=survey)
    send_people(wave, people=40)
    results = close(wave)
    batch = Batch.objects.get()
    batch.packed = np.full(batch.size, 7, dtype=np.uint8).tobytes()
    batch.save()
    with pytest.raises(ValueError, match="numbers below 3"):
        read_lines(results)
