"""Guesses from many networks slow sign-in down but never lock the owner of the account out."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth import get_user
from django.core import mail
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from accounts.known_browsers import KEPT_SECONDS, cookie_name
from accounts.lockout import pause_after
from accounts.mail.queue import send_next_mail
from accounts.models import User
from tests.support.factories import PASSWORD, make_user

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Response

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
LOGIN = "/accounts/login/"
HERE = "192.0.2.1"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


@pytest.fixture(autouse=True)
def passing_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock for counts and cookies that stands still until a test moves it on."""
    now = [time.time()]
    monkeypatch.setattr(time, "time", lambda: now[0])

    def move_on(seconds: float) -> None:
        now[0] += seconds

    return move_on


def sign_in(
    client: Client,
    *,
    email: str = "rosa@example.org",
    password: str = PASSWORD,
    address: str = HERE,
) -> Response:
    return client.post(LOGIN, {"login": email, "password": password}, REMOTE_ADDR=address)


def sign_out(client: Client) -> None:
    """Sign out; unlike `client.logout`, keep the other cookies."""
    client.post("/accounts/logout/")


def guess_from_everywhere(client: Client, times: int, *, first: int = 0) -> list[int]:
    return [
        sign_in(
            client, password=f"guess {number}", address=f"203.0.{number // 250}.{number % 250}"
        ).status_code
        for number in range(first, first + times)
    ]


def test_pauses_between_attempts_grow_to_a_minute() -> None:
    assert [pause_after(failures) for failures in (0, 19, 20, 21, 22, 25, 26, 27, 10**6)] == [
        *(0, 0, 1, 2, 4, 32),
        *(60, 60, 60),
    ]


def test_guesses_from_many_networks_slow_down_to_one_a_minute(
    client: Client, person: User, passing_time: Callable[[float], None]
) -> None:
    # All guesses come within one second. After twenty guesses, one more is checked and starts a
    # pause.
    assert Counter(guess_from_everywhere(client, 60)) == {200: 21, 429: 39}
    passed = 0
    for minute in range(10):
        passing_time(60)
        statuses = guess_from_everywhere(client, 3, first=100 + 3 * minute)
        passed += statuses.count(200)
    assert passed == 10
    slowed = sign_in(client, address="192.0.2.200")  # with the right password
    assert slowed.status_code == 429
    assert 0 < int(slowed["Retry-After"]) <= 60
    assert "Wait a minute and try again" in slowed.text
    # Sign-in is never blocked for good: the first attempt after the pause is checked.
    passing_time(60)
    assert sign_in(client, address="192.0.2.200").status_code == 302


def test_a_browser_that_has_signed_in_before_does_not_wait_for_strangers(
    client: Client, person: User
) -> None:
    assert sign_in(client).status_code == 302
    sign_out(client)
    stranger = Client()
    assert guess_from_everywhere(stranger, 40)[-1] == 429
    on_the_same_network = [sign_in(stranger, password="guess").status_code for _ in range(8)]
    assert on_the_same_network[-1] == 429
    assert sign_in(client).status_code == 302
    assert get_user(client) == person


def test_a_known_browser_has_a_count_of_its_own(client: Client, person: User) -> None:
    sign_in(client)
    sign_out(client)
    from_many = [
        sign_in(client, password="guess", address=f"203.0.113.{number}").status_code
        for number in range(8)
    ]
    assert from_many == [200] * 5 + [429] * 3
    assert sign_in(Client()).status_code == 302


def test_the_cookie_of_one_account_is_worth_nothing_for_another(
    client: Client, person: User
) -> None:
    colleague = make_user("colleague@example.org")
    sign_in(client, email=colleague.email)
    sign_out(client)
    guess_from_everywhere(Client(), 30)
    assert sign_in(client).status_code == 429
    client.cookies[cookie_name()] = "invented"
    assert sign_in(client).status_code == 429


def test_the_cookie_expires_after_a_year(
    client: Client, person: User, passing_time: Callable[[float], None]
) -> None:
    sign_in(client)
    sign_out(client)
    passing_time(KEPT_SECONDS + 60)
    guess_from_everywhere(Client(), 30)
    assert sign_in(client).status_code == 429


def test_the_cookie_goes_to_the_pages_of_accounts_only_and_names_nobody(
    client: Client, person: User, settings: Any
) -> None:
    cookie = sign_in(client).cookies[cookie_name()]
    assert cookie["path"] == "/accounts/"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    settings.HTTPS = True
    assert cookie_name().startswith("__Secure-")
    assert "rosa" not in cookie.value


def test_a_reset_lets_this_browser_sign_in_while_strangers_guess(
    client: Client, person: User
) -> None:
    stranger = Client()
    guess_from_everywhere(stranger, 30)
    client.post("/accounts/password/reset/", {"email": person.email})
    send_next_mail()
    found = re.search(r"(/accounts/password/reset/key/\S+)", str(mail.outbox[-1].body))
    assert found is not None
    form = client.get(found[1], follow=True).redirect_chain[-1][0]
    new = "an even longer passphrase"
    assert client.post(form, {"password1": new, "password2": new}).status_code == 302
    guess_from_everywhere(stranger, 40, first=300)
    assert sign_in(client, password=new, address="192.0.2.99").status_code == 302


def test_the_operator_ends_the_pauses_of_an_account(client: Client, person: User) -> None:
    guess_from_everywhere(client, 30)
    assert sign_in(client).status_code == 429
    call_command("unlock_sign_in", "--email", person.email)
    assert sign_in(client).status_code == 302


def test_an_unknown_address_slows_down_like_a_known_one(client: Client) -> None:
    statuses = guess_from_everywhere(client, 40)
    assert Counter(statuses) == {200: 21, 429: 19}


def test_the_count_stores_no_address_and_no_email(client: Client, person: User) -> None:
    guess_from_everywhere(client, 1)
    stored = [name for name in cache._cache if "sign-in-" in name]  # type: ignore[attr-defined]
    [name] = stored
    assert "rosa" not in name
    assert cache.get(name.partition(":1:")[2]) == 1
