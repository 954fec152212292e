"""`manage.py encrypt_second_factors`: re-encrypt secrets, so that an old MFA_KEY can be removed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.second_factor.keys import encrypt_all_again


class Command(BaseCommand):
    help = "Encrypt the secrets of all second factors with MFA_KEY instead of MFA_KEY_FALLBACKS."

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = encrypt_all_again()
        if unreadable:
            raise CommandError(
                f"No key decrypts the secrets of {', '.join(unreadable)}. Put the key that "
                "encrypted them into MFA_KEY_FALLBACKS and run this command again. If that key is "
                "lost, reset these accounts with manage.py reset_second_factor. All other secrets "
                "are encrypted with MFA_KEY now."
            )
        self.stdout.write(
            "All secrets are encrypted with MFA_KEY. You can remove MFA_KEY_FALLBACKS."
        )
