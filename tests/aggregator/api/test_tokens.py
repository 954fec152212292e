"""A request with a token can do what the account may do, within the scopes of the token."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.models import ApiToken, User
from accounts.tokens import Scope, make_token
from aggregator.api.tokens import TokenThrottle
from aggregator.problems import INVALID_TOKEN
from surveys.history.downloads import DOWNLOADS
from surveys.models import HistoryRow, Role, Survey, Verb
from tests.support.factories import make_launched_survey, make_user
from tests.support.fielding import field, sign_in
from tests.support.roles import losing_the_role
from tests.support.second_factors import add_second_factor

pytestmark = pytest.mark.django_db


def make_program(
    user: User, *scopes: Scope, client: Client | None = None
) -> tuple[Client, ApiToken]:
    token, text = make_token(user=user, name="", scopes=scopes, days=30)
    program = client or Client()
    program.defaults["HTTP_AUTHORIZATION"] = f"Bearer {text}"
    return program, token


@pytest.fixture(autouse=True)
def fresh() -> None:
    cache.clear()


@pytest.fixture
def survey() -> Survey:
    return field(make_launched_survey(), yes=[80, 100], total=200)


def ask(program: Client, survey: Survey, names: Iterable[str]) -> dict[str, int]:
    return {name: program.get(f"/api/surveys/{survey.slug}{name}").status_code for name in names}


def test_its_scope_and_the_role_of_the_moment_both_limit_it(survey: Survey) -> None:
    person = make_user()
    member = survey.memberships.create(account=person, role=Role.VIEWER)
    addresses = ("", "/results", "/estimates.csv", "/definition")
    for scope, allowed in (
        (Scope.RESULTS, ("", "/results")),
        (Scope.FILES, ("/estimates.csv",)),
        (Scope.DRAFTS, ("/definition",)),
    ):
        ApiToken.objects.all().delete()
        program, _ = make_program(person, scope)
        for role, more in (
            (Role.VIEWER, ("", "/results")),
            (Role.ANALYST, ("", "/results", "/estimates.csv")),
            (Role.EDITOR, addresses),
        ):
            member.role = role
            member.save()
            expected = {n: 200 if n in allowed and n in more else 403 for n in addresses}
            assert ask(program, survey, addresses) == expected, (scope, role)
    member.delete()
    assert ask(program, survey, ["/definition"]) == {"/definition": 404}


def test_a_request_by_token_ignores_the_session(survey: Survey) -> None:
    stranger = make_user()
    both, token = make_program(stranger, Scope.RESULTS, client=sign_in(survey.owner))
    assert ask(both, survey, ["/results"]) == {"/results": 404}
    token.delete()
    answer = both.get(f"/api/surveys/{survey.slug}/results")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["type"] == "/problems/invalid-token"
    assert answer.json()["detail"] == INVALID_TOKEN.advice
    assert not answer.cookies
    for header in ("bearer", "Bearer murmur_\xff", "BEARER  "):
        assert both.get("/api/surveys", HTTP_AUTHORIZATION=header).status_code == 401
    assert both.get("/api/surveys", HTTP_AUTHORIZATION="Basic x").status_code == 200


def test_figures_leave_with_a_row_in_the_history_and_nothing_else_is_stored(
    survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    program, _ = make_program(survey.owner, *Scope)
    before = ApiToken.objects.values().get()
    names = ("/results", "/reports.csv", "/codebook.csv", "/estimates.csv")
    assert set(ask(program, survey, names).values()) == {200}
    rows = HistoryRow.objects.filter(slug=survey.slug, verb=Verb.DOWNLOADED)
    kinds = [DOWNLOADS[f"aggregator:api_{name[1:].replace('.', '_')}"] for name in names]
    assert [(row.kind, row.account) for row in rows.order_by("number")] == [
        (kind, survey.owner.pk) for kind in kinds
    ]
    assert ApiToken.objects.values().get() == before
    assert program.defaults["HTTP_AUTHORIZATION"].partition("_")[2] not in caplog.text
    with losing_the_role(survey):
        assert ask(program, survey, names[:1]) == {names[0]: 404}
    assert rows.count() == len(names)


def test_many_requests_by_token_must_wait_and_sessions_need_not(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenThrottle, "rate", "2/min")
    program, _ = make_program(survey.owner, Scope.RESULTS)
    answers: list[Any] = [program.get("/api/surveys") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    person = sign_in(survey.owner)
    assert {person.get("/api/surveys").status_code for _ in range(3)} == {200}


def test_where_second_factors_are_required_a_token_needs_its_accounts(
    survey: Survey, settings: Any
) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    program, _ = make_program(survey.owner, Scope.RESULTS)
    assert program.get("/api/surveys").status_code == 401
    add_second_factor(survey.owner)
    assert program.get("/api/surveys").status_code == 200
