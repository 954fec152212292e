"""Health checks for load balancers and monitoring: does this process answer, is work being done?

They do not ask the broker, because web processes never use it: if messages are lost, the age of the
last sweep shows it.

Strangers can ask too, so nothing here may tell how many reports wait, when a survey reached a full
batch, or when its traces were erased. Ages are whole minutes: as long as work is done within one,
they never change.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from aggregator import problems
from aggregator.models import Upkeep
from aggregator.upkeep.due import find_oldest_due
from aggregator.upkeep.upgrades import describe_missing_migrations

LIMITER_PATIENCE_SECONDS = 0.5
RETRY_SECONDS = 5
MAX_DIGITS = 9
MINUTE = 60
# The clocks of two machines may differ a little. A time further ahead is from before a clock was
# set back, and says nothing about now.
AHEAD_SECONDS = 5


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Answer without asking any other service."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers and, for monitoring, how late work is.

    The status is 200 even while no worker runs: reports can be accepted, so the load balancer must
    keep this process. `?max_age=60` answers 503 if due work or the last sweep is at least that
    old. All ages are in whole minutes.
    """
    text = request.GET.get("max_age", "")
    if set(request.GET) - {"max_age"} or (request.GET and not _is_seconds(text)):
        return _refuse(
            problems.INVALID_INPUT, "The only parameter is max_age, in whole seconds, such as 60."
        )
    try:
        missing = describe_missing_migrations()
        if missing:
            return _refuse(problems.UNAVAILABLE, missing)
        report = _describe(now=timezone.now())
    except (OperationalError, InterfaceError):
        return _refuse(problems.UNAVAILABLE, "The database does not answer.")
    late = _find_late(report, max_age=int(text)) if text else ""
    return _refuse(problems.UNAVAILABLE, late) if late else JsonResponse(report)


def _is_seconds(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def _describe(*, now: datetime) -> dict[str, int | str | None]:
    jobs = {row.job: row for row in Upkeep.objects.all()}
    ended = {job: row.ended_at for job, row in jobs.items()}
    verified = jobs.get(Upkeep.Job.VERIFY)
    due, swept = _age(find_oldest_due(), now), _age(ended.get(Upkeep.Job.SWEEP), now)
    return {
        # 0 even if nothing is due: a stranger would see when a survey reached a full batch.
        "oldest_due_work_seconds": 0 if swept is not None and due is None else due,
        "last_sweep_seconds": swept,
        "limiter": "ok" if _limiter_answers(settings.LIMITER_URL) else "away",
        "last_verified": verified.ended_at.date().isoformat() if verified else None,
        "differences": verified.found["count"] if verified else None,
    }


def _age(moment: datetime | None, now: datetime) -> int | None:
    """Return the age in seconds, rounded down to minutes; negative for a time in the future."""
    if moment is None:
        return None
    seconds = (now - moment).total_seconds()
    return 0 if -AHEAD_SECONDS <= seconds < 0 else int(seconds // MINUTE) * MINUTE


def _find_late(report: dict[str, int | str | None], *, max_age: int) -> str:
    """Say what is at least as old as `max_age`, or lies in the future; empty if nothing does."""
    swept, due = report["last_sweep_seconds"], report["oldest_due_work_seconds"]
    oldest = max(max_age, MINUTE)
    if not isinstance(swept, int):
        return "No worker has looked for due work yet."
    if swept < 0:
        return "The last time a worker looked for due work lies in the future: check the clocks."
    if swept >= oldest:
        return f"No worker has looked for due work for {swept} seconds."
    if isinstance(due, int) and due < 0:
        return "The oldest due work was found in the future: check the clocks."
    if isinstance(due, int) and due >= oldest:
        return f"The oldest due work has been waiting for {due} seconds."
    return ""


@lru_cache(maxsize=2)
def _limiter(url: str) -> Redis:
    return Redis.from_url(
        url,
        socket_connect_timeout=LIMITER_PATIENCE_SECONDS,
        socket_timeout=LIMITER_PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 1),  # reopens a connection that was cut
    )


def _limiter_answers(url: str) -> bool:
    try:
        return bool(_limiter(url).ping())
    except (RedisError, OSError):
        return False


def _refuse(problem: problems.Problem, detail: str) -> HttpResponse:
    response = HttpResponse(
        problems.problem_body(problem, detail),
        status=problem.status,
        content_type=problems.CONTENT_TYPE,
    )
    if problem is problems.UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
