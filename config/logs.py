"""What is logged and how: no secrets that an address can contain, no moments of respondents."""

from __future__ import annotations

import logging
import re

# Django logs the addresses of requests that it refuses or that fail. Anyone who reads this one can
# set a new password.
_RESET_LINK = re.compile(r"(/reset/+key/+)[^/\s]+")
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
