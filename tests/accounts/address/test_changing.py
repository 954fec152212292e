"""An address changes only once both mailboxes have confirmed it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.mail.address_links import VALID
from accounts.mail.queue import is_mail_due, send_next_mail
from accounts.models import AddressChange, User
from tests.support.factories import PASSWORD, make_user
from tests.support.fielding import sign_in
from tests.support.second_factors import add_second_factor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FORM = "/accounts/address/"
NEW = "new@example.org"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def ask(person: User, email: str = NEW) -> dict[str, str]:
    """Ask for a change, and return the path of the link sent to each recipient."""
    client = sign_in(person)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert client.post(FORM, {"email": email})["Location"] == "/accounts/"
    mail.outbox.clear()
    while is_mail_due():
        send_next_mail()
    return {
        each.to[0]: re.findall(r"http://localhost(\S+)", str(each.body))[0] for each in mail.outbox
    }


def address_of(person: User) -> str:
    person.refresh_from_db()
    return person.email


def press(link: str) -> str:
    state: str = Client().post(link).context["state"]
    return state


@pytest.mark.parametrize("first", [0, 1])
def test_both_mailboxes_confirm_in_any_order(person: User, first: int) -> None:
    links = list(ask(person, "New@Example.org").values())
    assert len(links) == 2
    assert press(links[first]) == "half"
    assert press(links[first]) == "half"  # the other mailbox has not confirmed
    assert address_of(person) == "rosa@example.org"
    assert press(links[1 - first]) == "done"
    assert address_of(person) == NEW
    assert press(links[first]) == "invalid"
    client = Client()
    client.post("/accounts/login/", {"login": NEW, "password": PASSWORD})
    assert get_user(client) == person


def test_looking_at_a_link_confirms_nothing_and_needs_no_account(person: User) -> None:
    for link in ask(person).values():
        for _ in range(2):
            page = Client().get(link)
            assert page.status_code == 200
            assert "Confirm the change" in page.text
    assert not AddressChange.objects.get().old_confirmed
    assert address_of(person) == "rosa@example.org"


def test_links_stop_working_when_they_are_replaced_cancelled_or_old(person: User) -> None:
    first = ask(person)
    second = ask(person, "other@example.org")
    assert press(first["rosa@example.org"]) == "invalid"
    assert press(second["rosa@example.org"]) == "half"
    sign_in(person).post("/accounts/address/keep/")
    assert press(second["other@example.org"]) == "invalid"
    third = ask(person)
    for moved in (-VALID - timedelta(minutes=1), VALID + timedelta(minutes=1)):  # or a wrong clock
        AddressChange.objects.update(asked_at=timezone.now() + moved)
        assert press(third[NEW]) == "invalid"
    for token in ("x", "bnVsbA:1:x"):
        assert press(f"{FORM}key/{token}/") == "invalid"
    assert address_of(person) == "rosa@example.org"


def test_a_new_password_cancels_what_a_thief_asked_for(person: User) -> None:
    links = ask(person)
    new = "an even longer passphrase"
    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    sign_in(person).post("/accounts/password/change/", fields)
    assert [press(link) for link in links.values()] == ["invalid", "invalid"]


def test_only_the_new_mailbox_learns_that_the_address_is_taken(person: User) -> None:
    other = make_user(NEW)
    links = ask(person, "NEW@example.org")
    assert press(links["rosa@example.org"]) == "half"
    assert press(links[NEW]) == "taken"
    assert (address_of(person), address_of(other)) == ("rosa@example.org", NEW)


def test_asking_needs_the_code_where_there_is_one_and_is_limited(person: User) -> None:
    client = sign_in(person)
    assert client.post(FORM, {"email": NEW})["Location"].startswith("/accounts/reauthenticate/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    for email, told in (("", "Enter"), ("x", "such as"), ("ROSA@example.org", "already")):
        answer = client.post(FORM, {"email": email})
        assert answer.status_code == 422
        assert told in answer.context["form"].errors["email"][0]
    answers = [client.post(FORM, {"email": f"a{each}@example.org"}) for each in range(6)]
    assert [each.status_code for each in answers] == [302] * 5 + [422]
    add_second_factor(person)
    assert "second-factor/confirm" in sign_in(person).get(FORM)["Location"]
