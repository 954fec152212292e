"""What health checks answer, and that they cost little and reveal nothing."""

from __future__ import annotations

import json
import socket
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aggregator.models import DueWork, Upkeep
from aggregator.views import health
from tests.support.waves import make_wave, send_many

MEMBERS = [
    "oldest_due_work_seconds",
    "last_sweep_seconds",
    "limiter",
    "last_verified",
    "differences",
]


@pytest.fixture(autouse=True)
def limiter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_limiter_answers", lambda _: True)


@pytest.fixture
def worked(db: None) -> None:
    """Store a sweep 3 minutes ago, a purge 50 seconds ago, and a run that found two differences."""
    now = timezone.now()
    for job, seconds, found in (
        (Upkeep.Job.SWEEP, 185, {}),
        (Upkeep.Job.PURGE, 50.5, {"left": []}),
        (Upkeep.Job.VERIFY, 0, {"differences": ["a", "b"], "count": 2}),
    ):
        Upkeep.objects.create(job=job, ended_at=now - timedelta(seconds=seconds), found=found)


def remember(seconds: float) -> None:
    DueWork.objects.create(
        kind="seal", subject=1, since=timezone.now() - timedelta(seconds=seconds)
    )


def ask(path: str = "/readyz") -> tuple[int, dict[str, Any]]:
    response = Client().get(path)
    return response.status_code, json.loads(response.content)


def test_healthz_does_not_use_the_database() -> None:
    # Without the django_db mark, any database query is an error.
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_before_the_first_sweep_everything_is_unknown() -> None:
    status, told = ask()
    assert status == 200
    assert list(told) == MEMBERS
    assert told == {**dict.fromkeys(MEMBERS), "limiter": "ok"}


@pytest.mark.usefixtures("worked")
def test_readyz_says_how_late_work_is() -> None:
    remember(430)
    remember_younger = DueWork(kind="draw", subject=1, since=timezone.now())
    remember_younger.save()
    assert ask() == (
        200,
        {
            "oldest_due_work_seconds": 420,
            "last_sweep_seconds": 180,
            "limiter": "ok",
            "last_verified": timezone.now().date().isoformat(),
            "differences": 2,
        },
    )


@pytest.mark.usefixtures("worked")
def test_clocks_that_differ_a_little_give_no_negative_age() -> None:
    remember(-4)
    assert ask()[1]["oldest_due_work_seconds"] == 0
    assert ask("/readyz?max_age=240")[0] == 200


@pytest.mark.usefixtures("worked")
@pytest.mark.parametrize("ahead", [30, 7200])
@pytest.mark.parametrize("sweep", [True, False])
def test_a_time_in_the_future_is_late_however_old_work_may_be(ahead: float, sweep: bool) -> None:
    if sweep:
        future = timezone.now() + timedelta(seconds=ahead)
        Upkeep.objects.filter(job=Upkeep.Job.SWEEP).update(ended_at=future)
    else:
        remember(-ahead)
    name = "last_sweep_seconds" if sweep else "oldest_due_work_seconds"
    status, told = ask()
    assert (status, told[name]) == (200, -60 if ahead == 30 else -7200)
    status, problem = ask("/readyz?max_age=999999")
    assert status == 503
    assert "in the future" in problem["detail"]


@pytest.mark.usefixtures("worked")
@pytest.mark.parametrize("query", ["", "?max_age=0", "?max_age=59", "?max_age=60"])
def test_strangers_cannot_see_when_a_survey_reached_a_full_batch_or_was_erased(query: str) -> None:
    Upkeep.objects.filter(job=Upkeep.Job.SWEEP).update(ended_at=timezone.now())
    before = ask(f"/readyz{query}")
    assert before[0] == 200
    for seconds in (59, 30, 1):
        DueWork.objects.all().delete()
        remember(seconds)
        Upkeep.objects.filter(job=Upkeep.Job.PURGE).update(
            ended_at=timezone.now() - timedelta(seconds=seconds)
        )
        status, told = ask(f"/readyz{query}")
        assert (status, told) == before


@pytest.mark.usefixtures("worked")
@pytest.mark.parametrize(
    ("waiting", "max_age", "status"),
    [
        (None, 181, 200),
        (None, 180, 503),  # the last sweep was three minutes ago
        (430, 421, 200),
        (430, 420, 503),
        (500, None, 200),  # slow workers are no reason to take the intake out of service
    ],
)
def test_max_age_names_what_is_too_old(
    waiting: float | None, max_age: int | None, status: int
) -> None:
    if waiting is not None:
        remember(waiting)
    response = Client().get("/readyz" if max_age is None else f"/readyz?max_age={max_age}")
    assert response.status_code == status
    if status == 503:
        assert response["Content-Type"] == "application/problem+json"
        assert response["Retry-After"] == "5"
        told = response.json()["detail"]
        assert ("due work" if waiting else "looked") in told
        assert ("420" if waiting else "180") in told


@pytest.mark.django_db
def test_max_age_fails_if_no_sweep_ever_ran() -> None:
    status, problem = ask("/readyz?max_age=60")
    assert (status, problem["detail"]) == (503, "No worker has looked for due work yet.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    [
        "max_age=", "max_age=-1", "max_age=1.5", "max_age=1e3", "max_age=abc", "max_age=%00",
        "max_age=%C2%B2", "max_age=9999999999", "maxage=60", "max_age=60&other=1", "max_age=+6",
    ],
)  # fmt: skip
def test_a_bad_parameter_is_refused_and_not_answered_with_ready(query: str) -> None:
    response = Client().get(f"/readyz?{query}")
    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == "/problems/invalid-input"


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("query", ["", "?max_age=60"])
def test_without_a_database_readyz_answers_503_as_a_problem(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], query: str
) -> None:
    def fail() -> None:
        raise error("canary 4711")

    monkeypatch.setattr(health, "find_oldest_due", fail)
    response = Client().get(f"/readyz{query}")
    assert response.status_code == 503
    assert response["Content-Type"] == "application/problem+json"
    assert response["Retry-After"] == "5"
    assert b"canary" not in response.content


@pytest.mark.usefixtures("worked")
def test_a_health_check_is_cheap_and_changes_nothing() -> None:
    with CaptureQueriesContext(connection) as queries:
        ask("/readyz?max_age=60")
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


def test_a_limiter_that_refuses_or_does_not_answer_soon_counts_as_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        started = time.monotonic()
        assert not health._limiter_answers(f"redis://127.0.0.1:{port}/0")
        assert time.monotonic() - started < 4 * health.LIMITER_PATIENCE_SECONDS
    assert not health._limiter_answers(f"redis://127.0.0.1:{port}/0")
