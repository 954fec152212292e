"""`check_mail`, and the warning shown if no mail is sent."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core import checks, mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from accounts.mail.trial import REASONS, describe_failure
from aggregator.upkeep.checks import registry

BACKENDS = "django.core.mail.backends."


class Rejecting(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise smtplib.SMTPAuthenticationError(535, b"5.7.8 authentication failed")


def check_mail(address: str = "you@example.org") -> str:
    written = StringIO()
    call_command("check_mail", to=address, stdout=written)
    return written.getvalue()


def test_one_mail_is_sent_and_what_happened_is_said(settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "murmur@murmur.example"
    settings.PUBLIC_URL = "https://murmur.example"
    written = check_mail()
    (message,) = mail.outbox
    assert message.to == ["you@example.org"]
    assert message.from_email == "murmur@murmur.example"
    assert "https://murmur.example" in message.body
    assert "murmur@murmur.example" in written
    assert "https://murmur.example" in written
    assert "accepted an email to you@example.org" in written


@pytest.mark.parametrize("address", ["", "nobody", "a@b@c", "you@example.org\nBcc: x@y.example"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(CommandError, match="is not an email address"):
        check_mail(address)
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("backend", "place"),
    [("console", "the log of the workers"), ("filebased", "/var/mails"), ("dummy", "drops")],
)
def test_an_installation_that_sends_no_mail_says_where_it_is(
    settings: Settings, tmp_path: Path, backend: str, place: str
) -> None:
    settings.EMAIL_BACKEND = f"{BACKENDS}{backend}.EmailBackend"
    settings.EMAIL_FILE_PATH, settings.VAR_DIR = "/var/mails", tmp_path
    with pytest.raises(CommandError, match=f"(?s)sends none.*{place}.*EMAIL_URL="):
        check_mail()


def test_the_file_that_names_the_mail_server_is_the_place_to_change(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{BACKENDS}console.EmailBackend"
    settings.EMAIL_PLACE = "/etc/murmur/secrets/email_url"
    with pytest.raises(CommandError, match=r"smtp\+tls:\S+ into /etc/murmur/secrets/email_url"):
        check_mail()


def test_the_log_of_the_stack_that_runs_here_is_named(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = f"{BACKENDS}console.EmailBackend"
    settings.VAR_DIR = tmp_path
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "leisure.log").touch()
    with pytest.raises(CommandError, match=f"{tmp_path}/log/leisure.log"):
        check_mail()


def test_a_server_that_is_not_there_is_named_with_the_reason(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # no process listens on this port, and none can start to
        settings.EMAIL_BACKEND = f"{BACKENDS}smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = taken.getsockname()
        written = StringIO()
        with pytest.raises(CommandError, match="The server refuses connections"):
            call_command("check_mail", to="you@example.org", stdout=written)
    assert f"Server: 127.0.0.1, port {settings.EMAIL_PORT}" in written.getvalue()


def test_what_the_server_answers_is_said(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Rejecting"
    with pytest.raises(CommandError, match=r"password.*535 5\.7\.8 authentication failed"):
        check_mail()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Unknown host"),
        (TimeoutError("timed out"), "does not answer"),
        (ssl.SSLCertVerificationError(1, "hostname mismatch"), "certificate"),
        (ssl.SSLError(1, "wrong version number"), "smtp+ssl://"),
        (smtplib.SMTPNotSupportedError("STARTTLS not supported"), "does not offer"),
        (smtplib.SMTPSenderRefused(550, b"no", "murmur@localhost"), "DEFAULT_FROM_EMAIL"),
        (smtplib.SMTPRecipientsRefused({"a@b": (554, b"relay denied")}), "554 relay denied"),
        (smtplib.SMTPServerDisconnected("closed"), "closed the connection"),
        (smtplib.SMTPDataError(552, b"too big"), "552 too big"),
        (ConnectionResetError(104, "reset"), "connection was lost"),
        (OSError(101, "Network is unreachable"), "cannot be reached"),
        (ValueError("odd"), "DEFAULT_FROM_EMAIL"),
        (UnicodeError(), "no further answer"),
    ],
)
def test_every_failure_has_a_reason_and_something_to_do(error: Exception, said: str) -> None:
    assert said in describe_failure(error)


def test_special_reasons_come_before_general_ones() -> None:
    kinds = list(REASONS)
    for place, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) for later in kinds[place + 1 :])


@pytest.mark.parametrize(
    ("backend", "sender", "found"),
    [
        ("smtp", "murmur@murmur.example", ""),
        ("smtp", "Murmur <murmur@murmur.example>", ""),
        ("smtp", "murmur@localhost", "refuse emails from this sender"),
        ("console", "murmur@murmur.example", "no mail is sent"),
        ("dummy", "murmur@localhost", "no mail is sent"),
    ],
)
def test_an_installation_without_mail_is_warned_of_before_deploying(
    settings: Settings, backend: str, sender: str, found: str
) -> None:
    settings.EMAIL_BACKEND = f"{BACKENDS}{backend}.EmailBackend"
    settings.DEFAULT_FROM_EMAIL = sender
    assert not any(message.id == "aggregator.W012" for message in checks.run_checks())
    deploying = checks.run_checks(tags=[registry.SETTINGS], include_deployment_checks=True)
    warned = [message for message in deploying if message.id == "aggregator.W012"]
    assert len(warned) == bool(found)
    assert all(found in message.msg and "check_mail" in str(message.hint) for message in warned)
