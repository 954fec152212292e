"""Stamps of the values in a form, so that saving never silently undoes a change made elsewhere.

A stamp is a short hash of the stored values, which the form sends back. If the stored values have a
different stamp by then, the form is not saved. The page shows what was changed and keeps what the
author typed, and the author may save again. Marks of single fields may follow the stamp
(surveys/authoring/forms/differences.py). A form without a stamp, such as one that was opened before
an upgrade, is saved without this check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from surveys.authoring.errors import Overtaken
from surveys.manifest.manifest import Manifest
from surveys.models import Question, QuestionContent, Survey, Translation
from surveys.models.settings import SettingsPage, list_setting_names


def stamp_question(question: Question) -> str:
    return _stamp({name: getattr(question, name) for name in Question.CONTENT})


def stamp_questions(questions: Iterable[Question]) -> str:
    """Stamp the set of a survey's questions, regardless of their content and order."""
    return _stamp({"questions": sorted(question.pk for question in questions)})


def stamp_order(survey: Survey, questions: Sequence[Question]) -> str:
    """Stamp the questions of a draft in their order, with their answers and plans.

    Rules and plans contain codes, so the stamp includes the answer that each code stands for.
    """
    plans = (survey.planned_comparisons.all(), survey.planned_releases.all())
    return _stamp(
        {
            "questions": [
                [one.pk, one.type, one.options, one.minimum, one.maximum] for one in questions
            ],
            "plans": [[plan.pk for plan in rows] for rows in plans],
        }
    )


def stamp_insertion(questions: Iterable[Question], *, source: Iterable[Question]) -> str:
    """Stamp a draft's questions, and those of the survey from which questions are inserted."""
    offered = [(question.pk, stamp_question(question)) for question in source]
    return _stamp({"questions": stamp_questions(questions), "source": offered})


def stamp_paste(
    text: str, *, questions: Iterable[Question], contents: Iterable[QuestionContent]
) -> str:
    """Stamp pasted text, the draft's questions, and the questions that the text becomes."""
    return _stamp(
        {"text": text, "questions": stamp_questions(questions), "contents": list(contents)}
    )


def stamp_translation_file(
    text: str, *, sources: Iterable[str], translations: Iterable[Translation]
) -> str:
    """Stamp a file's text, the draft's texts, and all translations that the file may change."""
    stored = {one.language: one.texts for one in translations}
    return _stamp({"text": text, "sources": list(sources), "translations": stored})


def stamp_definition(definition: Mapping[str, object], *, surveys: Iterable[int]) -> str:
    """Stamp a definition, and the surveys to which it would be added."""
    return _stamp({"definition": definition, "surveys": list(surveys)})


def stamp_budget(survey: Survey, manifest: Manifest, questions: Sequence[Question]) -> str:
    """Stamp everything that the total ε depends on, for a draft with this manifest and questions.

    Other changes to the draft, such as new words, do not change the stamp.
    """
    costs = [
        (row.pk, row.flips, one.epsilon, manifest.blocks.get(one.name))
        for row, one in zip(questions, manifest.questions, strict=True)
    ]
    return _stamp({"drawn": survey.drawn, "coins": survey.coins, "questions": costs})


def stamp_settings(survey: Survey, page: SettingsPage | None = None) -> str:
    """Stamp the settings of one page, or all settings."""
    return _stamp({name: getattr(survey, name) for name in list_setting_names(page)})


def stamp_translation(translation: Translation) -> str:
    return _stamp(translation.texts)


def compare_stamps(sent: str, *, stored: str) -> None:
    """Raise Overtaken if the stamp sent with a form differs from the stamp of the stored values."""
    if sent and sent.partition(" ")[0] != stored:
        raise Overtaken


def _stamp(values: Mapping[str, object]) -> str:
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
