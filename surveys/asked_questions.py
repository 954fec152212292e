"""Which scrambled questions each launched survey asks, to find those of the same author again.

A question is found by the hash of what it asks and of its answers, without spaces, punctuation and
case. The rows are written at the launch, and go with the survey.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from django.db import models

from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import find_skeleton
from surveys.manifest.questions import ManifestQuestion


def list_keys(question: ManifestQuestion) -> list[bytes]:
    """List the key of each thing that a scrambled question asks; none for other questions."""
    if not question.is_protected:
        return []
    return [_hash(text, answers) for text, answers in question.statements]


def _hash(text: str, answers: Iterable[str]) -> bytes:
    parts = [find_skeleton(text), *sorted(map(find_skeleton, answers))]
    return hashlib.sha256("\n".join(parts).encode()).digest()


class AskedQuestionQuerySet(models.QuerySet["AskedQuestion"]):
    def of_others(
        self, *, keys: Iterable[bytes] | models.QuerySet[Any, Any], survey: int | None, owner: int
    ) -> AskedQuestionQuerySet:
        """The rows with these keys in other surveys of the same owner."""
        found = self.filter(key__in=keys, survey__owner=owner)
        return found.exclude(survey=survey)

    def count_others(self, *, survey: int, owner: int) -> int:
        """Count the other surveys of the owner that share at least one question with this one."""
        keys = self.filter(survey=survey).values("key")
        return self.of_others(keys=keys, survey=survey, owner=owner).count_surveys()

    def count_surveys(self) -> int:
        return self.values("survey").distinct().count()


class AskedQuestion(models.Model):
    """A question of a survey that was launched; rehearsals have none."""

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="asked_questions"
    )
    key = models.BinaryField(max_length=32)

    objects = AskedQuestionQuerySet.as_manager()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_asked_question"
        constraints = [
            models.UniqueConstraint(fields=["key", "survey"], name="surveys_asked_question_once")
        ]

    def __str__(self) -> str:
        return bytes(self.key).hex()


def record_questions(*, survey: int, manifest: Manifest) -> None:
    """Store the keys of a survey's questions; those that are stored already stay."""
    keys = {key for question in manifest.questions for key in list_keys(question)}
    AskedQuestion.objects.bulk_create(
        (AskedQuestion(survey_id=survey, key=key) for key in sorted(keys)), ignore_conflicts=True
    )
