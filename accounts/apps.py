"""Accounts of the people who write surveys and read results."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
