"""Handles surveys and teams when an account is deleted by its owner, or closed.

An account that is the only owner of a survey must hand the survey over first.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.deletion import ProtectedError

from accounts import audit
from accounts.mail.composing import Kind as Mail
from accounts.mail.queue import request_mail
from accounts.models import AccountMail, User
from accounts.sessions import end_sessions
from accounts.tokens import end_tokens
from surveys.access import Action, find_surveys_for
from surveys.history.recording import lock_survey
from surveys.models import Membership, Role, Survey, Team, TeamMember
from surveys.models.asked_questions import forget_groups_of
from surveys.models.people import find_role_on
from surveys.people.errors import LastOwner, NotAMember, OwnsSurveys
from surveys.people.invitations import invite
from surveys.people.members import hand_over, remove, replace_owner
from surveys.people.teams import remove_from_team, set_team_role


def find_owned_alone(account: int) -> QuerySet[Survey]:
    """Find the surveys that an account owns and that have no other owner who can sign in."""
    owners = Membership.objects.filter(role=Role.OWNER)
    others = owners.filter(survey=OuterRef("pk"), account__is_active=True).exclude(account=account)
    mine = owners.filter(account=account).values("survey")
    return Survey.objects.filter(~Exists(others), pk__in=mine).order_by("pk")


def find_teams_owned_alone(account: int) -> QuerySet[Team]:
    """Find the teams that an account owns and that have other people but no other active owner."""
    others = TeamMember.objects.filter(team=OuterRef("pk")).exclude(account=account)
    owners = others.filter(role=Role.OWNER, account__is_active=True)
    mine = TeamMember.objects.filter(account=account, role=Role.OWNER).values("team")
    return Team.objects.filter(~Exists(owners), Exists(others), pk__in=mine).order_by("pk")


def find_colleagues(account: int) -> QuerySet[User]:
    """Find the people in the account's teams and on its surveys, whom its pages may show."""
    teams = TeamMember.objects.filter(account=account).values("team")
    surveys = find_surveys_for(account, Action.PEOPLE).values("pk")
    return (
        User.objects.filter(
            Q(team_memberships__team__in=teams)
            | Q(memberships__survey__in=surveys)
            | Q(team_memberships__team__attachments__survey__in=surveys),
            is_active=True,
        )
        .exclude(pk=account)
        .distinct()
        .order_by("email")
    )


def hand_over_all(*, account: int, to: int) -> int:
    """Hand over all surveys and teams that only this account owns; return the number of surveys."""
    surveys = list(find_owned_alone(account))
    with transaction.atomic():
        for survey in surveys:
            hand_over(survey=survey, to=to, by=account)
        # Only members of a team can take it over.
        for team in find_teams_owned_alone(account).filter(members__account=to):
            set_team_role(team=team, account=to, role=Role.OWNER, by=account)
    return len(surveys)


def delete_account(user: User) -> None:
    """Delete an account; raise OwnsSurveys while it is the only owner of a survey or a team."""
    number = user.pk
    try:
        with transaction.atomic():
            # While the account is locked, no survey can be given to it.
            User.objects.select_for_update().get(pk=number)
            give_up_roles(number)
            forget_groups_of(number)
            end_sessions(user)
            AccountMail.objects.filter(account=number).delete()
            User.objects.get(pk=number).delete()
    except (LastOwner, ProtectedError, IntegrityError) as error:
        raise OwnsSurveys from error
    audit.record("account-deleted", account=number)


def give_up_roles(account: int) -> None:
    """Remove all roles of an account; raise LastOwner if a survey or team would have no owner."""
    for survey in Survey.objects.filter(memberships__account=account).order_by("pk"):
        remove(survey=survey, account=account, by=account)
    for team in Team.objects.filter(members__account=account).order_by("pk"):
        remove_from_team(team=team, account=account, by=account)


@transaction.atomic
def deactivate_account(user: User, *, owner: User | None) -> int:
    """Close an account for the operator, and return how many surveys got another owner.

    `owner` must already have a role on each of these surveys, because an operator cannot give
    anyone access. Raises OwnsSurveys if an owner is needed but not given, and NotAMember if `owner`
    lacks a role on a survey.
    """
    surveys = list(find_owned_alone(user.pk))
    if surveys and owner is None:
        raise OwnsSurveys
    told: set[int] = set()
    for survey in surveys:
        assert owner is not None
        lock_survey(survey)
        if find_role_on(account=owner.pk, survey=survey.pk) is None:
            raise NotAMember
        told |= set(survey.memberships.values_list("account", flat=True))
        replace_owner(survey=survey, owner=user.pk, new=owner.pk)
    _hand_over_teams(user.pk, new=owner)
    # From now on, no one can give the account a role.
    User.objects.filter(pk=user.pk).update(is_active=False)
    try:
        give_up_roles(user.pk)
    except LastOwner as error:  # of a survey that the account has just been given
        raise OwnsSurveys from error
    end_sessions(user)
    end_tokens(user)
    _mail(Mail.OWNER_CHANGED, told - {owner.pk if owner else 0, user.pk})
    audit.record("account-closed", account=user.pk)
    return len(surveys)


@transaction.atomic
def invite_owner(user: User, *, address: str) -> int:
    """Invite an owner to the surveys that only this account owns, and email the account."""
    surveys = list(find_owned_alone(user.pk))
    for survey in surveys:
        first = survey == surveys[0]
        invite(address=address, role=Role.OWNER, by=None, survey=survey, is_mailed=first)
    _mail(Mail.OWNER_INVITED, [user.pk] if surveys else [])
    return len(surveys)


def _hand_over_teams(account: int, *, new: User | None) -> None:
    """Make `new` an owner of each team that would otherwise lose its last owner."""
    for team in find_teams_owned_alone(account):
        if new is None:
            raise NotAMember
        set_team_role(team=team, account=new.pk, role=Role.OWNER, by=account)


def _mail(kind: Mail, accounts: Collection[int]) -> None:
    for account in sorted(accounts):
        request_mail(kind, account=account)
