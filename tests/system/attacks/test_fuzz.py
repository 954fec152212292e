"""The intake under thousands of bad requests from two kinds of fuzzers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
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

# How much the memory of a warm process may grow; it must not keep anything that arrived.
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
    """Run the same test with few examples, and with many if --long is given."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])


@at_length(1_000, 6_000)
def test_no_spoiled_request_is_accepted_or_does_any_harm(examples: int, tmp_path: Path) -> None:
    with running_intake(var=tmp_path) as target:  # a new one, because every stored id is compared
        found = fuzz(target, requests=examples)
    print(found.requests, dict(found.statuses), f"{found.grown_megabytes:.1f} MB")
    assert found.wrong == []
    assert (found.requests, found.server_errors) == (examples, 0)
    assert found.grown_megabytes < MAX_GROWTH_MEGABYTES
    # Every mutation and every kind of refusal occurred, and enough valid requests were accepted.
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


@at_length(100, 300)
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


@at_length(100, 300)
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


OPERATIONS = (
    "GET /api/surveys",
    "POST /api/surveys",
    "GET /api/surveys/{slug}",
    "GET /api/surveys/{slug}/definition",
    "PUT /api/surveys/{slug}/definition",
    "GET /api/surveys/{slug}/results",
    "GET /api/surveys/{slug}/reports.csv",
    "GET /api/surveys/{slug}/codebook.csv",
    "GET /api/surveys/{slug}/estimates.csv",
    "POST /api/definitions/validate",
)


def test_every_operation_of_the_description_is_tried(schema: Any) -> None:
    described = {
        f"{method.upper()} {path}"
        for path, methods in schema.raw_schema["paths"].items()
        for method in methods
    }
    assert described == {*OPERATIONS, "POST /api/reports"}


@at_length(40, 120)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_researchers_addresses_match_their_description(
    target: Target,
    schema: Any,
    signed_in: requests.Session,
    tokens: dict[str, str],
    operation: str,
    examples: int,
) -> None:
    """Half of the requests use the owner's session or the right token; the others use any token."""
    ((slug,),) = target.world.query("SELECT slug FROM surveys_survey ORDER BY id LIMIT 1")
    method, path = operation.split()
    seen: Counter[int] = Counter()
    with redis.Redis.from_url(target.stack.limiter_url) as limiter:
        limiter.flushall()

    def call(drawn: tuple[Any, bool, str]) -> None:
        case, own, token = drawn
        if own and "{slug}" in path:
            case.path_parameters["slug"] = slug
        if token:
            response = case.call(headers={"Authorization": f"Bearer {tokens[token]}"})
        else:
            response = case.call(session=signed_in)
        case.validate_response(response, checks=CHECKS)
        if token == "stranger":
            assert response.status_code != 200 or slug not in response.text
        seen[response.status_code] += 1

    cases = st.one_of(*(schema[path][method].as_strategy(mode) for mode in GenerationMode))
    usual = "" if method == "GET" else "write-drafts"  # sessions need a form's token to write
    who = st.one_of(st.just(usual), st.sampled_from(sorted(tokens)))
    run_cases(st.tuples(cases, st.booleans(), who), call, examples=examples)
    print(operation, dict(seen))
    assert 6 * seen.total() >= 5 * examples
    # At least one request reached the owner's survey or used the owner's write permission.
    assert seen[200] or seen[409] or (method != "GET" and seen[422])


# One token of the owner for each scope, one of a stranger, and one that does not exist.
MAKE_TOKENS = """
import json
from accounts.models import User
from accounts.tokens import Scope, make_token
def make(user, scopes):
    return make_token(user=user, name="".join(scopes), scopes=scopes, days=1)[1]
owner = User.objects.get()
tokens = {scope: make(owner, [scope]) for scope in Scope}
tokens["stranger"] = make(User.objects.create_user(email="stranger@localhost"), [*Scope])
print(json.dumps(tokens | {"unknown": "murmur_unknown"}))
"""


@pytest.fixture(scope="module")
def tokens(target: Target) -> dict[str, str]:
    found: dict[str, str] = json.loads(
        target.stack.manage("shell", "-v", "0", "-c", MAKE_TOKENS).splitlines()[-1]
    )
    return found
