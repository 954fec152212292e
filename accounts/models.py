"""Accounts, which have only an e-mail address and a password, and the reset mails to send."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    """Creates users; e-mail addresses ignore case."""

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
    email = models.EmailField("e-mail address", unique=True)
    is_active = models.BooleanField(default=True)
    # Failed sign-ins are counted per round; a new round ends every pause (accounts/lockout.py).
    sign_in_round = models.PositiveIntegerField(default=0, db_default=0)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="accounts_user_email_caseless"),
        ]

    def __str__(self) -> str:
        return self.email


class ResetMail(models.Model):
    """A password reset mail that a worker has to send; it stores neither address nor token.

    The row is deleted when the mail is sent, or after a day. A request for an unknown address
    writes a row too, for account 0, which does not exist.
    """

    account = models.BigIntegerField(primary_key=True)
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "accounts_reset_mail"

    def __str__(self) -> str:
        return f"account {self.account}"
