"""Three closed surveys whose results pages are measured: small, of all types, and long."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from aggregator.models import RawReport
from aggregator.simulation.demo import field_demo
from aggregator.simulation.demo_surveys import REDBOOK, STUDY
from aggregator.simulation.respondents import Answers, randomize_answers
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.browser.every_type import ask
from tests.support.factories import make_survey, make_user, open_survey
from tests.support.fielding import process, send_people

SEED = 20261123
LONG_PEOPLE = 2500
FREQUENCY = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Very often"}


def make_small_survey() -> Survey:
    """Make the demo of four yes/no questions."""
    return _field(field_demo(REDBOOK, owner=make_user()), REDBOOK.people())


def make_study() -> Survey:
    """Make the demo of all types, with a random subset, a rule and a declared group."""
    return _field(field_demo(STUDY, owner=make_user()), STUDY.people())


def make_long_survey() -> Survey:
    """Make a survey of fifty questions, including scales, lists and numbers."""
    survey = make_survey(title="Fifty questions", questions=(), cap=LONG_PEOPLE)
    survey.drawn = 20  # all fifty together would reveal too much
    survey.save()
    for number in range(10):
        ask(survey, f"Have you ever been short of money for thing {number}?", type="yes_no")
        ask(survey, f"How often were you tired at place {number}?", type="scale", **FREQUENCY)
        ask(survey, f"Have you ever felt unsafe at place {number}?", type="yes_no", refusal=True)
        options = ["A colleague", "A superior", "Somebody outside", "Nobody"]
        kind = "choice" if number % 2 else "several"
        ask(survey, f"Who helped you with task {number}?", type=kind, options=options)
        ask(
            survey,
            f"How many hours did task {number} take?",
            type="number",
            minimum=0,
            maximum=60,
            unit="hours",
        )
    wave = open_survey(survey=survey)
    send_people(wave, people=LONG_PEOPLE)
    return _close(wave)


MAKERS: dict[str, Callable[[], Survey]] = {
    "four yes/no questions": make_small_survey,
    "all types": make_study,
    "fifty questions": make_long_survey,
}


def _field(wave: Wave, people: Sequence[Answers]) -> Survey:
    generator, manifest = random.Random(SEED), wave.description
    RawReport.objects.bulk_create(
        RawReport(
            id=generator.randbytes(32),
            wave=wave,
            symbols=randomize_answers(
                manifest, answers, random_uint32=lambda: generator.getrandbits(32)
            ),
        )
        for answers in people
    )
    return _close(wave)


def _close(wave: Wave) -> Survey:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    process(wave)
    return wave.survey
