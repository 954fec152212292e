"""Reset mails: a page requests them, a worker sends them, and nobody learns who has an account."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.mail.composing import Kind
from accounts.mail.queue import (
    KEPT,
    RETRY_AFTER,
    is_mail_due,
    request_mail,
    send_next_mail,
)
from accounts.models import AccountMail, User
from scripts.stack.stack import ROOT
from tests.support.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
RESET = "/accounts/password/reset/"
DONE = "/accounts/password/reset/done/"
HERE = f"{__name__}."


class Refusing(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise ConnectionRefusedError


class Choosy(BaseEmailBackend):
    """A mail backend that accepts every address but one."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        if email_messages[0].to == ["odd@example.org"]:
            raise ValueError(email_messages[0].to)
        mail.outbox.extend(email_messages)
        return len(email_messages)


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


@pytest.fixture
def silent_server() -> Iterator[int]:
    """Start a mail server that accepts connections but never replies."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def let_pass(time: timedelta) -> None:
    """Act as if every row had been stored earlier by `time`."""
    for row in AccountMail.objects.all():
        row.asked_at -= time
        row.due_at -= time
        row.save()


def recipients() -> list[str]:
    return [message.to[0] for message in mail.outbox]


def test_a_page_stores_the_number_of_the_account_and_sends_nothing(
    client: Client, person: User
) -> None:
    assert client.post(RESET, {"email": person.email}).status_code == 302
    assert mail.outbox == []
    (row,) = AccountMail.objects.values()
    assert set(row) == {"id", "account", "kind", "asked_at", "due_at", "attempts"}
    assert row["account"] == person.pk


def test_a_worker_sends_the_mail_and_deletes_the_row(client: Client, person: User) -> None:
    client.post(RESET, {"email": person.email})
    for _ in range(2):
        send_next_mail()
    assert recipients() == [person.email]
    assert not AccountMail.objects.exists()


def test_the_link_leads_to_the_public_address_whatever_host_was_asked_for(
    client: Client, person: User, settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://murmur.example"
    settings.ALLOWED_HOSTS = ["murmur.example", "localhost"]
    client.post(RESET, {"email": person.email}, headers={"host": "localhost:1234"})
    send_next_mail()
    (link,) = re.findall(r"https?://\S+", str(mail.outbox[0].body))
    assert link.startswith("https://murmur.example/accounts/password/reset/key/")


def test_known_and_unknown_addresses_cause_the_same_queries(client: Client, person: User) -> None:
    """The queries are the same for repeated requests too, before and after the worker has run."""

    def ask(email: str) -> list[str]:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert client.post(RESET, {"email": email}).status_code == 302
        return [re.sub(r"'[^']*'|\b\d+\b", "?", query["sql"]) for query in captured]

    emails = (person.email, "nobody@example.org")
    client.get(RESET)
    for _ in range(3):
        known, unknown = (ask(email) for email in emails)
        assert known == unknown
        assert any(sql.startswith("INSERT") for sql in known)
    # Each address got a row, so the database writes as much for an unknown address as for a known
    # one.
    assert AccountMail.objects.count() == 2
    for _ in range(2):
        send_next_mail()
    assert not AccountMail.objects.exists()
    assert recipients() == [person.email]


def test_both_addresses_get_the_same_page(client: Client, person: User) -> None:
    pages = [
        client.post(RESET, {"email": email}, follow=True)
        for email in (person.email, "nobody@example.org")
    ]
    assert pages[0].redirect_chain == pages[1].redirect_chain
    assert pages[0].content == pages[1].content


def test_asking_again_sends_one_mail(client: Client, person: User) -> None:
    for _ in range(3):
        client.post(RESET, {"email": person.email})
    for _ in range(3):
        send_next_mail()
    assert recipients() == [person.email]


def test_a_refusing_mail_server_changes_nothing_for_who_asks(
    client: Client, person: User, settings: Settings
) -> None:
    working, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, HERE + "Refusing"
    answers = [
        client.post(RESET, {"email": email}).status_code
        for email in (person.email, "nobody@example.org")
    ]
    assert answers == [302, 302]
    send_next_mail()
    send_next_mail()
    assert AccountMail.objects.filter(account=person.pk).exists()
    assert not is_mail_due()
    settings.EMAIL_BACKEND = working
    let_pass(RETRY_AFTER)
    assert is_mail_due()
    for _ in range(2):
        send_next_mail()
    assert recipients() == [person.email]


def test_a_mail_that_cannot_be_sent_for_a_day_is_dropped(person: User, settings: Settings) -> None:
    settings.EMAIL_BACKEND = HERE + "Refusing"
    request_mail(Kind.RESET, account=person.pk)
    attempts = 0
    while AccountMail.objects.exists():
        assert is_mail_due()
        send_next_mail()
        let_pass(timedelta(hours=1))
        attempts += 1
        assert attempts < 100
    assert attempts == KEPT // timedelta(hours=1) + 1


def test_a_log_line_about_a_failure_names_nobody(
    person: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMAIL_BACKEND = HERE + "Refusing"
    request_mail(Kind.RESET, account=person.pk)
    send_next_mail()
    assert "ConnectionRefusedError" in caplog.text
    assert "rosa" not in caplog.text


def test_a_silent_mail_server_costs_one_attempt_however_many_mails_wait(
    silent_server: int, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", silent_server
    assert settings.EMAIL_TIMEOUT == 5
    settings.EMAIL_TIMEOUT = 0.2
    for number in range(3):
        request_mail(Kind.RESET, account=make_user(f"person{number}@example.org").pk)
    send_next_mail()
    assert AccountMail.objects.count() == 3
    assert not is_mail_due()
    # Asking again does not make a worker try again sooner.
    request_mail(Kind.RESET, account=User.objects.get(email="person0@example.org").pk)
    assert not is_mail_due()


def test_a_mail_that_cannot_be_sent_does_not_hold_up_the_others(settings: Settings) -> None:
    settings.EMAIL_BACKEND = HERE + "Choosy"
    emails = ["odd@example.org", "one@example.org", "two@example.org", "three@example.org"]
    for email in emails:
        request_mail(Kind.RESET, account=make_user(email).pk)
    send_next_mail()
    assert recipients() == []
    let_pass(RETRY_AFTER)
    for _ in range(4):
        send_next_mail()
    assert recipients() == emails[1:]


def test_a_worker_that_dies_while_it_sends_leaves_the_mail_to_the_next(
    person: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> bool:
        raise KeyboardInterrupt

    request_mail(Kind.RESET, account=person.pk)
    request_mail(Kind.RESET, account=make_user("carl@example.org").pk)
    with monkeypatch.context() as patch:
        patch.setattr("accounts.mail.queue._send", die)
        with pytest.raises(KeyboardInterrupt):
            send_next_mail()
    assert not is_mail_due()
    let_pass(RETRY_AFTER)
    for _ in range(2):
        send_next_mail()
    assert set(recipients()) == {person.email, "carl@example.org"}


def test_two_workers_do_not_send_the_same_mail(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[User] = []

    def send(_: AccountMail, user: User) -> bool:
        sent.append(user)
        send_next_mail()  # another worker, at the same time
        return True

    monkeypatch.setattr("accounts.mail.queue._send", send)
    request_mail(Kind.RESET, account=person.pk)
    send_next_mail()
    assert sent == [person]


def test_a_clock_that_was_set_back_does_not_hold_up_a_mail(person: User) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    AccountMail.objects.create(
        account=person.pk, kind=Kind.RESET, asked_at=tomorrow, due_at=tomorrow
    )
    assert is_mail_due()
    send_next_mail()
    assert recipients() == [person.email]


def test_an_account_that_is_gone_gets_no_mail(person: User) -> None:
    request_mail(Kind.RESET, account=person.pk)
    person.delete()
    send_next_mail()
    assert mail.outbox == []
    assert not AccountMail.objects.exists()


@pytest.mark.parametrize(
    ("backend", "address", "behind_proxy", "place"),
    [
        ("console", "127.0.0.1", False, "the log of the workers"),
        ("console", "::1", False, "the log of the workers"),
        ("filebased", "127.0.0.1", False, "/var/mails"),
        ("smtp", "127.0.0.1", False, None),
        ("console", "192.0.2.1", False, None),
        ("console", "", False, None),
        ("console", "127.0.0.1", True, None),
    ],
)
def test_the_page_says_where_a_mail_is_that_nobody_sends(
    client: Client,
    settings: Settings,
    backend: str,
    address: str,
    behind_proxy: bool,
    place: str | None,
) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"
    settings.EMAIL_FILE_PATH = "/var/mails"
    settings.BEHIND_PROXY = behind_proxy
    page = client.get(DONE, REMOTE_ADDR=address).text
    assert re.findall(r"<code>([^<]+)</code>", page) == ([place] if place else [])
    # No visitor, at this computer or elsewhere, is told to wait for a mail that is never sent.
    for text in (page, client.get(RESET, REMOTE_ADDR=address).text):
        assert ("This installation sends no email" in text) == (backend != "smtp")
        assert ("Check your email" in text or "will send you" in text) == (backend == "smtp")


def test_the_page_names_the_log_of_the_stack_that_runs_here(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    settings.VAR_DIR = tmp_path
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "leisure.log").touch()
    assert f"<code>{tmp_path}/log/leisure.log</code>" in client.get(DONE).text


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, "https://localhost"),
        ({"MURMUR_HTTPS": "false"}, "http://localhost"),
        ({"ALLOWED_HOSTS": "murmur.example,127.0.0.1"}, "https://murmur.example"),
        ({"ALLOWED_HOSTS": ".murmur.example"}, "https://murmur.example"),
        ({"ALLOWED_HOSTS": "*"}, "https://localhost"),
        ({"MURMUR_PUBLIC_URL": "https://murmur.example:8443/"}, "https://murmur.example:8443"),
    ],
)
def test_the_public_address_is_the_first_allowed_host_unless_it_is_set(
    environment: dict[str, str], address: str, tmp_path: Path
) -> None:
    others = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ALLOWED_HOSTS", "MURMUR_HTTPS", "MURMUR_PUBLIC_URL")
    }
    printed = subprocess.run(
        [sys.executable, "-c", "from config import settings; print(settings.PUBLIC_URL)"],
        env={**others, "MURMUR_VAR": str(tmp_path), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.strip() == address
