"""The limiter for pages, which Django answers in threads.

It uses the same counters and the same temporary key, so forms and scripts from one network count
together. Without Redis, all pages of a process share one cap.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest
from redis import Redis
from redis.exceptions import RedisError

from accounts.networks import UNKNOWN, network_of_request
from aggregator.intake.limiter import (
    AWAY_SECONDS,
    COUNT,
    KEY_LIFETIME_SECONDS,
    KEY_NAME,
    PATIENCE_SECONDS,
    TokenBucket,
    describe_reports,
    network_to_limit,
)

logger = logging.getLogger(__name__)


class PageLimiter:
    """Few pages are sent, so the key is read each time."""

    def __init__(self, url: str, *, per_minute: int, per_second: int) -> None:
        self._per_minute = per_minute
        self._redis = Redis.from_url(
            url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS
        )
        self._count = self._redis.register_script(COUNT)
        self._away_until = 0.0
        self._all = TokenBucket(per_second=per_second)
        self._one_at_a_time = threading.Lock()

    def admit(self, network: bytes) -> int:
        """Return 0, or the number of seconds after which to send the page again."""
        now = time.monotonic()
        if network != UNKNOWN and now >= self._away_until:
            try:
                return self._count_in_redis(network)
            except (RedisError, OSError) as error:
                logger.warning("limiter unreachable (%s): one cap for all", type(error).__name__)
                self._away_until = now + AWAY_SECONDS
        with self._one_at_a_time:
            return self._all.wait_for_one(now)

    def _count_in_redis(self, network: bytes) -> int:
        with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.set(KEY_NAME, secrets.token_bytes(32), nx=True, ex=KEY_LIFETIME_SECONDS)
            pipeline.get(KEY_NAME)
            _, key = pipeline.execute()
        keys, args = describe_reports([network], key=bytes(key), per_minute=self._per_minute)
        (wait,) = self._count(keys=keys, args=args)
        return int(wait)


@lru_cache(maxsize=1)
def _limiter() -> PageLimiter:
    return PageLimiter(
        settings.LIMITER_URL,
        per_minute=settings.REPORTS_PER_MINUTE,
        per_second=settings.REPORTS_PER_SECOND,
    )


def seconds_to_wait(request: HttpRequest) -> int:
    """Return 0 if this sender may send now, otherwise the number of seconds to wait."""
    network = network_to_limit(network_of_request(request))
    if network is None or settings.REPORTS_PER_MINUTE == 0:
        return 0
    return _limiter().admit(network)
