"""Comparisons that an author plans in the draft; opening the survey freezes them."""

from __future__ import annotations

from django.db import models

MAX_PLANNED = 10


class PlannedComparison(models.Model):
    """Answers to a draft's questions, first the outcome and then the factors.

    For each answer, `answers` holds the key of its question, and the suffix after the question in
    the name of an indicator or a factor (surveys.comparing.indicators). The suffix is empty for a
    question that has only one indicator.
    """

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="planned_comparisons"
    )
    answers = models.JSONField()

    class Meta:
        ordering = ["pk"]
        db_table = "surveys_planned_comparison"

    def __str__(self) -> str:
        return f"planned comparison {self.pk}"

    def uses(self, question: int) -> bool:
        return any(key == question for key, _ in self.answers)
