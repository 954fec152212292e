"""Reads invitation emails as their recipients do."""

from __future__ import annotations

import re

from django.core import mail

from surveys.people.mails import send_next_invitation


def receive() -> str:
    """Let the worker send the next invitation, and return the address of its link."""
    send_next_invitation()
    [link] = re.findall(r"https?://[^/\s]+(/invitations/\S+)", str(mail.outbox[-1].body))
    return str(link)
