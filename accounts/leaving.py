"""Deletes an account when its owner leaves.

While the account owns surveys, it stays: their results would have no owner, and nobody could close
or delete them.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from accounts import audit
from accounts.models import AccountMail, User
from accounts.sessions import end_sessions


class OwnsSurveys(Exception):
    """The account still owns a survey."""


def count_surveys(user: User) -> int:
    return user.surveys.count()


def delete_account(user: User) -> None:
    number = user.pk
    try:
        with transaction.atomic():
            end_sessions(user)
            AccountMail.objects.filter(account=number).delete()
            User.objects.get(pk=number).delete()
    except (ProtectedError, IntegrityError) as error:  # the second: a survey made at this moment
        raise OwnsSurveys from error
    audit.record("account-deleted", account=number)
