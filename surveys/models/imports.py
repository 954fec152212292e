"""Uploaded questionnaires on their way to a draft, and how long they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models

from surveys.leases import UNFINISHED, Job
from surveys.models.surveys import Survey, new_slug

KEPT = timedelta(hours=1)


class Import(Job):
    """An uploaded file. Its bytes are deleted once they are read, and after an hour in any case.

    Without a draft, the import itself is also deleted after an hour. With a draft, it stores what
    became of each row of the file, until the survey is opened or deleted.
    """

    # The slug is random, so that URLs do not reveal the number of imports.
    slug = models.SlugField(max_length=20, unique=True, default=new_slug)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports"
    )
    uploaded_at = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=200)  # of the file
    content = models.BinaryField(null=True)
    # Both come from surveys.exchange.drafting.Drafted. The definition is kept until the draft
    # exists. If sums became scores, its key surveys.exchange.jobs.SINGLY holds both without scores.
    definition: models.JSONField[dict[str, Any] | None] = models.JSONField(null=True)
    outcomes: models.JSONField[list[dict[str, Any]]] = models.JSONField(default=list)
    survey = models.OneToOneField(
        Survey, on_delete=models.CASCADE, null=True, related_name="imported"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=UNFINISHED) | models.Q(content__isnull=True),
                name="surveys_import_content_only_until_read",
            ),
            models.CheckConstraint(
                condition=models.Q(state="done", definition__isnull=False, survey__isnull=True)
                | models.Q(definition__isnull=True),
                name="surveys_import_definition_until_created",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=models.Q(state__in=UNFINISHED),
                name="surveys_import_due",
            )
        ]

    def __str__(self) -> str:
        return self.name
