"""A survey with releases of every kind, as its readers see them, in several languages."""

from __future__ import annotations

from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.languages import list_texts
from surveys.manifest.manifest import Publication
from surveys.manifest.releases import ReleaseKind
from surveys.models import Question, Survey, Wave
from tests.support.factories import make_survey, open_survey
from tests.support.releases.stored import finish, plan, store, store_table


def make_released(*languages: str) -> Wave:
    """Make table releases of many kinds, one with too few people, and one of each other kind."""
    survey = make_survey(
        title="Working at night",
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
        organization="University of the North",
        people_expected=5000,
    )
    kind = Question.Type
    wards = ["Intensive care", "Surgery", "Children’s ward"]
    add_question(
        survey=survey, type=kind.DECLARED, text="On which ward do you work?", options=wards
    )
    add_question(
        survey=survey,
        type=kind.SCALE,
        text="How safe do you feel at night?",
        minimum=1,
        maximum=5,
        low_label="not at all",
        high_label="completely",
    )
    add_question(
        survey=survey,
        type=kind.SEVERAL,
        text="What would help?",
        options=["More light", "More staff", "A direct line to the porter’s lodge"],
        refusal=True,
    )
    add_question(survey=survey, type=kind.NUMBER, text="How many nights?", minimum=0, maximum=31)
    add_question(survey=survey, text="Do you sleep well?")
    translate_all(survey, *languages)
    wave = open_survey(survey=survey)
    names = [one.name for one in wave.description.questions[:-1]]
    store_table(wave, *names, people=1204, epsilon=150, seed=5)
    leader = plan(wave.description, "q3", kind=ReleaseKind.LEADER, epsilon=30)
    store(finish(leader, {"code": 1}), wave)
    median = plan(wave.description, "q4", kind=ReleaseKind.MEDIAN, epsilon=30)
    store(finish(median, {"code": 3}), wave)
    store_table(wave, "q1", people=30, epsilon=10)
    by_group = plan(wave.description, "q1", "q2", epsilon=30, group="q3")
    cells = [210, 190, 205, 195, 6, 7]  # two groups of 400, and one with too few people
    store(finish(by_group, {"cells": {"q1": cells, "q2": cells}}), wave)
    alert = plan(wave.description, "q1", kind=ReleaseKind.ALERT, epsilon=20, answer=1, percent=20)
    store(finish(alert, {"alert": True}), wave)
    driver = plan(wave.description, "q1", "q2", "q7", kind=ReleaseKind.KEY_DRIVER, epsilon=30)
    store(finish(driver, {"rule": 0, "cells": [400, 201, 199, 404]}), wave)
    return wave


def translate_all(survey: Survey, *languages: str) -> None:
    """Translate every text of a draft into the language's code followed by the text."""
    for language in languages:
        texts = {
            source.text: f"({language}) {source.text}"
            for source in list_texts(build_manifest(survey=survey, wave_number=1))
        }
        survey.translations.create(language=language, texts=texts)
