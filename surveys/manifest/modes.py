"""Who randomizes the answers of a wave."""

from __future__ import annotations

from django.db.models import TextChoices


class Mode(TextChoices):
    """The respondent's browser, or two coins in the respondent's hand."""

    ELECTRONIC = "electronic", "Electronic"
    MANUAL = "manual", "Two coins"
