"""The limiter says how many reports a network may send and when to retry. It stores no addresses.

A report over IPv6 counts toward its /64, its /56 and its /48, and wider networks may send more. A
report counts only if all three are below their limits, so one /64 that sends without end does not
use up the limit of its neighbors.

Redis stores each count under an HMAC of the address. The HMAC's random key is kept for an hour, on
a server that writes nothing to disk. The counters live for a minute. Without the key, nobody can
trace them back by trying all addresses.

The intake and pages share the counters, so one network's reports from forms and from scripts count
together.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
import time
from collections.abc import Sequence
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest
from redis import Redis
from redis.exceptions import RedisError

from accounts.networks import UNKNOWN, is_loopback, network_of_request, with_wider_networks

logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
KEY_LIFETIME_SECONDS = 3600
# The key is read again at this interval, so that all processes soon use the same key if Redis is
# emptied.
KEY_FRESH_SECONDS = 10.0
# If the limiter does not answer, it is not asked again for a while, because each attempt costs
# time.
PATIENCE_SECONDS = 0.25
AWAY_SECONDS = 2.0
KEY_NAME = "murmur:limiter:key"
PREFIX = b"murmur:reports:"
# A /56 may send this many times as many reports as a /64. The same factor applies from /56 to /48.
GROWTH = 4
# KEYS: the counters of each report's networks, the narrowest first. ARGV: the length of the window
# in seconds, the limit of the narrowest network, GROWTH, and each report's number of networks.
# Returns 0 for each report that may be sent, otherwise the number of seconds to wait.
COUNT = """
local waits, first = {}, 1
for report = 4, #ARGV do
    local last, limit, wait = first + ARGV[report] - 1, tonumber(ARGV[2]), 0
    for i = first, last do
        if tonumber(redis.call('GET', KEYS[i]) or 0) >= limit then
            local left = redis.call('TTL', KEYS[i])
            if left < 0 or left > tonumber(ARGV[1]) then
                redis.call('DEL', KEYS[i]) -- the clock was set back since
            else
                wait = math.max(wait, left, 1)
            end
        end
        limit = limit * ARGV[3]
    end
    if wait == 0 then
        for i = first, last do
            if redis.call('INCR', KEYS[i]) == 1 then redis.call('EXPIRE', KEYS[i], ARGV[1]) end
        end
    end
    waits[report - 3], first = wait, last + 1
end
return waits
"""


class Limiter:
    """Counts reports per network and minute in Redis; without Redis, counts all reports together.

    Threads may share a limiter. `admit` takes a round trip, so the event loop calls it in a thread.
    """

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

    def admit(self, networks: Sequence[bytes]) -> Sequence[int]:
        """Return 0 for each report that may be sent, otherwise the number of seconds to wait.

        Reports from unknown networks must not share one network's limit. They share the cap that
        everyone shares while the limiter is unreachable.
        """
        now = time.monotonic()
        known = [network for network in networks if network != UNKNOWN]
        waits = iter(self._admit_known(known, now=now))
        return [
            self._all.wait_for_one(now) if network == UNKNOWN else next(waits)
            for network in networks
        ]

    def _admit_known(self, networks: Sequence[bytes], *, now: float) -> Sequence[int]:
        if networks and now >= self._away_until:
            try:
                return self._count_in_redis(networks, now=now)
            except (RedisError, OSError) as error:
                logger.warning("limiter unreachable (%s): one cap for all", type(error).__name__)
                self._away_until = now + AWAY_SECONDS
                self._key_until = 0.0
        return [self._all.wait_for_one(now) for _ in networks]

    def _count_in_redis(self, networks: Sequence[bytes], *, now: float) -> Sequence[int]:
        if now >= self._key_until:
            self._key = self._agree_on_key()
            self._key_until = now + KEY_FRESH_SECONDS
        counted = [with_wider_networks(network) for network in networks]
        waits: Sequence[int] = self._count(
            keys=[self._name_counter(network) for group in counted for network in group],
            args=[WINDOW_SECONDS, self._per_minute, GROWTH, *map(len, counted)],
        )
        return waits

    def _agree_on_key(self) -> bytes:
        """Return the key that all processes use; the first process draws it."""
        with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.set(KEY_NAME, secrets.token_bytes(32), nx=True, ex=KEY_LIFETIME_SECONDS)
            pipeline.get(KEY_NAME)
            _, key = pipeline.execute()
        return bytes(key)

    def _name_counter(self, network: bytes) -> bytes:
        # Networks of different widths have different lengths, so their counters never share a name.
        return PREFIX + hmac.digest(self._key, network, "sha256")[:16]

    def close(self) -> None:
        self._redis.close()


class TokenBucket:
    """Admits `per_second` requests a second on average, and at most that many in one burst."""

    def __init__(self, *, per_second: int) -> None:
        self._rate = float(max(1, per_second))
        self._tokens = self._rate
        self._seen = 0.0
        self._one_at_a_time = threading.Lock()

    def wait_for_one(self, now: float) -> int:
        """Take one token and return 0, or return the number of seconds to wait."""
        with self._one_at_a_time:
            self._tokens = min(self._rate, self._tokens + (now - self._seen) * self._rate)
            self._seen = now
            if self._tokens >= 1:
                self._tokens -= 1
                return 0
            return 1


def make_limiter() -> Limiter:
    return Limiter(
        settings.LIMITER_URL,
        per_minute=settings.REPORTS_PER_MINUTE,
        per_second=settings.REPORTS_PER_SECOND,
    )


limiter_of_pages = lru_cache(maxsize=1)(make_limiter)


def seconds_to_wait(request: HttpRequest) -> int:
    """Return 0 if this sender may send a form now, otherwise the number of seconds to wait."""
    network = network_to_limit(network_of_request(request))
    if network is None:
        return 0
    (wait,) = limiter_of_pages().admit([network])
    return wait


def network_to_limit(network: bytes) -> bytes | None:
    """Return the network whose reports are counted, or None if they are not limited."""
    # Without a proxy, a request from this machine comes from its user.
    is_user = is_loopback(network) and not settings.BEHIND_PROXY
    return None if is_user or settings.REPORTS_PER_MINUTE == 0 else network
