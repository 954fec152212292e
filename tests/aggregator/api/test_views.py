"""The API: a user's own surveys, results and exports; every refused request gets problem+json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from aggregator.problems import (
    ALL_PROBLEMS,
    API_PROBLEMS,
    INTAKE_PROBLEMS,
    TOO_FEW_RESPONSES,
    problem_body,
)
from surveys.base64url import encode_base64url
from surveys.models import Survey
from tests.support.factories import make_launched_survey, make_survey, make_user
from tests.support.fielding import field, sign_in

pytestmark = pytest.mark.django_db
FILES = ["api_reports_csv", "api_codebook_csv", "api_estimates_csv"]
ONE_SURVEY = ["api_survey", "api_results", *FILES]


def get(survey: Survey, name: str, **options: Any) -> Any:
    return sign_in(survey.owner).get(reverse(f"aggregator:{name}", args=[survey.slug]), **options)


def assert_problem(response: Any, slug: str) -> dict[str, Any]:
    [problem] = [problem for problem in ALL_PROBLEMS if problem.slug == slug]
    assert response.status_code == problem.status
    assert response["Content-Type"] == "application/problem+json"
    content: dict[str, Any] = json.loads(response.content)
    assert list(content) == ["type", "title", "status", "detail"]
    assert content["type"] == f"/problems/{slug}"
    assert content["status"] == problem.status
    assert content["detail"]
    return content


def test_the_list_has_only_the_users_own_surveys() -> None:
    owner = make_user()
    make_survey(owner=owner, title="A draft")
    field(make_launched_survey(owner=owner, title="Done"), yes=[80, 100], total=200)
    make_survey(title="Foreign")
    content = sign_in(owner).get("/api/surveys").json()
    assert content["count"] == 2
    found = {row["title"]: (row["state"], row["sealed"]) for row in content["results"]}
    assert found == {"A draft": ("draft", 0), "Done": ("closed", 200)}


def test_a_single_survey_is_described() -> None:
    wave = make_launched_survey(cap=500)
    row = get(wave.survey, "api_survey").json()
    assert (row["slug"], row["state"], row["cap"]) == (wave.survey.slug, "open", 500)
    assert row["questions"] == 2


def test_results_are_unclipped_and_come_with_their_intervals() -> None:
    survey = field(make_launched_survey(), yes=[240, 500], total=1000)
    content = get(survey, "api_results").json()
    assert content["n"] == 1000
    assert content["final"] is True
    first, second = content["questions"]
    assert first["estimates"][0]["estimate"] == pytest.approx(-0.02)
    assert first["estimates"][0]["status"] == "outside_0_1"
    assert first["estimates"][0]["reliability"] == "publishable"
    assert first["estimates"][0]["effective_sample_size"] is None
    assert second["estimates"][0]["estimate"] == pytest.approx(0.5)
    assert second["estimates"][0]["interval_method"] == "clopper_pearson"
    assert second["estimates"][0]["critical_value"] > 1.97
    assert second["estimates"][0]["sentence"].startswith("50\N{NO-BREAK SPACE}% (95")


@pytest.mark.parametrize("name", ["api_results", *FILES])
def test_below_the_display_minimum_the_api_returns_a_problem(name: str) -> None:
    few = field(make_launched_survey(display_minimum=100), yes=[33, 17], total=99)
    for survey in (few, make_survey(), make_launched_survey().survey):
        content = assert_problem(get(survey, name), "too-few-responses")
        assert content["detail"] == TOO_FEW_RESPONSES.advice


@pytest.mark.parametrize("accept", ["*/*", "text/csv", "application/json"])
def test_exports_are_the_same_files_as_on_the_pages(accept: str) -> None:
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    for kind in ("reports", "codebook", "estimates"):
        response = get(survey, f"api_{kind}_csv", headers={"Accept": accept})
        page = get(survey, f"{kind}_csv")
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert response["Content-Disposition"] == page["Content-Disposition"]
        assert b"".join(response.streaming_content) == b"".join(page.streaming_content)


@pytest.mark.parametrize("name", ONE_SURVEY)
def test_surveys_of_other_owners_are_not_found(name: str) -> None:
    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    address = reverse(f"aggregator:{name}", args=[survey.slug])
    assert_problem(sign_in(make_user()).get(address), "not-found")
    if name.endswith("csv"):
        response = sign_in(make_user()).get(address, headers={"Accept": "text/csv"})
        assert_problem(response, "not-found")
    assert_problem(Client().get(address), "not-signed-in")


def test_visitors_are_told_to_sign_in() -> None:
    assert_problem(Client().get("/api/surveys"), "not-signed-in")


def test_an_address_that_only_reads_refuses_other_methods() -> None:
    survey = make_survey()
    client = sign_in(survey.owner)
    response = client.post(f"/api/surveys/{survey.slug}", "{}", content_type="application/json")
    assert_problem(response, "method-not-allowed")
    assert "GET" in response["Allow"]


def test_an_unknown_page_returns_a_problem() -> None:
    assert_problem(sign_in(make_user()).get("/api/surveys?page=99"), "not-found")


def test_an_unacceptable_format_returns_a_problem() -> None:
    survey = make_survey()
    response = get(survey, "api_survey", headers={"Accept": "text/html"})
    assert_problem(response, "not-acceptable")


@pytest.mark.parametrize(
    ("error", "slug"),
    [(OperationalError("canary"), "unavailable"), (RuntimeError("canary"), "server-error")],
)
def test_failures_return_problems_that_reveal_nothing(
    error: Exception, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = make_survey()

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr("aggregator.api.views.find_surveys", fail)
    response = get(survey, "api_survey")
    assert_problem(response, slug)
    assert b"canary" not in response.content
    assert ("Retry-After" in response) == (slug == "unavailable")


def test_the_intake_behind_django_uses_the_same_core() -> None:
    wave = make_launched_survey()
    report = '{"format":1,"manifest":"%s","id":"%s","symbols":"BA"}'
    body = report % (encode_base64url(bytes(wave.manifest_hash)), "A" * 43)
    client = Client(enforce_csrf_checks=True)
    options = {"content_type": "application/json", "headers": {"Host": "localhost"}}
    for status in (201, 200):
        response = client.post(reverse("aggregator:intake"), body, **options)  # type: ignore[arg-type]
        assert response.status_code == status
    assert response.json() == {"status": "already-recorded"}
    changed = body.replace('"BA"', '"AB"')
    response = client.post(reverse("aggregator:intake"), changed, **options)  # type: ignore[arg-type]
    assert_problem(response, "id-already-used")
    for method in ("get", "put", "patch", "delete", "options"):
        refused = getattr(client, method)("/api/reports")
        assert_problem(refused, "method-not-allowed")
        assert refused["Allow"] == "POST"


def test_the_intake_ignores_who_is_signed_in() -> None:
    wave = make_launched_survey()
    body = '{"format":1,"manifest":"%s","id":"%s","symbols":"BA"}' % (
        encode_base64url(bytes(wave.manifest_hash)),
        "A" * 43,
    )
    response = sign_in(wave.survey.owner).post(
        "/api/reports",
        body,
        content_type="application/json",
        headers={"Host": "localhost", "Accept": "text/html"},
    )
    assert response.status_code == 201
    assert not response.cookies


def test_the_schema_is_valid_and_names_every_problem(tmp_path: Any) -> None:
    target = tmp_path / "schema.json"
    call_command(
        "spectacular", "--validate", "--fail-on-warn", format="openapi-json", file=str(target)
    )
    schema = json.loads(target.read_text())
    assert schema["openapi"].startswith("3.1")
    assert set(schema["paths"]) == {
        "/api/reports",
        "/api/surveys",
        "/api/surveys/{slug}",
        "/api/surveys/{slug}/definition",
        "/api/surveys/{slug}/results",
        "/api/definitions/validate",
        "/api/surveys/{slug}/reports.csv",
        "/api/surveys/{slug}/codebook.csv",
        "/api/surveys/{slug}/estimates.csv",
    }
    needed = {
        f"{method} {path}": [one["token"] for one in operation["security"] if "token" in one]
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if path != "/api/reports"
    }
    assert needed.pop("put /api/surveys/{slug}/definition") == [["write-drafts"]]
    assert needed.pop("get /api/surveys/{slug}/reports.csv") == [["read-files"]]
    assert all(len(scopes) == 1 for [scopes] in needed.values())
    told = json.dumps(schema["paths"]["/api/reports"])
    for problem in INTAKE_PROBLEMS:
        assert problem.slug in told


def test_the_schema_is_served_as_json() -> None:
    response = Client().get("/api/schema")
    assert response.status_code == 200
    schema = json.loads(response.content)
    assert schema["info"]["title"] == "Murmur"
    assert response["Content-Type"] == "application/vnd.oai.openapi+json"


def test_responses_match_the_schema() -> None:
    import jsonschema

    survey = field(make_launched_survey(), yes=[80, 100], total=200)
    schema = json.loads(Client().get("/api/schema").content)
    for name, component in (("api_results", "Results"), ("api_survey", "Survey")):
        jsonschema.validate(
            get(survey, name).json(),
            {"$ref": f"#/components/schemas/{component}", "components": schema["components"]},
        )


def test_a_problem_without_detail_shows_its_title() -> None:
    for problem in API_PROBLEMS:
        assert json.loads(problem_body(problem))["detail"] == f"{problem.title}."


@pytest.mark.parametrize("address", ["/api/nothing", "/api/surveys/No%20Slug/x"])
def test_an_unknown_address_under_api_returns_a_problem_and_elsewhere_a_page(address: str) -> None:
    response = Client().get(address)
    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["type"] == "/problems/not-found"
    page = Client().get("/nothing")
    assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
