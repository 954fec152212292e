"""Accounts, changes of their addresses, their API tokens, and the emails to be sent to them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    """Creates users; the case of an email address does not matter."""

    def create_user(self, email: str, password: str | None = None, **extra: Any) -> User:
        user = self.model(email=self.normalize_email(email).lower(), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> User:
        return self.create_user(email, password, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField("email address", unique=True)
    name = models.CharField(max_length=100, blank=True, default="", db_default="")
    is_active = models.BooleanField(default=True)
    # Failed sign-ins are counted per round; a new round ends every pause (accounts/lockout.py).
    sign_in_round = models.PositiveIntegerField(default=0, db_default=0)

    # Django would store the moment of the last sign-in. Together with PostgreSQL's transaction
    # numbers, this moment would date rows that were written just before and after it.
    last_login = None

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="accounts_user_email_caseless"),
        ]

    def __str__(self) -> str:
        return self.email


class AddressChange(models.Model):
    """A new email address requested for an account. It is used once both mailboxes confirm it.

    `asked_at` is part of the links, so a new request makes earlier links invalid.
    """

    account = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True)
    new_email = models.EmailField()
    asked_at = models.DateTimeField()
    old_confirmed = models.BooleanField(default=False)
    new_confirmed = models.BooleanField(default=False)

    class Meta:
        db_table = "accounts_address_change"

    def __str__(self) -> str:
        return f"account {self.account_id}"


class ApiToken(models.Model):
    """A program's permission to act for an account. Only the hash of the token is stored."""

    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=60)
    digest = models.BinaryField(max_length=32, unique=True)  # SHA-256
    scopes: models.JSONField[list[str]] = models.JSONField()
    # The last day on which the token works.
    expires_on = models.DateField()

    class Meta:
        db_table = "accounts_token"
        constraints = [
            models.UniqueConstraint(fields=["account", "name"], name="accounts_token_name"),
        ]

    def __str__(self) -> str:
        return f"token {self.pk} of account {self.account_id}"


class AccountMail(models.Model):
    """An email that a worker has to send to an account. The row contains no address and no token.

    The row is deleted when the email is sent, or after a day. A request to reset the password of an
    unknown address also writes a row, for account 0, which does not exist.
    """

    account = models.BigIntegerField()
    kind = models.CharField(max_length=20)
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "accounts_mail"
        constraints = [
            models.UniqueConstraint(fields=["account", "kind"], name="accounts_mail_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to account {self.account}"
