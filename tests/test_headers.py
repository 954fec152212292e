"""One table of headers applies to pages, errors, static files, the intake and invalid HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
from django.test import override_settings
from django.urls import reverse

from config import urls
from config.asgi import application
from config.headers import DEFAULT_CACHE_CONTROL, TABLE, SecurityHeaders, headers_for
from surveys.base64url import encode_base64url
from surveys.models import DeletedWave
from tests.support.routes import Route, all_routes
from tests.support.waves import make_wave

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
SAMPLES = {
    "slug": "nosuchsurvey", "pk": 1, "digest": "0" * 64, "version": "0" * 16, "name": "x.js",
    "anchor": "x", "uidb36": "1", "token": "x", "key": "set-password", "direction": "up",
    "code": "fr", "language": "en", "question": "q1", "kind": "table", "page": "text",
    "member": 1, "invitation": 1,
}  # fmt: skip


async def _request(method: str, path: str, **options: object) -> httpx.Response:
    transport = httpx.ASGITransport(app=cast(Any, application))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, path, **options)  # type: ignore[arg-type]


def request(method: str, path: str, **options: object) -> httpx.Response:
    return asyncio.run(_request(method, path, **options))


def assert_headers_of_the_table(response: httpx.Response, path: str) -> None:
    for name, value in headers_for(path).items():
        assert response.headers.get_list(name) == [value], (path, name)
    assert len(response.headers.get_list("cache-control")) == 1
    assert "server" not in response.headers


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("route", all_routes(), ids=lambda route: route.name)
def test_every_route_has_the_headers_of_the_table(route: Route, method: str) -> None:
    path = reverse(route.name, kwargs={name: SAMPLES[name] for name in route.parameters})
    response = request(method, path)
    assert response.status_code < 500
    assert_headers_of_the_table(response, path)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/s/nosuchsurvey", 404),
        ("GET", "/api/reports", 405),
        ("POST", "/api/reports", 415),
        ("GET", "/?q=%C3%A9", 200),
        ("GET", "/%00", 404),
        ("GET", "/..%2f..%2fetc/passwd", 404),
    ],
)
def test_errors_have_the_headers_too(method: str, path: str, status: int) -> None:
    response = request(method, path)
    assert response.status_code == status
    assert_headers_of_the_table(response, httpx.URL(path).path)


@pytest.mark.parametrize("page", ["", "/fr", "/coins", "/send", "/results", "/results/coins"])
def test_a_deleted_survey_has_the_headers_and_is_not_cached(page: str) -> None:
    DeletedWave.objects.create(manifest_hash=bytes(32), slug="deleted")
    response = request("GET", f"/s/deleted{page}")
    assert response.status_code == 410
    assert_headers_of_the_table(response, f"/s/deleted{page}")
    assert response.headers["cache-control"] == "no-store"


def test_static_files_have_the_headers_and_their_own_caching() -> None:
    from django.contrib.staticfiles.storage import staticfiles_storage

    path = staticfiles_storage.url("surveys/murmur.css")
    response = request("GET", path)
    assert response.status_code == 200
    assert_headers_of_the_table(response, path)
    assert "immutable" in response.headers["cache-control"]


def test_a_wrong_host_is_refused_with_the_headers() -> None:
    response = request("GET", "/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert_headers_of_the_table(response, "/")


def test_a_server_error_has_the_headers_and_shows_no_details(
    monkeypatch: pytest.MonkeyPatch, failing_route: str
) -> None:
    response = request("GET", failing_route)
    assert response.status_code == 500
    assert_headers_of_the_table(response, failing_route)
    assert "canary" not in response.text


@pytest.mark.parametrize(("path", "kind"), [("/api/reports", "problem+json"), ("/", "plain")])
def test_a_failure_outside_django_has_the_headers_and_shows_no_details(
    path: str, kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*args: object) -> None:
        raise KeyError("canary 8714")

    entry = cast(Any, application)._application
    monkeypatch.setattr(entry, "_intake", fail)
    monkeypatch.setattr(entry, "_django", fail)
    response = request("POST", path)
    assert response.status_code == 500
    assert_headers_of_the_table(response, path)
    assert kind in response.headers["content-type"]
    assert "KeyError in " in caplog.text
    assert "canary" not in response.text + caplog.text


def test_the_server_handles_a_failure_in_the_middle_of_a_response() -> None:
    async def fail(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise KeyError("canary 8714")

    async def send(event: Any) -> None:
        sent.append(event["type"])

    sent: list[str] = []
    wrapped = SecurityHeaders(cast(Any, fail))
    scope = cast(Any, {"type": "http", "path": "/"})
    with pytest.raises(KeyError):
        asyncio.run(wrapped(scope, cast(Any, None), send))
    assert sent == ["http.response.start"]


@pytest.fixture
def failing_route() -> Iterator[str]:
    from django.urls import path

    def fail(request: object) -> None:
        raise RuntimeError("canary 8714")

    patched = type("Urls", (), {})()
    patched.urlpatterns = [path("fails", fail), *urls.urlpatterns]  # type: ignore[arg-type]
    patched.handler500 = urls.handler500
    with override_settings(ROOT_URLCONF=patched):
        yield "/fails"


def test_a_recorded_report_has_the_headers_and_is_not_cached() -> None:
    wave = make_wave(questions=1)
    body = '{"format":1,"manifest":"%s","id":"%s","symbols":"B"}' % (
        encode_base64url(bytes(wave.manifest_hash)),
        "A" * 43,
    )
    response = request(
        "POST", "/api/reports", content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code == 201
    assert_headers_of_the_table(response, "/api/reports")
    assert response.headers["cache-control"] == DEFAULT_CACHE_CONTROL
    assert "set-cookie" not in response.headers


def test_strict_transport_security_is_sent_where_https_is_on() -> None:
    assert "Strict-Transport-Security" not in headers_for("/")
    with override_settings(HTTPS=True):
        # Subdomains are left out, because other services on them may have no TLS.
        assert headers_for("/")["Strict-Transport-Security"] == "max-age=63072000"
    everything = "max-age=63072000; includeSubDomains; preload"
    with override_settings(HTTPS=True, HSTS=everything):
        assert headers_for("/")["Strict-Transport-Security"] == everything


def test_trusted_types_are_required_except_on_pages_that_update_automatically() -> None:
    [free] = [
        policy
        for policy in TABLE
        if "script-src" in policy.csp and not policy.csp["require-trusted-types-for"]
    ]
    results = ("results", "results_panel", "coin_results", "coin_results_panel")
    pages = (*results, "comparison", "comparison_panel")
    forms = ("surveys:questions", "surveys:imported")
    assert free.routes == (*(f"aggregator:{page}" for page in pages), *forms)
    assert free.prefixes == ()


def test_each_route_of_the_table_exists_and_has_one_row() -> None:
    named = [route for policy in TABLE for route in policy.routes]
    assert len(named) == len(set(named))
    assert {route.name for route in all_routes()} >= set(named)


def test_a_path_that_only_ends_like_a_route_has_the_headers_of_its_prefix() -> None:
    assert headers_for("/surveys/nothing/here/results") == headers_for("/")
    assert headers_for("/s/nothing/here/results") == headers_for("/s/abcdefghijkm")


def test_a_form_without_javascript_gets_no_scripts_and_may_send_its_origin() -> None:
    for page in ("coins", "coins/sent", "paper", "send", "send/sent"):
        headers = headers_for(f"/s/abcdefghijkm/{page}")
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
            "form-action 'self'; frame-ancestors 'none'"
        )
        # Under no-referrer, browsers send "Origin: null" with every form.
        assert headers["Referrer-Policy"] == "same-origin"
    for path in ("/s/abcdefghijkm", "/surveys/abcdefghijkm/results/coins", "/coins"):
        assert "script-src 'self'" in headers_for(path)["Content-Security-Policy"]


def test_public_results_get_no_scripts_and_no_form_and_stay_out_of_search_engines() -> None:
    for page in ("results", "results.csv", "results/coins", "results/coins.csv"):
        headers = headers_for(f"/s/abcdefghijkm/{page}")
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        )
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Robots-Tag"] == "noindex"


def test_no_policy_allows_inline_or_foreign_code() -> None:
    for policy in TABLE:
        text = policy.content_security_policy()
        assert "unsafe" not in text
        assert "http" not in text
        assert text.startswith("default-src 'none'")


def test_no_response_may_be_framed_and_no_base_or_form_is_left_open() -> None:
    for policy in TABLE:
        text = policy.content_security_policy()
        for rule in ("frame-ancestors 'none'", "base-uri 'none'", "form-action '"):
            assert rule in text, (policy, rule)


def test_an_oversized_page_request_is_refused() -> None:
    response = request("POST", "/surveys/new", content=b"x" * 1_000_001)
    assert response.status_code == 413
    assert_headers_of_the_table(response, "/surveys/new")
