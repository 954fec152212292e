"""Surveys and their waves, with the times at which a wave opens and stops accepting reports.

A survey is a draft until its first wave exists. A wave owns the frozen manifest and the state.
After the launch, only the wave's state and ending change.
"""

from __future__ import annotations

import secrets
from datetime import UTC, date, datetime, time
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from accounts.models import User
from surveys.manifest import modes
from surveys.manifest.manifest import Manifest, find_crowd
from surveys.manifest.serialization import parse_manifest
from surveys.models.asked_questions import count_elsewhere
from surveys.models.people import Membership, Role, TeamMember, TeamSurvey
from surveys.models.settings import MIN_BATCH_FLOOR, SurveySettings

SLUG_LENGTH = 12
SLUG_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # easy to read on paper


def today() -> date:
    return timezone.now().date()


def start_of(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def new_slug() -> str:
    return "".join(secrets.choice(SLUG_ALPHABET) for _ in range(SLUG_LENGTH))


class SurveyQuerySet(models.QuerySet["Survey"]):
    def of(
        self, account: AbstractBaseUser | AnonymousUser | int, *, least: Role = Role.VIEWER
    ) -> SurveyQuerySet:
        """Find the surveys on which an account has at least a role; set `role` on each survey.

        Surveys whose day of deletion has come are left out, even if they are not deleted yet.
        """
        number = account if isinstance(account, int) else account.pk
        own = Membership.objects.filter(account=number)
        teams = TeamMember.objects.filter(account=number)
        attached = TeamSurvey.objects.filter(team__members__account=number)
        direct = own.filter(survey=OuterRef("pk")).values("role")
        shared = teams.filter(team__attachments__survey=OuterRef("pk")).order_by("-role")
        roles = (direct, shared.values("role")[:1])
        gone = Wave.objects.past_deletion_date(timezone.now()).filter(survey=OuterRef("pk"))
        found = self.filter(
            Q(pk__in=own.values("survey")) | Q(pk__in=attached.values("survey")), ~Exists(gone)
        ).annotate(found_role=Greatest(*(Coalesce(Subquery(one), 0) for one in roles)))
        # Every role is at least Viewer, so a count of all surveys need not look for roles.
        return found if least == Role.VIEWER else found.filter(found_role__gte=least)

    @transaction.atomic
    def create_owned(self, account: AbstractBaseUser, **fields: Any) -> Survey:
        survey = self.create(**fields)
        Membership.objects.create(survey=survey, account_id=account.pk, role=Role.OWNER)
        return survey


class Survey(SurveySettings):
    class Origin(models.TextChoices):
        """The origin of the answers. The values are stored only in files."""

        SURVEY = "survey", "Survey"
        REHEARSAL = "rehearsal", "Rehearsal"
        DEMO = "demo", "Demo"

    slug = models.CharField(max_length=SLUG_LENGTH, unique=True, default=new_slug, editable=False)
    # Made by `manage.py demo` from published data whose true shares are known.
    demo = models.BooleanField(default=False, editable=False)
    # A copy made by `manage.py rehearse`. All of its answers are invented.
    rehearsal = models.BooleanField(default=False, editable=False)
    # How many people were invited. The author may state this number at any time. The report needs
    # it for the response rate.
    people_invited = models.PositiveIntegerField(null=True, blank=True)
    # Whether the owner has withdrawn the public page of results.
    public_results_off = models.BooleanField(default=False)
    # When to try to tell the owner by email that the survey will be deleted, or None if no email is
    # due.
    deletion_mail_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SurveyQuerySet.as_manager()

    class Meta(SurveySettings.Meta):
        ordering = ["-created_at", "-pk"]
        constraints = [
            *SurveySettings.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(people_invited__isnull=True) | models.Q(people_invited__gte=1),
                name="surveys_survey_people_invited_positive",
            ),
        ]
        # This index lets the worker's sweeps find the few surveys whose owner must get an email.
        indexes = [
            models.Index(
                fields=["deletion_mail_at"],
                condition=models.Q(deletion_mail_at__isnull=False),
                name="surveys_survey_mail_due",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def role(self) -> Role | None:
        """The role of the account for which the survey was found, or None without an account."""
        found = getattr(self, "found_role", None)
        return None if found is None else Role(found)

    @property
    def owner(self) -> User:
        """The first owner; every survey has at least one."""
        owners = self.memberships.filter(role=Role.OWNER).select_related("account")
        return owners.order_by("pk")[0].account

    @property
    def origin(self) -> Origin:
        if self.rehearsal:
            return self.Origin.REHEARSAL
        return self.Origin.DEMO if self.demo else self.Origin.SURVEY

    @property
    def crowd(self) -> int:
        """The C that the manifest would have if the survey were launched now."""
        return find_crowd(minimum_batch=self.minimum_batch, display_minimum=self.display_minimum)

    @property
    def has_fixed_end(self) -> bool:
        """Whether a date or a number of people ends the survey."""
        return self.closes_at is not None or self.cap is not None

    def find_wave(self) -> Wave | None:
        """Return the newest wave, or None while the survey is a draft."""
        return self.waves.electronic().newest()

    def is_draft(self) -> bool:
        return not self.waves.exists()


class WaveQuerySet(models.QuerySet["Wave"]):
    def electronic(self) -> WaveQuerySet:
        return self.filter(mode=Wave.Mode.ELECTRONIC)

    def manual(self) -> WaveQuerySet:
        return self.filter(mode=Wave.Mode.MANUAL)

    def newest(self) -> Wave | None:
        return self.order_by("-number").first()

    def open(self) -> WaveQuerySet:
        return self.filter(state=Wave.State.OPEN)

    def closed(self) -> WaveQuerySet:
        return self.filter(state=Wave.State.CLOSED)

    def past_closing_date(self, now: datetime) -> WaveQuerySet:
        return self.open().filter(closes_at__lte=now)

    def past_deletion_date(self, now: datetime) -> WaveQuerySet:
        return self.filter(delete_on__lte=now.astimezone(UTC).date())

    def shown(self) -> WaveQuerySet:
        """Leave out waves whose day of deletion has come, even if they are not deleted yet."""
        return self.filter(models.Q(delete_on=None) | models.Q(delete_on__gt=today()))


class Wave(models.Model):
    """One run of one manifest; reports, batches and snapshots belong to it."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    Mode = modes.Mode

    class Ending(models.TextChoices):
        """Why a wave closed. Only DATE and CAP were fixed before anyone could see results."""

        DATE = "date", "on its closing date"
        CAP = "cap", "at its number of people"
        OWNER = "owner", "by its owner"

    survey = models.ForeignKey(Survey, on_delete=models.PROTECT, related_name="waves")
    number = models.PositiveIntegerField()
    # Each mode has a separate wave, with its own manifest, reports, batches and snapshots.
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.ELECTRONIC)
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    ending = models.CharField(max_length=16, choices=Ending.choices, blank=True, default="")
    # The exact bytes that were hashed and are served. They are never serialized again.
    manifest = models.BinaryField()
    manifest_hash = models.BinaryField(max_length=32, unique=True)
    # The exact JSON of the words in each language, whose hash is in the manifest.
    words: models.JSONField[dict[str, str]] = models.JSONField(default=dict)
    # Copies of values in the manifest, for constraints and for the intake's single query.
    minimum_batch = models.PositiveIntegerField()
    display_minimum = models.PositiveIntegerField()
    opens_at = models.DateTimeField(null=True)
    closes_at = models.DateTimeField(null=True)
    delete_on = models.DateField(null=True)
    cap = models.PositiveIntegerField(null=True)
    # How many comparisons the manifest plans. They are due once the wave has ended.
    planned_comparisons = models.PositiveSmallIntegerField(default=0)
    # How many releases the manifest plans. They are due once the last reports are counted. The
    # number is None for waves without protected publication, and for waves from before releases
    # could be planned.
    planned_releases = models.PositiveSmallIntegerField(null=True)
    # How many of these releases are alerts, which are checked while the wave is open.
    planned_alerts = models.PositiveSmallIntegerField(default=0)
    sealed_half = models.BooleanField(default=False)
    launched_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    objects = WaveQuerySet.as_manager()

    class Meta:
        ordering = ["survey", "number", "mode"]
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "number", "mode"], name="surveys_wave_number_and_mode"
            ),
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
        # The first index covers the columns that the worker's sweeps read, so that the sweeps skip
        # the long manifests.
        indexes = [
            models.Index(
                fields=[
                    *("state", "mode", "minimum_batch", "display_minimum"),
                    *("planned_comparisons", "planned_releases", "planned_alerts"),
                    *("closes_at", "cap"),
                ],
                name="surveys_wave_due",
            ),
            models.Index(
                fields=["delete_on"],
                condition=models.Q(delete_on__isnull=False),
                name="surveys_wave_delete_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.survey_id} wave {self.number}"

    @property
    def description(self) -> Manifest:
        """The parsed manifest. Parsing is cached."""
        return parse_manifest(bytes(self.manifest))

    @property
    def has_fixed_end(self) -> bool:
        """Whether a date or a number of people, fixed before the opening, ends the wave."""
        return self.closes_at is not None or self.cap is not None

    @property
    def crowd(self) -> int:
        """C, the least number of reports that an exact figure or a row of a file may describe."""
        return find_crowd(minimum_batch=self.minimum_batch, display_minimum=self.display_minimum)

    @property
    def keeps_counts(self) -> bool:
        """Whether the wave is counted for its releases even below the minimum batch."""
        return self.planned_releases is not None

    def count_elsewhere(self) -> int:
        """Count other surveys of this survey's people that now share a question with this wave."""
        survey = self.survey
        if survey.origin != Survey.Origin.SURVEY:
            return 0
        return count_elsewhere(manifest=self.description, survey=survey.pk)

    @property
    def manifest_hash_hex(self) -> str:
        """The hash in hex, as it appears in /m/HASH.json and as sha256sum prints it."""
        return bytes(self.manifest_hash).hex()

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def ends_at(self) -> datetime | None:
        """The moment from which no report is accepted, even if no sweep has closed the wave."""
        deleted_at = None if self.delete_on is None else start_of(self.delete_on)
        return self.closes_at or deleted_at

    def accepts_at(self, now: datetime) -> bool:
        """Return whether a new report is accepted at this moment."""
        return (
            self.is_open
            and (self.opens_at is None or now >= self.opens_at)
            and (self.ends_at is None or now < self.ends_at)
        )


def list_frozen_columns(manifest: Manifest) -> dict[str, Any]:
    """Return the values that a wave's columns copy from its manifest."""
    return {
        "number": manifest.wave,
        "mode": manifest.mode,
        "minimum_batch": manifest.minimum_batch,
        "display_minimum": manifest.display_minimum,
        "opens_at": manifest.opens,
        "closes_at": manifest.closes,
        "delete_on": manifest.delete_on,
        "cap": manifest.cap,
        "planned_comparisons": len(manifest.planned_comparisons),
        "planned_releases": (
            None if manifest.planned_releases is None else len(manifest.planned_releases)
        ),
        "planned_alerts": sum(
            request.kind.comes_while_open for request in manifest.planned_releases or ()
        ),
        "sealed_half": manifest.sealed_half,
    }


class DeletedWave(models.Model):
    """All that remains of a wave whose survey was deleted.

    With this row, the server answers "deleted", not "unknown", to the link and to late reports.
    """

    manifest_hash = models.BinaryField(max_length=32, unique=True)
    slug = models.CharField(max_length=SLUG_LENGTH, db_index=True)
    # A day, never a time.
    deleted_on = models.DateField(default=today)

    class Meta:
        db_table = "surveys_deleted_wave"

    def __str__(self) -> str:
        return f"{self.slug}, deleted on {self.deleted_on}"
