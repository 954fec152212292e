"""Finds the network that a request comes from, for sign-in, password resets, pages and reports.

A network is an IPv4 address or the /64 of an IPv6 address. A household or phone usually has its own
/64 and could use a new address for each request. Many households have a /56 or a /48 and could use
a new /64 each time, so reports are also counted by /56 and by /48.
"""

from __future__ import annotations

import ipaddress
import socket

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = b""
# All values that are not addresses count as one network.
_NO_ADDRESS = b"?"


def find_network(*, client: str, forwarded: str) -> bytes:
    """Return the network of a request, or UNKNOWN.

    `client` is the address of the connection. `forwarded` is the X-Forwarded-For header; several
    headers are joined by commas. A value that is unknown is an empty string.
    """
    # The last entry is from the proxy; the client may have invented the others.
    stated = forwarded.rpartition(",")[2] if settings.BEHIND_PROXY else client
    return network_of(stated)


def network_of_request(request: HttpRequest) -> bytes:
    return find_network(
        client=request.META.get("REMOTE_ADDR", ""),
        forwarded=request.META.get("HTTP_X_FORWARDED_FOR", ""),
    )


def name_network(request: HttpRequest) -> str:
    """Return the network's first address, or "unknown". allauth and axes count attempts by it."""
    network = network_of_request(request)
    if len(network) == 4:
        return socket.inet_ntop(socket.AF_INET, network)
    return socket.inet_ntop(socket.AF_INET6, network + bytes(8)) if len(network) == 8 else "unknown"


def network_of(address: str) -> bytes:
    """Return the network of an address, which may include a port or a zone."""
    written = _without_port(address.strip()).partition("%")[0]
    if not written:
        return UNKNOWN
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            packed = socket.inet_pton(family, written)
        except (OSError, ValueError):
            continue
        if len(packed) == 4:
            return packed
        mapped = ipaddress.IPv6Address(packed).ipv4_mapped
        return packed[:8] if mapped is None else mapped.packed
    return _NO_ADDRESS


def with_wider_networks(network: bytes) -> tuple[bytes, ...]:
    """Return the network and, for IPv6, its /56 and /48, with the narrowest first."""
    return (network, network[:7], network[:6]) if len(network) == 8 else (network,)


def _without_port(address: str) -> str:
    """Remove the port that some proxies append: 192.0.2.1:5678, [2001:db8::1]:5678."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    # Several colons mean an IPv6 address.
    return address.partition(":")[0] if address.count(":") == 1 else address


def is_loopback(network: bytes) -> bool:
    """Return whether a network is this computer (no other address in use shares the /64 of ::1)."""
    return network == bytes(8) or (len(network) == 4 and network[0] == 127)
