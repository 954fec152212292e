"""Changing and resetting passwords, and how they are stored."""

from __future__ import annotations

import io
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import pytest
import zxcvbn
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.password_validation import validate_password
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.adapter import NOT_CURRENT
from accounts.mail.queue import send_next_mail
from accounts.models import User
from accounts.passwords import HASHES_AT_ONCE, READ_CHARACTERS, Argon2Hasher
from tests.support.factories import PASSWORD, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
NEW = "an even longer passphrase"
CHANGE = "/accounts/password/change/"
RESET = "/accounts/password/reset/"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


def reset_link(client: Client, email: str) -> str:
    """Ask for a reset link, and return its path from the message that a worker sends."""
    client.post(RESET, {"email": email})
    send_next_mail()
    found = re.search(
        rf"{settings.PUBLIC_URL}(/accounts/password/reset/key/\S+)", str(mail.outbox[-1].body)
    )
    assert found is not None
    return found[1]


def test_passwords_are_stored_as_argon2(person: User) -> None:
    assert person.password.startswith("argon2")
    assert PASSWORD not in person.password


def test_a_password_is_changed_by_someone_who_knows_it(client: Client, person: User) -> None:
    client.force_login(person)
    answer = client.post(CHANGE, {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert answer["Location"] == reverse("account")
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert person.password.startswith("argon2")
    assert get_user(client) == person  # still signed in here
    assert "Your password was changed." in client.get(reverse("surveys:create")).text


@pytest.mark.parametrize(
    ("old", "new", "again", "field", "message"),
    [
        ("wrong", NEW, NEW, "id_oldpassword", "The current password is wrong."),
        (PASSWORD, NEW, "different", "id_password2", "same password"),
        (PASSWORD, "short", "short", "id_password1", "too short"),
        (PASSWORD, "rosa@example.org", "rosa@example.org", "id_password1", "too similar"),
        (PASSWORD, "", "", "id_password1", "Enter a new password."),
    ],
)
def test_a_bad_change_is_explained_at_its_field(
    client: Client, person: User, old: str, new: str, again: str, field: str, message: str
) -> None:
    client.force_login(person)
    page = client.post(CHANGE, {"oldpassword": old, "password1": new, "password2": again}).text
    assert re.search(rf'<a href="#{field}">[^<]*{message}', page)
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


EASY = ("123456789012", "qwertyuiopas", "passwordpassword", "iloveyou1234", "rosa-rosa-1234")


@pytest.mark.parametrize("easy", EASY)
def test_a_password_that_is_easy_to_guess_is_refused_wherever_one_is_set(
    client: Client, person: User, easy: str
) -> None:
    form = client.get(reset_link(client, person.email), follow=True)
    path = form.redirect_chain[-1][0]
    reset = client.post(path, {"password1": easy, "password2": easy})
    client.force_login(person)
    changed = client.post(CHANGE, {"oldpassword": PASSWORD, "password1": easy, "password2": easy})
    for page in (reset, changed):
        assert re.search(r'<a href="#id_password1">[^<]*easy to guess\. Use four', page.text)
    with (
        patch("getpass.getpass", return_value=easy),
        pytest.raises(CommandError, match="Aborting password change"),
    ):
        call_command("changepassword", person.email, stderr=io.StringIO())
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


@pytest.mark.parametrize("good", [NEW, "e3FUPrMIxkbqQ70Xrp4L", "Käse Tor lila Mond"])
def test_words_and_generated_passwords_are_accepted(person: User, good: str) -> None:
    validate_password(good, person)


def test_a_long_password_is_judged_by_its_beginning_only() -> None:
    with patch("zxcvbn.zxcvbn", wraps=zxcvbn.zxcvbn) as judged:
        validate_password(NEW * 1000)
    assert len(judged.call_args.args[0]) == READ_CHARACTERS


def test_a_hash_with_other_costs_works_and_is_replaced_at_the_next_sign_in(
    client: Client, person: User
) -> None:
    older = Argon2PasswordHasher()
    older.memory_cost, older.parallelism = 256, 8
    person.password = older.encode(PASSWORD, older.salt())
    person.save()
    right = {"login": person.email, "password": PASSWORD}
    assert client.post("/accounts/login/", right).status_code == 302
    person.refresh_from_db()
    assert "$m=19456,t=2,p=1$" in person.password
    assert get_user(client) == person


def test_no_more_than_two_passwords_are_hashed_at_once() -> None:
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(HASHES_AT_ONCE)

    def hash_slowly(*_: object) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(timeout=20)  # waits until as many threads as are allowed have come
        with lock:
            running -= 1
        return ""

    with (
        patch.object(Argon2PasswordHasher, "encode", hash_slowly),
        ThreadPoolExecutor(3 * HASHES_AT_ONCE) as threads,
    ):
        list(threads.map(Argon2Hasher().encode, [PASSWORD] * 3 * HASHES_AT_ONCE, ["salt"] * 99))
    assert most == HASHES_AT_ONCE


def test_an_account_without_a_password_gets_its_first_one_by_mail(client: Client) -> None:
    person = User.objects.create_user("new@example.org")
    client.force_login(person)
    assert client.get(CHANGE)["Location"] == RESET


def test_a_forgotten_password_is_replaced_through_the_mailed_link(
    client: Client, person: User
) -> None:
    link = reset_link(client, person.email)
    form = client.get(link, follow=True)
    assert "Choose a new password" in form.text
    assert link not in form.text  # the key has left the address bar and the page
    path = form.redirect_chain[-1][0]
    done = client.post(path, {"password1": NEW, "password2": NEW}, follow=True)
    assert "Your password was changed" in done.text
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert "no longer works" in client.get(link, follow=True).text  # the link works only once


def test_a_new_password_ends_the_pause_after_too_many_guesses(client: Client, person: User) -> None:
    guess = {"login": person.email, "password": "a guess"}
    statuses = [client.post("/accounts/login/", guess).status_code for _ in range(6)]
    assert statuses[-1] == 429
    form = client.get(reset_link(client, person.email), follow=True)
    path = form.redirect_chain[-1][0]
    done = client.post(path, {"password1": NEW, "password2": NEW}, follow=True)
    assert "You can now sign in with the new password." in done.text
    right = {"login": person.email, "password": NEW}
    assert client.post("/accounts/login/", right).status_code == 302
    assert get_user(client) == person


def test_a_bad_new_password_is_explained_and_the_link_stays_valid(
    client: Client, person: User
) -> None:
    form = client.get(reset_link(client, person.email), follow=True)
    path = form.redirect_chain[-1][0]
    page = client.post(path, {"password1": "short", "password2": "short"})
    assert "There is a problem" in page.text
    assert client.post(path, {"password1": NEW, "password2": NEW}).status_code == 302


def test_the_message_uses_our_words_and_contains_no_ip_address(
    client: Client, person: User
) -> None:
    reset_link(client, person.email)
    (message,) = mail.outbox
    assert message.subject == "Reset your Murmur password"
    assert message.to == [person.email]
    assert message.from_email == "murmur@localhost"
    assert "example.com" not in str(message.body)
    assert "192.0.2" not in str(message.body)
    assert "Hello from" not in str(message.body)


def test_an_unknown_address_gets_the_same_page_and_no_message(client: Client, person: User) -> None:
    known = client.post(RESET, {"email": person.email}, follow=True)
    unknown = client.post(RESET, {"email": "nobody@example.org"}, follow=True)
    assert known.redirect_chain == unknown.redirect_chain
    assert known.status_code == unknown.status_code == 200
    for _ in range(2):
        send_next_mail()
    assert [message.to for message in mail.outbox] == [[person.email]]


def test_an_inactive_account_gets_no_link(client: Client) -> None:
    person = make_user("off@example.org", is_active=False)
    assert client.post(RESET, {"email": person.email}).status_code == 302
    send_next_mail()
    assert mail.outbox == []


@pytest.mark.parametrize(
    "key", ["1-abc", "zzzzzzzzzzzzz-abc", "zzzzzzzzzzzzzzzzzzzz-x", "0-set-password"]
)
def test_a_broken_link_is_explained(client: Client, person: User, key: str) -> None:
    response = client.get(f"{RESET}key/{key}/")
    assert response.status_code == 200
    assert "This link no longer works" in response.text


def test_a_mistyped_address_is_explained(client: Client) -> None:
    page = client.post(RESET, {"email": "not an address"}).text
    assert '<a href="#id_email">Enter a valid email address.</a>' in page


def test_nobody_can_stop_or_flood_the_reset_of_one_account(
    client: Client, person: User, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    statuses = []
    for number in range(8):
        own = {"x-forwarded-for": f"192.0.2.{number}"}
        reply = client.post(RESET, {"email": person.email.upper()}, headers=own)
        statuses.append(reply.status_code)
        send_next_mail()
    assert statuses == [302] * 8  # the page says nothing about the limit
    assert len(mail.outbox) == 5


def test_too_many_requests_from_one_network_are_slowed_down(client: Client, person: User) -> None:
    for number in range(20):
        client.post(RESET, {"email": f"nobody{number}@example.org"})
    assert "Too many attempts" in client.post(RESET, {"email": person.email}).text


def test_behind_a_proxy_nobody_can_stop_others_from_asking_for_links(
    client: Client, person: User, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    replies = [
        client.post(
            RESET,
            {"email": f"nobody{number}@example.org"},
            headers={"x-forwarded-for": f"203.0.113.{number}, 198.51.100.7:{1000 + number}"},
        )
        for number in range(40)
    ]
    assert [reply.status_code for reply in replies] == [302] * 20 + [429] * 20
    own = {"x-forwarded-for": "192.0.2.1"}
    assert client.post(RESET, {"email": person.email}, headers=own).status_code == 302
    send_next_mail()
    send_next_mail()
    assert [message.to for message in mail.outbox] == [[person.email]]


def test_a_researcher_can_confirm_their_password(client: Client, person: User) -> None:
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    assert "Confirm your password" in client.get("/accounts/reauthenticate/").text
    wrong = client.post("/accounts/reauthenticate/", {"password": "not this one"})
    assert NOT_CURRENT in wrong.text
    right = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert right.status_code == 302
