"""The intake under thousands of bad requests from two kinds of fuzzers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from scripts.attacks.fuzz.fuzz import MUTATIONS, fuzz
from scripts.attacks.fuzz.target import QUESTIONS, Target, running_intake
from scripts.stack.postgres import Postgres

# How much a warm process may grow; it must not keep anything that arrived.
MAX_GROWTH_MEGABYTES = 30
CHECKS: Any = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with running_intake(var=tmp_path_factory.mktemp("fuzz")) as running:
        yield running


def at_length(few: int, many: int) -> pytest.MarkDecorator:
    """Run the same test with few examples, and with many under --long."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])


@at_length(1_000, 20_000)
def test_no_spoiled_request_is_accepted_or_does_any_harm(examples: int, tmp_path: Path) -> None:
    with running_intake(var=tmp_path) as target:  # a new one, because every stored id is compared
        found = fuzz(target, requests=examples)
    print(found.requests, dict(found.statuses), f"{found.grown_megabytes:.1f} MB")
    assert found.wrong == []
    assert (found.requests, found.server_errors) == (examples, 0)
    assert found.grown_megabytes < MAX_GROWTH_MEGABYTES
    # Every mutation and every kind of refusal occurred, and enough correct requests.
    assert found.mutations.keys() == {mutation.__name__ for mutation in MUTATIONS}
    assert {200, 201, 400, 403, 404, 405, 409, 413, 415, 422} <= found.statuses.keys()
    assert found.statuses[201] > 0.02 * examples


@pytest.mark.long
def test_spoiled_requests_get_the_same_replies_on_postgresql(
    postgres: Postgres, tmp_path: Path
) -> None:
    with running_intake(var=tmp_path, database_url=postgres.create_database()) as target:
        found = fuzz(target, requests=5_000, seed=2)
    print(found.requests, dict(found.statuses))
    assert found.wrong == []
    assert (found.requests, found.server_errors) == (5_000, 0)
    assert {200, 201, 400, 403, 404, 405, 409, 413, 415, 422} <= found.statuses.keys()


@pytest.fixture(scope="module")
def signed_in(target: Target) -> Iterator[requests.Session]:
    with target.world.signed_in() as client, requests.Session() as session:
        session.trust_env = False
        session.cookies.update(dict(client.cookies))
        yield session


@pytest.fixture(scope="module")
def schema(target: Target, signed_in: requests.Session) -> Any:
    return schemathesis.openapi.from_url(f"{target.stack.url}/api/schema")


def run_cases(strategy: st.SearchStrategy[Any], call: Any, *, examples: int) -> None:
    quiet = settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    quiet(given(strategy)(call))()


@at_length(100, 800)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_generated_report_is_accepted_unless_it_is_correct(
    target: Target, schema: Any, signed_in: requests.Session, mode: GenerationMode, examples: int
) -> None:
    seen: Counter[int] = Counter()

    def call(case: Any) -> None:
        response = case.call(session=signed_in)
        case.validate_response(response, checks=CHECKS)
        seen[response.status_code] += 1
        sent = response.request.body or b""
        right = target.survey.wants(sent if isinstance(sent, bytes) else sent.encode())
        assert response.status_code not in (200, 201) or right

    run_cases(schema["/api/reports"]["POST"].as_strategy(mode), call, examples=examples)
    print(mode, dict(seen))
    assert seen.total() >= examples
    assert seen[422] > examples / 8


@at_length(100, 500)
def test_generated_values_in_the_only_accepted_format_are_accepted_only_if_all_are_correct(
    target: Target, schema: Any, examples: int
) -> None:
    """The fuzzer writes JSON with spaces, which is refused before its values are read."""
    seen: Counter[int] = Counter()
    manifest = json.loads(target.body(0))["manifest"]

    def call(drawn: tuple[Any, set[str], bytes, str]) -> None:
        case, strange, report_id, letters = drawn
        spelled = base64.urlsafe_b64encode(report_id).decode().rstrip("=")
        proper = {"format": 1, "manifest": manifest, "id": spelled, "symbols": letters}
        strangely = case.body if isinstance(case.body, dict) else {}
        content = proper | {key: strangely[key] for key in strange & strangely.keys()}
        body = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )
        status = client.post("/api/reports", content=body).status_code
        seen[status] += 1
        right = target.survey.wants(body) is not None
        assert status in ((200, 201, 409) if right else (413, 422))

    strategy = st.tuples(
        schema["/api/reports"]["POST"].as_strategy(GenerationMode.POSITIVE),
        st.sets(st.sampled_from(["format", "manifest", "id", "symbols"])),
        st.binary(min_size=32, max_size=32),
        st.text("AB", min_size=QUESTIONS, max_size=QUESTIONS),
    )
    with target.client() as client:
        run_cases(strategy, call, examples=examples)
    print(dict(seen))
    assert seen.total() >= examples
    assert seen[201] > examples / 25
    assert seen[422] > examples / 5


@at_length(40, 120)
@pytest.mark.parametrize(
    "path",
    [
        "/api/surveys",
        "/api/surveys/{slug}",
        "/api/surveys/{slug}/results",
        "/api/surveys/{slug}/reports.csv",
        "/api/surveys/{slug}/codebook.csv",
        "/api/surveys/{slug}/estimates.csv",
    ],
)
def test_the_researchers_addresses_match_their_description(
    target: Target, schema: Any, signed_in: requests.Session, path: str, examples: int
) -> None:
    ((slug,),) = target.world.query("SELECT slug FROM surveys_survey ORDER BY id LIMIT 1")
    operation = schema[path]["GET"]
    seen: Counter[int] = Counter()

    def call(drawn: tuple[Any, bool]) -> None:
        case, own = drawn
        if own and "{slug}" in path:
            case.path_parameters["slug"] = slug
        response = case.call(session=signed_in)
        case.validate_response(response, checks=CHECKS)
        seen[response.status_code] += 1

    cases = st.one_of(*(operation.as_strategy(mode) for mode in GenerationMode))
    run_cases(st.tuples(cases, st.booleans()), call, examples=examples)
    print(path, dict(seen))
    assert 6 * seen.total() >= 5 * examples
    assert 200 in seen or 409 in seen  # our own survey was among them
