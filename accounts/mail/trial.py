"""Sends a test email, and says what to do if sending fails."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Mapping

from django.conf import settings
from django.core.mail import EmailMessage

TLS_SCHEMES = "smtp+tls:// for STARTTLS (port 587) or smtp+ssl:// for TLS (port 465)"
# The first type that matches is used, so specific types come before general ones.
REASONS: Mapping[type[Exception], str] = {
    socket.gaierror: "Unknown host. Correct the host in EMAIL_URL.",
    ConnectionRefusedError: "The server refuses connections. Correct the port in EMAIL_URL, or "
    "start the mail server.",
    TimeoutError: "The server does not answer. Correct the host and the port in EMAIL_URL, and "
    "check whether a firewall blocks the connection.",
    ssl.SSLCertVerificationError: "The server's certificate is not valid for this name. In "
    "EMAIL_URL, use the name that the certificate contains.",
    ssl.SSLError: f"The encrypted connection failed. In EMAIL_URL, use {TLS_SCHEMES}.",
    smtplib.SMTPAuthenticationError: "The server refuses the user name or the password. Correct "
    "them in EMAIL_URL, and write special characters as %XX.",
    smtplib.SMTPNotSupportedError: "The server does not offer what EMAIL_URL asks for. Use "
    f"{TLS_SCHEMES}, or smtp:// without a user if the server asks for no password.",
    smtplib.SMTPSenderRefused: "The server refuses the sender. Set DEFAULT_FROM_EMAIL to an "
    "address from which it sends email. If it asks for a user name and a password, give them in "
    "EMAIL_URL.",
    smtplib.SMTPRecipientsRefused: "The server refuses the recipient. Correct the address, or "
    "allow this computer to send email to other servers.",
    smtplib.SMTPServerDisconnected: "The server closed the connection. In EMAIL_URL, use "
    f"{TLS_SCHEMES}.",
    ConnectionError: "The connection was lost. Try again. If it is lost again, look at the log of "
    "the mail server.",
    smtplib.SMTPException: "The server refused the email. The log of the server has details.",
    OSError: "The server cannot be reached. Correct EMAIL_URL.",
    ValueError: "The email cannot be written with these addresses. Correct DEFAULT_FROM_EMAIL.",
}


def send_test_mail(address: str) -> str:
    """Send a test email and return "", or the reason and a remedy if sending failed."""
    message = EmailMessage(
        subject="Test email from Murmur",
        body=(
            "Murmur can send emails. This is the test email that manage.py check_mail sends.\n\n"
            f"Links in Murmur's emails begin with {settings.PUBLIC_URL}\n"
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
    """Return the server's or the system's message, which is nested if a recipient was refused."""
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
