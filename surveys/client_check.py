"""Comparing what a server sends to respondents with what this release would send.

The page follows from the manifest and the release, so it is made again here and compared to the
byte; and so is every file that it names. What a server sends to somebody else, or at another
moment, cannot be seen from here.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from surveys.client_files import client_files, client_version
from surveys.languages import NAMES
from surveys.manifest import Manifest, hash_manifest, parse_manifest
from surveys.respondent_page import render_questions
from surveys.single_page import build_single_page

TIMEOUT_SECONDS = 20.0
LARGEST_BYTES = 2_000_000
# Without these a page could be given other code, or send what is chosen somewhere else.
REQUIRED_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison; `problem` is empty where both are the same."""

    what: str
    problem: str = ""

    def __str__(self) -> str:
        return f"differs  {self.what}: {self.problem}" if self.problem else f"same     {self.what}"


class Unreadable(Exception):
    """There is no respondent's page that could be compared."""


def check_client(url: str, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Compare the page at `url` (https://HOST/s/SURVEY) and everything that it runs."""
    with httpx.Client(timeout=TIMEOUT_SECONDS, transport=transport) as client:
        page = _fetch(client, url)
        text = page.text
        data = _read_data(text)
        content = _fetch(client, urljoin(url, data["manifest"])).content
        _read_manifest(content)
        digest = base64.urlsafe_b64encode(hash_manifest(content)).rstrip(b"=").decode()
        same = digest == data["hash"]
        yield Finding(
            what=f"manifest {hash_manifest(content).hex()}",
            problem="" if same else "the page promises another one",
        )
        exit_url = _find_exit(text)
        expected = render_questions(
            data["mode"], content=content, language=data["language"], exit_url=exit_url
        )
        yield Finding(what="the page", problem=_compare(page.content, expected))
        yield Finding(what="its policy", problem=_check_policy(page.headers))
        if exit_url:
            yield Finding(what=f"“Exit this page” leads to {exit_url}")
        yield from _check_files(client, url, text)
        yield _check_single_page(client, url, content, language=data["language"])


def _fetch(client: httpx.Client, url: str) -> httpx.Response:
    try:
        response = client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise Unreadable(f"{url} cannot be reached: {error or type(error).__name__}.") from None
    if response.status_code != httpx.codes.OK:
        raise Unreadable(f"{url} answered {response.status_code}.")
    if len(response.content) > LARGEST_BYTES:
        raise Unreadable(f"{url} is larger than any file of ours.")
    if "set-cookie" in response.headers:
        raise Unreadable(f"{url} sets a cookie, which no page for respondents does.")
    return response


def _read_data(text: str) -> dict[str, str]:
    """What the page tells its scripts."""
    found = re.search(r'<main id="survey" ([^>]*)>', text)
    pairs = re.findall(r'data-(\w+)="([^"]*)"', found[1]) if found else []
    data = {name: html.unescape(value) for name, value in pairs}
    if data.get("mode") not in ("open", "closed") or data.get("language") not in NAMES:
        raise Unreadable(
            "This is no page that asks questions. Give the address that respondents open, such as "
            "https://example.org/s/abcdefghijkm."
        )
    return {"manifest": "", "hash": "", **data}


def _read_manifest(content: bytes) -> Manifest:
    try:
        return parse_manifest(content)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise Unreadable("This release cannot read its manifest.") from None


def _find_exit(text: str) -> str:
    found = re.search(r'<a id="exit" class="exit" href="([^"]*)"', text)
    return html.unescape(found[1]) if found else ""


def _compare(sent: bytes, expected: bytes) -> str:
    if sent == expected:
        return ""
    lines = zip(sent.splitlines(), expected.splitlines(), strict=False)
    number = next((n for n, (one, other) in enumerate(lines, 1) if one != other), None)
    where = f"first in line {number}" if number else "in its length"
    return f"{len(sent):,} bytes were sent, {len(expected):,} are expected; {where}"


def _check_policy(headers: httpx.Headers) -> str:
    policy = headers.get("content-security-policy", "")
    parts = [part.strip().partition(" ") for part in policy.split(";")]
    directives = {name: value for name, _, value in parts}
    wrong = [name for name, value in REQUIRED_POLICY.items() if directives.get(name) != value]
    return f"these directives are not as they must be: {', '.join(wrong)}" if wrong else ""


def _check_files(client: httpx.Client, url: str, text: str) -> Iterator[Finding]:
    """Each file that the page names by an address of its own."""
    for path in dict.fromkeys(re.findall(r'(?:href|src)="(/r/[^"]*)"', text)):
        name = path.rpartition("/")[2]
        file = client_files().get(name)
        if file is None:
            yield Finding(what=path, problem="this release has no such file")
        else:
            sent = _fetch(client, urljoin(url, path)).content
            yield Finding(what=f"{name} {file.integrity}", problem=_compare(sent, file.content))
    if f"/r/{client_version()}/" not in text:
        yield Finding(what="the version", problem=f"this release is {client_version()}")


def _check_single_page(client: httpx.Client, url: str, content: bytes, *, language: str) -> Finding:
    slug = _read_manifest(content).survey
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}/s/{slug}"
    sent = _fetch(client, f"{base}/page.html?lang={language}").content
    expected = build_single_page(content, language=language, send_url=f"{base}/send")
    return Finding(what="the page as one file", problem=_compare(sent, expected))
