"""The limit per network stores no addresses; without Redis, one cap applies to everyone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import redis
from django.test import RequestFactory

from accounts.networks import network_of, with_wider_networks
from aggregator.intake import limiter
from aggregator.intake.limiter import Limiter, TokenBucket, network_to_limit
from scripts.stack.stack import free_port, valkey_binary

NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture(scope="module")
def redis_server() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [str(valkey_binary()), *("--port", str(port), "--bind", "127.0.0.1", "--save", "")],
        stdout=subprocess.DEVNULL,
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        client = redis.Redis.from_url(url, retry_on_error=[redis.ConnectionError])
        for _ in range(100):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                subprocess.run(["sleep", "0.05"], check=True)
        client.close()
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def content(redis_server: str) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(redis_server)
    client.flushall()
    yield client
    client.close()


def admit(url: str, *groups: Sequence[str], per_minute: int = 3) -> list[list[int]]:
    asked = Limiter(url, per_minute=per_minute, per_second=2)
    try:
        return [list(asked.admit([network_of(a) for a in group])) for group in groups]
    finally:
        asked.close()


def test_the_limit_holds_across_groups_and_for_each_network_separately(
    redis_server: str, content: redis.Redis
) -> None:
    first, second = admit(redis_server, ["192.0.2.1"] * 2 + ["192.0.2.2"], ["192.0.2.1"] * 2)
    assert first == [0, 0, 0]
    assert second[0] == 0
    assert 1 <= second[1] <= limiter.WINDOW_SECONDS


def test_two_processes_count_together(redis_server: str, content: redis.Redis) -> None:
    assert admit(redis_server, ["192.0.2.1"] * 3) == [[0, 0, 0]]
    ((wait,),) = admit(redis_server, ["192.0.2.1"])
    assert wait > 0


def test_no_address_is_stored_and_everything_expires(
    redis_server: str, content: redis.Redis
) -> None:
    admit(redis_server, ["192.0.2.77", "2001:db8:77::1"])
    names = content.keys("*")
    assert isinstance(names, list)
    assert len(names) == 5  # the key, one counter for IPv4, and three counters for IPv6
    for name in names:
        assert isinstance(name, bytes)
        value = content.get(name)
        assert isinstance(value, bytes)
        for address in ("192.0.2.77", "2001:db8:77::1"):
            for spelling in (address.encode(), *with_wider_networks(network_of(address))):
                assert spelling not in name + value
        assert 0 < int(str(content.ttl(name))) <= limiter.KEY_LIFETIME_SECONDS


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        ("2001:db8:1:2::{:x}", 3),  # addresses of one /64
        ("2001:db8:1:{:02x}::", 12),  # /64s of one /56
        ("2001:db8:1:{:x}00::", 48),  # /56s of one /48
        ("2001:db8:1:{:x}::", 12),
        ("2001:db8:{:x}::", 200),  # /48s
        ("192.0.2.{}", 200),
    ],
)
def test_wider_ipv6_networks_may_send_more_but_not_without_end(
    pattern: str, most: int, redis_server: str, content: redis.Redis
) -> None:
    addresses = [pattern.format(number) for number in range(200)]
    waits = [wait for (wait,) in admit(redis_server, *([address] for address in addresses))]
    assert waits[:most] == [0] * most
    assert all(1 <= wait <= limiter.WINDOW_SECONDS for wait in waits[most:])
    # In one group with other addresses, the result is the same.
    content.flushall()
    mixed = [
        address for pair in zip(addresses, ["192.0.2.1"] * 200, strict=True) for address in pair
    ]
    (waits,) = admit(redis_server, mixed)
    if ":" in pattern:
        assert waits[::2].count(0) == most
        assert waits[1::2].count(0) == 3


def test_one_network_cannot_use_up_what_its_neighbors_may_send(
    redis_server: str, content: redis.Redis
) -> None:
    (flood,) = admit(redis_server, ["2001:db8:1:200::1"] * 1000)
    assert flood.count(0) == 3
    neighbors = [f"2001:db8:1:2{number:02x}::" for number in range(1, 4)]
    assert admit(redis_server, neighbors * 3) == [[0] * 9]
    # The /56 is used up now, but not the /48.
    assert min(admit(redis_server, ["2001:db8:1:2ff::"])[0]) >= 1
    assert admit(redis_server, ["2001:db8:1:300::"] * 3) == [[0] * 3]


def test_counters_that_outlive_a_minute_because_the_clock_was_set_back_start_again(
    redis_server: str, content: redis.Redis
) -> None:
    address = "2001:db8:1:2::"
    assert admit(redis_server, [address] * 4)[0][:3] == [0] * 3
    for name in content.scan_iter("murmur:reports:*"):
        content.expire(name, limiter.WINDOW_SECONDS + 7200)
    assert admit(redis_server, [address] * 3) == [[0] * 3]
    ((wait,),) = admit(redis_server, [address])
    assert 1 <= wait <= limiter.WINDOW_SECONDS


def test_pages_and_programs_of_one_wide_network_count_together(
    redis_server: str, content: redis.Redis, rf: RequestFactory, settings: Any
) -> None:
    settings.LIMITER_URL, settings.REPORTS_PER_MINUTE = redis_server, 3
    (admitted,) = admit(redis_server, [f"2001:db8:1:2{number:02x}::" for number in range(10)])
    limiter.limiter_of_pages.cache_clear()
    try:
        waits = [
            limiter.seconds_to_wait(rf.get("/", REMOTE_ADDR=f"2001:db8:1:2{number:02x}::"))
            for number in range(10, 14)
        ]
    finally:
        limiter.limiter_of_pages.cache_clear()
    assert admitted == [0] * 10
    assert waits[:2] == [0, 0]
    assert min(waits[2:]) >= 1


def test_an_address_counts_under_another_name_once_the_key_has_expired(
    redis_server: str, content: redis.Redis
) -> None:
    admit(redis_server, ["192.0.2.1"])
    before = set(content.keys("murmur:reports:*"))
    content.delete("murmur:limiter:key")
    admit(redis_server, ["192.0.2.1"])
    after = set(content.keys("murmur:reports:*"))
    assert len(after) == 2
    assert before < after


def test_an_emptied_redis_does_not_stop_reports(redis_server: str, content: redis.Redis) -> None:
    asked = Limiter(redis_server, per_minute=3, per_second=2)
    assert asked.admit([network_of("192.0.2.1")] * 3) == [0, 0, 0]
    content.flushall()
    content.script_flush()
    assert asked.admit([network_of("192.0.2.1")]) == [0]
    asked.close()


def test_unknown_senders_share_the_cap_for_all_and_leave_the_others_their_limits(
    redis_server: str, content: redis.Redis
) -> None:
    assert admit(redis_server, ["", "192.0.2.1", ""] * 2) == [[0, 0, 0, 1, 0, 1]]


def test_without_redis_one_cap_applies_to_everyone() -> None:
    ((*waits,),) = admit(NOBODY, [f"192.0.2.{number}" for number in range(5)])
    assert waits == [0, 0, 1, 1, 1]


def test_an_unreachable_redis_is_not_asked_for_every_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_redis = 0

    def refuse(self: Limiter, networks: Sequence[bytes], *, now: float) -> Sequence[int]:
        nonlocal asked_redis
        asked_redis += 1
        raise redis.ConnectionError

    monkeypatch.setattr(Limiter, "_count_in_redis", refuse)
    admit(NOBODY, *[["192.0.2.1"]] * 5)
    assert asked_redis == 1


def test_the_bucket_refills() -> None:
    bucket = TokenBucket(per_second=2)
    assert [bucket.wait_for_one(100.0) for _ in range(3)] == [0, 0, 1]
    assert [bucket.wait_for_one(100.5) for _ in range(2)] == [0, 1]
    assert [bucket.wait_for_one(900.0) for _ in range(3)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("behind_proxy", "address", "limited"),
    [
        (False, "127.0.0.1", False),
        (False, "::1", False),
        (False, "192.0.2.1", True),
        (False, "", True),
        (True, "127.0.0.1", True),
    ],
)
def test_only_the_user_of_this_machine_is_not_limited(
    behind_proxy: bool, address: str, limited: bool, settings: Any
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    network = network_of(address)
    assert network_to_limit(network) == (network if limited else None)
