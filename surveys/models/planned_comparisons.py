"""Comparisons that an author plans in the draft; opening the survey freezes them."""

from __future__ import annotations

from django.db import models

MAX_PLANNED = 10
# The longest value is "follow_up".
MAX_PART_LENGTH = 12


class PlannedComparison(models.Model):
    """Two answers of a draft's questions: the outcome, and the one that forms the groups.

    `outcome_part` and `group_part` are the suffix after the question in the name of an indicator
    (surveys.comparing.indicators). They are empty for a question that has only one indicator.
    """

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="planned_comparisons"
    )
    outcome = models.ForeignKey("surveys.Question", on_delete=models.CASCADE, related_name="+")
    outcome_part = models.CharField(max_length=MAX_PART_LENGTH, blank=True)
    group = models.ForeignKey("surveys.Question", on_delete=models.CASCADE, related_name="+")
    group_part = models.CharField(max_length=MAX_PART_LENGTH, blank=True)

    class Meta:
        ordering = ["pk"]
        db_table = "surveys_planned_comparison"

    def __str__(self) -> str:
        return f"planned comparison {self.pk}"
