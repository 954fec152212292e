"""docs/inventories.md names every module that uses cryptography, logs, or opens connections."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, get_hasher

from scripts.stack.stack import ROOT
from tests.support.imports import imports_of

PACKAGES = ("config", "privacy", "accounts", "surveys", "aggregator")
INVENTORIES = (ROOT / "docs" / "inventories.md").read_text()
# A section must list every module that imports one of these names, and every script that matches
# the pattern.
CRYPTOGRAPHY = {"hashlib", "hmac", "secrets", "random", "argon2", "cryptography"}
IN_SCRIPTS = {
    "Cryptography": r"crypto\.(getRandomValues|subtle)|\bsha256\(|Math\.random",
    "Connections": r"\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource|importScripts",
}
IN_MODULES = {
    "Cryptography": CRYPTOGRAPHY | {"django.core.signing", "django.utils.crypto"},
    "Logs": {"logging"},
    "Connections": {
        *("socket", "ssl", "smtplib", "urllib.request", "http.client", "httpx", "requests"),
        *("redis", "redis.asyncio", "django.core.mail"),
    },
}


def section_of(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def users_of(title: str) -> set[str]:
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.*")]
    used = set()
    for path in files:
        if path.suffix == ".py" and "migrations" not in path.parts:
            used |= {path} if imports_of(path.read_text()) & IN_MODULES[title] else set()
        elif path.suffix == ".js" and title in IN_SCRIPTS:
            used |= {path} if re.search(IN_SCRIPTS[title], path.read_text()) else set()
    return {str(path.relative_to(ROOT)) for path in used}


@pytest.mark.parametrize("title", IN_MODULES)
def test_every_module_that_belongs_in_an_inventory_is_named_there(title: str) -> None:
    users = users_of(title)
    assert len(users) > 8
    assert {path for path in users if f"`{path}`" not in section_of(INVENTORIES, title)} == set()


def test_imports_are_seen_however_they_are_written() -> None:
    source = "import hashlib, os.path\nfrom django.core import signing\ndef f():\n    import redis"
    assert imports_of(source) >= {"hashlib", "django.core.signing", "redis"}
    assert section_of("\n## A\nx\n## B\ny\n", "A") == "x"


def test_the_parameters_of_password_hashes_are_those_in_use() -> None:
    hasher = get_hasher()
    assert isinstance(hasher, Argon2PasswordHasher)
    lanes = f"{hasher.parallelism} lane" + "s" * (hasher.parallelism > 1)
    used = f"{hasher.time_cost} passes, {hasher.memory_cost // 1024} MiB, {lanes};"
    assert used in section_of(INVENTORIES, "Cryptography")
