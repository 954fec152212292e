"""The cache in Redis, which stores JSON.

Django's own serializer unpickles its input, so anyone who can write to this Redis server could run
code in every web process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.cache.backends import redis

_UNREADABLE = object()


class JsonSerializer:
    def dumps(self, obj: Any) -> Any:
        # Redis can increment an integer only if it is stored as one. A bool is not an integer here.
        return obj if type(obj) is int else json.dumps(obj).encode()

    def loads(self, data: Any) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return _UNREADABLE


class JsonClient(redis.RedisCacheClient):
    """Treats a value that is not JSON, such as one pickled by an earlier version, as missing."""

    def get(self, key: Any, default: Any) -> Any:
        value = super().get(key, default)
        return default if value is _UNREADABLE else value

    def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        found = super().get_many(keys)
        return {key: value for key, value in found.items() if value is not _UNREADABLE}


class RedisCache(redis.RedisCache):
    def __init__(self, server: str | list[str], params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = JsonClient
