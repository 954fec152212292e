"""Links that confirm a change of address. They are signed and not stored.

A link names the account, the recipient's mailbox, and the moment of the request. A new request is
made at a different moment, so earlier links stop working.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from django.core import signing
from django.urls import reverse
from django.utils import timezone

from accounts.models import AddressChange

VALID = timedelta(days=1)
_SALT = "accounts.address"


class Side(StrEnum):
    OLD = "old"
    NEW = "new"


def find_change(*, account: int) -> AddressChange | None:
    """Return the change of address requested for an account, if the links are still valid."""
    change = AddressChange.objects.select_related("account").filter(account=account).first()
    # A request from the future is not valid either: if the clock has been set back, the age of the
    # request is unknown.
    is_valid = change is not None and abs(timezone.now() - change.asked_at) < VALID
    return change if is_valid else None


def make_link(change: AddressChange, side: Side) -> str:
    named = [change.account_id, side, change.asked_at.isoformat()]
    return reverse("account_address_confirm", args=[signing.dumps(named, salt=_SALT)])


def read_link(token: str) -> tuple[AddressChange, Side] | None:
    """Return the change and side of a link, or None if the link is forged, used or too old."""
    try:
        account, side, asked_at = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return None
    change = find_change(account=account)
    if change is None or change.asked_at.isoformat() != asked_at:
        return None
    return change, Side(side)
