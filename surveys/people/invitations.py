"""Invitations give a role to an address once the reader of its mailbox accepts.

The link is in one email and nowhere else; the database stores only its hash. An invitation works
once and only for this address. It expires after VALID, or when the person who sent it may no longer
give the role.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from surveys.access import Action, can
from surveys.history.recording import lock_survey, record
from surveys.models import Invitation, Kind, Role, Survey, Team, Verb
from surveys.models.people import find_role_in
from surveys.people.errors import HasRole, InvalidInvitation, OtherAddress, RoleTooLow
from surveys.people.members import grant, person
from surveys.people.teams import join_team, lock_team

VALID = timedelta(days=7)
VALID_FOR = "a week" if VALID.days == 7 else f"{VALID.days} days"


def hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def draw_token() -> str:
    return secrets.token_urlsafe(32)


@transaction.atomic
def invite(
    *,
    address: str,
    role: Role,
    by: int | None,
    survey: Survey | None = None,
    team: Team | None = None,
    is_mailed: bool = True,
) -> None:
    """Invite an address. If it was already invited, only the newest link works.

    `by` is None for the operator, who invites one owner to several surveys with one email.
    """
    surveys = _lock_target(survey=survey, team=team)
    if by is not None and not _may_invite(by, survey=survey, team=team):
        raise RoleTooLow
    members = survey.memberships if survey else team.members if team else None
    if by is not None and members and members.filter(account__email__iexact=address).exists():
        raise HasRole
    now = timezone.now()
    Invitation.objects.update_or_create(
        survey=survey,
        team=team,
        address=address.lower(),
        defaults={
            "role": role,
            "invited_by_id": by,
            "expires_at": now + VALID,
            "token_hash": None,
            "mail_at": now if is_mailed else None,
        },
    )
    kind = Kind.TEAM if team else Kind.PERSON
    for each in surveys:
        # The address is left out, because its owner may never join.
        record(each, Verb.INVITED, kind, changes=[("role", None, role.label)])


@transaction.atomic
def withdraw(*, invitation: Invitation, by: int) -> None:
    survey, team = invitation.survey, invitation.team
    surveys = _lock_target(survey=survey, team=team)
    if not _may_invite(by, survey=survey, team=team):
        raise RoleTooLow
    deleted, _ = Invitation.objects.filter(pk=invitation.pk).delete()
    if deleted:
        for each in surveys:
            changes = [("team", None, team.pk)] if team else []
            record(each, Verb.REMOVED, Kind.INVITATION, changes=changes)


def find_invitation(token: str) -> Invitation | None:
    """Return the invitation of a link, or None if it is forged, used, expired or withdrawn."""
    rows = Invitation.objects.select_related("survey", "team", "invited_by")
    found = rows.filter(token_hash=hash_token(token)).first()
    return found if found is not None and _is_valid(found) else None


def list_accepted_with(invitation: Invitation) -> list[Invitation]:
    """List the invitations that are accepted with the same link.

    The operator's invitations to one address share a link.
    """
    if invitation.invited_by_id is not None:
        return [invitation]
    found = Invitation.objects.filter(address=invitation.address, invited_by=None)
    return [each for each in found.select_related("survey").order_by("survey") if _is_valid(each)]


def _is_valid(invitation: Invitation) -> bool:
    # If an invitation expires later than a new one would, it was sent before the clock was set
    # back.
    is_timely = timedelta(0) < invitation.expires_at - timezone.now() <= VALID
    by = invitation.invited_by
    if by is None:
        return is_timely
    may = by.is_active and _may_invite(by.pk, survey=invitation.survey, team=invitation.team)
    return is_timely and may


def _lock_target(*, survey: Survey | None, team: Team | None) -> list[Survey]:
    """Lock a survey, or a team with its surveys; return the surveys whose history gets a row."""
    if survey is not None:
        lock_survey(survey)
        return [survey]
    return lock_team(team) if team is not None else []


def _may_invite(by: int, *, survey: Survey | None, team: Team | None) -> bool:
    if survey is not None:
        return can(by, Action.PEOPLE, survey)
    return team is not None and find_role_in(account=by, team=team.pk) == Role.OWNER


@dataclass(frozen=True, kw_only=True)
class Accepted:
    target: Survey | Team
    gone: tuple[str, ...] = ()  # titles of surveys deleted in the meantime


@transaction.atomic
def accept(*, token: str, user: User) -> Accepted:
    """Give the invited role to the account with the invited address, once.

    If some of several surveys were deleted in the meantime, the invitations to the others are
    accepted.
    """
    found = find_invitation(token)
    # Operators cannot invite themselves, not even before they create an account.
    if found is None or (found.invited_by is None and user.is_superuser):
        raise InvalidInvitation
    if found.address != user.email.lower():
        raise OtherAddress
    if found.team is not None:
        surveys, gone = lock_team(found.team), {}
    else:
        together = [found, *list_accepted_with(found)]
        asked = {each.survey.pk: each.survey for each in together if each.survey}
        locked = Survey.objects.select_for_update(no_key=True).filter(pk__in=asked)
        surveys = list(locked.order_by("pk"))
        gone = {pk: asked[pk].title for pk in asked.keys() - {each.pk for each in surveys}}
    # Check again under the lock, because the invitation may have been used, withdrawn or renewed,
    # or the sender may have lost the role. If the invitation was deleted with its survey, the link
    # stays valid for the others.
    rows = Invitation.objects.filter(pk=found.pk, token_hash=hash_token(token))
    current = found if found.survey_id in gone else rows.first()
    if current is None or not _is_valid(current):
        raise InvalidInvitation
    keys = {each.pk for each in surveys}
    used = [each for each in list_accepted_with(current) if each.team or each.survey_id in keys]
    if not used:
        raise InvalidInvitation
    used.sort(key=lambda each: each.pk != found.pk)
    target = used[0].survey or used[0].team
    assert target is not None
    for each in used:
        _use(each, user.pk, surveys)
    return Accepted(target=target, gone=tuple(gone.values()))


def _use(invitation: Invitation, account: int, surveys: Sequence[Survey]) -> None:
    role, team, survey = Role(invitation.role), invitation.team, invitation.survey
    invitation.delete()
    if team is not None:
        join_team(team=team, account=account, role=role, surveys=surveys)
    if survey is not None:
        grant(survey=survey, account=account, role=role)
        changes = [person(account), ("role", None, role.label)]
        record(survey, Verb.JOINED, Kind.PERSON, changes=changes)


def has_account(invitation: Invitation) -> bool:
    return User.objects.filter(email__iexact=invitation.address).exists()


def join(*, token: str, name: str, password: str) -> Accepted:
    """Create the account of an invited address. Only a reader of its mailbox has the link."""
    found = find_invitation(token)
    if found is None:
        raise InvalidInvitation
    try:
        with transaction.atomic():
            user = User.objects.create_user(email=found.address, password=password, name=name)
            return accept(token=token, user=user)
    except IntegrityError as error:  # the account has just been made
        raise InvalidInvitation from error
