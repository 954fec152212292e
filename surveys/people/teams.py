"""Manages teams: people who each have one role on all surveys to which the team is attached.

The owners of a team decide who is in it. They own the attached surveys too, so they grant no rights
that they lack. The history of each attached survey records the changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from surveys.access import Action, can
from surveys.history.recording import Change, lock_survey, record
from surveys.models import Kind, Role, Survey, Team, TeamMember, Verb
from surveys.models.people import find_role_in
from surveys.people.errors import LastOwner, NotAMember, RoleTooLow
from surveys.people.members import person, remember_former

MOST_TEAMS = 200  # per account


@transaction.atomic
def create_team(*, name: str, account: int) -> Team:
    team = Team.objects.create(name=name)
    team.members.create(account_id=account, role=Role.OWNER)
    return team


@transaction.atomic
def set_team_role(*, team: Team, account: int, role: Role, by: int) -> None:
    surveys = lock_team(team)
    if not _may_change(team, by=by):
        raise RoleTooLow
    member = _find_member(team, account)
    before = Role(member.role)
    if before == role:
        return
    if before == Role.OWNER:
        keep_a_team_owner(team, without=account)
    member.role = role
    member.save(update_fields=["role"])
    changes = [person(account), ("role", before.label, role.label)]
    _record(surveys, Verb.CHANGED_ROLE, changes)


@transaction.atomic
def remove_from_team(*, team: Team, account: int, by: int) -> None:
    """Remove an account from a team. Everyone may leave; a team without members is deleted."""
    surveys = lock_team(team)
    if account != by and not _may_change(team, by=by):
        raise RoleTooLow
    member = _find_member(team, account)
    is_alone = not team.members.exclude(account=account).exists()
    if member.role == Role.OWNER and not is_alone:
        keep_a_team_owner(team, without=account)
    remember_former([survey.pk for survey in surveys], [account])
    _record(surveys, Verb.REMOVED, [person(account)])
    member.delete()
    if is_alone:
        team.delete()


@transaction.atomic
def delete_team(*, team: Team, by: int) -> None:
    surveys = lock_team(team)
    if not _may_change(team, by=by):
        raise RoleTooLow
    for survey in surveys:
        _detach(survey, team)
    team.members.all().delete()
    team.delete()


@transaction.atomic
def attach(*, survey: Survey, team: Team, by: int) -> None:
    """Give a team's members their roles on a survey. `by` must be a member and own the survey."""
    _lock_alone(team)
    lock_survey(survey)
    if not can(by, Action.PEOPLE, survey) or find_role_in(account=by, team=team.pk) is None:
        raise RoleTooLow
    _, is_new = survey.teams.get_or_create(team=team)
    if is_new:
        record(survey, Verb.JOINED, Kind.TEAM, changes=[("team", None, team.pk)])


@transaction.atomic
def detach(*, survey: Survey, team: Team, by: int) -> None:
    lock_survey(survey)
    if not can(by, Action.PEOPLE, survey):
        raise RoleTooLow
    _detach(survey, team)


def _detach(survey: Survey, team: Team) -> None:
    if survey.teams.filter(team=team).exists():
        remember_former([survey.pk], list(team.members.values_list("account", flat=True)))
        survey.teams.filter(team=team).delete()
        record(survey, Verb.REMOVED, Kind.TEAM, changes=[("team", None, team.pk)])


def lock_team(team: Team) -> list[Survey]:
    """Lock a team and its surveys, in this order; return the surveys that were not deleted.

    Raises NotAMember if the team was deleted.
    """
    _lock_alone(team)
    locked = Survey.objects.select_for_update(no_key=True, of=("self",))
    return list(locked.filter(teams__team=team).order_by("pk"))


def _lock_alone(team: Team) -> None:
    if not Team.objects.select_for_update(no_key=True).filter(pk=team.pk).exists():
        raise NotAMember


def join_team(*, team: Team, account: int, role: Role, surveys: Sequence[Survey]) -> None:
    """Give an account a role in a team. The caller has locked the team and its surveys."""
    member, _ = team.members.get_or_create(account_id=account, defaults={"role": role})
    if member.role < role:
        member.role = role
        member.save(update_fields=["role"])
    _record(surveys, Verb.JOINED, [person(account), ("role", None, Role(member.role).label)])


def keep_a_team_owner(team: Team, *, without: int) -> None:
    others = team.members.exclude(account=without)
    if not others.filter(role=Role.OWNER, account__is_active=True).exists():
        raise LastOwner


def _may_change(team: Team, *, by: int) -> bool:
    return find_role_in(account=by, team=team.pk) == Role.OWNER


def _find_member(team: Team, account: int) -> TeamMember:
    member = team.members.filter(account=account).first()
    if member is None:
        raise NotAMember
    return member


def _record(surveys: Sequence[Survey], verb: Verb, changes: Sequence[Change]) -> None:
    for survey in surveys:
        record(survey, verb, Kind.TEAM, changes=changes)
