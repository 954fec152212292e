"""Signing in with a second factor, and attempts to bypass it."""

from __future__ import annotations

import logging

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts.mail.queue import is_mail_due, send_next_mail
from accounts.models import User
from accounts.second_factor.codes import FREE_FAILURES
from accounts.second_factor.state import has_second_factor
from tests.support.factories import PASSWORD, make_survey, make_user
from tests.support.fielding import sign_in
from tests.support.second_factors import add_second_factor, code_now, wrong_code

# Changing a second factor takes effect only after the transaction has been committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
LOGIN, CODE = "/accounts/login/", "/accounts/second-factor/code/"
SET_UP, OFF = "/accounts/second-factor/", "/accounts/second-factor/off/"
CONFIRM = "/accounts/second-factor/confirm/"
NEW = "an even longer passphrase"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def enter_password(client: Client, person: User, password: str = PASSWORD) -> str:
    answer = client.post(LOGIN, {"login": person.email, "password": password, "next": "/plan/"})
    return answer["Location"]


def is_signed_in(client: Client) -> bool:
    return get_user(client).is_authenticated


def send_mails() -> list[str]:
    while is_mail_due():
        send_next_mail()
    return [str(message.subject) for message in mail.outbox]


def test_signing_in_takes_password_and_code_and_a_new_session(
    client: Client, person: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="murmur.audit")
    add_second_factor(person)
    assert enter_password(client, person) == CODE
    between = client.session.session_key
    assert not is_signed_in(client)
    assert client.get("/api/surveys").status_code == 403
    assert client.post(CODE, {"code": wrong_code()}).status_code == 200
    assert not is_signed_in(client)
    code = code_now()
    assert client.post(CODE, {"code": code})["Location"] == "/plan/"
    assert is_signed_in(client)
    assert client.session.session_key != between
    assert not Session.objects.filter(pk=between).exists()
    # A person who saw the code being typed cannot sign in with it.
    other = Client()
    enter_password(other, person)
    other.post(CODE, {"code": code})
    assert not is_signed_in(other)
    assert "second-factor-failed account=" in caplog.text
    assert code not in caplog.text


def test_a_new_password_does_not_replace_the_code(client: Client, person: User) -> None:
    add_second_factor(person)
    half = Client()
    enter_password(half, person)
    client.post("/accounts/password/reset/", {"email": person.email})
    send_next_mail()
    link = mail.outbox[0].body.partition("http://localhost")[2].split()[0]
    form = client.get(link, follow=True).context["action_url"]
    client.post(form, {"password1": NEW, "password2": NEW})
    assert not is_signed_in(client)
    assert enter_password(client, person, NEW) == CODE
    # A reset does not end the pause after wrong codes; otherwise, resets would allow more guesses.
    for _ in range(FREE_FAILURES):
        client.post(CODE, {"code": wrong_code()})
    call_command("unlock_sign_in", email=person.email)
    paused = client.post(CODE, {"code": code_now()})
    assert "Wait" in paused.context["form"].errors["code"][0]
    # A person who had entered the old password cannot continue.
    Authenticator.objects.filter(user=person).delete()
    add_second_factor(person)
    half.post(CODE, {"code": code_now()})
    assert not is_signed_in(half)


def test_a_stolen_session_holds_up_neither_sign_in_nor_the_owner(person: User) -> None:
    thief, codes = sign_in(person), add_second_factor(person)
    for _ in range(FREE_FAILURES):
        thief.post(CONFIRM, {"code": wrong_code()})
    said = thief.post(CONFIRM, {"code": code_now()}).context["form"].errors["code"][0]
    assert "Wait" in said
    assert "one of your sessions" in said
    owner = Client()
    enter_password(owner, person)
    owner.post(CODE, {"code": code_now()})
    assert is_signed_in(owner)
    owner.post(CONFIRM, {"code": codes[0]})
    assert owner.post(OFF)["Location"] == "/accounts/"


def test_an_account_that_is_closed_between_password_and_code_stays_out(
    client: Client, person: User
) -> None:
    add_second_factor(person)
    enter_password(client, person)
    User.objects.update(is_active=False)
    client.post(CODE, {"code": code_now()})
    assert not is_signed_in(client)


def test_turning_it_on_ends_other_sessions_and_is_mailed(person: User) -> None:
    client, other = sign_in(person), sign_in(person)
    assert client.get(SET_UP)["Location"].startswith("/accounts/reauthenticate/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = client.get(SET_UP).context["form"].secret
    refused = client.post(SET_UP, {"code": wrong_code(secret)})
    assert refused.context["form"].secret == secret  # the app need not be set up again
    before = client.session.session_key
    code = code_now(secret)
    assert client.post(SET_UP, {"code": code})["Location"] == "/accounts/recovery-codes/"
    assert (is_signed_in(client), is_signed_in(other)) == (True, False)
    assert client.session.session_key != before
    assert send_mails() == ["The second factor of your Murmur account is on"]
    assert secret not in str(mail.outbox[0].message())
    enter_password(other, person)
    other.post(CODE, {"code": code})  # the code that turned the second factor on
    assert not is_signed_in(other)


def test_a_password_does_not_turn_it_off(person: User) -> None:
    client = sign_in(person)
    add_second_factor(person)
    assert client.get(OFF)["Location"].startswith(CONFIRM)
    # Entering the password leads to the page that asks for the code.
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert client.post(OFF)["Location"].startswith(CONFIRM)
    assert has_second_factor(person)
    client.post(CONFIRM, {"code": code_now()})
    assert client.post(OFF)["Location"] == "/accounts/"
    assert not Authenticator.objects.filter(user=person).exists()  # nor any recovery codes
    assert send_mails() == ["The second factor of your Murmur account is off"]


def test_new_recovery_codes_replace_the_old_ones(person: User) -> None:
    old = add_second_factor(person)
    client = sign_in(person)
    client.post(CONFIRM, {"code": old[0]})
    client.post("/accounts/recovery-codes/new/")
    new = client.get("/accounts/recovery-codes/").context["unused_codes"]
    assert not set(new) & set(old)
    other = Client()
    enter_password(other, person)
    other.post(CODE, {"code": old[1]})
    assert not is_signed_in(other)
    other.post(CODE, {"code": new[1]})
    assert is_signed_in(other)
    assert {"Your Murmur account has new recovery codes"} < set(send_mails())


def test_where_it_is_required_nothing_else_opens(person: User, settings: Settings) -> None:
    client = sign_in(person)
    survey = make_survey(owner=person)
    settings.SECOND_FACTOR_REQUIRED = True
    for path in ("/", "/accounts/", f"/surveys/{survey.slug}/", "/accounts/leave/", "/nowhere"):
        assert client.get(path)["Location"] == SET_UP, path
    assert client.get("/api/surveys").status_code == 403
    assert client.get("/", headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert client.get(SET_UP, follow=True).status_code == 200
    assert client.get("/s/nowhere/").status_code == 404  # respondents' pages stay open
    assert client.post("/accounts/logout/")["Location"] == LOGIN
    add_second_factor(person)
    assert sign_in(person).get("/").status_code == 200
    assert Client().get("/").status_code == 200


def test_it_costs_no_query_unless_it_is_required_and_then_one(
    person: User, settings: Settings
) -> None:
    client = sign_in(person)
    add_second_factor(person)
    counts = []
    for settings.SECOND_FACTOR_REQUIRED in (False, True):
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        counts.append(len(queries))
    assert counts[1] == counts[0] + 1


def test_an_operator_resets_it(
    person: User, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="murmur.audit")
    call_command("reset_second_factor", email=person.email)
    assert "no second factor" in capsys.readouterr().out
    client = sign_in(person)
    add_second_factor(person)
    call_command("reset_second_factor", email="Rosa@Example.org")
    assert "Sessions ended: 1" in capsys.readouterr().out
    assert f"second-factor-reset account={person.pk}" in caplog.text
    assert not is_signed_in(client)
    assert enter_password(client, person) == "/plan/"
    assert send_mails() == ["The second factor of your Murmur account was reset"]
    assert mail.outbox[0].to == [person.email]
