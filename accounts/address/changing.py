"""Changes the address of an account once its old and its new mailbox have confirmed the change.

Otherwise, anyone at a signed-in computer could take the account over with one form. If
the old mailbox is lost, the operator changes the address.
"""

from __future__ import annotations

from enum import Enum

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit
from accounts.mail.address_links import read_link
from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import AddressChange, User


class Confirmed(Enum):
    INVALID = "invalid"
    HALF = "half"
    DONE = "done"
    TAKEN = "taken"


def ask_for_change(*, user: User, new_email: str) -> None:
    """Send both emails. Only the new mailbox's owner may learn whether its address is taken."""
    with transaction.atomic():
        AddressChange.objects.filter(account=user).delete()
        AddressChange.objects.create(
            account=user, new_email=new_email.lower(), asked_at=timezone.now()
        )
        request_mail(Kind.ADDRESS_OLD, account=user.pk)
        request_mail(Kind.ADDRESS_NEW, account=user.pk)


def cancel_change(user: User) -> None:
    AddressChange.objects.filter(account=user).delete()


def confirm(token: str) -> Confirmed:
    try:
        with transaction.atomic():
            return _confirm(token)
    except IntegrityError:  # another account has just got this address
        return Confirmed.TAKEN


def _confirm(token: str) -> Confirmed:
    found = read_link(token)
    if found is None:
        return Confirmed.INVALID
    _, side = found
    # The row is locked, so that the second of two simultaneous confirmations sees the first.
    change = AddressChange.objects.select_for_update().filter(pk=found[0].pk).first()
    if change is None or change.asked_at != found[0].asked_at:
        return Confirmed.INVALID
    setattr(change, f"{side}_confirmed", True)
    if not (change.old_confirmed and change.new_confirmed):
        change.save()
        return Confirmed.HALF
    if User.objects.filter(email__iexact=change.new_email).exclude(pk=change.account_id).exists():
        change.delete()
        return Confirmed.TAKEN
    User.objects.filter(pk=change.account_id).update(email=change.new_email)
    change.delete()
    audit.record("address-changed", account=change.account_id)
    return Confirmed.DONE
