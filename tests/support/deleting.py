"""Delete one question of a draft."""

from __future__ import annotations

from surveys.authoring.selection import delete_questions
from surveys.models import Question


def delete_question(*, question: Question) -> str:
    """Delete a question, and return what the page says about its plans."""
    done = delete_questions(survey=question.survey, keys=[question.pk])["done"]
    return done.removeprefix("The question was deleted.").strip()
