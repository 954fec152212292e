"""A wave with related answers, and comparisons of its questions as workers make them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from aggregator.comparisons.jobs import (
    request_comparison,
    run_comparison,
)
from aggregator.models import Comparison, Snapshot
from aggregator.results.snapshots import list_looks_before_close, newest_snapshot
from surveys.authoring.services import plan_comparison
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process
from tests.support.waves import make_wave, send_many

PAIRS = (("q1", "q2"), ("q3", "q1"))


def make_answered_wave(
    *,
    people: int = 600,
    questions: int = 3,
    ending: Wave.Ending = Wave.Ending.OWNER,
    profiles: Sequence[tuple[float, str]] = (),
    **settings: Any,
) -> Wave:
    """Make a wave with related codes, sealed in two batches and estimated.

    `profiles`, if given, are lists of answers, each with its share of the people.
    """
    questions = len(profiles[0][1]) if profiles else questions
    wave = make_wave(questions=questions, **settings)
    draw = random.Random(7)
    shares, answers = zip(*profiles, strict=True) if profiles else ((), ())
    rows = []
    for _ in range(people):
        if profiles:
            said = [answer == "1" for answer in draw.choices(answers, shares)[0]]
        else:
            first = draw.random() < 0.5
            said = [first, *(draw.random() < (0.6 if first else 0.4) for _ in range(questions - 1))]
        # Two coins, as in the browser.
        rows.append(bytes(truth ^ (draw.random() < 0.25) for truth in said))
    send_many(wave, rows[: people // 2])
    process(wave)
    send_many(wave, rows[people // 2 :])
    close_wave(wave_id=wave.pk, ending=ending)
    process(wave)
    wave.refresh_from_db()
    return wave


def make_planned_wave(
    *, pairs: Sequence[Sequence[str]] = PAIRS, people: int = 400, **settings: Any
) -> Wave:
    """Make an open wave with plans and counted reports, in which Q2 mostly repeats Q1."""
    survey = make_survey(questions=[f"Question {number}?" for number in (1, 2, 3)], **settings)
    for pair in pairs:
        plan_comparison(survey=survey, names=pair)
    wave = open_survey(survey=survey)
    draw = random.Random(11)
    rows = []
    for _ in range(people):
        first = draw.random() < 0.5
        said = (first, draw.random() < (0.9 if first else 0.1), draw.random() < 0.5)
        rows.append(bytes(truth ^ (draw.random() < 0.25) for truth in said))
    send_many(wave, rows)
    process(wave)
    return wave


def end(wave: Wave, ending: Wave.Ending = Wave.Ending.OWNER) -> Wave:
    close_wave(wave_id=wave.pk, ending=ending)
    process(wave)
    wave.refresh_from_db()
    return wave


def snapshot_of(wave: Wave) -> Snapshot:
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    return snapshot


def list_times(wave: Wave) -> list[float]:
    """List the shown looks of a closed wave as fractions of the people expected."""
    return [n / wave.description.people_for_looks for n in list_looks_before_close(wave)]


def ask(wave: Wave, kind: Comparison.Kind, *names: str) -> Comparison:
    return request_comparison(wave=wave, snapshot=snapshot_of(wave), kind=kind, names=names)


def compute(comparison: Comparison) -> Comparison:
    assert run_comparison(comparison_id=comparison.pk)
    comparison.refresh_from_db()
    return comparison
