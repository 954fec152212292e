"""Signing in and out, and the lockout after too many failed attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from django.contrib.auth import get_user
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from accounts.models import User
from tests.support.factories import PASSWORD, make_user

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Response

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
LOGIN = "/accounts/login/"
UNREACHABLE = {
    "default": {
        "BACKEND": "config.cache.RedisCache",
        "LOCATION": "redis://127.0.0.1:1/0",
    }
}
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def sign_in(
    client: Client,
    *,
    email: str = "rosa@example.org",
    password: str = PASSWORD,
    address: str = HERE,
) -> Response:
    return client.post(LOGIN, {"login": email, "password": password}, REMOTE_ADDR=address)


def guess_wrongly(client: Client, times: int, *, address: str = HERE) -> list[int]:
    return [
        sign_in(client, password=f"guess {number}", address=address).status_code
        for number in range(times)
    ]


def test_a_researcher_signs_in_with_address_and_password(client: Client, person: User) -> None:
    response = sign_in(client)
    assert (response.status_code, response["Location"]) == (302, reverse("aggregator:home"))
    assert get_user(client) == person


def test_the_case_of_the_address_does_not_matter(client: Client, person: User) -> None:
    assert sign_in(client, email="ROSA@Example.ORG").status_code == 302
    assert get_user(client) == person


def test_signing_in_leads_back_to_the_requested_page(client: Client, person: User) -> None:
    wanted = reverse("surveys:create")
    response = client.get(wanted)
    assert response["Location"] == f"{LOGIN}?next={wanted}"
    page = client.get(response["Location"])
    assert f'name="next" value="{wanted}"' in page.text
    answer = client.post(LOGIN, {"login": person.email, "password": PASSWORD, "next": wanted})
    assert answer["Location"] == wanted


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_signing_in_never_leads_to_another_site(client: Client, person: User, target: str) -> None:
    answer = client.post(LOGIN, {"login": person.email, "password": PASSWORD, "next": target})
    assert answer["Location"] == reverse("aggregator:home")


def test_a_wrong_password_and_an_unknown_address_read_the_same(
    client: Client, person: User
) -> None:
    wrong = sign_in(client, password="not this one")
    unknown = sign_in(client, email="nobody@example.org")
    for response in (wrong, unknown):
        assert response.status_code == 200
        assert "There is a problem" in response.text
        assert "The email address or the password is wrong." in response.text
        assert "<title>Error: Sign in" in response.text
    assert 'value="rosa@example.org"' in wrong.text
    assert not get_user(client).is_authenticated


def test_empty_fields_are_named_and_linked(client: Client, person: User) -> None:
    page = sign_in(client, email="", password="").text
    assert '<a href="#id_login">Enter your email address.</a>' in page
    assert '<a href="#id_password">Enter your password.</a>' in page


def test_an_inactive_account_gets_an_explanation_and_is_not_signed_in(client: Client) -> None:
    make_user("rosa@example.org", is_active=False)
    response = sign_in(client)
    assert response["Location"] == reverse("account_inactive")
    assert "disabled" in client.get(response["Location"]).text
    assert not get_user(client).is_authenticated


def test_the_sixth_failed_attempt_locks_sign_in(client: Client, person: User) -> None:
    assert guess_wrongly(client, 6) == [200, 200, 200, 200, 200, 429]
    locked = sign_in(client)  # even with the right password
    assert locked.status_code == 429
    assert "Sign-in is paused" in locked.text
    assert "one hour" in locked.text
    assert not get_user(client).is_authenticated


def test_the_pause_ends_even_if_attempts_continue(client: Client, person: User) -> None:
    guess_wrongly(client, 6)
    set_again: list[object] = []
    with (
        patch.object(cache, "incr", lambda *args, **kwargs: set_again.append(args)),
        patch.object(cache, "touch", lambda *args, **kwargs: set_again.append(args)),
    ):
        assert sign_in(client).status_code == 429
    assert set_again == []  # the hour of the counter did not start again


def test_the_operator_ends_a_pause_on_every_network(
    client: Client, person: User, capsys: pytest.CaptureFixture[str]
) -> None:
    colleague = make_user("colleague@example.org")
    for address in (HERE, ELSEWHERE):
        assert guess_wrongly(client, 6, address=address)[-1] == 429
    call_command("unlock_sign_in", "--email", colleague.email)
    assert sign_in(client).status_code == 429  # the pause ended only for another account
    call_command("unlock_sign_in", "--email", "Rosa@Example.org")
    assert "rosa@example.org can sign in again" in capsys.readouterr().out
    for address in (HERE, ELSEWHERE):
        assert sign_in(client, address=address).status_code == 302
        client.logout()
    # Counting has started again; it has not been turned off.
    assert guess_wrongly(client, 6) == [200, 200, 200, 200, 200, 429]


def test_the_operator_hears_of_an_account_that_does_not_exist(person: User) -> None:
    with pytest.raises(CommandError, match=r"no account .*'nobody@example\.org'"):
        call_command("unlock_sign_in", "--email", "nobody@example.org")


@pytest.mark.parametrize("email", ["rosa@example.org\x00", "\x00"])
def test_an_address_with_a_zero_byte_is_no_failure(
    client: Client, person: User, email: str
) -> None:
    assert sign_in(client, email=email).status_code == 200
    client.force_login(person)
    fields = {"password": "a guess", "login": email}
    assert client.post("/accounts/reauthenticate/", fields).status_code == 200


def test_a_stranger_cannot_lock_out_the_owner(client: Client, person: User) -> None:
    guess_wrongly(client, 8, address=ELSEWHERE)
    assert sign_in(client, address=HERE).status_code == 302
    assert get_user(client) == person


def test_other_accounts_on_the_same_network_are_not_locked_out(
    client: Client, person: User
) -> None:
    colleague = make_user("colleague@example.org")
    guess_wrongly(client, 8)
    assert sign_in(client, email=colleague.email).status_code == 302
    assert get_user(client) == colleague


def test_another_spelling_of_the_address_counts_as_the_same(client: Client, person: User) -> None:
    guess_wrongly(client, 5)
    response = sign_in(client, email=" Rosa@EXAMPLE.org", password="guess")
    assert response.status_code == 429


def test_signing_in_clears_earlier_failures(client: Client, person: User) -> None:
    guess_wrongly(client, 5)
    assert sign_in(client).status_code == 302
    client.logout()
    assert guess_wrongly(client, 5) == [200] * 5


@override_settings(CACHES=UNREACHABLE)
def test_without_the_limiter_sign_in_says_so_instead_of_failing(
    client: Client, person: User
) -> None:
    client.raise_request_exception = False
    assert client.get(LOGIN).status_code == 200
    response = sign_in(client)
    assert response.status_code == 503
    assert response["Retry-After"]
    assert "Murmur is unavailable" in response.text
    assert not get_user(client).is_authenticated


def test_signing_out_requires_a_form_and_ends_the_session(client: Client, person: User) -> None:
    client.force_login(person)
    asked = client.get("/accounts/logout/")
    assert asked.status_code == 200
    assert get_user(client).is_authenticated
    left = client.post("/accounts/logout/")
    assert (left.status_code, left["Location"]) == (302, LOGIN)
    assert not get_user(client).is_authenticated


def test_there_is_no_sign_up_page(client: Client) -> None:
    for path in ("signup/", "email/", "social/connections/", "3rdparty/"):
        assert client.get(f"/accounts/{path}").status_code == 404
    for path in ("", "login/", "password/reset/"):
        assert "sign up" not in client.get(f"/accounts/{path}").text.lower()


def test_behind_a_proxy_a_strangers_guesses_lock_out_only_the_stranger(
    client: Client, person: User, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    stranger, owner = (
        {"x-forwarded-for": f"{first}, {last}"}
        for first, last in ((HERE, ELSEWHERE), (ELSEWHERE, HERE))
    )
    wrong = {"login": person.email, "password": "guess"}
    statuses = [client.post(LOGIN, wrong, headers=stranger).status_code for _ in range(8)]
    assert statuses[-1] == 429
    right = {"login": person.email, "password": PASSWORD}
    assert client.post(LOGIN, right, headers=owner).status_code == 302


def test_behind_a_proxy_nobody_can_shut_sign_in_for_others(
    client: Client, person: User, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    # A stranger can invent every entry of the header but the last.
    replies = [
        client.post(LOGIN, {}, headers={"x-forwarded-for": f"203.0.113.{number}, {ELSEWHERE}:5678"})
        for number in range(40)
    ]
    assert [response.status_code for response in replies] == [200] * 30 + [429] * 10
    right = {"login": person.email, "password": PASSWORD}
    assert client.post(LOGIN, right, headers={"x-forwarded-for": HERE}).status_code == 302


def test_addresses_of_one_ipv6_network_count_as_one(
    client: Client, person: User, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    wrong = {"login": person.email, "password": "guess"}
    replies = [
        client.post(LOGIN, wrong, headers={"x-forwarded-for": f"[2001:db8::{number}]:5678"})
        for number in range(1, 7)
    ]
    assert replies[-1].status_code == 429
