"""The Redis cache: only JSON is read from it, so writing to Redis cannot make Murmur run code."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from axes.handlers.proxy import AxesProxyHandler
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from config import settings as product
from tests.support.factories import PASSWORD, make_user
from tests.support.servers import running_redis

LOGIN = "/accounts/login/"


class Payload:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with running_redis("--save", "") as url:
        yield url


@pytest.fixture
def stored(
    redis_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[redis.Redis]:
    """Use the cache settings of production with the Redis server that these tests start."""
    settings.CACHES = {"default": {**product.CACHES["default"], "LOCATION": redis_url}}
    # django-axes keeps using the cache that it found first.
    monkeypatch.setattr(AxesProxyHandler, "implementation", None)
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
        yield client


@contextmanager
def nothing_runs(stored: redis.Redis, folder: Path, *, keys: list[str]) -> Iterator[None]:
    """Put a malicious pickle under these keys, and check afterwards that it did not run."""
    mark = folder / "ran"
    for protocol, key in enumerate(keys):
        stored.set(key, pickle.dumps(Payload(mark), min(protocol, pickle.HIGHEST_PROTOCOL)))
    yield
    assert not mark.exists()


@pytest.mark.parametrize("value", [7, 0, -1, True, 1.5, "text", [1.25, 2.5], {"a": [None]}])
def test_values_come_back_as_they_were_stored(stored: redis.Redis, value: object) -> None:
    cache.set("key", value)
    found = cache.get("key")
    assert (found, type(found)) == (value, type(value))
    assert cache.get_many(["key", "other"]) == {"key": value}


def test_counters_are_integers_of_redis(stored: redis.Redis) -> None:
    assert cache.add("key", 1)
    assert [cache.incr("key") for _ in range(3)] == [2, 3, 4]
    assert stored.get(cache.make_key("key")) == b"4"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_of_an_earlier_release_is_missing(stored: redis.Redis, protocol: int) -> None:
    stored.set(cache.make_key("key"), pickle.dumps([1.5, 2.5], protocol))
    assert cache.get("key", "nothing") == "nothing"
    assert cache.get_many(["key"]) == {}
    cache.set("key", [3.5])
    assert cache.get("key") == [3.5]


def test_a_value_that_nests_too_deeply_is_missing(stored: redis.Redis) -> None:
    stored.set(cache.make_key("key"), b"[" * 100_000)
    assert cache.get("key", "nothing") == "nothing"


def test_a_malicious_pickle_in_the_limiter_runs_nothing(
    stored: redis.Redis, tmp_path: Path
) -> None:
    keys = [cache.make_key(f"key{number}") for number in range(6)]
    with nothing_runs(stored, tmp_path, keys=keys):
        for number in range(6):
            assert cache.get(f"key{number}", "nothing") == "nothing"
        assert cache.get_many([f"key{number}" for number in range(6)]) == {}


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_signing_in_runs_nothing_that_stands_in_the_limiter(
    client: Client, stored: redis.Redis, tmp_path: Path
) -> None:
    make_user("rosa@example.org")
    assert client.post(LOGIN, {"login": "rosa@example.org", "password": "wrong"}).status_code == 200
    keys = [key.decode() for key in stored.scan_iter()]
    assert any("allauth" in key for key in keys)
    assert any("axes" in key for key in keys)
    with nothing_runs(stored, tmp_path, keys=keys):
        answer = client.post(LOGIN, {"login": "rosa@example.org", "password": PASSWORD})
    assert answer.status_code == 302
