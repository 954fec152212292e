"""When work that a worker claims for some time is due: a rule of all rows that are queues."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

UNFINISHED = ("waiting", "running")


def is_due(*, now: datetime, lease: timedelta) -> Q:
    """Match rows that are waiting, and those whose worker let its lease expire."""
    is_free = (
        Q(leased_until__isnull=True)
        | Q(leased_until__lt=now)
        # No lease is this long: the clock was set back since it began.
        | Q(leased_until__gt=now + 2 * lease)
    )
    return is_free & Q(state__in=UNFINISHED)
