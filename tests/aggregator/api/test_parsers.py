"""JSON that is nested too deeply is rejected like other invalid JSON and causes no error 500."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.support.factories import make_launched_survey, make_user
from tests.support.fielding import sign_in
from tests.support.routes import Route, all_routes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
API = {
    *("aggregator:intake", "aggregator:api_surveys", "aggregator:api_survey"),
    *("aggregator:api_results", "aggregator:api_reports_csv", "aggregator:api_estimates_csv"),
}
READING = "/api/surveys/nosuchsurvey"
TOKEN = "a" * 32


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_too_deeply_is_refused(opening: str) -> None:
    response = post(sign_in_strictly(make_user()), READING, opening * 200_000)
    assert (response.status_code, response.json()["type"]) == (422, "/problems/invalid-input")


def test_other_json_is_still_read() -> None:
    client = sign_in_strictly(make_user())
    assert post(client, READING, "[" * 50 + "]" * 50).status_code == 405
    assert post(client, READING, "{nonsense").status_code == 422


def test_no_address_fails_because_of_deeply_nested_json() -> None:
    wave = make_launched_survey()
    client = sign_in_strictly(wave.survey.owner)
    routes = [route for route in all_routes() if set(route.parameters) <= {"slug"}]
    assert {route.name for route in routes} > API
    routes.sort(key=lambda route: route.name not in API)  # routes outside the API may sign out
    found = {route.name: post(client, address(route, wave.survey.slug)) for route in routes}
    statuses = {name: response.status_code for name, response in found.items()}
    assert {name: status for name, status in statuses.items() if status >= 500} == {}
    assert all(400 <= statuses[name] < 500 for name in API)


def address(route: Route, slug: str) -> str:
    return reverse(route.name, kwargs=dict.fromkeys(route.parameters, slug))


def sign_in_strictly(user: Any) -> Client:
    """Sign in with CSRF checks and a matching token, as in a browser, so that bodies are read."""
    client = sign_in(user)
    client.handler.enforce_csrf_checks = True
    client.raise_request_exception = False
    client.cookies[settings.CSRF_COOKIE_NAME] = TOKEN
    return client


def post(client: Client, path: str, body: str = "[" * 200_000) -> Any:
    return client.post(path, body, content_type="application/json", headers={"X-CSRFToken": TOKEN})
