"""What an expert's comparison of a server with this release finds, and that it can find."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from config.headers import headers_for
from surveys.client_check import REQUIRED_POLICY, Finding, Unreadable, check_client
from surveys.models import Wave
from tests.surveys.test_respond import make_launched_survey

pytestmark = pytest.mark.django_db
Change = Callable[[str, httpx.Response], httpx.Response]


def as_it_is(path: str, response: httpx.Response) -> httpx.Response:
    return response


def server(change: Change = as_it_is) -> httpx.MockTransport:
    """This release behind its table of headers; `change` is what a malicious host does to it."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        found = Client().get(str(request.url.raw_path, "ascii"), headers={"host": "localhost"})
        headers = {**dict(found.headers), **headers_for(path)}
        content = b"".join(found) if found.streaming else found.content
        return change(path, httpx.Response(found.status_code, headers=headers, content=content))

    return httpx.MockTransport(answer)


def replacing(where: str, old: bytes, new: bytes) -> Change:
    def change(path: str, response: httpx.Response) -> httpx.Response:
        if not path.endswith(where):
            return response
        assert old in response.content
        content = response.content.replace(old, new)
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    return change


def address(wave: Wave, ending: str = "") -> str:
    return f"http://localhost/s/{wave.survey.slug}{ending}"


def problems(url: str, change: Change = as_it_is) -> list[Finding]:
    return [one for one in check_client(url, transport=server(change)) if one.problem]


@pytest.mark.parametrize("language", ["", "/en"])
def test_a_server_of_this_release_is_the_same_in_everything(language: str) -> None:
    wave = make_launched_survey(quick_exit=True)
    findings = list(check_client(address(wave, language), transport=server()))
    assert [finding for finding in findings if finding.problem] == []
    said = "\n".join(map(str, findings))
    for name in ("manifest", "the page", "policy", "page.js", "randomize.js", "one file", "leads"):
        assert name in said


@pytest.mark.parametrize(
    ("where", "old", "new", "found"),
    [
        ("", b"</head>", b"<script src='/evil.js'></script></head>", "the page"),
        ("", b"No. They get a scrambled copy.", b"No. They get nothing.", "the page"),
        ("page.js", b"const DRAWS = 100;", b"const DRAWS = 101;", "page.js"),
        ("randomize.js", b"kept * symbol", b"symbol", "randomize.js"),
        (".json", b'"wave":1', b'"wave":2', "manifest"),
        ("page.html", b"connect-src data:", b"connect-src *", "the page as one file"),
    ],
)
def test_whatever_a_host_changes_is_found(where: str, old: bytes, new: bytes, found: str) -> None:
    wave = make_launched_survey()
    where = where or wave.survey.slug
    [finding, *_] = problems(address(wave), replacing(where, old, new))
    assert finding.what.startswith(found)


def test_a_weaker_policy_is_found() -> None:
    def weaken(path: str, response: httpx.Response) -> httpx.Response:
        response.headers["content-security-policy"] = response.headers[
            "content-security-policy"
        ].replace("connect-src 'self'", "connect-src *")
        return response

    [finding] = problems(address(make_launched_survey()), weaken)
    assert "connect-src" in finding.problem


def test_our_own_policy_holds_all_that_is_required() -> None:
    policy = headers_for("/s/abc")["Content-Security-Policy"]
    assert {f"{name} {value}" for name, value in REQUIRED_POLICY.items()} <= set(policy.split("; "))


@pytest.mark.parametrize(
    ("ending", "words"),
    [("/check", "no page that asks questions"), ("/nothing", "answered 404")],
)
def test_what_cannot_be_compared_is_said(ending: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        list(check_client(address(make_launched_survey(), ending), transport=server()))


def test_a_cookie_is_refused() -> None:
    def set_cookie(path: str, response: httpx.Response) -> httpx.Response:
        response.headers["set-cookie"] = "id=1"
        return response

    with pytest.raises(Unreadable, match="cookie"):
        list(check_client(address(make_launched_survey()), transport=server(set_cookie)))


def test_the_command_fails_where_something_differs(
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
    with pytest.raises(CommandError, match="1 found"):
        call_command("verify_client", "http://localhost/s/abc")


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(Unreadable, match="cannot be reached"):
        list(check_client("http://localhost/s/a", transport=httpx.MockTransport(refuse)))
