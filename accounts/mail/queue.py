"""Emails to accounts, requested by pages and commands, sent and tried again by a worker.

A web process that waited for the mail server would block a thread. A request therefore only stores
a row, and takes as long for an unknown address as for a known one. The worker makes links when it
sends the email, so no token is ever stored.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.mail.composing import Kind, compose
from accounts.mail.sending import send_or_log
from accounts.models import AccountMail, User

# A server that does not answer delays the worker by EMAIL_TIMEOUT at each attempt.
RETRY_AFTER = timedelta(minutes=2)
KEPT = timedelta(days=1)
NO_ACCOUNT = 0


def request_mail(kind: Kind, *, account: int | None) -> None:
    """Store a request for an email.

    Also store a request for an unknown address (None), so that it takes as long as any other.
    """
    now = timezone.now()
    AccountMail.objects.bulk_create(
        [AccountMail(account=account or NO_ACCOUNT, kind=kind, asked_at=now, due_at=now)],
        update_conflicts=True,
        unique_fields=["account", "kind"],
        # due_at stays the same, so that repeated requests do not make workers try a silent server
        # more often.
        update_fields=["asked_at"],
    )


def is_mail_due() -> bool:
    return _find_due(timezone.now()).exists()


def send_next_mail() -> None:
    """Send one email and delete its row; if sending fails, all emails wait for the next attempt."""
    now = timezone.now()
    AccountMail.objects.filter(asked_at__lt=now - KEPT).delete()
    until = now + RETRY_AFTER
    # Emails that could not be sent before come last.
    row = _find_due(now).order_by("attempts", "due_at").first()
    if row is None or not _claim(row, until=until):
        return
    # The other emails also wait, even if this worker dies now, so that a silent server does not
    # hold up one worker after another.
    _find_due(now).update(due_at=until)
    user = User.objects.filter(pk=row.account, is_active=True).first()
    if user is None or _send(row, user):
        AccountMail.objects.filter(pk=row.pk).delete()
        AccountMail.objects.filter(due_at=until).update(due_at=now)


def _find_due(now: datetime) -> QuerySet[AccountMail]:
    # A time too far in the future was stored before the clock was set back.
    return AccountMail.objects.filter(Q(due_at__lte=now) | Q(due_at__gt=now + 2 * RETRY_AFTER))


def _claim(row: AccountMail, *, until: datetime) -> bool:
    """Claim a row for this worker; return False if another worker has just taken it."""
    unchanged = AccountMail.objects.filter(pk=row.pk, due_at=row.due_at)
    return unchanged.update(due_at=until, attempts=F("attempts") + 1) == 1


def _send(row: AccountMail, user: User) -> bool:
    mail = compose(row.kind, user)
    if mail is None:
        return True
    return send_or_log(mail, what="An email to an account")
