"""The public URL of this server, and whether people elsewhere can open a URL."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings

# Names that are never looked up on the Internet (RFC 6761, RFC 6762).
LOCAL_NAMES = ("localhost", "local")


def public_link(path: str) -> str:
    """Return a link to send or print.

    The link uses PUBLIC_URL, because a request may name any of the allowed hosts.
    """
    return f"{settings.PUBLIC_URL}{path}"


def find_local_host(address: str) -> str:
    """Return the host if only this computer or its network can open the URL, otherwise ""."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        is_local = host.rpartition(".")[2] in LOCAL_NAMES
    else:
        is_local = number.is_private or number.is_loopback or number.is_link_local
    return host if is_local else ""
