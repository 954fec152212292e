"""The modes of a wave: who randomizes the answers."""

from __future__ import annotations

from django.db.models import TextChoices


class Mode(TextChoices):
    """Electronic: the respondent's browser randomizes. Manual: the respondent tosses two coins."""

    ELECTRONIC = "electronic", "Electronic"
    MANUAL = "manual", "Two coins"
