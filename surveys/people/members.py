"""Changes and removes the roles of single accounts on a survey, and hands a survey over.

Each change first locks the survey, and then checks again whether the change is allowed.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from accounts.mail.composing import Kind as Mail
from accounts.mail.queue import request_mail
from accounts.models import User
from surveys.access import Action, can
from surveys.history.recording import OWNER, PERSON, Change, lock_survey, record
from surveys.models import FormerMember, Kind, Membership, Role, Survey, Verb, Wave
from surveys.people.errors import LastOwner, NotAMember, RoleTooLow


def person(account: int) -> Change:
    """Refer to an account in a row of the history. Pages show its name while the account exists."""
    return (PERSON, None, account)


def set_role(*, survey: Survey, account: int, role: Role, by: int) -> None:
    with transaction.atomic():
        lock_survey(survey)
        if not can(by, Action.PEOPLE, survey):
            raise RoleTooLow
        membership = _find_member(survey, account)
        before = Role(membership.role)
        if before == role:
            return
        if before == Role.OWNER:
            keep_an_owner(survey, without=account)
        membership.role = role
        membership.save(update_fields=["role"])
        changes = [person(account), ("role", before.label, role.label)]
        record(survey, Verb.CHANGED_ROLE, Kind.PERSON, changes=changes)


def remove(*, survey: Survey, account: int, by: int) -> None:
    """Remove an account's own role. Everyone may give up their role."""
    with transaction.atomic():
        lock_survey(survey)
        if account != by and not can(by, Action.PEOPLE, survey):
            raise RoleTooLow
        membership = _find_member(survey, account)
        if membership.role == Role.OWNER:
            keep_an_owner(survey, without=account)
        membership.delete()
        remember_former([survey.pk], [account])
        record(survey, Verb.REMOVED, Kind.PERSON, changes=[person(account)])


def grant(*, survey: Survey, account: int, role: Role) -> None:
    """Give a role to an account, unless it has a higher one. The caller has locked the survey.

    Raises NotAMember if the account has been closed since it was chosen.
    """
    # The account is locked, so that closing it has to wait and then also gives up this role.
    if not User.objects.select_for_update(no_key=True).filter(pk=account, is_active=True).exists():
        raise NotAMember
    membership, _ = survey.memberships.get_or_create(account_id=account, defaults={"role": role})
    if membership.role < role:
        membership.role = role
        membership.save(update_fields=["role"])


def hand_over(*, survey: Survey, to: int, by: int) -> None:
    """Make another account the owner in place of the acting account, which loses its role."""
    with transaction.atomic():
        lock_survey(survey)
        if not can(by, Action.PEOPLE, survey):
            raise RoleTooLow
        replace_owner(survey=survey, owner=by, new=to)


def replace_owner(*, survey: Survey, owner: int, new: int) -> None:
    """Replace one owner with another, and email the new owner. The caller has locked the survey."""
    if owner == new:
        return
    grant(survey=survey, account=new, role=Role.OWNER)
    if survey.memberships.filter(account=owner).delete()[0]:
        remember_former([survey.pk], [owner])
    record(survey, Verb.HANDED_OVER, Kind.SURVEY, changes=[(OWNER, owner, new)])
    request_mail(Mail.OWNER, account=new)


def remember_former(surveys: Collection[int], accounts: Collection[int]) -> None:
    """Remember who had a role on opened surveys, for the label that respondents read."""
    opened = Wave.objects.filter(survey__in=surveys).values_list("survey", flat=True).distinct()
    FormerMember.objects.bulk_create(
        [
            FormerMember(survey_id=survey, account_id=account)
            for survey in opened.order_by("survey")
            for account in sorted(accounts)
        ],
        ignore_conflicts=True,
    )


def keep_an_owner(survey: Survey, *, without: int) -> None:
    """Raise LastOwner if a survey has no other owner who can sign in."""
    others = survey.memberships.exclude(account=without)
    if not others.filter(role=Role.OWNER, account__is_active=True).exists():
        raise LastOwner


def _find_member(survey: Survey, account: int) -> Membership:
    membership = survey.memberships.filter(account=account).first()
    if membership is None:
        raise NotAMember
    return membership
