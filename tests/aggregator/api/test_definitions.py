"""Definitions sent over the API are checked and created, and can be read and replaced."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from aggregator.api.definitions import DefinitionThrottle
from surveys.authoring.services import add_question, plan_comparison, save_translation
from surveys.definition.exporting import export_definition
from surveys.definition.format import MOST_BYTES
from surveys.models import HistoryRow, Kind, Role, Survey, Verb
from tests.support.factories import make_survey, make_user, open_survey
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


def address_of(survey: Survey) -> str:
    return f"/api/surveys/{survey.slug}/definition"


def put(client: Client, survey: Survey, content: object, etag: str = "") -> Any:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"If-Match": etag} if etag else {}
    return client.put(address_of(survey), body, content_type="application/json", headers=headers)


def slug_of(answer: Any) -> str:
    return str(answer.json()["type"]).removeprefix("/problems/")


def test_a_definition_that_is_posted_becomes_a_draft_of_its_sender(
    client: Client, survey: Survey
) -> None:
    content = export_definition(survey)
    answer = client.post("/api/surveys", content, content_type="application/json")
    assert answer.status_code == 201
    made = Survey.objects.get(slug=answer.json()["slug"])
    assert made.owner == survey.owner
    [row] = HistoryRow.objects.filter(slug=made.slug)
    assert (row.verb, row.kind, row.account) == (Verb.CREATED, Kind.SURVEY, survey.owner.pk)
    assert client.get(answer["Location"]).content == content
    for bad, status in ((b"{}", 422), (b" " * (MOST_BYTES + 1), 413)):
        assert client.post("/api/surveys", bad, content_type="application/json").status_code == (
            status
        )
    assert Survey.objects.count() == 2


def test_a_draft_is_replaced_and_what_stays_keeps_its_row(client: Client, survey: Survey) -> None:
    first, second = survey.questions.all()
    plan_comparison(survey=survey, names=["q1", "q2"])
    add_question(survey=survey, type="information", text="Thank you.")
    save_translation(survey=survey, language="fr", texts={first.text: "Conduite ?"})
    plan, rows = survey.planned_comparisons.get(), list(survey.questions.all())
    read = client.get(address_of(survey))
    definition = read.json()
    definition["title"] = "Changed"
    one, two, thanks = definition["questions"]
    one["text"] = "Reworded?"
    new = {"type": "yes_no", "name": "new", "text": "New?", "flips": 25}
    rule = {"name": two["name"], "is": [1]}
    definition["questions"] = [thanks, two, one | {"rule": rule}, new]
    definition["translations"]["fr"]["New?"] = "Nouveau ?"
    answer = put(client, survey, definition, read["ETag"])
    assert (answer.status_code, answer.json()) == (200, definition)
    assert answer["ETag"] == client.get(address_of(survey))["ETag"] != read["ETag"]
    kept = list(survey.questions.all())
    assert [one.pk for one in kept[:3]] == [rows[2].pk, second.pk, first.pk]
    assert kept[2].rule == {"name": str(second.pk), "is": [1]}
    assert survey.planned_comparisons.get() == plan
    [row] = HistoryRow.objects.filter(slug=survey.slug, kind=Kind.DEFINITION)
    assert (row.verb, row.account) == (Verb.CHANGED, survey.owner.pk)
    # Sending the same definition again changes nothing and adds no row to the history.
    assert put(client, survey, definition, answer["ETag"])["ETag"] == answer["ETag"]
    assert HistoryRow.objects.filter(kind=Kind.DEFINITION).count() == 1
    # Parts that a definition omits are deleted.
    last = {key: definition[key] for key in ("format", "version", "title")}
    only = {key: value for key, value in two.items() if key != "rule"}
    assert put(client, survey, last | {"questions": [only]}, answer["ETag"]).status_code == 200
    assert [one.pk for one in survey.questions.all()] == [second.pk]
    assert not survey.planned_comparisons.exists()
    assert not survey.translations.exists()


def test_nothing_is_replaced_unseen_overtaken_invalid_or_after_the_opening(
    client: Client, survey: Survey
) -> None:
    read = client.get(address_of(survey))
    content = read.content.replace(b"On the road", b"At sea")
    etag = read["ETag"]
    for tag, slug in (
        ("", "if-match-missing"),
        ("*", "if-match-missing"),
        ("nonsense", "if-match-missing"),
        ('"nonsense"', "overtaken"),
    ):
        assert slug_of(put(client, survey, content, tag)) == slug
    broken = content.replace(b'"flips": 25', b'"flips": 0')
    answer = put(client, survey, broken, etag)
    assert slug_of(answer) == "invalid-definition"
    assert [one["pointer"] for one in answer.json()["errors"]] == [
        "/questions/0/flips",
        "/questions/1/flips",
    ]
    assert slug_of(put(client, survey, b" " * (MOST_BYTES + 1), etag)) == "definition-too-large"
    cache.clear()
    colleague = make_user()
    survey.memberships.create(account=colleague, role=Role.ANALYST)
    assert put(sign_in(colleague), survey, content, etag).status_code == 403
    assert put(sign_in(make_user()), survey, content, etag).status_code == 404
    assert client.get(address_of(survey)).content == read.content
    # The ETag is also accepted in the form that a compressing proxy sends, and in a list of ETags.
    assert put(client, survey, content, f'"x", W/{etag}').status_code == 200
    assert slug_of(put(client, survey, content, etag)) == "overtaken"
    etag = client.get(address_of(survey))["ETag"]
    open_survey(survey=survey)
    assert slug_of(put(client, survey, read.content, etag)) == "survey-opened"
    assert client.get(address_of(survey))["ETag"] == etag
