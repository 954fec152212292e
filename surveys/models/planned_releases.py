"""Releases that an author plans in the draft; opening the survey freezes them."""

from __future__ import annotations

from django.db import models

from surveys.manifest.releases import ReleaseKind


class PlannedRelease(models.Model):
    """A planned release of a protected survey; `questions` are the keys of questions.

    An alert also has the code of its answer, and the share, in percent, that must be exceeded.
    """

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="planned_releases"
    )
    kind = models.CharField(max_length=16, choices=ReleaseKind.choices)
    questions: models.JSONField[list[int]] = models.JSONField()
    epsilon_hundredths = models.PositiveIntegerField()
    answer = models.PositiveSmallIntegerField(null=True)
    percent = models.PositiveSmallIntegerField(null=True)
    # The key of the background question that divides a table, or None if a table describes everyone
    # together.
    group = models.PositiveBigIntegerField(null=True)

    class Meta:
        ordering = ["pk"]
        db_table = "surveys_planned_release"

    def __str__(self) -> str:
        return f"planned release {self.pk}"
