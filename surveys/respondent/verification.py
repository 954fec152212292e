"""Comparing what a server sends to respondents with what this release would send.

The pages follow from the manifest, its words and the release, so they are made again here, in each
of the survey's languages, and compared to the byte; and so is every file that they name. Headers
count too: with one of them a page can run or tell other things than its bytes say. Not compared are
the pages of coins, on paper and for handing in, which are another for each visit. What a server
sends to somebody else, or at another moment, cannot be seen from here.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx
from django.urls import NoReverseMatch, reverse

from surveys.manifest.base64url import encode_base64url
from surveys.manifest.languages import NAMES, hash_words, translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import hash_manifest, parse_manifest
from surveys.respondent import csp
from surveys.respondent.client_files import client_files, client_version
from surveys.respondent.page import render_questions
from surveys.respondent.single_page import build_check_page, build_single_page, describe_download

TIMEOUT_SECONDS = 20.0
LARGEST_BYTES = 2_000_000
PAGE = {"Content-Type": "text/html; charset=utf-8"}
MANIFEST = {"Content-Type": "application/json"}
# Word for word: browsers take the first of two directives with one name, and know more
# directives than this release names.
POLICY = {"Content-Security-Policy": csp.write_policy(csp.CSP), **csp.EXTRA}
# What may stand beside: it decides how bytes travel, how long they are kept, or forbids more.
# Any other header is a finding, since browsers learn new ones that load, send, report or keep.
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


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison; `problem` is empty where both are the same."""

    what: str
    problem: str = ""

    def __str__(self) -> str:
        return f"differs  {self.what}: {self.problem}" if self.problem else f"same     {self.what}"


class Unreadable(Exception):
    """There is no respondent's page that could be compared."""


# What a description that this release would never write can raise, wherever it is used.
_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextmanager
def _using_manifest() -> Iterator[None]:
    """Around all that is made of a manifest, which a stranger wrote."""
    try:
        yield
    except _FAILURES:
        raise Unreadable("This release cannot read its manifest.") from None


@dataclass(frozen=True, kw_only=True)
class _Sent:
    """What a server answered."""

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
        """All that this release would not send; `headers` are those besides the policy."""
        return "; ".join(
            filter(None, [_compare(self.content, expected), *self.check_headers(headers)])
        )

    def check_headers(self, headers: Mapping[str, str]) -> Iterator[str]:
        wanted = {name.lower(): value for name, value in {**POLICY, **headers}.items()}
        for name in dict.fromkeys([*wanted, *self.headers]):
            # Sent twice, some headers hold together, of others only one does; ours hold no commas.
            values = set(self.headers.get_list(name, split_commas=True))
            if name not in wanted:
                if name not in HARMLESS:
                    yield f"header {name} is not ours"
            elif not values:
                yield f"header {name} is missing"
            elif values != {wanted[name]}:
                yield f"header {name} is {self.headers[name]!r}, not {wanted[name]!r}"


def check_client(url: str, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Compare the pages of the survey at `url` (https://HOST/s/SURVEY) and all that they run."""
    with httpx.Client(
        timeout=TIMEOUT_SECONDS, transport=transport, headers={"Accept-Encoding": "gzip"}
    ) as client:
        page = _fetch(client, url)
        data = _read_data(page)
        with _using_manifest():
            manifest_url = urljoin(url, data["manifest"])
        frozen = _fetch(client, manifest_url)
        content = frozen.content
        manifest = _read_manifest(content)
        addresses = _list_addresses(manifest)
        digest = encode_base64url(hash_manifest(content))
        problems = [] if digest == data["hash"] else ["the page promises another one"]
        problems += frozen.check_headers(MANIFEST)
        yield Finding(what=f"manifest {hash_manifest(content).hex()}", problem="; ".join(problems))
        if urlsplit(url).path not in addresses:
            yield Finding(what=url, problem=f"these are the questions of {next(iter(addresses))}")
        if data["language"] not in manifest.languages:
            yield Finding(what=url, problem="the survey is not in this language")
        # Where it leads is the host's choice; whether it is there is the manifest's.
        exit_url = _find_exit(page.text) if manifest.quick_exit else ""
        if exit_url:
            yield Finding(what=f"“Exit this page” leads to {exit_url}")
        yield _check_page(page, content, language=data["language"], exit_url=exit_url)
        words: dict[str, str] = {}
        for path, languages in addresses.items():
            for language in languages:
                page = _fetch(client, urljoin(url, path), language=language)
                yield _check_page(page, content, language=language, exit_url=exit_url)
                words[language] = _read_words(page, manifest, language)
        for language in manifest.languages:
            yield from _check_checking(
                client,
                url,
                content,
                language=language,
                words=words[language],
                exit_url=exit_url,
            )
        yield from _check_files(client, page)


def _fetch(client: httpx.Client, url: str, *, language: str = "") -> _Sent:
    headers = {"Accept-Language": language} if language else {}
    try:
        with client.stream("GET", url, headers=headers) as response:
            if response.status_code != httpx.codes.OK:
                raise Unreadable(f"{url} answered {response.status_code}.")
            return _Sent(url=url, content=_read_body(response), headers=response.headers)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise Unreadable(f"{url} cannot be reached: {error or type(error).__name__}.") from None


def _read_body(response: httpx.Response) -> bytes:
    """Never more than a file of ours could be: a few bytes unpack to gigabytes."""
    too_large = Unreadable(f"{response.url} is larger than any file of ours.")
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
    # Browsers differ in what they make of a second part, or of none.
    if not unpacking.eof or unpacking.unused_data:
        raise Unreadable(f"{response.url} cannot be unpacked.")
    return content


def _read_data(page: _Sent) -> dict[str, str]:
    """What the page tells its scripts."""
    found = re.search(r'<main id="survey" ([^>]*)>', page.text)
    pairs = re.findall(r'data-(\w+)="([^"]*)"', found[1]) if found else []
    data = {name: html.unescape(value) for name, value in pairs}
    if data.get("mode") not in ("open", "closed") or data.get("language") not in NAMES:
        raise Unreadable(
            f"{page.url} is no page that asks questions. Give the address that respondents open, "
            "such as https://example.org/s/abcdefghijkm."
        )
    return {"manifest": "", "hash": "", **data}


@_using_manifest()
def _read_manifest(content: bytes) -> Manifest:
    return parse_manifest(content)


@_using_manifest()
def _read_words(page: _Sent, manifest: Manifest, language: str) -> str:
    """The survey's words that the page carries; none if the manifest names others."""
    found = re.search(r'<p id="own">([^<]*)</p>', page.text)
    words = html.unescape(found[1]) if found else ""
    if manifest.translations.get(language) != hash_words(words):
        return ""
    try:
        translate_manifest(manifest, language, words)
    except _FAILURES:
        raise Unreadable(f"This release cannot read its words in {NAMES[language]}.") from None
    return words


@_using_manifest()
def _list_addresses(manifest: Manifest) -> dict[str, Iterable[str]]:
    """Where the survey is asked, each with the languages that can come there."""
    slug, languages = manifest.survey, manifest.languages
    try:
        return {
            reverse("surveys:respond", args=[slug]): languages,
            **{reverse("surveys:respond_in", args=[slug, code]): [code] for code in languages},
        }
    except NoReverseMatch:
        raise Unreadable("Its manifest names a survey or a language that cannot be.") from None


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


@_using_manifest()
def _check_page(page: _Sent, content: bytes, *, language: str, exit_url: str) -> Finding:
    expected = render_questions(
        _read_data(page)["mode"],
        content=content,
        language=language,
        words=_read_words(page, _read_manifest(content), language),
        exit_url=exit_url,
    )
    return Finding(
        what=f"the page {page.path} in {NAMES[language]}", problem=page.compare(expected, PAGE)
    )


def _check_checking(
    client: httpx.Client, url: str, content: bytes, *, language: str, words: str, exit_url: str
) -> Iterator[Finding]:
    """The page on which a person checks the other, and the page as one file."""
    made = {"language": language, "words": words, "exit_url": exit_url}
    slug, name = _read_manifest(content).survey, NAMES[language]
    # As the server reads its own address: without a port that goes without saying.
    origin = str(httpx.URL(url).join("/"))
    check = _fetch(
        client, urljoin(url, reverse("surveys:check", args=[slug])) + f"?lang={language}"
    )
    with _using_manifest():
        expected = build_check_page(content, origin=origin, **made)
    yield Finding(what=f"the page for checking in {name}", problem=check.compare(expected, PAGE))
    file = _fetch(
        client, urljoin(url, reverse("surveys:single_page", args=[slug])) + f"?lang={language}"
    )
    with _using_manifest():
        expected = build_single_page(content, origin=origin, **made)
        headers = {**PAGE, "Content-Disposition": describe_download(slug)}
    yield Finding(what=f"the page as one file in {name}", problem=file.compare(expected, headers))


def _check_files(client: httpx.Client, page: _Sent) -> Iterator[Finding]:
    """All files of this release: a page that is the same names no other."""
    if f"/r/{client_version()}/" not in page.text:
        yield Finding(what="the version", problem=f"this release is {client_version()}")
        return
    for file in client_files().values():
        sent = _fetch(client, urljoin(page.url, file.url))
        problem = sent.compare(file.content, {"Content-Type": file.content_type})
        yield Finding(what=f"{file.name} {file.integrity}", problem=problem)
