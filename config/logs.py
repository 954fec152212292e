"""Logging without secrets from URLs and without the times of respondents' visits."""

from __future__ import annotations

import logging
import re
import time
from threading import Lock

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

# Django logs the URLs of requests that it refuses or that fail. Anyone who reads an emailed link in
# the log could set a new password, confirm someone else's email address or accept an invitation.
_MAILED_LINK = re.compile(r"(/(?:(?:reset|address)/+key|invitations)/+)[^/\s]+")
NOT_FOUND = 404
RESPONDENTS_PATHS = ("/s/", "/m/", "/r/")  # as in deploy/nginx.conf
QUIET_SECONDS = 600
# PostgreSQL's classes of errors that make every statement fail: no connection, no authorization, no
# such database, too few resources (such as a full disk), and shutdown by the operator.
_OUTAGES = ("08", "28", "3D", "53", "57")


class WithoutResetLinks(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _MAILED_LINK.sub(r"\1…", super().format(record))


class WithoutRespondents(logging.Filter):
    """Drops Django's log lines about refused requests for respondents' pages.

    Such a line would reveal when someone opened a survey or sent an incomplete form.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        path: str = getattr(getattr(record, "request", None), "path", "")
        return record.levelno >= logging.ERROR or not path.startswith(RESPONDENTS_PATHS)


class CountsNotFound(logging.Filter):
    """Counts requests for missing pages, because a scanner can send a thousand a second.

    The first such request in a minute logs the count for the most recent earlier minute that had
    such requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._minute = self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) != NOT_FOUND:
            return True
        minute = int(time.monotonic() // 60)
        with self._lock:
            if minute == self._minute:
                self._count += 1
                return False
            before, self._minute, self._count = self._count, minute, 1
        record.msg = "%d requests in one minute were for pages that do not exist"
        record.args = (before,)
        return before > 0


class OutagesOnce(logging.Filter):
    """Logs the cause of an outage in one line, and again every ten minutes while it lasts.

    During an outage every request, task and sweep fails, and their tracebacks would hide the cause.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._told: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if error is None or not _is_outage(error):
            return True
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
        now = time.monotonic()
        with self._lock:
            self._told = {one: at for one, at in self._told.items() if now - at < QUIET_SECONDS}
            if cause in self._told:
                return False
            self._told[cause] = now
        record.msg, record.args = "A server that Murmur needs does not answer: %s", (cause,)
        record.exc_info = record.exc_text = None
        return True


def _is_outage(error: BaseException) -> bool:
    if isinstance(error, OperationalError | InterfaceError):
        # The state is None if the driver had no connection. SQLite's errors lack this attribute.
        state = getattr(error.__cause__, "sqlstate", "none")
        return state is None or state.startswith(_OUTAGES)
    return isinstance(error, BrokerError | RedisConnectionError | RedisTimeoutError)
