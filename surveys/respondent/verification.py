"""Compares what a server sends to respondents with what this release would send.

The pages depend only on the manifest, its words, the release and a few values from the host. This
module makes the pages again in each of the survey's languages, and compares every byte of the pages
and of their headers. It does the same with every file that the pages name. The pages for coins, for
paper and for handing in a code are not compared, because they differ at each visit. A server's
replies to other people or at other times cannot be seen.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from django.urls import NoReverseMatch, reverse

from surveys.base64url import encode_base64url
from surveys.manifest.languages import NAMES, hash_words, translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import hash_manifest, parse_manifest
from surveys.respondent.client_files import client_files, client_version, page_script, page_style
from surveys.respondent.fetching import FILE, MANIFEST, PAGE, Reply, Unreadable, fetch, open_client
from surveys.respondent.page import render_questions
from surveys.respondent.parts import choose_parts
from surveys.respondent.single_page import build_check_page, build_single_page, describe_download


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison. `problem` is empty if both sides are the same."""

    what: str
    problem: str = ""

    def __str__(self) -> str:
        return f"differs  {self.what}: {self.problem}" if self.problem else f"same     {self.what}"


# Code that uses a manifest can raise any of these if this release would never write the manifest.
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
    """Wrap all code that uses a manifest, because a stranger may have written it."""
    try:
        yield
    except _FAILURES:
        raise Unreadable("This release cannot read its manifest.") from None


def check_client(url: str, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Compare the pages of the survey at `url` (https://HOST/s/SURVEY) and all that they load."""
    with open_client(transport) as client:
        page = fetch(client, url)
        data = _read_data(page)
        with _using_manifest():
            manifest_url = urljoin(url, data["manifest"])
        frozen = fetch(client, manifest_url)
        yield from _check_manifest(url, data, frozen)
        manifest = _read_manifest(frozen.content)
        # The host chooses the URL of the exit. The manifest says whether there is an exit.
        exit_url = _find_exit(page.text) if manifest.quick_exit else ""
        if exit_url:
            yield Finding(what=f"“Exit this page” leads to {exit_url}")
        with _using_manifest():
            elsewhere = int(data["elsewhere"])
            asked = max(manifest.asked_elsewhere, elsewhere)
        # Only the server can count these surveys. The manifest states the number at the launch, and
        # surveys that open later increase this number.
        yield Finding(what=f"“asked in {asked} other surveys of this author”")
        survey = _Survey(
            client=client,
            url=url,
            content=frozen.content,
            exit_url=exit_url,
            asked_elsewhere=elsewhere,
            is_rehearsal="rehearsal" in data,
        )
        yield survey.check_page(page, language=data["language"])
        yield from survey.check_languages()
        yield from _check_files(client, page, choose_parts(manifest, mode=data["mode"]))


def _check_manifest(url: str, data: Mapping[str, str], frozen: Reply) -> Iterator[Finding]:
    """Compare the manifest with the hash in the page, and the page with the manifest."""
    digest = hash_manifest(frozen.content)
    problems = [*frozen.check_headers(MANIFEST)]
    if encode_base64url(digest) != data["hash"]:
        problems.insert(0, "the page promises a different one")
    manifest = _read_manifest(frozen.content)
    addresses = _list_addresses(manifest)
    yield Finding(what=f"manifest {digest.hex()}", problem="; ".join(problems))
    if urlsplit(url).path not in addresses:
        yield Finding(what=url, problem=f"these are the questions of {next(iter(addresses))}")
    if data["language"] not in manifest.languages:
        yield Finding(what=url, problem="the survey is not in this language")


@dataclass(frozen=True, kw_only=True)
class _Survey:
    """The survey whose pages are compared."""

    client: httpx.Client
    url: str
    content: bytes  # of the manifest
    exit_url: str
    asked_elsewhere: int
    is_rehearsal: bool

    def check_languages(self) -> Iterator[Finding]:
        manifest = _read_manifest(self.content)
        words: dict[str, str] = {}
        for path, languages in _list_addresses(manifest).items():
            for language in languages:
                page = fetch(self.client, urljoin(self.url, path), language=language)
                yield self.check_page(page, language=language)
                words[language] = _read_words(page, manifest, language)
        for language in manifest.languages:
            yield from self._check_checking(language=language, words=words[language])

    @_using_manifest()
    def check_page(self, page: Reply, *, language: str) -> Finding:
        expected = render_questions(
            _read_data(page)["mode"],
            content=self.content,
            language=language,
            words=_read_words(page, _read_manifest(self.content), language),
            exit_url=self.exit_url,
            asked_elsewhere=self.asked_elsewhere,
            is_rehearsal=self.is_rehearsal,
        )
        return Finding(
            what=f"the page {page.path} in {NAMES[language]}", problem=page.compare(expected, PAGE)
        )

    def _check_checking(self, *, language: str, words: str) -> Iterator[Finding]:
        """Compare the page for checking the survey's page, and the page as one file."""
        slug, name = _read_manifest(self.content).survey, NAMES[language]
        # The server's own address omits a default port.
        origin = str(httpx.URL(self.url).join("/"))
        made: dict[str, Any] = {
            "language": language,
            "words": words,
            "exit_url": self.exit_url,
            "origin": origin,
            "asked_elsewhere": self.asked_elsewhere,
            "is_rehearsal": self.is_rehearsal,
        }
        check = self._fetch_page("surveys:check", slug, language)
        with _using_manifest():
            expected = build_check_page(self.content, **made)
        yield Finding(
            what=f"the page for checking in {name}", problem=check.compare(expected, PAGE)
        )
        file = self._fetch_page("surveys:single_page", slug, language)
        with _using_manifest():
            expected = build_single_page(self.content, **made)
            headers = {**PAGE, "Content-Disposition": describe_download(slug)}
        yield Finding(
            what=f"the page as one file in {name}", problem=file.compare(expected, headers)
        )

    def _fetch_page(self, name: str, slug: str, language: str) -> Reply:
        path = f"{reverse(name, args=[slug])}?lang={language}"
        return fetch(self.client, urljoin(self.url, path))


def _read_data(page: Reply) -> dict[str, str]:
    """Read the data that the page passes to its scripts."""
    found = re.search(r'<main id="survey" ([^>]*)>', page.text)
    pairs = re.findall(r'data-(\w+)="([^"]*)"', found[1]) if found else []
    data = {name: html.unescape(value) for name, value in pairs}
    if data.get("mode") not in ("open", "closed") or data.get("language") not in NAMES:
        raise Unreadable(
            f"{page.url} is not a page that asks questions. Give the address that respondents "
            "open, such as https://example.org/s/abcdefghijkm."
        )
    return {"manifest": "", "hash": "", "elsewhere": "0", **data}


@_using_manifest()
def _read_manifest(content: bytes) -> Manifest:
    return parse_manifest(content)


@_using_manifest()
def _read_words(page: Reply, manifest: Manifest, language: str) -> str:
    """Read the survey's words from the page, or return "" if the manifest names other words."""
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
    """List the addresses of the survey, each with its possible languages."""
    slug, languages = manifest.survey, manifest.languages
    try:
        return {
            reverse("surveys:respond", args=[slug]): languages,
            **{reverse("surveys:respond_in", args=[slug, code]): [code] for code in languages},
        }
    except NoReverseMatch:
        raise Unreadable("Its manifest names an impossible survey or language.") from None


def _find_exit(text: str) -> str:
    found = re.search(r'<a id="exit" class="exit" href="([^"]*)"', text)
    return html.unescape(found[1]) if found else ""


def _check_files(client: httpx.Client, page: Reply, parts: tuple[str, ...]) -> Iterator[Finding]:
    """Compare all files of this release. An identical page names no other files."""
    if f"/r/{client_version()}/" not in page.text:
        yield Finding(what="the version", problem=f"this release is {client_version()}")
        return
    own = {file.name: file for file in (page_script(parts), page_style(parts))}
    for file in {**own, **client_files()}.values():
        sent = fetch(client, urljoin(page.url, file.url))
        problem = sent.compare(file.content, {"Content-Type": file.content_type, **FILE})
        yield Finding(what=f"{file.name} {file.integrity}", problem=problem)
