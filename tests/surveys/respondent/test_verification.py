"""What an expert finds when comparing a server with this release."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from config.headers import headers_for
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, save_translation
from surveys.manifest.languages import NAMES, list_texts, read_words
from surveys.models import Survey, Wave
from surveys.models.stored_texts import compress as pack
from surveys.respondent.client_files import client_files, page_script
from surveys.respondent.fetching import FILE, LARGEST_BYTES, PAGE, Unreadable
from surveys.respondent.page import render_questions
from surveys.respondent.single_page import build_check_page, build_single_page
from surveys.respondent.verification import Finding, check_client
from tests.support.factories import make_launched_survey, make_survey, open_survey

pytestmark = pytest.mark.django_db
Change = Callable[[str, httpx.Response], httpx.Response]
OUR_POLICY = PAGE["Content-Security-Policy"]


def find_path(where: str) -> str:
    """Return the URL of the file with this name; return any other text unchanged."""
    return client_files()[where].url if where in client_files() else where


def as_it_is(path: str, response: httpx.Response) -> httpx.Response:
    return response


def fetch(path: str, languages: str) -> tuple[int, dict[str, str], bytes]:
    found = Client().get(path, headers={"host": "localhost", "accept-language": languages})
    return found.status_code, dict(found.headers), found.content


# The files of this release are the same for every survey, so they are fetched once for all tests.
FILES = {file.url for file in client_files().values()}
fetch_file = cache(fetch)


def server(change: Change = as_it_is) -> httpx.MockTransport:
    """Serve this release with its headers; a malicious host applies `change` to each reply."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = str(request.url.raw_path, "ascii")
        reply_to = fetch_file if path in FILES else fetch
        status, headers, content = reply_to(path, request.headers.get("accept-language", ""))
        headers = {**headers, **headers_for(request.url.path)}
        sent = change(path, httpx.Response(status, headers=headers, content=content))
        # The body has not been read yet, as in a reply from a network.
        stream = httpx.ByteStream(sent.content)
        return httpx.Response(sent.status_code, headers=sent.headers, stream=stream)

    return httpx.MockTransport(answer)


def replacing(where: str, old: bytes, new: bytes) -> Change:
    where = find_path(where)

    def change(path: str, response: httpx.Response) -> httpx.Response:
        if not path.endswith(where):
            return response
        assert old in response.content
        content = response.content.replace(old, new)
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    return change


def setting(where: str, header: str, value: str) -> Change:
    where = find_path(where)

    def change(path: str, response: httpx.Response) -> httpx.Response:
        if path.endswith(where):
            response.headers[header] = value
        return response

    return change


def address(wave: Wave, ending: str = "") -> str:
    return f"http://localhost/s/{wave.survey.slug}{ending}"


def problems(url: str, change: Change = as_it_is) -> list[Finding]:
    return [one for one in check_client(url, transport=server(change)) if one.problem]


@pytest.mark.parametrize("language", ["", "/en"])
def test_a_server_with_this_release_matches_in_everything(language: str) -> None:
    wave = make_launched_survey(quick_exit=True)
    findings = list(check_client(address(wave, language), transport=server()))
    assert [finding for finding in findings if finding.problem] == []
    said = "\n".join(map(str, findings))
    for name in ("manifest", "the page", "checking", "one file", "leads", *client_files()):
        assert name in said


def test_a_page_that_names_other_surveys_or_a_rehearsal_matches_too() -> None:
    wave = make_launched_survey()
    make_launched_survey(owner=wave.survey.owner, title="Once more")
    assert problems(address(wave)) == []
    for number in (b"2", b"01"):
        change = replacing(wave.survey.slug, b'elsewhere="1"', b'elsewhere="' + number + b'"')
        assert problems(address(wave), change)[0].what.startswith("the page")
    Survey.objects.update(rehearsal=True)
    assert problems(address(wave)) == []


def test_a_page_that_says_fewer_other_surveys_than_the_manifest_is_found() -> None:
    first = make_launched_survey()
    for _ in range(2):
        wave = make_launched_survey(owner=first.survey.owner)
    assert wave.description.asked_elsewhere == 2
    assert problems(address(wave)) == []
    fewer = replacing(wave.survey.slug, b"asked in 2 other", b"asked in 1 other")
    added = replacing(wave.survey.slug, b' data-mode="', b' data-elsewhere="1" data-mode="')
    for change in (fewer, added):
        assert problems(address(wave), change)


@pytest.mark.parametrize(
    ("where", "old", "new", "found"),
    [
        ("", b"</head>", b"<script src='/evil.js'></script></head>", "the page"),
        ("", b"with the database cannot", b"with the database could", "the page"),
        ("page.js", b"const DRAWS=100;", b"const DRAWS=101;", "page.js"),
        ("randomize.js", b"kept*symbol", b"symbol", "randomize.js"),
        (".json", b'"wave":1', b'"wave":2', "manifest"),
        ("page.html?lang=en", b"connect-src data:", b"connect-src *", "the page as one file"),
        ("check?lang=en", b"</head>", b"<script src='/evil.js'></script></head>", "the page for"),
        ("self-test.js", b"60_000", b"6_000", "self-test.js"),
        ("source/self-test.js", b"60_000", b"6_000", "source/self-test.js"),
        ("source/report/rules.js", b"!isDrawn", b"isDrawn", "source/report/rules.js"),
    ],
)
def test_whatever_a_host_changes_is_found(where: str, old: bytes, new: bytes, found: str) -> None:
    wave = make_launched_survey()
    [finding, *_] = problems(address(wave), replacing(where or wave.survey.slug, old, new))
    assert finding.what.startswith(found)


def test_the_script_with_the_parts_of_this_survey_is_compared() -> None:
    survey = make_survey(minimum_age=18)
    add_question(survey=survey, text="How often?", type="scale", minimum=1, maximum=5)
    wave, script = open_survey(survey=survey), page_script(("consent", "scale"))
    found = list(check_client(address(wave), transport=server()))
    assert [finding for finding in found if finding.problem] == []
    assert f"{script.name} {script.integrity}" in [finding.what for finding in found]
    change = replacing(script.url, b"minimum_age", b"minimum_ago")
    [finding] = problems(address(wave), change)
    assert finding.what.startswith(script.name)
    other = page_script(()).url.encode()
    [finding, *_] = problems(address(wave), replacing(wave.survey.slug, script.url.encode(), other))
    assert finding.what.startswith("the page")


@pytest.mark.parametrize(
    ("path", "header", "value"),
    [
        ("", "Content-Security-Policy", OUR_POLICY.replace("connect-src 'self'", "connect-src *")),
        # If a directive is repeated, browsers obey the first.
        ("", "Content-Security-Policy", f"script-src * 'unsafe-inline'; {OUR_POLICY}"),
        ("", "Content-Security-Policy", f"{OUR_POLICY}; script-src-elem *"),
        ("", "Content-Security-Policy", OUR_POLICY.replace("style-src 'self'", "style-src *")),
        ("", "Content-Security-Policy", f"{OUR_POLICY}; report-uri https://evil.example"),
        ("", "Content-Security-Policy", f"{OUR_POLICY}, default-src 'none'"),
        ("", "Content-Security-Policy", ""),
        ("", "Referrer-Policy", "unsafe-url"),
        ("", "Referrer-Policy", "no-referrer, unsafe-url"),
        ("", "Integrity-Policy", "blocked-destinations=(), endpoints=(all)"),
        ("", "Content-Type", "text/html; charset=utf-7"),
        (".json", "Content-Type", "text/html"),
        ("page.js", "Content-Type", "text/html; charset=utf-8"),
        ("respondent.css", "Content-Type", "text/plain"),
        ("page.html?lang=en", "Content-Disposition", 'attachment; filename="murmur.hta"'),
        ("/check?lang=en", "Content-Security-Policy", f"{OUR_POLICY}; script-src-elem *"),
        ("/en", "Content-Security-Policy", f"{OUR_POLICY}; script-src-elem *"),
        ("page.js", "Content-Security-Policy", ""),
    ],
)
def test_a_header_that_differs_from_ours_is_found(path: str, header: str, value: str) -> None:
    wave = make_launched_survey()
    found = problems(address(wave), setting(path or wave.survey.slug, header, value))
    assert found
    assert all(header.lower() in finding.problem for finding in found)


FOREIGN = [
    *("link", "refresh", "clear-site-data", "content-location", "sourcemap", "x-sourcemap"),
    *("reporting-endpoints", "report-to", "nel", "content-security-policy-report-only"),
    *("service-worker-allowed", "access-control-allow-origin", "set-cookie", "etag"),
    *("speculation-rules", "content-disposition"),
]


@pytest.mark.parametrize("path", ["", "/en", "/check?lang=en", ".json", "self-test.js"])
def test_a_header_that_this_release_never_sends_is_found(path: str) -> None:
    wave = make_launched_survey()

    def add(where: str, response: httpx.Response) -> httpx.Response:
        if where.endswith(path or wave.survey.slug):
            response.headers.update(dict.fromkeys(FOREIGN, "x"))
        return response

    found = problems(address(wave), add)
    assert found
    for finding in found:
        assert finding.problem == "; ".join(f"header {name} is not ours" for name in FOREIGN)


@pytest.mark.parametrize(
    ("path", "header"),
    [
        *((path, header) for path in ("", "/page.html?lang=en") for header in PAGE),
        *(("page.js", header) for header in (*FILE, "Content-Type")),
    ],
)
def test_a_header_that_is_missing_is_found(header: str, path: str) -> None:
    wave = make_launched_survey()

    def remove(where: str, response: httpx.Response) -> httpx.Response:
        if where.endswith(path or wave.survey.slug):
            del response.headers[header]
        return response

    found = problems(address(wave), remove)
    assert found
    assert {finding.problem for finding in found} == {f"header {header.lower()} is missing"}


def test_headers_that_a_proxy_adds_or_repeats_are_not_findings() -> None:
    def repeat(path: str, response: httpx.Response) -> httpx.Response:
        more = [("Server", "nginx"), ("Date", "x"), ("Strict-Transport-Security", "max-age=1")]
        policy = response.headers["Content-Security-Policy"]
        headers = [*response.headers.multi_items(), *more, ("Content-Security-Policy", policy)]
        return httpx.Response(200, headers=headers, content=response.content)

    assert problems(address(make_launched_survey()), repeat) == []


def test_the_expected_policy_is_that_of_the_table() -> None:
    for path in ("/s/abc", "/s/abc/en", "/s/abc/check", "/s/abc/page.html"):
        assert {**headers_for(path), "Content-Type": PAGE["Content-Type"]}.items() >= PAGE.items()
    for path in ("/m/a.json", "/r/1/a"):
        assert headers_for(path).items() >= FILE.items()


def make_translated_survey() -> Wave:
    survey = make_survey(quick_exit=True)
    texts = {
        one.text: f"« {one.text} »"
        for one in list_texts(build_manifest(survey=survey, wave_number=1))
    }
    for language in ("fr", "ar"):
        save_translation(survey=survey, language=language, texts=texts)
    return open_survey(survey=survey)


@pytest.mark.parametrize("language", ["", "/fr"])
def test_all_languages_are_compared(language: str) -> None:
    wave = make_translated_survey()
    findings = list(check_client(address(wave, language), transport=server()))
    assert [finding for finding in findings if finding.problem] == []
    said = [finding.what for finding in findings]
    for name in map(NAMES.get, ("en", "fr", "ar")):
        assert sum(what.endswith(f" in {name}") for what in said) >= 4, (
            "two addresses, to check, and as one file"
        )


@pytest.mark.parametrize(
    "path", ["/en", "/fr", "/ar", "/check?lang=en", "/check?lang=ar", "/page.html?lang=fr"]
)
@pytest.mark.parametrize("given", ["", "/en"])
def test_a_change_in_any_language_is_found(path: str, given: str) -> None:
    wave = make_translated_survey()
    found = problems(address(wave, given), replacing(path, b"</head>", b"<script></script></head>"))
    assert found
    assert all("bytes were sent" in finding.problem for finding in found)


def test_a_change_for_people_who_ask_for_another_language_is_found() -> None:
    wave = make_translated_survey()
    old, new = b'data-language="fr"', b'data-language="fr" onclick="x"'

    def change(path: str, response: httpx.Response) -> httpx.Response:
        if path.endswith(wave.survey.slug) and old in response.content:
            return replacing("", old, new)(path, response)
        return response

    [finding] = problems(address(wave, "/en"), change)
    assert finding.what.startswith(f"the page /s/{wave.survey.slug} ")


def test_words_that_differ_from_the_frozen_ones_are_found() -> None:
    wave = make_translated_survey()
    word = read_words(wave.words["fr"])[wave.survey.title]
    old, new = f'{word}"'.encode(), b'Autre chose"'

    def change(path: str, response: httpx.Response) -> httpx.Response:
        return replacing("", old, new)(path, response) if old in response.content else response

    found = [finding.what for finding in problems(address(wave), change)]
    # Each change is found by Accept-Language, by address, and in the files made from the pages.
    assert len(found) == 8
    assert not any("English" in what for what in found)


def test_a_language_that_the_survey_does_not_have_is_found() -> None:
    wave = make_launched_survey()
    page = render_questions("open", content=bytes(wave.manifest), language="fr", words="")

    def change(path: str, response: httpx.Response) -> httpx.Response:
        if not path.endswith("/fr"):
            return response
        return httpx.Response(200, headers={**PAGE, **headers_for(path)}, content=page)

    [where, which] = problems(address(wave, "/fr"), change)
    assert "these are the questions of" in where.problem
    assert which.problem == "the survey is not in this language"


def test_a_page_of_another_survey_is_found() -> None:
    other, wave = make_launched_survey(), make_launched_survey()
    transport = server()

    def swap(request: httpx.Request) -> httpx.Response:
        url = str(request.url).replace(other.survey.slug, wave.survey.slug)
        return transport.handle_request(httpx.Request("GET", url, headers=request.headers))

    found = [
        one.problem
        for one in check_client(address(other), transport=httpx.MockTransport(swap))
        if one.problem
    ]
    assert found == [f"these are the questions of /s/{wave.survey.slug}"]


def test_an_exit_that_the_survey_does_not_have_is_found() -> None:
    wave = make_launched_survey(quick_exit=False)
    content, evil = bytes(wave.manifest), "https://evil.example/"
    asking = render_questions("open", content=content, language="en", words="", exit_url=evil)
    made = {"language": "en", "words": "", "origin": "http://localhost/", "exit_url": evil}
    pages = {
        "": asking,
        "/en": asking,
        "/check?lang=en": build_check_page(content, **made),
        "/page.html?lang=en": build_single_page(content, **made),
    }

    def change(path: str, response: httpx.Response) -> httpx.Response:
        page = pages.get(path.removeprefix(f"/s/{wave.survey.slug}"), response.content)
        return httpx.Response(200, headers=response.headers, content=page)

    found = problems(address(wave), change)
    assert len(found) == 5, "what was given, and each page"
    assert all("bytes were sent" in finding.problem for finding in found)


@pytest.mark.parametrize("others", [0, 3])
def test_how_many_other_surveys_ask_the_same_is_reported(others: int) -> None:
    wave = make_launched_survey()
    for _ in range(others):
        make_launched_survey(owner=wave.survey.owner)
    findings = list(check_client(address(wave), transport=server()))
    assert [finding for finding in findings if finding.problem] == []
    assert f"“asked in {others} other surveys of this author”" in {one.what for one in findings}


def test_a_number_of_other_surveys_that_is_not_on_every_page_is_found() -> None:
    wave = make_launched_survey()
    make_launched_survey(owner=wave.survey.owner)
    hidden = replacing(wave.survey.slug, b' data-elsewhere="1"', b"")
    assert problems(address(wave), hidden)
    with pytest.raises(Unreadable):
        problems(address(wave), replacing(wave.survey.slug, b'elsewhere="1"', b'elsewhere="x"'))


def test_the_exit_address_is_the_hosts_choice_and_is_reported() -> None:
    wave = make_launched_survey(quick_exit=True)
    transport = server()

    def answer(request: httpx.Request) -> httpx.Response:
        with override_settings(EXIT_URL="https://weather.example/?a&b"):
            return transport.handle_request(request)

    findings = list(check_client(address(wave), transport=httpx.MockTransport(answer)))
    assert [finding for finding in findings if finding.problem] == []
    assert any("leads to https://weather.example/?a&b" in finding.what for finding in findings)


@pytest.mark.parametrize(
    ("ending", "words"),
    [("/check", "not a page that asks questions"), ("/nothing", "answered 404")],
)
def test_an_address_that_cannot_be_compared_is_reported(ending: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        list(check_client(address(make_launched_survey(), ending), transport=server()))


def test_a_redirect_is_not_followed() -> None:
    def redirect(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"Location": "https://example.org/s/abc"})

    with pytest.raises(Unreadable, match="answered 302"):
        list(check_client("http://localhost/s/a", transport=httpx.MockTransport(redirect)))


def check_bytes(content: bytes | Iterator[bytes], **headers: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        parts = iter([content]) if isinstance(content, bytes) else content
        return httpx.Response(200, headers=headers, content=parts)

    list(check_client("http://localhost/s/a", transport=httpx.MockTransport(answer)))


def test_a_reply_that_is_too_large_is_not_read_to_its_end() -> None:
    sizes: list[int] = []

    def send() -> Iterator[bytes]:
        for _ in range(10_000):
            sizes.append(50_000)
            yield bytes(50_000)

    with pytest.raises(Unreadable, match="larger than any of our files"):
        check_bytes(send())
    assert sum(sizes) <= LARGEST_BYTES + 50_000


def test_a_reply_that_unpacks_to_too_much_is_not_unpacked() -> None:
    bomb = pack(bytes(100_000_000))
    assert len(bomb) < LARGEST_BYTES
    tracemalloc.start()
    with pytest.raises(Unreadable, match="larger than any of our files"):
        check_bytes(bomb, **{"Content-Encoding": "gzip"})
    assert tracemalloc.get_traced_memory()[1] < 10 * LARGEST_BYTES
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        (b"no gzip", "gzip", "cannot be unpacked"),
        (pack(b"a page")[:-3], "gzip", "cannot be unpacked"),
        (pack(b"a page") + pack(b"<script>"), "gzip", "cannot be unpacked"),
        (b"a page", "br", "not asked for"),
        (pack(pack(b"a page")), "gzip, gzip", "not asked for"),
    ],
)
def test_a_reply_that_browsers_may_unpack_differently_is_refused(
    content: bytes, encoding: str, words: str
) -> None:
    with pytest.raises(Unreadable, match=words):
        check_bytes(content, **{"Content-Encoding": encoding})


def test_compressed_answers_are_compared() -> None:
    wave = make_launched_survey()
    transport = server()

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "gzip"
        sent = transport.handle_request(request)
        headers = {**sent.headers, "Content-Encoding": "gzip"}
        stream = httpx.ByteStream(pack(sent.read()))
        return httpx.Response(200, headers=headers, stream=stream)

    findings = list(check_client(address(wave), transport=httpx.MockTransport(answer)))
    assert [finding for finding in findings if finding.problem] == []


@pytest.mark.parametrize("key", ["survey", "language"])
def test_a_manifest_that_names_something_impossible_is_refused(key: str) -> None:
    def change(path: str, response: httpx.Response) -> httpx.Response:
        if not path.endswith(".json"):
            return response
        content = json.dumps({**response.json(), key: "../evil"}).encode()
        return httpx.Response(200, headers=response.headers, content=content)

    with pytest.raises(Unreadable, match="impossible survey or language"):
        problems(address(make_launched_survey()), change)


def send_instead(content: bytes) -> Change:
    """Replace the manifest with this content."""

    def change(path: str, response: httpx.Response) -> httpx.Response:
        if not path.startswith("/m/"):
            return response
        return httpx.Response(200, headers=response.headers, content=content)

    return change


def check_manifest(wave: Wave, content: bytes) -> None:
    with pytest.raises(Unreadable, match="This release cannot read its manifest"):
        problems(address(wave), send_instead(content))


YES_NO = [{"code": 1, "text": "Yes"}, {"code": 0, "text": "No"}]


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 0},
        {"threshold": 2**32},
        {"threshold": -1},
        {"threshold": "x"},
        {"threshold": None},
        {"threshold": []},
        {"threshold": 0.5},
        {"options": []},
        {"options": [7]},
        {"options": [{"code": 1}]},
        {"options": YES_NO[:1]},
        {"rule": {"name": "q9", "is": [1]}},
        {"rule": {"all": [{"name": "q9", "is": [1]}]}},
        {"rule": "x"},
        {"rule": 7},
        {"flips": "x"},
        {"flips": 99},
        {"type": "scale"},
        {"type": []},
        {"name": ["q1"]},
    ],
)
def test_a_manifest_with_an_impossible_question_is_refused(change: dict[str, Any]) -> None:
    wave = make_launched_survey()
    raw = json.loads(bytes(wave.manifest))
    raw["questions"][0] |= change
    check_manifest(wave, json.dumps(raw).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"drawn": "x"},
        {"drawn": 0},
        {"display_minimum": "x"},
        {"display_minimum": None},
        {"translations": ["fr"]},
        {"translations": 7},
        {"translations": None},
        {"questions": 7},
        {"questions": None},
        {"opens": 7},
        {"closes": "soon"},
        {"format": 2},
    ],
)
def test_an_impossible_manifest_is_refused(change: dict[str, Any]) -> None:
    wave = make_launched_survey()
    check_manifest(wave, json.dumps(json.loads(bytes(wave.manifest)) | change).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b"\xff",
        b"[" * 100_000,
        b'{"format":' * 100_000,
        b'{"format":' + b"9" * 10_000 + b"}",
    ],
    ids=["empty", "null", "list", "number", "bytes", "deep", "deeper", "long"],
)
def test_a_reply_that_is_not_a_manifest_is_refused(content: bytes) -> None:
    check_manifest(make_launched_survey(), content)


def test_a_manifest_at_an_impossible_address_is_refused() -> None:
    wave = make_launched_survey()
    change = replacing(wave.survey.slug, b'data-manifest="/', b'data-manifest="http://[/')
    with pytest.raises(Unreadable, match="This release cannot read its manifest"):
        problems(address(wave), change)


def test_the_command_fails_if_something_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    same, other = Finding(what="page.js"), Finding(what="the page", problem="its length")
    monkeypatch.setattr(
        "surveys.management.commands.verify_client.check_client", lambda url: iter([same])
    )
    call_command("verify_client", "http://localhost/s/abc")
    assert "The server sends what this release would send." in capsys.readouterr().out
    monkeypatch.setattr(
        "surveys.management.commands.verify_client.check_client", lambda url: iter([same, other])
    )
    with pytest.raises(CommandError, match="Differences from this release: 1"):
        call_command("verify_client", "http://localhost/s/abc")


def test_a_server_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(Unreadable, match="cannot be reached"):
        list(check_client("http://localhost/s/a", transport=httpx.MockTransport(refuse)))
