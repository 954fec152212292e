"""Studies that the tests of reports share."""

from __future__ import annotations

import pytest

from aggregator.results.display import find_view
from aggregator.study_report.content import StudyReport
from aggregator.study_report.writing import write_report
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave, state_people_invited
from surveys.models import Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import process, send_people

COLOURS = ("Blue", "Green", "None of these two colours, but another one")


def ask_every_type(survey: Survey) -> None:
    first = add_question(survey=survey, text="Have you ever?", type="yes_no", flips=25)
    rule = {"name": f"{first.pk}", "is": [1]}
    add_question(survey=survey, text="Which?", type="choice", flips=20, options=list(COLOURS))
    add_question(
        survey=survey, text="Which of them?", type="several", flips=12, options=list(COLOURS),
        refusal=True,
    )  # fmt: skip
    add_question(survey=survey, text="Again?", type="yes_no", flips=12, refusal=True, rule=rule)
    add_question(
        survey=survey, text="How often?", type="scale", flips=12, minimum=1, maximum=5,
        low_label="Never", high_label="Very often",
    )  # fmt: skip
    add_question(
        survey=survey, text="How long?", type="number", flips=25, minimum=0, maximum=80,
        unit="hours",
    )  # fmt: skip
    add_question(
        survey=survey, text="Lonely?", type="follow_up", flips=12, follow_up="Still lonely?"
    )
    add_question(
        survey=survey, text="Where do you work?", type="declared", options=["Town", "Country"]
    )


def field_study(*, ending: Wave.Ending = Wave.Ending.OWNER, **settings: object) -> Survey:
    """Open a survey with every type of question, send 1,500 reports, and close it."""
    survey = make_survey(questions=(), title="Colours of work", **settings)  # type: ignore[arg-type]
    ask_every_type(survey)
    wave = open_survey(survey=survey)
    send_people(wave, people=1500)
    close_wave(wave_id=wave.pk, ending=ending)
    process(wave)
    state_people_invited(survey=survey, people=4000)
    survey.refresh_from_db()
    return survey


@pytest.fixture
def study(db: None) -> Survey:
    return field_study(organization="Institute of Colours")


_written: list[StudyReport] = []


@pytest.fixture
def report(request: pytest.FixtureRequest) -> StudyReport:
    """Return the report of the study. It is made once, because estimating takes seconds."""
    if not _written:
        request.getfixturevalue("study")
        _written.append(write_report(find_view(Survey.objects.get())))
    return _written[0]
