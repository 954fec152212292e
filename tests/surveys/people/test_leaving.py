"""Before an account is deleted, its surveys and teams get another owner, never the operator."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.mail.queue import send_next_mail
from accounts.models import AccountMail, User
from surveys.access import Action, can
from surveys.models import HistoryRow, Invitation, Role, Survey, Verb
from surveys.people.errors import NotAMember, OwnsSurveys
from surveys.people.leaving import delete_account, find_colleagues
from surveys.people.mails import is_invitation_due
from surveys.people.members import hand_over
from surveys.people.teams import attach, create_team
from tests.support.factories import make_launched_survey, make_survey, make_user
from tests.support.fielding import sign_in
from tests.support.invitations import receive

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def close(user: User, *arguments: str) -> str:
    out = StringIO()
    call_command("deactivate_account", "--email", user.email, *arguments, stdout=out)
    user.refresh_from_db()
    return out.getvalue()


def work_together(owner: User) -> tuple[Survey, User]:
    survey, colleague = make_launched_survey(owner=owner).survey, make_user()
    survey.memberships.create(account=colleague, role=Role.VIEWER)
    return survey, colleague


def test_an_operator_names_a_member_as_the_owner_of_an_open_survey(owner: User) -> None:
    survey, colleague = work_together(owner)
    other = make_user()
    survey.memberships.create(account=other, role=Role.ANALYST)
    client = sign_in(owner)
    for arguments, problem in (
        ((), "only owner of 1 surveys"),
        (("--owner", make_user().email), "does not work on all"),
        (("--owner", "nobody@example.org"), "no account for"),
        (("--owner", owner.email), "cannot become"),
    ):
        with pytest.raises(CommandError, match=problem):
            close(owner, *arguments)
    assert "handed over: 1" in close(owner, "--owner", colleague.email)
    assert (owner.is_active, survey.owner) == (False, colleague)
    assert not can(owner, Action.READ, survey)
    assert client.get("/").context.get("lines") is None, "signed out"
    assert can(colleague, Action.CLOSE, survey)
    row = HistoryRow.objects.filter(slug=survey.slug, verb=Verb.HANDED_OVER).get()
    assert row.account is None, "a command on the server"
    while AccountMail.objects.exists():
        send_next_mail()
    assert sorted(one.to[0] for one in mail.outbox) == sorted([colleague.email, other.email])


def test_an_operator_never_becomes_an_owner(owner: User) -> None:
    survey, operator = work_together(owner)
    User.objects.filter(pk=operator.pk).update(is_superuser=True)
    for arguments in (("--owner", operator.email), ("--owner", operator.email, "--invite")):
        with pytest.raises(CommandError, match="not an operator"):
            close(owner, *arguments)
    close(owner, "--owner", "later@example.org", "--invite")
    link = receive()
    later = User.objects.create_superuser("later@example.org")
    assert sign_in(later).post(link).status_code == 410
    assert owners(survey) == [owner]


def test_an_invited_owner_confirms_before_the_account_is_closed(owner: User) -> None:
    surveys = [make_survey(owner=owner) for _ in range(3)]
    new = make_user("new@example.org")
    with pytest.raises(CommandError, match="does not work on all"):
        close(owner, "--owner", new.email)
    assert "invited to 3 surveys" in close(owner, "--owner", new.email, "--invite")
    assert AccountMail.objects.get().account == owner.pk, "who may withdraw it"
    client, first = sign_in(new), receive()
    assert "work on 3 surveys" in mail.outbox[-1].body
    assert client.get(first).text.count("On the road") == 3
    assert not is_invitation_due(), "one mail for all"
    surveys.pop(0).delete()
    assert client.post(first).status_code == 410
    assert client.post(second := receive()).status_code == 302
    assert client.post(second).status_code == 410
    assert not Invitation.objects.exists()
    assert {one.email for survey in surveys for one in owners(survey)} == {owner.email, new.email}
    assert "handed over: 0" in close(owner, "--owner", new.email)
    assert [owners(survey) for survey in surveys] == [[new]] * 2


def owners(survey: Survey) -> list[User]:
    found = survey.memberships.filter(role=Role.OWNER).select_related("account")
    return [member.account for member in found.order_by("pk")]


def test_a_team_gets_another_owner_or_goes_with_its_last_person(owner: User) -> None:
    colleague = make_user()
    shared, alone = (create_team(name=name, account=owner.pk) for name in ("Shared", "Alone"))
    shared.members.create(account=colleague, role=Role.VIEWER)
    with pytest.raises(OwnsSurveys):
        delete_account(owner)
    with pytest.raises(CommandError, match="You named no one"):
        close(owner)
    close(owner, "--owner", colleague.email)
    assert shared.members.get().role == Role.OWNER
    assert not type(alone).objects.filter(pk=alone.pk).exists()


def test_an_owner_hands_over_and_then_deletes_the_account(owner: User, author: Client) -> None:
    survey, colleague = work_together(owner)
    other = make_survey(owner=colleague)
    other.memberships.create(account=owner, role=Role.EDITOR)
    team = create_team(name="Field", account=owner.pk)
    attach(survey=survey, team=team, by=owner.pk)
    with pytest.raises(OwnsSurveys):
        delete_account(owner)
    author.post(reverse("surveys:hand_over_all"), {"account": colleague.pk})
    delete_account(owner)
    assert [each.owner for each in Survey.objects.all()] == [colleague, colleague]
    assert not User.objects.filter(email="owner@example.org").exists()


def test_one_of_two_owners_may_go(owner: User) -> None:
    survey, colleague = work_together(owner)
    survey.memberships.filter(account=colleague).update(role=Role.OWNER)
    delete_account(owner)
    assert survey.owner == colleague


def test_an_account_that_was_closed_since_it_was_chosen_gets_no_survey(owner: User) -> None:
    survey, colleague = work_together(owner)
    close(colleague)
    with pytest.raises(NotAMember):
        hand_over(survey=survey, to=colleague.pk, by=owner.pk)
    assert survey.owner == owner


def test_the_new_owner_is_chosen_among_people_whom_one_sees(owner: User) -> None:
    survey, viewer = work_together(owner)
    other = make_user()
    survey.memberships.create(account=other, role=Role.EDITOR)
    assert set(find_colleagues(owner.pk)) == {viewer, other}
    assert not find_colleagues(viewer.pk).exists(), "a viewer does not see who else is there"
    team = create_team(name="Field", account=viewer.pk)
    team.members.create(account=make_user("team@example.org"), role=Role.VIEWER)
    assert [one.email for one in find_colleagues(viewer.pk)] == ["team@example.org"]
