"""The acts on a survey, each with its day, number, account, verb and kind of object.

Rows outlive the survey and its accounts, so they refer to both without foreign keys. Triggers
refuse to change a row, or to delete it before its `kept_until` day is over (migration `history`).
docs/decisions says what the rows can and cannot reveal about reports.
"""

from __future__ import annotations

from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from surveys.models.surveys import SLUG_LENGTH


class Verb(models.TextChoices):
    """The kind of act. Columns have no list of choices, so a new verb needs no migration."""

    CREATED = "created", "created"
    CHANGED = "changed", "changed"
    OPENED = "opened", "opened"
    ASKED_TO_OPEN = "asked-to-open", "asked to open"  # a worker opens it, or refuses
    CLOSED = "closed", "closed"
    ENDED = "ended", "closed by its end"
    SAW = "saw", "first saw that day"
    COMPARED = "compared", "asked for"
    DOWNLOADED = "downloaded", "downloaded"
    RELEASED = "released", "released"
    PUBLISHED = "published", "switched on"
    WITHDREW = "withdrew", "switched off"
    INVITED = "invited", "invited"
    JOINED = "joined", "joined"
    CHANGED_ROLE = "changed-role", "changed the role"
    REMOVED = "removed", "removed"
    HANDED_OVER = "handed-over", "handed over"
    DELETED = "deleted", "deleted"
    EXPIRED = "expired", "deleted on its date"


class Kind(models.TextChoices):
    """The object of the act."""

    SURVEY = "survey", "survey"
    SETTINGS = "settings", "settings"
    QUESTIONS = "questions", "questions"
    STRENGTHS = "strengths", "strengths"
    TRANSLATION = "translation", "translation"
    PLANNED_COMPARISON = "planned-comparison", "planned comparison"
    PLANNED_RELEASE = "planned-release", "planned release"
    PEOPLE_INVITED = "people-invited", "number of people invited"
    PUBLIC_PAGE = "public-page", "public results page"
    BACKGROUND = "background", "background of the rows"
    RESULTS = "results", "results"
    COMPARISON = "comparison", "comparison"
    BREAKDOWN = "breakdown", "break down"
    RELEASE = "release", "release"
    ROWS = "rows", "rows"
    CODEBOOK = "codebook", "codebook"
    ESTIMATES = "estimates", "estimates"
    MODES = "modes", "browser and coins"
    LEDGER = "ledger", "ledger of releases"
    REPORT = "report", "report"
    CHART = "chart", "chart"
    CLAIM = "claim", "claim"
    SEALED_HALF = "sealed-half", "sealed half"
    PERSON = "person", "person"
    TEAM = "team", "team"
    INVITATION = "invitation", "invitation"
    HISTORY = "history", "history"
    FILE = "file", "file"
    DEFINITION = "definition", "whole definition"


class HistoryRow(models.Model):
    """One act. The rows of a survey are numbered without gaps."""

    pk = models.CompositePrimaryKey("slug", "number")
    slug = models.CharField(max_length=SLUG_LENGTH)
    number = models.PositiveIntegerField()
    # A day, never a time.
    day = models.DateField()
    # Until the end of this day, the database refuses to delete the row.
    kept_until = models.DateField(db_index=True)
    # None for workers and commands.
    account = models.BigIntegerField(null=True)
    verb = models.CharField(max_length=16)
    kind = models.CharField(max_length=24)

    class Meta:
        db_table = "surveys_history"
        indexes = [
            models.Index(fields=["slug", "verb", "account", "day"], name="surveys_history_once"),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.number}: {self.verb} {self.kind}"


class HistoryChanges(models.Model):
    """What an act changed, as a list of [what, before, after]. It is deleted with the survey."""

    pk = models.CompositePrimaryKey("slug", "number")
    slug = models.CharField(max_length=SLUG_LENGTH)
    number = models.PositiveIntegerField()
    changes: models.JSONField[list[list[Any]]] = models.JSONField(encoder=DjangoJSONEncoder)

    class Meta:
        db_table = "surveys_history_changes"

    def __str__(self) -> str:
        return f"{self.slug} {self.number}"
