"""People: who may author surveys and read results."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
