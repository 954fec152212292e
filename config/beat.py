"""A scheduler for beat that keeps working when the clock is set back.

Celery's own scheduler compares the clock with the time at which it last sent each task. If the
clock is set back two hours, that time is two hours ahead, and Celery sends nothing for two hours.
"""

from __future__ import annotations

import logging
from typing import Any

from celery import beat

logger = logging.getLogger(__name__)


class Scheduler(beat.Scheduler):  # type: ignore[misc]  # untyped
    """Treats tasks that were sent in the future, by the new clock, as if they had just been sent.

    Beat notices every change of the clock: its sleep follows a monotonic clock and lasts at most
    until the next sweep.
    """

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        """Send a task; if sending fails, raise the cause itself, which config/logs.py logs once."""
        try:
            return super().apply_async(*args, **kwargs)
        except beat.SchedulingError as error:
            raise (error.__context__ or error) from None

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        ahead = [
            entry for entry in self.schedule.values() if entry.last_run_at > entry.default_now()
        ]
        for entry in ahead:
            entry.last_run_at = entry.default_now()
        if ahead:
            logger.warning("The clock was set back; tasks are scheduled by its new time.")
            self._heap = None  # rebuilt from the schedule, because it holds times of the old clock
        return super().tick(*args, **kwargs)
