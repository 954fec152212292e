"""Accounts of the people who write surveys and read results."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import audit, sessions  # need the models
        from accounts.second_factor import changes

        audit.connect_signals()
        sessions.connect_signals()
        changes.connect_signals()
