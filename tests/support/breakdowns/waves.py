"""A closed wave with every type of question and declared groups, and its breakdown."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from aggregator.background.levels import Background
from aggregator.background.rows_files import choose
from aggregator.batches.columns import Columns
from aggregator.batches.group_counts import GroupCounts
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports, unpack_reports
from aggregator.comparisons.breakdown.computing import GroupCounter
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.stored import read_result
from aggregator.models import Comparison, RawReport, RowsFile
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Question, Survey, Wave
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people

GROUPS = ("Kitchen", "Ward", "Office")
MINIMUM = 50


def make_grouped_survey(
    *, groups: Sequence[str] = GROUPS, drawn: int | None = None, **settings: object
) -> Survey:
    """Make a survey with groups as q1, every type of question, and a rule on a scrambled answer."""
    types = Question.Type
    settings = {"display_minimum": MINIMUM, **settings}
    survey = make_survey(questions=(), drawn=drawn, **settings)  # type: ignore[arg-type]
    add_question(
        survey=survey, type=types.DECLARED, text="Where?", options=list(groups), refusal=True
    )
    ill = add_question(survey=survey, text="Did you work ill?", refusal=True)
    add_question(
        survey=survey,
        type=types.SCALE,
        text="How often?",
        minimum=1,
        maximum=4,
        low_label="Never",
        high_label="Always",
        rule={"name": str(ill.pk), "is": [1]},
    )
    add_question(survey=survey, type=types.CHOICE, text="Why?", options=["Money", "Fear", "Duty"])
    add_question(survey=survey, type=types.NUMBER, text="Days?", minimum=0, maximum=30, unit="days")
    add_question(
        survey=survey,
        type=types.SEVERAL,
        text="Which help?",
        options=["Boss", "Doctor", "Nobody"],
        refusal=True,
    )
    add_question(
        survey=survey, type=types.FOLLOW_UP, text="Did you tell?", follow_up="Was it useful?"
    )
    return survey


def field_people(
    wave: Wave,
    *,
    people: int = 600,
    ending: Wave.Ending = Wave.Ending.OWNER,
    background: Background | None = None,
) -> Wave:
    """Send reports of people who answer at random; every fifth prefers not to name the group."""
    send_people(wave, people=people)
    declined = wave.description.questions[0].refused_code
    if declined is not None:
        few = list(RawReport.objects.filter(wave=wave).order_by("id"))[::5]
        for report in few:
            report.symbols = bytes([declined, *bytes(report.symbols)[1:]])
        RawReport.objects.bulk_update(few, ["symbols"])
    return finish(wave, ending=ending, background=background)


def finish(
    wave: Wave,
    *,
    ending: Wave.Ending = Wave.Ending.OWNER,
    background: Background | None = None,
) -> Wave:
    """Close and count the wave; the owner accepts the proposed background or chooses another."""
    close_wave(wave_id=wave.pk, ending=ending)
    process(wave, accepts=background is None)
    if background is not None:
        rows_file = RowsFile.objects.get(wave=wave)
        if rows_file.chosen is None:
            choose(rows_file, background)
    wave.refresh_from_db()
    return wave


def send_rows(wave: Wave, rows: Sequence[bytes]) -> None:
    RawReport.objects.bulk_create(
        RawReport(id=secrets.token_bytes(32), wave=wave, symbols=row) for row in rows
    )


def break_down(wave: Wave, name: str = "q1") -> BreakdownResult:
    found = compute(ask(wave, Comparison.Kind.BREAKDOWN, name))
    assert found.state == Comparison.State.DONE, found.problem
    result = read_result(found.kind, found.result, indicators=())
    assert isinstance(result, BreakdownResult)
    return result


def read_rows(wave: Wave) -> np.ndarray:
    """Return the codes of all sealed reports, with one row for each report."""
    ks = Columns.of(wave.description).ks
    return np.concatenate(
        [
            unpack_reports(bytes(batch.packed), size=batch.size, ks=ks)
            for batch in wave.batches.all()
        ]
    )


def count_rows(manifest: Manifest, rows: np.ndarray) -> tuple[list[list[int]], list[list[int]]]:
    """Count the codes and tables of some reports, as sealing does."""
    ks = Columns.of(manifest).ks
    packed = pack_reports([row.tobytes() for row in rows.astype(np.uint8)], ks=ks)
    return (
        count_codes(packed, size=len(rows), ks=ks),
        count_tables(packed, size=len(rows), ks=ks, tables=list_tables(manifest)),
    )


def count_groups(wave: Wave, name: str = "q1") -> GroupCounts:
    manifest = wave.description
    counter = GroupCounter(manifest, find_question(manifest, name))
    for batch in wave.batches.all():
        counter.add(bytes(batch.packed), size=batch.size)
    return counter.result()


def find_question(manifest: Manifest, name: str) -> ManifestQuestion:
    return next(question for question in manifest.questions if question.name == name)


def make_closed_wave(
    *, people: int = 600, background: Background | None = None, **settings: object
) -> Wave:
    wave = open_survey(survey=make_grouped_survey(**settings))  # type: ignore[arg-type]
    return field_people(wave, people=people, background=background)
