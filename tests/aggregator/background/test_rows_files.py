"""The file of rows through the whole pipeline: n rows for n people, and chosen once."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
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
from aggregator.exports.report_codes import list_columns
from aggregator.exports.reports import find_rows, list_blocks_with_rows
from aggregator.models import RowsFile
from aggregator.results.display import Results, find_view
from aggregator.views.background import REFUSED
from surveys.authoring.services import add_question, close_wave
from surveys.models import Question, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people, sign_in
from tests.support.waves import send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FEW, MANY = 12, 200
FOUND = 302
Row = dict[str, str]


def make_random_wave(seed: int) -> Wave:
    """Open a survey with up to three declared questions, of which some people see a part."""
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


@pytest.mark.parametrize(
    "seed",
    [*range(FEW), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(FEW, MANY))],
)
def test_a_file_has_a_row_for_each_person_and_the_groups_of_table_1(seed: int) -> None:
    wave, people = make_random_wave(seed), random.Random(seed).randint(60, 320)
    send_people(wave, people=people, seed=seed)
    results = close(wave)
    rows_file = RowsFile.objects.get(wave=wave)
    if rows_file.has_files_of_blocks:
        blocks = list_blocks_with_rows(results)
        asked = [results.snapshot.counts[block][1] for block in blocks]
        assert [len(read_rows(results, str(block + 1))) for block in blocks] == asked
        return
    rows = read_rows(results)
    assert len(rows) == people
    background = read_background(rows_file.chosen or [])
    counts = Columns.of(results.manifest).read_counts(results.snapshot.counts)
    names = [symbol.name for symbol in results.manifest.symbols]
    table_1 = {one.question.name: one for one in results.declared}
    known = []
    for column in list_columns(results.manifest, background):
        cells = Counter(row[column.name] for row in rows)
        if column.question.is_declared:
            own = counts[names.index(column.name)]
            sums = {str(one.written): sum(own[sent] for sent in one.sent) for one in column.codes}
            assert cells == +Counter(sums)
            for group in table_1[column.name].groups:
                [level] = [one for one in column.codes if group.code in one.sent]
                if len(level.sent) == 1:
                    assert (group.count or 0) == cells[str(level.written)]
            known.append(column.name)
    # What somebody may know about a person: the background, and which questions they were asked.
    seen = Counter(
        (*(row[name] for name in known), *(cell == "" for cell in row.values())) for row in rows
    )
    assert min(seen.values()) >= max(wave.crowd, rows_file.smallest)


# --- chosen once ----------------------------------------------------------------------------------


@pytest.fixture
def results() -> Results:
    """A wave of four declared groups whose background is proposed and not chosen."""
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
    """Both windows read the row before either choice."""
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
    # West with East, and East with North, are one group.
    choose_on_page(results, q2="on", **{"q2-3": "1", "q2-1": "0"})
    merged = (Levels(question="q2", levels=((0, 1, 3), (2,)), hidden=frozenset()),)
    assert find_background(results.wave) == merged
    assert Counter(row["q2"] for row in read_rows(results)) == {"1": 160, "3": 60}
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
