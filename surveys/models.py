"""Surveys under construction and the waves they were launched as.

A survey is a draft until its first wave exists. A wave owns the frozen manifest and the
state; nothing about a launched wave but its state and how it ended ever changes.
"""

from __future__ import annotations

import base64
import secrets
from datetime import datetime

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone

from privacy.mechanisms import RandomizedResponse

MIN_BATCH_FLOOR = 10
MAX_QUESTIONS = 100
MAX_QUESTION_LENGTH = 1000
SLUG_LENGTH = 12
SLUG_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # nothing to misread on paper


def new_slug() -> str:
    return "".join(secrets.choice(SLUG_ALPHABET) for _ in range(SLUG_LENGTH))


class SurveyQuerySet(models.QuerySet["Survey"]):
    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> SurveyQuerySet:
        return self.filter(owner_id=user.pk)


class Survey(models.Model):
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="surveys"
    )
    slug = models.CharField(max_length=SLUG_LENGTH, unique=True, default=new_slug, editable=False)
    title = models.CharField(max_length=200)
    introduction = models.TextField(max_length=2000, blank=True)
    minimum_batch = models.PositiveIntegerField(default=50)
    display_minimum = models.PositiveIntegerField(default=100)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    cap = models.PositiveIntegerField(null=True, blank=True)
    # Fielded by `manage.py demo`, on published data whose true shares are known.
    demo = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SurveyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(minimum_batch__gte=MIN_BATCH_FLOOR),
                name="surveys_survey_minimum_batch_floor",
            ),
            models.CheckConstraint(
                condition=models.Q(display_minimum__gte=models.F("minimum_batch")),
                name="surveys_survey_display_minimum_at_least_batch",
            ),
            models.CheckConstraint(
                condition=models.Q(cap__isnull=True) | models.Q(cap__gte=models.F("minimum_batch")),
                name="surveys_survey_cap_reaches_a_batch",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def wave(self) -> Wave | None:
        """The newest wave; None while the survey is a draft."""
        return self.waves.order_by("-number").first()

    @property
    def is_draft(self) -> bool:
        return not self.waves.exists()


class Question(models.Model):
    class Type(models.TextChoices):
        YES_NO = "yes_no", "Yes or no"

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    type = models.CharField(max_length=16, choices=Type.choices, default=Type.YES_NO)
    text = models.CharField(max_length=MAX_QUESTION_LENGTH)
    # Strength: of 100 people with one answer, how many send the other one's code.
    flips = models.PositiveSmallIntegerField(default=25)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "position"], name="surveys_question_position"
            ),
            models.CheckConstraint(
                condition=models.Q(flips__gte=1, flips__lte=49),
                name="surveys_question_flips_in_range",
            ),
            models.CheckConstraint(
                condition=~models.Q(text=""), name="surveys_question_text_present"
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse.from_flips(symbols=2, flips=self.flips)


class WaveQuerySet(models.QuerySet["Wave"]):
    def open(self) -> WaveQuerySet:
        return self.filter(state=Wave.State.OPEN)

    def closed(self) -> WaveQuerySet:
        return self.filter(state=Wave.State.CLOSED)

    def past_closing_date(self, now: datetime) -> WaveQuerySet:
        return self.open().filter(closes_at__lte=now)


class Wave(models.Model):
    """One run of one manifest; reports, batches and snapshots belong to it."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Ending(models.TextChoices):
        """Why a wave closed. Only DATE and CAP were fixed before anyone could look."""

        DATE = "date", "on its closing date"
        CAP = "cap", "at its number of people"
        OWNER = "owner", "by its owner"

    survey = models.ForeignKey(Survey, on_delete=models.PROTECT, related_name="waves")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    ending = models.CharField(max_length=16, choices=Ending.choices, blank=True, default="")
    # The exact bytes that were hashed and are served; never re-serialized.
    manifest = models.BinaryField()
    manifest_hash = models.BinaryField(max_length=32, unique=True)
    # Copies of what the manifest says, for constraints and for the intake's one query.
    minimum_batch = models.PositiveIntegerField()
    display_minimum = models.PositiveIntegerField()
    opens_at = models.DateTimeField(null=True)
    closes_at = models.DateTimeField(null=True)
    cap = models.PositiveIntegerField(null=True)
    launched_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    objects = WaveQuerySet.as_manager()

    class Meta:
        ordering = ["survey", "number"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "number"], name="surveys_wave_number"),
            models.CheckConstraint(
                condition=models.Q(minimum_batch__gte=MIN_BATCH_FLOOR),
                name="surveys_wave_minimum_batch_floor",
            ),
            models.CheckConstraint(
                condition=models.Q(display_minimum__gte=models.F("minimum_batch")),
                name="surveys_wave_display_minimum_at_least_batch",
            ),
            models.CheckConstraint(
                condition=models.Q(state="open", ending="", closed_at__isnull=True)
                | models.Q(
                    state="closed",
                    ending__in=["date", "cap", "owner"],
                    closed_at__isnull=False,
                ),
                name="surveys_wave_state_and_ending_agree",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.survey_id} wave {self.number}"

    @property
    def manifest_hash_hex(self) -> str:
        """As in /m/HASH.json and as sha256sum prints it."""
        return bytes(self.manifest_hash).hex()

    @property
    def manifest_hash_b64(self) -> str:
        """As in a report on the wire: unpadded base64url."""
        return base64.urlsafe_b64encode(bytes(self.manifest_hash)).rstrip(b"=").decode()

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    def accepts_at(self, now: datetime) -> bool:
        """Whether a new report would be taken at this moment."""
        return (
            self.is_open
            and (self.opens_at is None or now >= self.opens_at)
            and (self.closes_at is None or now < self.closes_at)
        )
