"""Stores who may do what with a survey: roles of accounts, and of teams attached to surveys.

Only surveys/access.py defines what each role may do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Max, Q, QuerySet

NAME_LENGTH = 100
TOKEN_HASH_BYTES = 32


class Role(models.IntegerChoices):
    """Each role may do whatever lower roles may do, so the higher of two roles counts."""

    VIEWER = 1, "Viewer"
    ANALYST = 2, "Analyst"
    EDITOR = 3, "Editor"
    OWNER = 4, "Owner"


def _role() -> Any:
    return models.PositiveSmallIntegerField(choices=Role.choices)


class Membership(models.Model):
    """The role of one account on one survey. Every survey has an owner."""

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="memberships"
    )
    # Before an account is deleted, its surveys get another owner (surveys/people/leaving.py).
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    role = _role()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_membership"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "survey"], name="surveys_membership_once_a_survey"
            )
        ]

    def __str__(self) -> str:
        return f"account {self.account_id}: {Role(self.role).label}"


class Team(models.Model):
    """People who each have one role on all surveys to which the team is attached."""

    name = models.CharField(max_length=NAME_LENGTH)

    class Meta:
        app_label = "surveys"
        db_table = "surveys_team"
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="team_memberships"
    )
    role = _role()

    class Meta:
        app_label = "surveys"
        db_table = "surveys_team_member"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "team"], name="surveys_team_member_once_a_team"
            )
        ]

    def __str__(self) -> str:
        return f"account {self.account_id}: {Role(self.role).label}"


class TeamSurvey(models.Model):
    """A team that is attached to a survey."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="attachments")
    survey = models.ForeignKey("surveys.Survey", on_delete=models.CASCADE, related_name="teams")

    class Meta:
        app_label = "surveys"
        db_table = "surveys_team_survey"
        constraints = [
            models.UniqueConstraint(fields=["team", "survey"], name="surveys_team_survey_once")
        ]

    def __str__(self) -> str:
        return f"{self.team_id} on survey {self.survey_id}"


class FormerMember(models.Model):
    """A former role on an opened survey, whose questions the person still knows.

    The row gives no access. The label also counts the surveys of people with such a row.
    """

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, related_name="former_members"
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        app_label = "surveys"
        db_table = "surveys_former_member"
        constraints = [
            models.UniqueConstraint(fields=["account", "survey"], name="surveys_former_member_once")
        ]

    def __str__(self) -> str:
        return f"account {self.account_id}, formerly on survey {self.survey_id}"


class Invitation(models.Model):
    """An invitation to accept a role on a survey or in a team, sent to an email address.

    The worker that sends the email makes the link and stores only its hash.
    """

    survey = models.ForeignKey(
        "surveys.Survey", on_delete=models.CASCADE, null=True, related_name="invitations"
    )
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="invitations")
    address = models.EmailField()
    role = _role()
    # None if the operator invites a new owner.
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+"
    )
    expires_at = models.DateTimeField()
    token_hash = models.BinaryField(max_length=TOKEN_HASH_BYTES, unique=True, null=True)
    # When to try to send the email, or None once the email has been sent.
    mail_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        app_label = "surveys"
        db_table = "surveys_invitation"
        constraints = [
            models.CheckConstraint(
                condition=Q(survey__isnull=True, team__isnull=False)
                | Q(survey__isnull=False, team__isnull=True),
                name="surveys_invitation_to_one_thing",
            ),
            models.UniqueConstraint(
                fields=["survey", "address"], name="surveys_invitation_once_a_survey"
            ),
            models.UniqueConstraint(
                fields=["team", "address"], name="surveys_invitation_once_a_team"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} as {Role(self.role).label}"


def find_role_on(*, account: int | None, survey: int) -> Role | None:
    """Return the highest role that an account has on a survey, directly or through a team."""
    direct = Membership.objects.filter(account=account, survey=survey).order_by()
    team = TeamMember.objects.filter(account=account, team__attachments__survey=survey).order_by()
    found = direct.values_list("role").union(team.values_list("role"), all=True)
    return max((Role(role) for (role,) in found), default=None)


def find_role_in(*, account: int | None, team: int) -> Role | None:
    role = TeamMember.objects.filter(account=account, team=team).aggregate(role=Max("role"))["role"]
    return None if role is None else Role(role)


def find_people(survey: int) -> QuerySet[Any, Any]:
    """Find the accounts of everyone who has a role on a survey, or had one after its opening."""
    sources = (
        Membership.objects.filter(survey=survey),
        TeamMember.objects.filter(team__attachments__survey=survey),
        FormerMember.objects.filter(survey=survey),
    )
    first, *others = (source.order_by().values_list("account", flat=True) for source in sources)
    return first.union(*others)


def surveys_of(people: Iterable[int]) -> Q:
    """Return the query condition that one of these people has or had a role on the row's survey."""
    own = Membership.objects.filter(account__in=people)
    attached = TeamSurvey.objects.filter(team__members__account__in=people)
    former = FormerMember.objects.filter(account__in=people)
    condition = Q()
    for rows in (own, attached, former):
        condition |= Q(survey__in=rows.values("survey"))
    return condition
