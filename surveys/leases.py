"""Uses rows as queues: a worker claims a row for some time, then settles it or puts it back.

The sweep finds every waiting row and every row whose worker let its lease expire. It uses partial
indexes, which hold no settled rows. SQLite uses such an index only if the query contains the same
literal state as the index, so these queries contain the state instead of a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db import models
from django.db.models import F, Q, QuerySet, Value
from django.utils import timezone

UNFINISHED = ("waiting", "running")
MAX_ATTEMPTS = 3


class Literal(Value):
    """A constant word that is written into the statement."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        assert isinstance(self.value, str)
        assert self.value.isalpha()
        return f"'{self.value}'", ()


class Job(models.Model):
    """A row that a worker computes only from other rows, so computing it twice does no harm."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Being computed"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    problem = models.TextField(blank=True)  # a sentence for the researcher
    attempts = models.PositiveSmallIntegerField(default=0)
    # A worker holds the row until this time; afterwards, the row is due again.
    leased_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_settled(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)

    @property
    def was_given_up(self) -> bool:
        """Whether Murmur caused the failure; a failure that the data explain is final."""
        return self.state == self.State.FAILED and self.attempts > MAX_ATTEMPTS


Row = TypeVar("Row", bound=Job)


@dataclass(frozen=True, kw_only=True)
class Queue(Generic[Row]):
    """The queue of all rows of a model."""

    model: type[Row]
    # A lease is longer than any job takes. When it expires, another worker may start.
    lease: timedelta
    # The wait after problems that may be temporary, such as a locked database.
    pause: timedelta

    def find_due(self) -> QuerySet[Row]:
        """Find rows that are waiting and due, or whose worker let its lease expire."""
        due = self._is_due(timezone.now())
        return self.model._default_manager.filter(due).order_by("pk")

    def claim(self, rows: QuerySet[Row], **fresh: int) -> Row | None:
        """Claim the single row in `rows`; return None if it is not due or another worker has it."""
        now = timezone.now()
        claimed = rows.filter(self._is_due(now)).update(
            state=Job.State.RUNNING,
            leased_until=now + self.lease,
            attempts=F("attempts") + 1,
            **fresh,
        )
        return rows.first() if claimed else None  # the row may have been deleted since

    def mine(self, row: Row) -> QuerySet[Row]:
        """Find the row while this attempt holds it, or no row once another has claimed it."""
        return self.model._default_manager.filter(
            pk=row.pk, state=Job.State.RUNNING, attempts=row.attempts
        )

    def renew(self, row: Row, **progress: int) -> None:
        self.mine(row).update(leased_until=timezone.now() + self.lease, **progress)

    def put_back(self, row: Row) -> None:
        until = timezone.now() + self.pause
        self.mine(row).update(state=Job.State.WAITING, leased_until=until)

    def store(self, row: Row, **result: object) -> None:
        self.mine(row).update(state=Job.State.DONE, leased_until=None, **result)

    def fail(self, row: Row, problem: str) -> None:
        self.mine(row).update(state=Job.State.FAILED, leased_until=None, problem=problem)

    def give_up(self, row: Row, problem: str) -> None:
        """Mark the row as failed, but in a way that lets it be tried again."""
        self.mine(row).update(
            state=Job.State.FAILED,
            leased_until=None,
            problem=problem,
            attempts=MAX_ATTEMPTS + 1,
        )

    def try_again(self, row: Row) -> None:
        """Put a row that a worker gave up on back into the queue."""
        if row.was_given_up:
            self.model._default_manager.filter(
                pk=row.pk, state=Job.State.FAILED, attempts__gt=MAX_ATTEMPTS
            ).update(state=Job.State.WAITING, problem="", attempts=0)
            row.state, row.problem, row.attempts = Job.State.WAITING, "", 0

    def _is_due(self, now: datetime) -> Q:
        is_free = (
            Q(leased_until__isnull=True)
            | Q(leased_until__lt=now)
            # No lease is this long unless the clock was set back after the lease began.
            | Q(leased_until__gt=now + 2 * self.lease)
        )
        return is_free & Q(state__in=[Literal(state) for state in UNFINISHED])
