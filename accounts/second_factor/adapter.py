"""allauth.mfa with encrypted secrets, our QR codes, and errors that say what to do."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import segno
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings

from accounts.second_factor import keys

WRONG_CODE = (
    "This code is wrong, has already been used or has expired. Wait for the next code in your app, "
    "and enter it."
)
UNREADABLE = (
    "This server can no longer read your second factor, because its key was lost. Ask the person "
    "who runs it to reset your second factor."
)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    error_messages = {**DefaultMFAAdapter.error_messages, "incorrect_code": WRONG_CODE}

    def encrypt(self, text: str) -> str:
        return keys.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return keys.decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        # Do not take the host from the request, because an attacker can set it there.
        return f"Murmur {urlsplit(settings.PUBLIC_URL).hostname}"

    def build_totp_svg(self, url: str) -> str:
        """Draw the QR code in the page, because a separate URL would show the secret a second time.

        The colours are fixed because many phones cannot read a light code on a dark background.
        """
        code = segno.make(url, error="m", boost_error=False, micro=False)
        svg: str = code.svg_inline(
            border=4, omitsize=True, svgclass="qr", lineclass=None, dark="#000", light="#fff"
        )
        return svg.replace("<svg ", '<svg role="img" aria-label="QR code of the key" ', 1)

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing here: a worker sends the emails that the signals ask for."""
