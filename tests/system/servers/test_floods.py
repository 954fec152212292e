"""A program with many IPv6 addresses sends made-up reports: each network size has a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from scripts.attacks.fuzz.target import Target, running_intake

PER_MINUTE = 5


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Run a web process that treats this test as its proxy."""
    settings = {
        "MURMUR_BEHIND_PROXY": "true",
        "MURMUR_REPORTS_PER_MINUTE": str(PER_MINUTE),
    }
    with running_intake(var=tmp_path_factory.mktemp("floods"), **settings) as target:
        yield target


def flood(target: Target, *, first: int, addresses: list[str]) -> Counter[int]:
    """Send one report from each address, one after another; count the statuses."""
    statuses: Counter[int] = Counter()
    with target.client() as client:
        for number, address in enumerate(addresses, first):
            reply = client.post(
                "/api/reports",
                content=target.body(number),
                headers={"X-Forwarded-For": address},
            )
            statuses[reply.status_code] += 1
            if reply.status_code == 429:
                assert 1 <= int(reply.headers["retry-after"]) <= 60
                assert reply.json()["type"] == "/problems/too-many-requests"
    return statuses


def test_floods_from_a_56_and_a_48_are_refused_and_shut_nobody_else_out(target: Target) -> None:
    of_a_56 = [f"2001:db8:1:{network:02x}::{network + 1:x}" for network in range(256)]
    assert flood(target, first=0, addresses=of_a_56) == {
        201: 4 * PER_MINUTE,
        429: 256 - 4 * PER_MINUTE,
    }
    # A household in another /56 of this /48 can still send.
    assert flood(target, first=1000, addresses=["2001:db8:1:100::1"]) == {201: 1}

    of_a_48 = [f"2001:db8:2:{network * 257:x}::1" for network in range(256)]
    assert flood(target, first=2000, addresses=of_a_48) == {
        201: 16 * PER_MINUTE,
        429: 256 - 16 * PER_MINUTE,
    }
    for number, other in enumerate(["2001:db8:3::1", "192.0.2.1", "2001:db8:1:100::1"], 3000):
        assert flood(target, first=number, addresses=[other]) == {201: 1}
    assert len(target.stored()) == 4 * PER_MINUTE + 16 * PER_MINUTE + 4


def test_one_64_that_never_stops_does_not_shut_its_48(target: Target) -> None:
    endless = ["2001:db8:9:1::1"] * 300
    assert flood(target, first=4000, addresses=endless)[201] == PER_MINUTE
    neighbors = [f"2001:db8:9:{network:x}::1" for network in range(2, 2 + 3 * PER_MINUTE)]
    assert set(flood(target, first=5000, addresses=neighbors)) == {201}
