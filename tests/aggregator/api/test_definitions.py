"""POST /api/definitions/validate: all problems of a definition, for programs."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from aggregator.api.definitions import DefinitionThrottle
from surveys.definition.exporting import export_definition
from surveys.definition.format import MOST_BYTES
from surveys.models import Survey
from tests.support.factories import make_survey
from tests.support.fielding import sign_in

pytestmark = pytest.mark.django_db
ADDRESS = "/api/definitions/validate"


@pytest.fixture
def survey() -> Survey:
    cache.clear()
    return make_survey()


@pytest.fixture
def client(survey: Survey) -> Client:
    return sign_in(survey.owner)


def post(client: Client, content: bytes) -> Any:
    return client.post(ADDRESS, content, content_type="application/json")


def test_a_definition_without_problems_is_valid(client: Client, survey: Survey) -> None:
    answer = post(client, export_definition(survey))
    assert answer.json() == {"title": "On the road", "questions": 2}
    assert Survey.objects.count() == 1


def test_every_problem_has_a_pointer(client: Client, survey: Survey) -> None:
    content = export_definition(survey).replace(b'"flips": 25', b'"flips": 0, "~x/": 1')
    answer = post(client, content)
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    told = answer.json()
    assert told["type"] == "/problems/invalid-definition"
    assert [one["pointer"] for one in told["errors"]] == [
        f"/questions/{place}/{key}" for place in (0, 1) for key in ("~0x~1", "flips")
    ]


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 200_000, b'"\\ud800"', b"\xff"])
def test_what_is_no_definition_is_one_problem(client: Client, content: bytes) -> None:
    answer = post(client, content)
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [""]


def test_a_large_one_is_refused(client: Client) -> None:
    assert post(client, b" " * MOST_BYTES).status_code == 422
    answer = post(client, b" " * (MOST_BYTES + 1))
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/definition-too-large")


def test_many_must_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DefinitionThrottle, "rate", "2/min")
    answers = [post(client, b"{") for _ in range(3)]
    assert [one.status_code for one in answers] == [422, 422, 429]
    assert answers[-1].json()["type"] == "/problems/too-many-requests"
    assert 0 < int(answers[-1]["Retry-After"]) <= 60


def test_visitors_and_other_sites_are_refused(survey: Survey) -> None:
    content = export_definition(survey)
    assert post(Client(), content).status_code == 403
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(survey.owner, "allauth.account.auth_backends.AuthenticationBackend")
    assert post(careful, content).status_code == 403
