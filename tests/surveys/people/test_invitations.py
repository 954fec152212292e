"""Invitations: sent by mail, valid once, for one address, and while the sender may invite."""

from __future__ import annotations

from datetime import timedelta
from unittest import mock

import pytest
from django.core import mail
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.mail.delivery import BACKENDS
from accounts.models import User
from surveys.access import Action, can
from surveys.models import HistoryChanges, HistoryRow, Invitation, Role, Survey, Team, Verb
from surveys.people import invitations
from surveys.people.errors import NotAMember
from surveys.people.invitations import VALID, find_invitation, invite
from surveys.people.leaving import invite_owner
from surveys.people.mails import is_invitation_due, send_next_invitation
from surveys.people.members import set_role
from surveys.people.teams import attach, create_team, delete_team
from surveys.views.people.members import MAILED, NOT_MAILED
from tests.support.factories import make_survey, make_user
from tests.support.fielding import at, sign_in
from tests.support.invitations import receive

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ADDRESS = "ada@example.org"
NEW = {"name": "Ada", "password": "four unrelated words walking"}


@pytest.fixture
def survey(owner: User) -> Survey:
    return make_survey(owner=owner)


def send(client: Client, survey: Survey, role: Role = Role.EDITOR, address: str = ADDRESS) -> str:
    """Invite a person on the page, let the worker send the mail, and return the URL in the mail."""
    sent = {"address": address, "role": role.value}
    assert client.post(at("people", survey), sent).status_code == 302
    return receive()


def test_an_account_accepts_once(owner: User, survey: Survey, author: Client) -> None:
    user = make_user(ADDRESS)
    link = send(author, survey, address="Ada@Example.org")
    assert (mail.outbox[-1].to, survey.title in mail.outbox[-1].body) == ([ADDRESS], False)
    visitor = Client()
    assert f"{reverse('account_login')}?next=" in visitor.get(link).text
    client = sign_in(user)
    assert survey.title in client.get(link).text
    assert not can(user, Action.READ, survey), "opening the link accepts nothing"
    assert client.post(link)["Location"] == at("edit", survey)
    assert survey.memberships.get(account=user).role == Role.EDITOR
    assert [client.get(link).status_code, client.post(link).status_code] == [410, 410]
    assert list(HistoryRow.objects.values_list("verb", flat=True))[-2:] == [
        Verb.INVITED,
        Verb.JOINED,
    ]
    assert ADDRESS not in str(list(HistoryChanges.objects.values_list("changes", flat=True)))


def test_a_new_person_makes_an_account_and_gets_no_other_role(
    survey: Survey, author: Client
) -> None:
    link = send(author, survey, Role.VIEWER)
    visitor = Client()
    page = visitor.get(link).text
    assert survey.title not in page, "the link may be in the wrong hands"
    assert visitor.post(link, {**NEW, "password": "password1"}).status_code == 422
    assert visitor.post(link, NEW)["Location"] == reverse("account_login")
    user = User.objects.get(email=ADDRESS)
    assert user.check_password(NEW["password"])
    assert [action for action in Action if can(user, action, survey)] == [Action.READ]
    assert visitor.post(link, NEW).status_code == 410


def test_a_forwarded_invitation_is_refused(survey: Survey, author: Client) -> None:
    link = send(author, survey)
    make_user(ADDRESS)
    stranger = make_user()
    client = sign_in(stranger)
    for response in (client.get(link), client.post(link)):
        assert response.status_code == 403
        assert survey.title not in response.text
        assert ADDRESS not in response.text
    assert Client().post(link, NEW).status_code == 200, "this address has an account: sign in"
    assert not can(stranger, Action.READ, survey)
    assert Invitation.objects.exists()


def test_expired_withdrawn_replaced_and_foreign_ones_are_refused(
    owner: User, survey: Survey, author: Client
) -> None:
    client = sign_in(make_user(ADDRESS))
    first = send(author, survey, Role.VIEWER)
    second = send(author, survey, Role.ANALYST)
    assert client.post(first).status_code == 410
    assert client.get(second).status_code == 200
    for shift in (-VALID, VALID):  # expired, or from before the clock was set back
        Invitation.objects.update(expires_at=F("expires_at") + shift)
        assert client.post(second).status_code == 410
        Invitation.objects.update(expires_at=F("expires_at") - shift)
    foreign = make_survey()
    withdraw = at("invitation_withdraw", foreign, Invitation.objects.get().pk)
    assert sign_in(foreign.owner).post(withdraw).status_code == 404
    author.post(at("invitation_withdraw", survey, Invitation.objects.get().pk))
    assert client.post(second).status_code == 410
    assert client.post(reverse("surveys:invitation", args=["x" * 43])).status_code == 410


def test_it_gives_nothing_that_the_sender_has_lost(
    owner: User, survey: Survey, author: Client
) -> None:
    other = make_user()
    survey.memberships.create(account=other, role=Role.OWNER)
    link = send(author, survey, Role.OWNER)
    client = sign_in(make_user(ADDRESS))
    set_role(survey=survey, account=owner.pk, role=Role.EDITOR, by=other.pk)
    assert client.post(link).status_code == 410
    set_role(survey=survey, account=owner.pk, role=Role.OWNER, by=other.pk)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert client.post(link).status_code == 410


def test_accepting_never_lowers_a_role(owner: User, survey: Survey) -> None:
    user = make_user(ADDRESS)
    invite(address=ADDRESS, role=Role.VIEWER, by=owner.pk, survey=survey)
    link = receive()
    survey.memberships.create(account=user, role=Role.EDITOR)
    sign_in(user).post(link)
    assert survey.memberships.get(account=user).role == Role.EDITOR


def test_members_are_not_invited_again_and_addresses_are_checked(
    survey: Survey, author: Client
) -> None:
    survey.memberships.create(account=make_user(ADDRESS), role=Role.VIEWER)
    for address in ("ADA@example.org", "", "nobody", 'a"<b>@example.org'):
        sent = {"address": address, "role": Role.OWNER.value}
        assert author.post(at("people", survey), sent).status_code == 422
    assert not Invitation.objects.exists()


def test_the_page_says_where_the_link_is_if_no_mail_is_sent(
    survey: Survey, author: Client, settings: Settings
) -> None:
    def told(address: str, **more: str) -> str:
        sent = {"address": address, "role": Role.VIEWER.value}
        return author.post(at("people", survey), sent, follow=True, **more).text  # type: ignore[arg-type]

    assert MAILED in told(ADDRESS)
    settings.EMAIL_BACKEND = f"{BACKENDS}console.EmailBackend"
    assert f"{NOT_MAILED} Murmur writes the link to" in told("x@example.org")
    far = told("y@example.org", REMOTE_ADDR="203.0.113.9")
    assert f"{NOT_MAILED} Ask the person who runs it" in far


def test_a_team_is_joined_with_its_surveys(owner: User, survey: Survey, author: Client) -> None:
    team = create_team(name="Field", account=owner.pk)
    attach(survey=survey, team=team, by=owner.pk)
    page = reverse("surveys:team", args=[team.pk])
    author.post(page, {"address": ADDRESS, "role": Role.ANALYST.value})
    user = make_user(ADDRESS)
    client = sign_in(user)
    assert client.get(page).status_code == 404
    assert client.post(receive())["Location"] == page
    assert can(user, Action.EXPORT, survey)
    assert client.get(page).status_code == 200
    sent = {"address": "x@example.org", "role": Role.VIEWER.value}
    assert client.post(page, sent).status_code == 404
    assert HistoryRow.objects.filter(slug=survey.slug).last().verb == Verb.JOINED  # type: ignore[union-attr]
    Team.objects.get(pk=team.pk).members.get(account=user)


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_deleted_meanwhile_is_named_and_the_rest_accepted(owner: User, place: int) -> None:
    surveys = [make_survey(owner=owner, title=title) for title in ("First", "Second")]
    invite_owner(owner, address=ADDRESS)
    client, link = sign_in(user := make_user(ADDRESS)), receive()
    listed = invitations.list_accepted_with

    def list_and_delete(found: Invitation) -> list[Invitation]:
        result = listed(found)
        Survey.objects.filter(pk=surveys[place].pk).delete()
        return result

    with mock.patch.object(invitations, "list_accepted_with", list_and_delete):
        page = client.post(link)
    assert page.status_code == 200
    assert f"<bdi>{surveys[place].title}</bdi> has been deleted" in page.text
    assert can(user, Action.PEOPLE, surveys[1 - place])
    assert not Invitation.objects.exists()
    assert client.post(link).status_code == 410


def test_a_team_that_is_deleted_meanwhile_breaks_nothing(owner: User, survey: Survey) -> None:
    team = create_team(name="Field", account=owner.pk)
    invite(address=ADDRESS, role=Role.VIEWER, by=owner.pk, team=team)
    client, link = sign_in(make_user(ADDRESS)), receive()

    def find_and_delete(token: str) -> Invitation | None:
        found = find_invitation(token)
        delete_team(team=team, by=owner.pk)
        return found

    with mock.patch.object(invitations, "find_invitation", find_and_delete):
        assert client.post(link).status_code == 410
    with pytest.raises(NotAMember):
        attach(survey=survey, team=team, by=owner.pk)


def test_a_mail_that_cannot_be_sent_is_tried_again_with_a_new_link(
    owner: User, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    invite(address=ADDRESS, role=Role.VIEWER, by=owner.pk, survey=survey)
    with monkeypatch.context() as patch:
        patch.setattr("surveys.people.mails.EmailMessage.send", refuse)
        send_next_invitation()
    assert not is_invitation_due(), "not at once"
    Invitation.objects.update(mail_at=timezone.now() - timedelta(seconds=1))
    token = receive().split("/")[-1]
    assert find_invitation(token) is not None
    assert not is_invitation_due()
    assert token.encode() not in bytes(Invitation.objects.get().token_hash or b"")


def refuse(_mail: object) -> None:
    raise ConnectionRefusedError


def test_a_person_signs_in_with_the_new_password_and_sees_the_survey(
    survey: Survey, author: Client
) -> None:
    client = Client()
    client.post(send(author, survey, Role.VIEWER), NEW)
    client.post(reverse("account_login"), {"login": ADDRESS, "password": NEW["password"]})
    assert survey.title in client.get("/").text
