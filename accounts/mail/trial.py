"""Sends a test email, and says what to do if sending fails."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Mapping

from django.conf import settings
from django.core.mail import EmailMessage

TLS_SCHEMES = "smtp+tls:// for STARTTLS (port 587) or smtp+ssl:// for TLS (port 465)"
# The first type that matches counts, so specific types come before general ones.
REASONS: Mapping[type[Exception], str] = {
    socket.gaierror: "Unknown host. Correct the host in EMAIL_URL.",
    ConnectionRefusedError: "The server refuses connections. Correct the port in EMAIL_URL, or "
    "start the mail server.",
    TimeoutError: "The server does not answer. Correct the host and the port in EMAIL_URL, and "
    "see whether a firewall blocks the way.",
    ssl.SSLCertVerificationError: "The server's certificate is not valid for this name. Write the "
    "name that the certificate has into EMAIL_URL.",
    ssl.SSLError: f"The encrypted connection failed. In EMAIL_URL, use {TLS_SCHEMES}.",
    smtplib.SMTPAuthenticationError: "The server refuses the user name or the password. Correct "
    "them in EMAIL_URL, and write special characters as %XX.",
    smtplib.SMTPNotSupportedError: "The server does not offer what EMAIL_URL asks for. Use "
    f"{TLS_SCHEMES}, or smtp:// without a user if the server asks for no password.",
    smtplib.SMTPSenderRefused: "The server refuses the sender. Set DEFAULT_FROM_EMAIL to an "
    "address for which it sends mails, and give user and password in EMAIL_URL if it asks for "
    "them.",
    smtplib.SMTPRecipientsRefused: "The server refuses the recipient. Correct the address, or "
    "allow this computer to send mails to other servers.",
    smtplib.SMTPServerDisconnected: "The server closed the connection. In EMAIL_URL, use "
    f"{TLS_SCHEMES}.",
    ConnectionError: "The connection broke. Try again; if it happens again, look at the log of the "
    "mail server.",
    smtplib.SMTPException: "The server refused the mail. Its log says more.",
    OSError: "The server cannot be reached. Correct EMAIL_URL.",
    ValueError: "The mail cannot be written with these addresses. Correct DEFAULT_FROM_EMAIL.",
}


def send_test_mail(address: str) -> str:
    """Send a test email; return an empty string, or the reason for the failure and a remedy."""
    message = EmailMessage(
        subject="Test mail from Murmur",
        body=(
            "Murmur can send mails: this is the test that manage.py check_mail sends.\n\n"
            f"Links in its mails begin with {settings.PUBLIC_URL}\n"
        ),
        to=[address],
    )
    try:
        message.send()
    except (OSError, ValueError) as error:  # smtplib's errors are subclasses of OSError
        return describe_failure(error)
    return ""


def describe_failure(error: Exception) -> str:
    reason = next(text for kind, text in REASONS.items() if isinstance(error, kind))
    return f"{reason} ({type(error).__name__}: {_read_answer(error)})"


def _read_answer(error: Exception) -> str:
    """Return the server's or the system's message; one about a refused recipient is nested."""
    code: int
    answer: bytes | str
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, answer = next(iter(error.recipients.values()))
    elif isinstance(error, smtplib.SMTPResponseException):
        code, answer = error.smtp_code, error.smtp_error
    else:
        return str(error) or "no further answer"
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)
    return f"{code} {text}"
