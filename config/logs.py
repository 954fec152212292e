"""How log lines are written: without the secrets that an address can contain."""

from __future__ import annotations

import logging
import re

# Django logs the addresses of requests that it refuses or that fail. Anyone who reads this one can
# set a new password.
_RESET_LINK = re.compile(r"(/reset/+key/+)[^/\s]+")


class WithoutResetLinks(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _RESET_LINK.sub(r"\1…", super().format(record))
