"""The network of a request: behind a proxy, and in every spelling of the address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any

import pytest
from allauth.core.internal.ratelimit import get_ip
from axes.helpers import get_client_ip_address
from django.http import HttpRequest
from hypothesis import given
from hypothesis import strategies as st

from accounts.networks import (
    UNKNOWN,
    find_network,
    is_loopback,
    name_network,
    network_of,
    network_of_request,
    with_wider_networks,
)

PROXY = "10.0.0.1"
V4, V6 = "192.0.2.1", "2001:db8::"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("192.0.2.1", V4),
        (" 192.0.2.1\t", V4),
        ("192.0.2.1:5678", V4),
        ("::ffff:192.0.2.1", V4),
        ("::FFFF:c000:201", V4),
        ("[::ffff:192.0.2.1]:5678", V4),
        ("2001:db8::1", V6),
        ("2001:DB8:0:0:ffff::2", V6),
        ("[2001:db8::1]", V6),
        ("[2001:db8::1", V6),
        ("[2001:db8::1]:5678", V6),
        ("2001:db8::1%eth0", V6),
        ("[2001:db8::1%eth0]:5678", V6),
        ("[2001:db8::1%25eth0]:5678", V6),
        ("2001:db8:0:1::1", "2001:db8:0:1::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::"),
    ],
)
def test_an_address_counts_without_port_and_zone_and_ipv6_by_64_bits(
    written: str, address: str
) -> None:
    assert network_of(written) == network_of(address)
    assert name_network(request_from(written)) == address


@pytest.mark.parametrize("written", ["", " ", "[]", "[", ":80", "%eth0"])
def test_no_address_is_unknown(written: str) -> None:
    assert network_of(written) == UNKNOWN
    assert name_network(request_from(written)) == "unknown"


@pytest.mark.parametrize(
    "written",
    [
        *("unknown", "_hidden", "proxy.example", "192.0.2", "192.0.2.256", "0192.0.2.1", "1"),
        *("192.0.2.1/24", "2001:db8::/64", "2001:db8::1::2", "192.0.2.1\x00"),
        *("für=192.0.2.1", "\ud800", "٣.٣.٣.٣", "1" * 100_000, "a:b:c"),
    ],
)
def test_all_that_is_no_address_counts_as_one_network(written: str) -> None:
    assert network_of(written) == network_of("nonsense")
    assert network_of(written) not in (UNKNOWN, network_of(V4))
    assert name_network(request_from(written)) == "unknown"


@given(st.text(max_size=60))
def test_no_text_breaks_it(written: str) -> None:
    assert len(network_of(written)) in (0, 1, 4, 8)
    assert name_network(request_from(written))


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("192.0.2.1", V4),
        ("198.51.100.7, 192.0.2.1", V4),  # the client invented the first address
        ("198.51.100.7,192.0.2.1", V4),  # two headers, joined
        ("unknown, , 192.0.2.1:5678", V4),
        ("192.0.2.1, 2001:db8::1%eth0", V6),
        ("192.0.2.1, nonsense", "unknown"),
        ("192.0.2.1,", "unknown"),
        ("", "unknown"),
        (",,,", "unknown"),
    ],
)
def test_behind_a_proxy_its_own_entry_counts_which_is_the_last(
    forwarded: str, address: str, settings: Any
) -> None:
    settings.BEHIND_PROXY = True
    assert name_network(request_from(PROXY, forwarded=forwarded)) == address


def test_without_a_proxy_the_header_is_ignored(settings: Any) -> None:
    settings.BEHIND_PROXY = False
    assert name_network(request_from(V4, forwarded="198.51.100.7")) == V4


@pytest.mark.parametrize("behind_proxy", [True, False])
@pytest.mark.parametrize("forwarded", ["", "198.51.100.7:80", "2001:db8::1%eth0", "nonsense"])
def test_every_limit_takes_the_same_network(
    behind_proxy: bool, forwarded: str, settings: Any
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    request = request_from("192.0.2.9", forwarded=forwarded)
    assert get_ip(request) == get_client_ip_address(request) == name_network(request)
    in_intake = find_network(client="192.0.2.9", forwarded=forwarded)
    assert network_of_request(request) == in_intake


@pytest.mark.parametrize(
    ("address", "local"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), (V4, False), ("x", False)],
)
def test_this_machine_is_recognized(address: str, local: bool) -> None:
    assert is_loopback(network_of(address)) is local


@given(st.ip_addresses())
def test_wider_networks_contain_narrower_ones_and_none_is_mistaken_for_another(
    address: IPv4Address | IPv6Address,
) -> None:
    networks = with_wider_networks(network_of(str(address)))
    sizes = [8 * len(network) for network in networks]
    assert sizes in ([32], [64, 56, 48])
    if sizes != [32]:
        for network, size in zip(networks, sizes, strict=True):
            assert address in IPv6Network((int.from_bytes(network) << 128 - size, size))


def request_from(address: str, *, forwarded: str | None = None) -> HttpRequest:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = address
    if forwarded is not None:
        request.META["HTTP_X_FORWARDED_FOR"] = forwarded
    return request
