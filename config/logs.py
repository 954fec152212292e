"""What is logged and how: no secrets that an address can contain, no moments of respondents."""

from __future__ import annotations

import logging
import re
import time
from threading import Lock

# Django logs the addresses of requests that it refuses or that fail. Anyone who reads this one can
# set a new password.
_RESET_LINK = re.compile(r"(/reset/+key/+)[^/\s]+")
NOT_FOUND = 404
RESPONDENTS_PATHS = ("/s/", "/m/", "/r/")  # as in deploy/nginx.conf


class WithoutResetLinks(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _RESET_LINK.sub(r"\1…", super().format(record))


class WithoutRespondents(logging.Filter):
    """Drops what Django logs of a refused request for a respondent's page.

    It would say when somebody opened a survey, or filled in a form that was incomplete at first.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        path: str = getattr(getattr(record, "request", None), "path", "")
        return record.levelno >= logging.ERROR or not path.startswith(RESPONDENTS_PATHS)


class CountsNotFound(logging.Filter):
    """Counts requests for pages that do not exist; a scanner can send a thousand a second.

    The first one of a minute logs how many came in the last minute that had any.
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
        record.msg = "%d requests of one minute were for pages that do not exist"
        record.args = (before,)
        return before > 0
