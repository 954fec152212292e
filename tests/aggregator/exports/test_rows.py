"""The rows of reports.csv: all codes of each person, and nobody stands out by known answers.

Every file is compared with rows written from the batches, person by person.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from aggregator.background.levels import find_levels, read_background
from aggregator.background.rows_files import choose
from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.report_codes import list_columns
from aggregator.exports.reports import NoSuchRowsError, NotChosenError, find_rows
from aggregator.models import Batch, RowsFile
from aggregator.results.display import Results, find_view
from aggregator.simulation.demo_surveys import STUDY
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_codes, send_people
from tests.support.waves import send

pytestmark = pytest.mark.django_db
Type = Question.Type
Row = dict[str, str]
EIGHT = [f"Group {number}" for number in range(1, 9)]


def close(wave: Wave, *, accepts: bool = True) -> Results:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=accepts)
    return read_results(wave.survey)


def read_results(survey: Survey) -> Results:
    results = find_view(survey).results
    assert results is not None
    return results


def read_lines(results: Results, number: str = "") -> list[str]:
    text = b"".join(find_rows(results, number=number).stream()).decode()
    assert text.endswith("\r\n")
    return text.split("\r\n")[:-1]


def read_rows(results: Results, number: str = "") -> list[Row]:
    return list(csv.DictReader(io.StringIO("\r\n".join(read_lines(results, number)), newline="")))


def add_groups(survey: Survey, number: int, options: Sequence[str] = EIGHT) -> None:
    for place in range(number):
        add_question(survey=survey, type=Type.DECLARED, text=f"Where {place}?", options=[*options])


def list_expected(results: Results, number: str = "") -> Iterator[Row]:
    """Yield each sealed report as it must appear in the file, without the code under test."""
    layout = Columns.of(results.manifest)
    background = read_background(RowsFile.objects.get(wave=results.wave).chosen or [])
    columns = list_columns(results.manifest)
    for batch in Batch.objects.filter(wave=results.wave):
        matrix = unpack_reports(bytes(batch.packed), size=batch.size, ks=layout.ks)
        for codes in layout.read_symbols(matrix).tolist():
            row, blocks = {"data": "survey"}, set()
            for column, code in zip(columns, codes, strict=True):
                written = {one.sent: one.written for one in column.codes}
                cell = written[(code,)]
                if column.question.is_declared:
                    own = find_levels(background, column.question.name)
                    if own is None:
                        continue
                    [level] = (level for level in own.levels if code in level)
                    # "Prefer not to say" has the highest code of all.
                    cell = -99 if own.is_hidden(level) else written[(min(level),)]
                elif number and column.symbol.block != int(number) - 1:
                    continue
                elif code != NOT_DRAWN:
                    blocks.add(column.symbol.block)
                row[column.name] = "" if cell is None else str(cell)
            if not number or blocks:
                yield row


def count_known(results: Results, rows: Sequence[Row]) -> Counter[tuple[str, ...]]:
    """Count the combinations of what others may know: declared codes and which cells are empty."""
    columns = list_columns(results.manifest)
    declared = [one.name for one in columns if one.question.is_declared and one.name in rows[0]]
    drawn = [one.name for one in columns if not one.question.is_declared and one.name in rows[0]]
    return Counter(
        (*(row[name] for name in declared), *(str(row[name] == "") for name in drawn))
        for row in rows
    )


def check(results: Results, number: str = "") -> list[Row]:
    """Check a file against the batches and the rules; return its rows."""
    lines = read_lines(results, number)
    assert lines[1:] == sorted(lines[1:])
    rows, expected = read_rows(results, number), list(list_expected(results, number))
    assert list(rows[0]) == list(expected[0])
    assert len(rows) == len(expected) == find_rows(results, number=number).people
    assert Counter(map(tuple, map(dict.values, rows))) == Counter(
        map(tuple, map(dict.values, expected))
    )
    assert min(count_known(results, rows).values()) >= results.wave.crowd
    return rows


def check_all(results: Results) -> list[list[Row]]:
    """Check every file of the wave: one with everybody, or one for each large block."""
    if not RowsFile.objects.get(wave=results.wave).has_files_of_blocks:
        rows = check(results)
        assert len(rows) == results.snapshot.total
        return [rows]
    asked = [counts[1] for counts in results.snapshot.counts[: results.manifest.block_count]]
    files = []
    for number, people in enumerate(asked, start=1):
        if people >= results.wave.crowd:
            files.append(check(results, str(number)))
            assert len(files[-1]) == people
            assert "" not in {cell for row in files[-1] for cell in row.values()}
        else:
            with pytest.raises(NoSuchRowsError):
                find_rows(results, number=str(number))
    return files


def test_nobody_is_alone_in_three_declared_groups_of_eight() -> None:
    survey = make_survey(display_minimum=20)
    add_groups(survey, 3)
    wave = open_survey(survey=survey)
    send_people(wave, people=320, seed=16)
    results = close(wave)
    [rows] = check_all(results)
    assert len(rows) == 320
    assert list(rows[0]) == ["data", "driven_after_rnd", "children_rnd", "where_a"]
    # The groups are large, and the page shows them. The file agrees with the page.
    assert not any(declared.hidden for declared in results.declared)
    shown = Counter(row["where_a"] for row in rows)
    assert shown == {str(one.code + 1): one.count for one in results.declared[0].groups}


def test_where_few_drew_the_same_8_of_16_questions_each_has_a_file_of_its_own() -> None:
    questions = [f"Question {number}?" for number in range(1, 17)]
    survey = make_survey(questions=questions, drawn=8, display_minimum=20, flips=40)
    add_groups(survey, 1, ["North", "South"])
    wave = open_survey(survey=survey)
    send_people(wave, people=320, seed=16)
    results = close(wave)
    files = check_all(results)
    assert [list(rows[0]) for rows in files] == [
        ["data", f"question_{letter}_rnd"] for letter in "abcdefghijklmnop"
    ]
    assert sum(map(len, files)) == 8 * 320
    for number in ("", "0", "17", "01", "x"):
        with pytest.raises(NoSuchRowsError):
            find_rows(results, number=number)


def draw_two_of_three(*people: int) -> Results:
    """Send reports; `people` is how many lack the last, the second and the first block."""
    survey = make_survey(questions=("Ill?", "Late?", "Sad?"), drawn=2)
    wave = open_survey(survey=survey)
    for (one, other), count in zip([(0, 1), (0, 2), (1, 2)], people, strict=True):
        for number in range(count):
            codes = [NOT_DRAWN] * 3
            codes[one] = codes[other] = number % 2
            send(wave, bytes(codes))
    return close(wave)


def test_large_combinations_of_blocks_are_in_one_file() -> None:
    results = draw_two_of_three(30, 40, 50)
    [rows] = check_all(results)
    empty = Counter(next(name for name in row if row[name] == "") for row in rows)
    assert empty == {"sad_rnd": 30, "late_rnd": 40, "ill_rnd": 50}
    with pytest.raises(NoSuchRowsError):
        find_rows(results, number="1")


def test_a_block_that_few_were_asked_has_no_file() -> None:
    results = draw_two_of_three(60, 20, 5)
    files = check_all(results)
    assert [len(rows) for rows in files] == [80, 65]
    assert find_rows(results, number="2").kind == "reports_block_2"


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
    files = check_all(results)
    counts = Columns.of(results.manifest).read_counts(results.snapshot.counts)
    for column, expected in zip(list_columns(results.manifest), counts, strict=True):
        holding = [rows for rows in files if column.name in rows[0]]
        if holding and not column.question.is_declared:
            [rows] = holding
            shown = Counter(row[column.name] for row in rows if row[column.name])
            assert shown == +Counter(
                {
                    str(code.written): expected[code.sent[0]]
                    for code in column.codes
                    if code.sent != (NOT_DRAWN,)
                }
            )


def test_a_survey_of_declared_questions_only_has_rows_of_large_combinations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Such a survey can no longer be opened, but an earlier version may have opened one.
    monkeypatch.setattr("surveys.authoring.services.find_launch_problems", lambda **_: [])
    survey = make_survey(questions=(), display_minimum=30)
    add_question(survey=survey, type=Type.INFORMATION, text="Read this first.")
    add_groups(survey, 2, ["Kitchen", "Ward"])
    wave = open_survey(survey=survey)
    send_people(wave, people=140, seed=3)
    [rows] = check_all(close(wave))
    assert len(rows) == 140


def send_groups(*sizes: int) -> Wave:
    """Send reports that begin with the group: lines not sorted as text would reveal groups."""
    survey = make_survey(questions=(), display_minimum=30)
    add_groups(survey, 1, [f"Ward {number}" for number in range(len(sizes))])
    add_question(survey=survey, text="Ill?")
    wave = open_survey(survey=survey)
    for group, people in enumerate(sizes):
        for number in range(people):
            send(wave, bytes([group, number % 2]))
    return wave


def test_groups_that_no_page_shows_share_one_value() -> None:
    [rows] = check_all(close(send_groups(3, 50, 40, 60)))
    assert Counter(row["where_a"] for row in rows) == {"2": 50, "4": 60, "-99": 43}


def test_the_file_has_what_the_owner_chose_and_waits_for_it() -> None:
    results = close(send_groups(3, 50, 40, 60, 70), accepts=False)
    with pytest.raises(NotChosenError):
        find_rows(results)
    rows_file = RowsFile.objects.get()
    [proposed] = read_background(rows_file.proposed)
    assert proposed.levels == ((0, 2), (1,), (3,), (4,))
    choose(rows_file, (proposed.merge([0, 1, 2, 1]),))
    [rows] = check_all(results)
    assert Counter(row["where_a"] for row in rows) == {"2": 120, "4": 60, "-99": 43}


def test_a_question_that_the_owner_left_out_has_no_column() -> None:
    results = close(send_groups(50, 40), accepts=False)
    choose(RowsFile.objects.get(), ())
    [rows] = check_all(results)
    assert list(rows[0]) == ["data", "ill_rnd"]


def test_rows_of_a_survey_that_knows_nothing_of_people_are_theirs_at_once() -> None:
    survey = field(make_launched_survey(), yes=[30, 50], total=100)
    [rows] = check_all(read_results(survey))
    assert len(rows) == 100


def test_neither_batches_nor_the_order_of_reports_change_a_byte() -> None:
    people = [bytes([number % 2, number % 3 == 0, number % 2]) for number in range(120)]

    def write(order: Sequence[bytes], *, at_once: int) -> bytes:
        survey = make_survey(title="Order", display_minimum=20)
        add_groups(survey, 1, ["North", "South"])
        wave = open_survey(survey=survey)
        for start in range(0, len(order), at_once):
            for row in order[start : start + at_once]:
                send(wave, row)
            process(wave)
        results = close(wave)
        written = b"".join(find_rows(results).stream())
        assert written == b"".join(find_rows(results).stream())
        return written

    assert write(people, at_once=120) == write(people[::-1], at_once=25)


def test_lines_of_many_batches_are_sorted_over_the_whole_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aggregator.exports.reports.ROWS_AT_ONCE", 30)
    wave = make_launched_survey()
    for yes in (3, 17, 9):
        send_codes(wave, yes=[yes, 20 - yes], total=20)
        process(wave)
    results = close(wave)
    assert Batch.objects.filter(wave=wave).count() > 2
    check_all(results)


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
