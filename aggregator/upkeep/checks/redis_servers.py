"""The settings that the two Redis servers, the broker and the limiter, must have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core.checks import CheckMessage

from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge

PATIENCE_SECONDS = 5
# The releases of July 2026, which fix earlier faults and no longer let anyone who has the password
# run code. A release series that is missing here has ended or is newer.
LEAST_VERSIONS = {
    "Redis": ((6, 2, 23), (7, 2, 15), (7, 4, 10), (8, 2, 8), (8, 4, 5), (8, 6, 5), (8, 8, 1)),
    "Valkey": ((7, 2, 14), (8, 0, 10), (8, 1, 9), (9, 0, 5), (9, 1, 1)),
}
BROKER_SETTINGS = {"maxmemory-policy": "noeviction"}
MEMORY_ONLY = {"save": "", "appendonly": "no"}
_EVICTED = "when memory runs low, messages are lost and work waits for the next sweep."
_DATED = "messages are written to a disk in the order in which batches were sealed."
_PERSISTED = (
    "counters per address are written to a disk, together with the key that hides the addresses."
)


def check_redis() -> Iterator[CheckMessage]:
    servers = {
        "broker": _Server(settings.REDIS_URL, "REDIS_URL"),
        "limiter": _Server(settings.LIMITER_URL, "LIMITER_URL"),
    }
    for name, server in servers.items():
        if server.failure:
            yield from _judge_reach(name, server)
            continue
        if name == "broker":
            yield from _judge_settings(name, server, wanted=BROKER_SETTINGS, meaning=_EVICTED)
        kept = _DATED if name == "broker" else _PERSISTED
        yield from _judge_settings(name, server, wanted=MEMORY_ONLY, meaning=kept)
        yield from judge_version(name, *server.version)
    if not any(server.failure for server in servers.values()):
        yield from _judge_apart(servers["broker"].identity, servers["limiter"].identity)


def _judge_reach(name: str, server: _Server) -> list[CheckMessage]:
    return judge(
        messages.REDIS_REACH,
        f"the {name} cannot be used",
        good=False,
        meaning=f"{server.failure} Its settings were not checked.",
        remedy=f"start it, or correct {server.variable}; then run this again.",
    )


def _judge_apart(broker: str | None, limiter: str | None) -> list[CheckMessage]:
    known = broker is not None and limiter is not None
    return judge(
        messages.REDIS_APART,
        f"REDIS_URL and LIMITER_URL {'point' if known else 'may point'} to the same Redis",
        good=broker != limiter if known else None,
        meaning="emptying or persisting one also empties or persists the other.",
        remedy="start a second redis-server and set LIMITER_URL to it.",
    )


class _Server:
    """One Redis server: the reason why it is unusable, or its version, settings and identity."""

    def __init__(self, url: str, variable: str) -> None:
        self.variable = variable
        client = redis.Redis.from_url(
            url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS
        )
        with client:
            self.failure = _find_failure(client)
            if not self.failure:
                self.identity = _read_identity(client, url)
                self.settings = _read_settings(client)
                self.version = _read_version(client)


def _find_failure(client: Any) -> str:
    try:
        client.ping()
    except redis.RedisError as error:
        return f"{str(error).rstrip('.')}."
    return ""


def _judge_settings(
    name: str, server: _Server, *, wanted: Mapping[str, str], meaning: str
) -> Iterator[CheckMessage]:
    for key, value in wanted.items():
        shown = None if server.settings is None else server.settings.get(key)
        if shown is None:
            good, told = None, "?"
            remedy = "allow the user +config|get in the ACL file."
        else:
            good, told = shown == value, shown or '""'
            remedy = f"redis-cli CONFIG SET {key} '{value}', and set the same in its redis.conf."
        yield from judge(
            messages.REDIS_SETTING,
            f"{name}: {key} = {told}",
            good=good,
            meaning=meaning,
            remedy=remedy,
        )


def judge_version(name: str, product: str, version: str) -> list[CheckMessage]:
    """Warn about an old server; `version` is empty if it is unknown."""
    versions = LEAST_VERSIONS[product]
    least = ", ".join(".".join(map(str, numbers)) for numbers in versions)
    return judge(
        messages.REDIS_VERSION,
        f"{name}: {product} {version}",
        # This is only a warning, because distributions patch a version without changing its number.
        good=True if _is_new_enough(version, versions) else None,
        meaning="this version has known vulnerabilities, unless your distribution has fixed them.",
        remedy=f"install one of {least}, a newer one, or your distribution's newest package.",
    )


def _is_new_enough(version: str, versions: tuple[tuple[int, ...], ...]) -> bool:
    if not version:
        return True
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    return numbers[:2] > versions[-1][:2] or any(
        numbers[:2] == least[:2] and numbers >= least for least in versions
    )


def _read_version(client: Any) -> tuple[str, str]:
    """Return the product and its version."""
    try:
        found = client.info("server")
    except redis.RedisError:
        return "Redis", ""
    if "valkey_version" in found:  # Valkey also states a compatible version of Redis
        return "Valkey", str(found["valkey_version"])
    return "Redis", str(found.get("redis_version", ""))


def _read_identity(client: Any, url: str) -> str | None:
    """Return the server's run id with the number of the database."""
    try:
        return f"{client.info('server')['run_id']}{urlsplit(url).path.rstrip('/') or '/0'}"
    except redis.RedisError:
        return None


def _read_settings(client: Any) -> dict[str, str] | None:
    """Return all settings, or None if the server is down or its access list forbids CONFIG."""
    try:
        shown = client.config_get("*")
    except redis.RedisError:
        return None
    return {_text(key): _text(value) for key, value in shown.items()}


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
