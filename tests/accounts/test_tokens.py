"""API tokens on the account page: made, shown once, listed, revoked, and ended by new passwords."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.adapter import AccountAdapter
from accounts.models import AccountMail, ApiToken, User
from accounts.second_factor.state import reset_second_factor
from accounts.tokens import (
    MOST_TOKENS,
    Scope,
    TokenRefused,
    find_token,
    forget_expired_tokens,
    make_token,
)
from scripts.attacks.linker.server import Server, django_on
from surveys.people.leaving import deactivate_account
from tests.support.factories import PASSWORD, make_user
from tests.support.fielding import sign_in
from tests.support.second_factors import add_second_factor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ACCOUNT, NEW, REVOKE = "/accounts/", "/accounts/tokens/new/", "/accounts/tokens/revoke/"
SENT = {"name": "R script", "scopes": ["read-results", "read-files"], "days": "365"}
NEW_PASSWORD = "an even longer passphrase"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def confirm(client: Client) -> Client:
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def test_a_token_is_shown_once_and_only_its_hash_is_stored(person: User) -> None:
    client = sign_in(person)
    assert client.post(NEW, SENT)["Location"].startswith("/accounts/reauthenticate/")
    confirm(client)
    page = client.post(NEW, SENT)
    [text] = set(re.findall(r"murmur_[\w-]{43}", page.text))
    found = find_token(text)
    assert found is not None
    assert (found.account, found.scopes) == (person, [Scope.RESULTS, Scope.FILES])
    assert found.expires_on == timezone.now().date() + timedelta(days=365)
    assert AccountMail.objects.get().kind == "access-given"
    listed = client.get(ACCOUNT).text
    assert "R script</bdi>: read-results, read-files, until" in listed
    assert text not in listed
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {table}")
            assert text not in str(cursor.fetchall()), table


def test_a_form_that_is_sent_twice_says_so_and_offers_another(person: User) -> None:
    client = confirm(sign_in(person))
    for number in range(MOST_TOKENS):
        client.post(NEW, SENT | {"name": f"Token {number}"})
    sent = SENT | {"name": "Token 7"}
    again = client.post(NEW, sent)
    assert (again.status_code, again.text.count("murmur_")) == (409, 0)
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', again.text)
    assert [name for name, _ in found].count("scopes") == 2
    old = person.tokens.get(name="Token 7")
    assert ("replaced", str(old.pk)) in found
    page = client.post(NEW, sent | {"replaced": old.pk})
    assert find_token(page.context["text"]) == person.tokens.get(name="Token 7") != old
    # The button was pressed twice; the second press revokes nothing more.
    assert client.post(NEW, sent | {"replaced": old.pk}).status_code == 409
    # Only the account's own token with this name is replaced, and only a changed form is an error.
    foreign, text = make_token(user=make_user(), name="Token 7", scopes=[Scope.RESULTS], days=30)
    for other in (foreign.pk, person.tokens.get(name="Token 8").pk, "²", "9" * 30, "0"):
        assert client.post(NEW, sent | {"replaced": other}).status_code == 409
    assert find_token(text) is not None
    assert client.post(NEW, sent | {"days": "30"}).status_code == 422
    assert person.tokens.count() == MOST_TOKENS


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "R\u202e"}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["delete-surveys"]}, "scopes"),
        ({"days": "366"}, "days"),
    ],
)
def test_a_wrong_form_makes_none(person: User, changed: dict[str, object], field: str) -> None:
    page = confirm(sign_in(person)).post(NEW, SENT | changed)
    assert (page.status_code, list(page.context["form"].errors)) == (422, [field])
    assert not ApiToken.objects.exists()


def test_only_its_own_account_revokes_a_token(person: User) -> None:
    token, text = make_token(user=person, name="a", scopes=[Scope.RESULTS], days=30)
    for number in (token.pk, "", "²", "9" * 30):
        sign_in(make_user()).post(REVOKE, {"token": number})
    assert find_token(text) is not None
    sign_in(person).post(REVOKE, {"token": token.pk})
    assert find_token(text) is None


def change_password(user: User) -> None:
    fields = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert sign_in(user).post("/accounts/password/change/", fields).status_code == 302


def lose_second_factor(user: User) -> None:
    add_second_factor(user)
    reset_second_factor(user)


@pytest.mark.parametrize(
    "end",
    [
        change_password,
        lose_second_factor,
        lambda user: deactivate_account(user, owner=None),
        lambda user: call_command("end_sessions", email=user.email),
        lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
        lambda user: user.delete(),
        lambda user: user.tokens.update(expires_on=timezone.now() - timedelta(days=1)),
    ],
)
def test_a_token_ends_with_what_it_rests_on(person: User, end: Callable[[User], object]) -> None:
    _, text = make_token(user=person, name="a", scopes=[Scope.RESULTS], days=30)
    assert find_token(text) is not None
    end(person)
    assert find_token(text) is None


def test_an_expired_token_is_deleted_and_gives_its_name_back(person: User) -> None:
    for _ in range(2):
        make_token(user=person, name="a", scopes=[Scope.RESULTS], days=30)
        person.tokens.update(expires_on=timezone.now() - timedelta(days=1))
    make_token(user=person, name="b", scopes=[Scope.RESULTS], days=30)
    assert [one.name for one in person.tokens.all()] == ["b"]
    person.tokens.update(expires_on=timezone.now() - timedelta(days=1))
    forget_expired_tokens()
    assert not ApiToken.objects.exists()


def test_a_session_that_a_new_password_ended_makes_none(person: User) -> None:
    seen = User.objects.get(pk=person.pk)
    change_password(person)
    with pytest.raises(TokenRefused, match="password was changed"):
        make_token(user=seen, name="a", scopes=[Scope.RESULTS], days=30)


def test_an_account_has_few_tokens(person: User) -> None:
    for number in range(MOST_TOKENS):
        make_token(user=person, name=str(number), scopes=[Scope.RESULTS], days=30)
    with pytest.raises(TokenRefused, match="Revoke one first"):
        make_token(user=person, name="more", scopes=[Scope.RESULTS], days=30)


@pytest.mark.django_db(transaction=True)
def test_tokens_that_are_made_while_the_password_changes_end_with_it(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.tokens.MOST_TOKENS", 1000)
    url = postgres_server.application_url
    with django_on(url):
        user = make_user()
        seen = User.objects.get(pk=user.pk)

    def make_many(_: object) -> int:
        with django_on(url), suppress(TokenRefused):
            for number in itertools.count():  # until the new password is stored
                make_token(user=seen, name=str(number), scopes=[Scope.RESULTS], days=1)
        return number

    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(make_many, None)
        with django_on(url):
            AccountAdapter().set_password(user, NEW_PASSWORD)
            assert made.result() < 1000
            assert not ApiToken.objects.exists()
