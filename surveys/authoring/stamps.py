"""Stamps of the values in a form, so that saving never silently undoes a change made elsewhere.

A stamp is a short hash of the stored values. A form sends it back. If the stored values have
another stamp by then, nothing is saved. The author reads what was changed, keeps what they typed,
and may save again. A form without a stamp, such as one that was opened before an upgrade, is saved
without this check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from surveys.authoring.errors import Overtaken
from surveys.models import Question, Survey, Translation
from surveys.models.settings import SETTING_NAMES


def stamp_question(question: Question) -> str:
    return _stamp({name: getattr(question, name) for name in Question.CONTENT})


def stamp_questions(questions: Iterable[Question]) -> str:
    """Stamp which questions a survey has, regardless of their content and order."""
    return _stamp({"questions": sorted(question.pk for question in questions)})


def stamp_settings(survey: Survey) -> str:
    return _stamp({name: getattr(survey, name) for name in SETTING_NAMES})


def stamp_translation(translation: Translation) -> str:
    return _stamp(translation.texts)


def compare_stamps(sent: str, *, stored: str) -> None:
    """Raise Overtaken if a form sent a stamp that differs from that of the stored values."""
    if sent and sent != stored:
        raise Overtaken


def _stamp(values: Mapping[str, object]) -> str:
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
