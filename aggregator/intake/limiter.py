"""Limiting how many reports one address may send, without storing the address.

Redis counts under an HMAC of the address. The key is random, lives for an hour in a server that
writes nothing to disk, and is then forgotten. Without the key, the counters, which live for a
minute, cannot be traced back by trying all addresses.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Sequence

from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

from accounts.networks import is_loopback

logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
KEY_LIFETIME_SECONDS = 3600
# The key is read again after this time, so that processes soon agree after Redis is emptied.
KEY_FRESH_SECONDS = 10.0
# A limiter that does not answer is not asked again for a while: each attempt would cost time.
PATIENCE_SECONDS = 0.25
AWAY_SECONDS = 2.0
KEY_NAME = "murmur:limiter:key"
PREFIX = b"murmur:reports:"
# Returns 0 for each address that may send, otherwise the number of seconds to wait.
COUNT = """
local waits = {}
for i, key in ipairs(KEYS) do
    local count = redis.call('INCR', key)
    if count == 1 then redis.call('EXPIRE', key, ARGV[1]) end
    if count > tonumber(ARGV[2]) then
        waits[i] = math.max(1, redis.call('TTL', key))
    else
        waits[i] = 0
    end
end
return waits
"""


class Limiter:
    """Counts reports per network and minute in Redis, or all reports together without Redis."""

    def __init__(self, url: str, *, per_minute: int, per_second: int) -> None:
        self._per_minute = per_minute
        self._redis = Redis.from_url(
            url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS
        )
        self._count = self._redis.register_script(COUNT)
        self._key = b""
        self._key_until = 0.0
        self._away_until = 0.0
        self._all = TokenBucket(per_second=per_second)

    async def admit(self, networks: Sequence[bytes]) -> Sequence[int]:
        """Return 0 for each report that may be sent, otherwise the number of seconds to wait."""
        now = time.monotonic()
        if now >= self._away_until:
            try:
                async with asyncio.timeout(4 * PATIENCE_SECONDS):
                    return await self._count_in_redis(networks, now=now)
            except (RedisError, OSError, TimeoutError) as error:
                logger.warning("limiter unreachable (%s): one cap for all", type(error).__name__)
                self._away_until = now + AWAY_SECONDS
                self._key_until = 0.0
        return [self._all.wait_for_one(now) for _ in networks]

    def admit_unknown(self) -> int:
        """Return the same for a report from an unknown network.

        These must not share the limit of one network. They share the cap that applies to everyone
        while the limiter is unreachable.
        """
        return self._all.wait_for_one(time.monotonic())

    async def _count_in_redis(self, networks: Sequence[bytes], *, now: float) -> Sequence[int]:
        if now >= self._key_until:
            self._key = await self._agree_on_key()
            self._key_until = now + KEY_FRESH_SECONDS
        names = [name_counter(network, key=self._key) for network in networks]
        waits: Sequence[int] = await self._count(
            keys=names, args=[WINDOW_SECONDS, self._per_minute]
        )
        return waits

    async def _agree_on_key(self) -> bytes:
        """Return the key that all processes use; the first process draws it."""
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.set(KEY_NAME, secrets.token_bytes(32), nx=True, ex=KEY_LIFETIME_SECONDS)
            pipeline.get(KEY_NAME)
            _, key = await pipeline.execute()
        return bytes(key)

    async def close(self) -> None:
        await self._redis.aclose()


def name_counter(network: bytes, *, key: bytes) -> bytes:
    return PREFIX + hmac.digest(key, network, "sha256")[:16]


class TokenBucket:
    """Admits `per_second` on average, and the same number in one burst."""

    def __init__(self, *, per_second: int) -> None:
        self._rate = float(max(1, per_second))
        self._tokens = self._rate
        self._seen = 0.0

    def wait_for_one(self, now: float) -> int:
        """Take one token and return 0, or return the number of seconds to wait."""
        self._tokens = min(self._rate, self._tokens + (now - self._seen) * self._rate)
        self._seen = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0
        return 1


def network_to_limit(network: bytes) -> bytes | None:
    """Return the network whose reports are counted; None if they are not limited."""
    # Without a proxy, a request from this machine comes from its user.
    return None if is_loopback(network) and not settings.BEHIND_PROXY else network
