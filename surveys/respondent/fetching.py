"""Fetches what a server sends to respondents and compares it with what this release would send.

Headers are compared too, because a header can make a page run, load or report more than the page
alone would.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx

from surveys.respondent import csp

TIMEOUT_SECONDS = 20.0
LARGEST_BYTES = 2_000_000
# Policies are compared word for word. Browsers obey the first of two directives with the same name,
# and they know directives that this release does not use.
PAGE = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": csp.write_policy(csp.CSP),
    **csp.EXTRA,
}
FILE = {
    "Content-Security-Policy": csp.write_policy(csp.NOTHING),
    "Referrer-Policy": "no-referrer",
}
MANIFEST = {"Content-Type": "application/json", **FILE}
# Other headers that are allowed. They control transfer or caching, or they forbid more. Any further
# header is a finding, because it may make a page load, send, report or keep something.
HARMLESS = frozenset(
    {
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "cross-origin-embedder-policy",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
        "date",
        "keep-alive",
        "permissions-policy",
        "server",
        "strict-transport-security",
        "transfer-encoding",
        "vary",
        "x-content-type-options",
        "x-frame-options",
    }
)


class Unreadable(Exception):
    """There is no respondent's page at the URL."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A server's response."""

    url: str
    content: bytes
    headers: httpx.Headers

    @property
    def path(self) -> str:
        return httpx.URL(self.url).raw_path.decode()

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")

    def compare(self, expected: bytes, headers: Mapping[str, str]) -> str:
        """List all differences from what this release would send, or return "" if none exist."""
        return "; ".join(
            filter(None, [_compare(self.content, expected), *self.check_headers(headers)])
        )

    def check_headers(self, headers: Mapping[str, str]) -> Iterator[str]:
        wanted = {name.lower(): value for name, value in headers.items()}
        for name in dict.fromkeys([*wanted, *self.headers]):
            # Browsers use one or all values of a repeated header. Our values contain no commas.
            values = set(self.headers.get_list(name, split_commas=True))
            if name not in wanted:
                if name not in HARMLESS:
                    yield f"header {name} is not ours"
            elif not values:
                yield f"header {name} is missing"
            elif values != {wanted[name]}:
                yield f"header {name} is {self.headers[name]!r}, not {wanted[name]!r}"


def open_client(transport: httpx.BaseTransport | None = None) -> httpx.Client:
    return httpx.Client(
        timeout=TIMEOUT_SECONDS, transport=transport, headers={"Accept-Encoding": "gzip"}
    )


def fetch(client: httpx.Client, url: str, *, language: str = "") -> Reply:
    headers = {"Accept-Language": language} if language else {}
    try:
        with client.stream("GET", url, headers=headers) as response:
            if response.status_code != httpx.codes.OK:
                raise Unreadable(f"{url} answered {response.status_code}.")
            return Reply(url=url, content=_read_body(response), headers=response.headers)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise Unreadable(f"{url} cannot be reached: {error or type(error).__name__}.") from None


def _read_body(response: httpx.Response) -> bytes:
    """Read at most LARGEST_BYTES, because a few bytes can unpack to gigabytes."""
    too_large = Unreadable(f"{response.url} is larger than any of our files.")
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > LARGEST_BYTES:
            raise too_large
    encoding = response.headers.get("content-encoding", "")
    if not encoding:
        return bytes(body)
    if encoding != "gzip":
        raise Unreadable(f"{response.url} is encoded as {encoding!r}, which was not asked for.")
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = unpacking.decompress(body, LARGEST_BYTES)
    except zlib.error:
        raise Unreadable(f"{response.url} cannot be unpacked.") from None
    if len(content) == LARGEST_BYTES:
        raise too_large
    # Browsers differ in how they treat a second part or a missing end.
    if not unpacking.eof or unpacking.unused_data:
        raise Unreadable(f"{response.url} cannot be unpacked.")
    return content


def _compare(sent: bytes, expected: bytes) -> str:
    if sent == expected:
        return ""
    lines = zip(sent.splitlines(), expected.splitlines(), strict=False)
    number = next((n for n, (one, other) in enumerate(lines, 1) if one != other), None)
    where = f"first in line {number}" if number else "in its length"
    return f"{len(sent):,} bytes were sent, {len(expected):,} are expected; {where}"
