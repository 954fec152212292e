"""Reads settings from environment variables, or from files that they name (NAME_FILE).

An invalid setting ends the process with one sentence. Otherwise, Murmur could run with a database
or a key that the operator did not choose, and lose reports.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import environ

Value = TypeVar("Value")
DATABASE = (
    "postgresql://USER:PASSWORD@HOST:5432/NAME or sqlite:////PATH; write special characters of a "
    "password as %XX"
)
REDIS = "redis://USER:PASSWORD@HOST:6379/0 or rediss://…"
EMAIL = "smtp+tls://USER:PASSWORD@HOST:587, smtp+ssl://USER:PASSWORD@HOST:465 or consolemail://"
KEY_BYTES = 32
_URL_SAFE = str.maketrans("-_", "+/")  # both spellings of base64 are accepted
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_FLAGS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def refuse(reason: str) -> NoReturn:
    """End the process; services and commands show the reason without a traceback."""
    raise SystemExit(f"Murmur does not start: {reason}")


class Environment:
    """Typed access to variables. Messages never quote a URL, which may contain a password."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self._variables = variables

    def find(self, name: str) -> str | None:
        """Return a variable, or the single line in the file named by NAME_FILE."""
        plain, path = self._variables.get(name), self._variables.get(f"{name}_FILE")
        if not path:
            return plain
        if plain:
            refuse(f"{name} and {name}_FILE are both set. Remove one of them.")
        try:
            line = Path(path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            refuse(f"{name}_FILE names {path}, which cannot be read: {reason}.")
        if len(line.splitlines()) != 1:
            refuse(f"{name}_FILE names {path}, which must contain one line and no more.")
        return line

    def find_place(self, name: str) -> str:
        """Return where an operator sets a variable: the path of a file, or the variable's name."""
        return self._variables.get(f"{name}_FILE") or name

    def demand(self, *names: str, why: str) -> None:
        for name in names:
            if not self.find(name):
                refuse(f"neither {name} nor {name}_FILE is set. {why}")

    def text(self, name: str, default: str) -> str:
        found = self.find(name)
        return default if found is None else found

    def names(self, name: str, default: list[str]) -> list[str]:
        found = self.find(name)
        return default if not found else [part.strip() for part in found.split(",") if part.strip()]

    def key(self, name: str) -> str:
        """Return 32 bytes in base64, or an empty string if none are set. No message quotes them."""
        found = self.text(name, "").strip()
        return found and self._demand_key(name, found)

    def old_keys(self, name: str) -> list[str]:
        return [self._demand_key(name, each) for each in self.names(name, default=[])]

    def _demand_key(self, name: str, text: str) -> str:
        try:
            size = len(base64.b64decode(text.translate(_URL_SAFE), validate=True))
        except ValueError:
            size = 0
        if size != KEY_BYTES:
            refuse(
                f"{name} must be 32 random bytes in base64, such as the output of `openssl rand "
                "-base64 32`."
            )
        return text

    def flag(self, name: str, default: bool) -> bool:  # positional, like all defaults here
        return self._read(name, default, "true or false", lambda text: _FLAGS[text.lower()])

    def whole(self, name: str, default: int) -> int:
        return self._read(name, default, "a whole number", int)

    def number(self, name: str, default: float) -> float:
        return self._read(name, default, "a number such as 2.5", _finite)

    def log_level(self, name: str, default: str) -> str:
        expected = f"{', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
        return self._read(name, default, expected, lambda text: LEVELS[LEVELS.index(text.upper())])

    def _read(
        self, name: str, default: Value, expected: str, parse: Callable[[str], Value]
    ) -> Value:
        found = (self.find(name) or "").strip()
        if not found:
            return default
        try:
            return parse(found)
        except (KeyError, ValueError):
            refuse(f"{name} must be {expected}, not {found!r}.")

    # For URLs, error messages show only the required form.

    def database(self, name: str, default: str) -> dict[str, Any]:
        def parse(url: str) -> dict[str, Any]:
            found: dict[str, Any] = environ.Env.db_url_config(url)
            return found if found["NAME"] else {}

        return self._parse(name, default, DATABASE, ("postgresql", "postgres", "sqlite"), parse)

    def redis(self, name: str, default: str) -> str:
        def parse(url: str) -> str:
            address = urlsplit(url)
            return url if (address.hostname and address.port != 0) or address.path else ""

        schemes = ("redis", "rediss", "unix", "redis+socket")
        return self._parse(name, default, REDIS, schemes, parse)

    def email(self, name: str, default: str) -> dict[str, Any]:
        def parse(url: str) -> dict[str, Any]:
            found: dict[str, Any] = environ.Env.email_url_config(url)
            return found if found["EMAIL_HOST"] or "smtp" not in url.partition(":")[0] else {}

        return self._parse(name, default, EMAIL, tuple(environ.Env.EMAIL_SCHEMES), parse)

    def _parse(
        self,
        name: str,
        default: str,
        expected: str,
        schemes: tuple[str, ...],
        parse: Callable[[str], Value],
    ) -> Value:
        url = self.find(name) or default
        try:
            found = parse(url) if url.partition(":")[0] in schemes else None
        except ValueError:  # such as a port that is not a number
            found = None
        if not found:
            refuse(f"{name} must have the form {expected}.")
        return found


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number
