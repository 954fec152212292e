"""What a visit weighs in each of the six languages, as it travels."""

from __future__ import annotations

import pytest

from surveys.authoring.services import launch_survey
from surveys.models import Wave
from surveys.respondent.client_files import (
    ENTRY,
    ICON,
    RANDOMIZER,
    STYLESHEET,
    client_files,
    squeeze,
)
from surveys.respondent.page import render_questions
from tests.support.factories import make_survey

REPORT = 164  # bytes of ten codes
HAPPENED = {
    "en": "In the last month, has number {} of our list happened?",
    "es": "En el último mes, ¿ha pasado lo que dice el número {} de nuestra lista?",
    "fr": "Le mois dernier, le numéro {} de notre liste est-il arrivé ?",
    "de": "Ist im letzten Monat Nummer {} unserer Liste geschehen?",
    "ar": "في الشهر الماضي، هل حدث الرقم {} من قائمتنا؟",
    "zh-hans": "上个月，我们清单上的第 {} 项发生过吗？",
}


def write_questions(language: str) -> list[str]:
    return [HAPPENED[language].format(number) for number in range(10)]


def make_survey_in_six_languages() -> Wave:
    """Ten questions, in a survey that carries all languages."""
    questions = write_questions("en")
    survey = make_survey(title="List", questions=questions)
    for other in HAPPENED.keys() - {"en"}:
        texts = dict(zip(questions, write_questions(other), strict=True))
        survey.translations.create(language=other, texts={"List": f"L {other}", **texts})
    return launch_survey(survey=survey)


@pytest.mark.django_db
def test_one_visit_weighs_at_most_19_kilobytes_in_any_of_six_languages() -> None:
    wave = make_survey_in_six_languages()
    content, files = bytes(wave.manifest), client_files()
    fixed = [files[name] for name in (ENTRY, RANDOMIZER, STYLESHEET, ICON)]
    for language in HAPPENED:
        words = wave.words.get(language, "")
        page = render_questions("open", content=content, language=language, words=words)
        weight = sum(len(file.compressed) for file in fixed)
        weight += len(squeeze(content)) + len(squeeze(page)) + REPORT
        print(f"{language}: {weight:,} bytes")
        assert 15_000 < weight <= 19_100
