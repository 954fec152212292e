"""A survey in all six languages."""

from __future__ import annotations

from typing import Any

from surveys.models import Wave
from tests.support.factories import make_survey, open_survey

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


def make_survey_in_six_languages(**settings: Any) -> Wave:
    """Open a survey of ten questions in all languages."""
    questions = write_questions("en")
    survey = make_survey(title="List", questions=questions, **settings)
    for other in HAPPENED.keys() - {"en"}:
        texts = dict(zip(questions, write_questions(other), strict=True))
        survey.translations.create(language=other, texts={"List": f"L {other}", **texts})
    return open_survey(survey=survey)
