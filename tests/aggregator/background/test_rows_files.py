"""The file of rows through the whole pipeline: n rows for n people, and a choice made only once."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from aggregator.background.forms import NOT_SENT, BackgroundForm
from aggregator.background.levels import Levels, read_background, write_background
from aggregator.background.rows_files import (
    AlreadyChosenError,
    accept_proposal,
    choose,
    find_background,
)
from aggregator.batches.columns import Columns
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.exports.report_codes import list_columns
from aggregator.exports.reports import find_rows, list_blocks_with_rows
from aggregator.models import RowsFile
from aggregator.results.blocks import NOT_SHOWN, list_blocks
from aggregator.results.display import Results, find_view
from aggregator.study_report.content import Table
from aggregator.study_report.sections.participants import write_participants
from aggregator.views.background import REFUSED
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.models import Question, Wave
from tests.support.breakdowns.waves import break_down
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.waves import send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FEW, MANY = 12, 60
FOUND = 302
Row = dict[str, str]


def make_random_wave(seed: int) -> Wave:
    """Open a survey with up to three declared questions, perhaps with a random subset."""
    draw = random.Random(seed)
    questions = draw.randint(1, 5)
    drawn = draw.choice([None, None, 1, questions - 1])
    survey = make_survey(
        questions=[f"Question {number}?" for number in range(questions)],
        drawn=drawn if drawn and drawn < questions else None,
        display_minimum=draw.choice([10, 45]),
    )
    for number in range(draw.randint(0, 3)):
        options = [f"Group {option}" for option in range(draw.randint(2, 6))]
        add_question(
            survey=survey, type=Question.Type.DECLARED, text=f"Where {number}?", options=options,
            refusal=draw.random() < 0.5,
        )  # fmt: skip
    return open_survey(survey=survey)


def close(wave: Wave, *, accepts: bool = True) -> Results:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave, accepts=accepts)
    results = find_view(wave.survey).results
    assert results is not None
    return results


def read_rows(results: Results, number: str = "") -> list[Row]:
    text = b"".join(find_rows(results, number=number).stream()).decode()
    return list(csv.DictReader(io.StringIO(text)))


def close_random_wave(seed: int) -> Results:
    wave = make_random_wave(seed)
    send_people(wave, people=random.Random(seed).randint(60, 320), seed=seed)
    return close(wave)


def read_table_1(results: Results) -> dict[str, dict[str, int]]:
    """Map each question to the sizes of its groups in Table 1 of the report, except hidden ones."""
    [table] = write_participants(list_blocks(results)).parts
    found: dict[str, dict[str, int]] = {}
    for row in table.rows if isinstance(table, Table) else ():
        label, *figures = (cell.text for cell in row.cells)
        if row.is_heading:
            groups = found.setdefault(f"q{label[1 : label.index(' ')]}", {})
        elif figures[0] != NOT_SHOWN:
            groups[label] = int(figures[0])
    return found


def count_alike(rows: Sequence[Row], known: Collection[str]) -> Counter[tuple[object, ...]]:
    """Count rows by what others may know: the background, and which questions were asked."""
    return Counter(
        (*(row[name] for name in known), *(cell == "" for cell in row.values())) for row in rows
    )


of_random_surveys = pytest.mark.parametrize(
    "seed",
    [*range(FEW), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(FEW, MANY))],
)


@of_random_surveys
def test_a_file_has_a_row_for_each_person_and_the_groups_of_table_1(seed: int) -> None:
    results = close_random_wave(seed)
    rows_file = RowsFile.objects.get()
    if rows_file.has_files_of_blocks:
        blocks = list_blocks_with_rows(results)
        asked = [results.snapshot.counts[block][1] for block in blocks]
        assert [len(read_rows(results, str(block + 1))) for block in blocks] == asked
        return
    rows = read_rows(results)
    assert len(rows) == random.Random(seed).randint(60, 320)
    background = read_background(rows_file.chosen or [])
    counts = Columns.of(results.manifest).read_counts(results.snapshot.counts)
    names = [symbol.name for symbol in results.manifest.symbols]
    table_1 = read_table_1(results)
    known = []
    for column in list_columns(results.manifest, background):
        cells = Counter(row[column.name] for row in rows)
        if column.question.is_declared:
            own = counts[names.index(column.symbol.name)]
            sums = {str(one.written): sum(own[sent] for sent in one.sent) for one in column.codes}
            assert cells == +Counter(sums)
            for level in column.codes:
                groups = [column.question.name_code(code) for code in level.sent]
                if table_1[column.question.name].keys() >= set(groups):
                    shown = sum(table_1[column.question.name][group] for group in groups)
                    assert cells[str(level.written)] == shown
            known.append(column.name)
    assert min(count_alike(rows, known).values()) >= max(results.wave.crowd, rows_file.smallest)


@of_random_surveys
def test_joined_with_all_other_files_and_pages_it_tells_of_no_few_people(seed: int) -> None:
    """Every figure, and every total less its shown parts, is about nobody or at least C people."""
    results = close_random_wave(seed)
    crowd = results.wave.crowd
    chosen = {one.question for one in read_background(RowsFile.objects.get().chosen or [])}
    background = [one.variable for one in results.manifest.questions if one.name in chosen]
    if RowsFile.objects.get().has_files_of_blocks:
        numbers = [str(block + 1) for block in list_blocks_with_rows(results)]
    else:
        numbers = [""]
    sizes = [
        size
        for number in numbers
        for size in count_alike(read_rows(results, number), background).values()
    ]
    sizes += [question.total for question in results.questions]
    for one in results.declared:
        name, found = one.question.name, break_down(results.wave, one.question.name)
        table_1 = read_table_1(results)[name]
        shown = {group.code: group.n or 0 for group in found.groups}
        for total, parts in (
            (found.n, list(table_1.values())),
            (found.n, list(shown.values())),
            *count_in_questions(found, results),
            *count_crossed(found, shown),
        ):
            sizes += [*parts, total - sum(parts)]
    assert [size for size in sizes if 0 < size < crowd] == []


def count_in_questions(found: BreakdownResult, results: Results) -> Iterator[tuple[int, list[int]]]:
    """Yield how many people were asked each scrambled question: in all, and in each shown group."""
    for question in results.questions:
        name = question.question.name
        people = {one.group: one.n for one in found.estimates if one.question == name}
        yield question.total, list(people.values())


def count_crossed(
    found: BreakdownResult, shown: Mapping[int, int]
) -> Iterator[tuple[int, list[int]]]:
    """Yield a shown group's size, and its counts of the answers to one other declared question."""
    for group, people in shown.items():
        for name in {one.question for one in found.crossed if one.group == group}:
            own = [one for one in found.crossed if (one.group, one.question) == (group, name)]
            yield people, [one.count for one in own]


@pytest.fixture
def results() -> Results:
    """Make a wave with four declared groups; its background is proposed but not yet chosen."""
    survey = make_survey(questions=["Do you work?"])
    options = ["North", "East", "South", "West"]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    send_many(wave, [bytes([0, code]) for code in (0, 1, 2, 3) for _ in range(40 + 10 * code)])
    return close(wave, accepts=False)


def choose_on_page(results: Results, **fields: str) -> None:
    client = sign_in(results.wave.survey.owner)
    sent = {"is_sent": "True", **fields}
    reply = client.post(f"/surveys/{results.wave.survey.slug}/data/background", sent)
    assert reply.status_code == FOUND


def test_choosing_twice_is_refused_and_changes_nothing(results: Results) -> None:
    """Two windows read the row before either of them makes a choice."""
    first, second = (RowsFile.objects.get(wave=results.wave) for _ in range(2))
    choose(first, ())
    with pytest.raises(AlreadyChosenError):
        choose(second, read_background(second.proposed))
    with pytest.raises(AlreadyChosenError):
        accept_proposal(second)
    assert find_background(results.wave) == ()


def test_nothing_finer_than_the_proposal_can_be_chosen(results: Results) -> None:
    rows_file = RowsFile.objects.get(wave=results.wave)
    coarse = Levels(question="q2", levels=((0, 1), (2, 3)), hidden=frozenset())
    RowsFile.objects.update(proposed=write_background((coarse,)))
    rows_file.refresh_from_db()
    for levels in (((0,), (1,), (2, 3)), ((0, 2), (1, 3))):
        with pytest.raises(ValueError, match="not proposed"):
            choose(rows_file, (Levels(question="q2", levels=levels, hidden=frozenset()),))
    with pytest.raises(ValueError, match="not proposed"):
        choose(rows_file, (Levels(question="q3", levels=((0,), (1,)), hidden=frozenset()),))
    assert find_background(results.wave) is None


def test_the_page_stores_a_coarser_choice_once(results: Results) -> None:
    # West is merged with East, and East with North, so the three become one group.
    choose_on_page(results, q2="on", **{"q2-3": "1", "q2-1": "0"})
    variable = results.manifest.questions[1].variable
    merged = (Levels(question="q2", levels=((0, 1, 3), (2,)), hidden=frozenset()),)
    assert find_background(results.wave) == merged
    assert Counter(row[variable] for row in read_rows(results)) == {"1": 160, "3": 60}
    choose_on_page(results, q2="on")
    assert find_background(results.wave) == merged


def test_an_empty_request_chooses_nothing(results: Results) -> None:
    client = sign_in(results.wave.survey.owner)
    page = f"/surveys/{results.wave.survey.slug}/data/background"
    refused = client.post(page)
    assert (refused.status_code, NOT_SENT in refused.content.decode()) == (REFUSED, True)
    assert find_background(results.wave) is None
    assert '<input type="hidden" name="is_sent" value="True"' in client.get(page).content.decode()


@pytest.mark.parametrize("merged", [{}, {"q2-0": "1"}])
def test_a_group_of_nobody_is_neither_offered_nor_a_group(merged: dict[str, str]) -> None:
    survey = make_survey(questions=["Do you work?"])
    options = ["North", "East", "South", "West"]
    add_question(survey=survey, type=Question.Type.DECLARED, text="Where?", options=options)
    wave = open_survey(survey=survey)
    send_many(wave, [bytes([0, code]) for code in (0, 1, 3) for _ in range(50)])
    results = close(wave, accepts=False)
    [one] = read_background(RowsFile.objects.get().proposed)
    form = BackgroundForm(
        QueryDict(urlencode({"is_sent": "True", "q2": "on", **merged, "q2-3": "0"})),
        proposed=(one,),
        questions={"q2": results.manifest.questions[1]},
        nobody=results.nobody,
    )
    [offered] = form.offered
    assert [name for name, _ in offered.groups] == ["North", "East", "West"]
    assert form.is_valid()
    assert [bool(levels.shown) for levels in form.background] == ([] if merged else [True])


def test_a_choice_that_merges_everything_has_no_background(results: Results) -> None:
    choose_on_page(results, q2="on", **{"q2-0": "1", "q2-1": "2", "q2-2": "3"})
    assert find_background(results.wave) == ()
    assert len(read_rows(results)) == 220
