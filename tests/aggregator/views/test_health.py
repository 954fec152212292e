"""Health checks: their answers are computed cheaply and reveal nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aggregator.models import DueWork, Upkeep
from aggregator.upkeep import status
from tests.support.waves import make_wave, send_many

OK, LATE = {"status": "ok"}, {"status": "late"}


def note(*, swept: float | None, due: float | None = None) -> None:
    """Store that the last sweep ran `swept` seconds ago, and that work became due `due` ago."""
    now = timezone.now()
    Upkeep.objects.all().delete()
    DueWork.objects.all().delete()
    if swept is not None:
        Upkeep.objects.create(job=Upkeep.Job.SWEEP, ended_at=now - timedelta(seconds=swept))
    if due is not None:
        DueWork.objects.create(kind="seal", subject=1, since=now - timedelta(seconds=due))


def ask(query: str = "") -> tuple[int, dict[str, Any]]:
    response = Client().get(f"/readyz{query}")
    return response.status_code, json.loads(response.content)


def test_healthz_does_not_use_the_database() -> None:
    # Without the django_db mark, any database query is an error.
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("swept", "due", "told"),
    [
        (None, None, LATE),  # no worker has ever looked
        (1, None, OK),
        (115, 115, OK),
        (121, None, LATE),
        (1, 121, LATE),
        (-4, -4, OK),  # the clocks of two machines differ a little
        (-30, None, LATE),  # the clock was set back
        (1, -30, LATE),
    ],
)
def test_readyz_says_whether_work_is_late(
    swept: float | None, due: float | None, told: dict[str, str]
) -> None:
    note(swept=swept, due=due)
    # Slow workers are no reason to take the intake out of service.
    assert ask() == (200, told)
    response = Client().get("/readyz?late=503")
    assert response.status_code == (200 if told == OK else 503)
    if told == LATE:
        assert response["Content-Type"] == "application/problem+json"
        assert response["Retry-After"] == "5"


@pytest.mark.django_db
@pytest.mark.parametrize("late_seconds", [0, 60])
def test_strangers_cannot_see_when_a_survey_reached_a_full_batch(late_seconds: int) -> None:
    with override_settings(LATE_SECONDS=late_seconds):
        for due in (None, 1, 30, 58):
            note(swept=due or 0, due=due)
            assert ask() == (200, OK)
            assert ask("?late=503") == (200, OK)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    ["late", "late=", "late=200", "late=503&late=503x", "late=503&other=1", "max_age=60", "x=1"],
)
def test_a_bad_parameter_is_refused_and_not_answered_with_ready(query: str) -> None:
    response = Client().get(f"/readyz?{query}")
    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == "/problems/invalid-input"


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("query", ["", "?late=503"])
def test_without_a_database_readyz_answers_503_as_a_problem(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], query: str
) -> None:
    def fail() -> None:
        raise error("canary 4711")

    monkeypatch.setattr(status, "find_oldest_due", fail)
    response = Client().get(f"/readyz{query}")
    assert response.status_code == 503
    assert response["Content-Type"] == "application/problem+json"
    assert response["Retry-After"] == "5"
    assert b"canary" not in response.content


@pytest.mark.django_db
def test_a_health_check_is_cheap_and_changes_nothing() -> None:
    with CaptureQueriesContext(connection) as queries:
        ask("?late=503")
    assert len(queries) == 2
    assert all(query["sql"].startswith("SELECT") for query in queries)


@pytest.mark.django_db
def test_waiting_reports_do_not_change_the_answer() -> None:
    wave = make_wave()
    before = ask()
    send_many(wave, [b"\0\1\0"] * 19)
    assert ask() == before


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_may_use_plain_http_and_set_no_cookie(path: str) -> None:
    with override_settings(SECURE_SSL_REDIRECT=True):
        response = Client().get(path)
        assert response.status_code == 200
        assert not response.cookies
        for other in ("/", f"{path}/", f"/s{path}", f"{path}s"):
            assert Client().get(other).status_code == 301, other
    assert Client().head(path).status_code == 200
    assert Client().post(path).status_code == 405
