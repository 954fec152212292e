"""Tell anyone who asks whether work is late, and tell the operator how late it is.

Work is late once it has been due, or no sweep has run, for LATE_SECONDS. This time is never less
than a minute, because while workers keep up, strangers must not see when a survey reached a full
batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from aggregator.models import Upkeep
from aggregator.upkeep.due import find_oldest_due

PATIENCE_SECONDS = 0.5
SHORTEST_SECONDS = 60
# The clocks of two machines may differ a little. A time further ahead is from before a clock was
# set back, and says nothing about the present.
AHEAD_SECONDS = 5


@dataclass(frozen=True, kw_only=True)
class Ages:
    """Seconds since the last sweep, and since the oldest outstanding work became due.

    `swept` is None if no sweep has ended yet, and `due` is None if no work is due.
    """

    swept: float | None
    due: float | None

    @property
    def problem(self) -> str:
        """A sentence about what is late, or an empty string if nothing is."""
        late = max(settings.LATE_SECONDS, SHORTEST_SECONDS)
        if self.swept is None:
            return "No worker has looked for due work yet."
        if min(self.swept, self.due or 0) < -AHEAD_SECONDS:
            return "Work was last looked for, or became due, in the future: check the clocks."
        if self.swept >= late:
            return f"No worker has looked for due work for {self.swept:.0f} seconds."
        if self.due is not None and self.due >= late:
            return f"The oldest due work has been waiting for {self.due:.0f} seconds."
        return ""


def find_ages(*, now: datetime) -> Ages:
    swept = Upkeep.objects.filter(job=Upkeep.Job.SWEEP).values_list("ended_at", flat=True).first()
    return Ages(swept=_age(swept, now), due=_age(find_oldest_due(), now))


def _age(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else (now - moment).total_seconds()


def find_last_verification() -> Upkeep | None:
    return Upkeep.objects.filter(job=Upkeep.Job.VERIFY).first()


def limiter_answers() -> bool:
    limiter = Redis.from_url(
        settings.LIMITER_URL,
        socket_connect_timeout=PATIENCE_SECONDS,
        socket_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 1),
    )
    try:
        return bool(limiter.ping())
    except (RedisError, OSError):
        return False
    finally:
        limiter.close()
