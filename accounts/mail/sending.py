"""Sends an email, or says in the log why it could not be sent."""

from __future__ import annotations

import logging

from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)


def send_or_log(mail: EmailMessage, *, what: str) -> bool:
    """Send an email and return whether that worked. The log shows `what`, never the address."""
    try:
        mail.send()
    except (OSError, ValueError) as error:  # from the network, the server or a malformed address
        logger.warning("%s could not be sent: %s", what, type(error).__name__)
        return False
    return True
