"""Sends invitations by email. The worker that sends one makes its link, so no token is stored."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.mail.sending import send_or_log
from surveys.models import Invitation, Role
from surveys.people.invitations import VALID_FOR, draw_token, hash_token, list_accepted_with

# A server that does not answer delays a worker by EMAIL_TIMEOUT at each attempt.
RETRY_AFTER = timedelta(minutes=2)
SUBJECT = "An invitation to Murmur"
# Titles and names are left out, because the email may reach a stranger, and people could write
# anything in them.
MESSAGE = (
    "Someone invites you to work on {what} on Murmur, as {role}. To accept, open this link within "
    "{time}:\n\n{link}\n\n"
    "The link works once and only for this address. If you do not expect an invitation, ignore "
    "this email. Nothing will happen.\n"
)


def is_invitation_due() -> bool:
    """Return whether there is an invitation to send, or one to delete because it has expired."""
    now = timezone.now()
    return _find_due(now).exists() or Invitation.objects.filter(expires_at__lte=now).exists()


def send_next_invitation() -> None:
    """Send one email; if sending fails, all emails wait for the next attempt."""
    now = timezone.now()
    until = now + RETRY_AFTER
    Invitation.objects.filter(expires_at__lte=now).delete()
    invitation = _find_due(now).order_by("?").first()
    if invitation is None:
        return
    token = draw_token()
    unchanged = Invitation.objects.filter(pk=invitation.pk, mail_at=invitation.mail_at)
    if not unchanged.update(mail_at=until, token_hash=hash_token(token)):
        return  # another worker has just taken it
    # The other invitations also wait, even if this worker dies now.
    _find_due(now).exclude(mail_at=None).update(mail_at=until)
    if _send(invitation, token):
        Invitation.objects.filter(pk=invitation.pk, token_hash=hash_token(token)).update(
            mail_at=None
        )
        Invitation.objects.filter(mail_at=until).update(mail_at=now)


def _find_due(now: datetime) -> QuerySet[Invitation]:
    """Find the invitations to send now.

    The operator's invitations to one address share an email. If the invitation that was sent is
    withdrawn, or its survey is deleted, another of these invitations is sent.
    """
    # A time too far in the future was stored before the clock was set back.
    due = Q(mail_at__lte=now) | Q(mail_at__gt=now + 2 * RETRY_AFTER)
    by_operator = Invitation.objects.filter(invited_by=None, address=OuterRef("address"))
    mailed = by_operator.exclude(mail_at=None, token_hash=None)
    unmailed = Q(invited_by=None, mail_at=None, token_hash=None)
    return Invitation.objects.filter(due | (unmailed & ~Exists(mailed)))


def _send(invitation: Invitation, token: str) -> bool:
    number = len(list_accepted_with(invitation))
    one = "a survey" if invitation.survey_id else "the surveys of a team"
    told = {
        "what": one if number < 2 else f"{number} surveys",
        "role": Role(invitation.role).label.lower(),
        "time": VALID_FOR,
        # The link uses PUBLIC_URL, because an attacker could set the host in a request.
        "link": settings.PUBLIC_URL + reverse("surveys:invitation", args=[token]),
    }
    mail = EmailMessage(subject=SUBJECT, body=MESSAGE.format(**told), to=[invitation.address])
    return send_or_log(mail, what="An invitation")
