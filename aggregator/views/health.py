"""Tell load balancers and monitoring tools whether this process answers and workers keep up.

These checks do not contact the broker, which web processes never use. The age of the last sweep
shows whether messages were lost. Anyone can ask, so the answer is only "ok" or "late"; operators
read the rest with `manage.py status`.
"""

from __future__ import annotations

import logging

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from aggregator import problems
from aggregator.upkeep.missing_migrations import describe_missing_migrations
from aggregator.upkeep.status import find_ages

logger = logging.getLogger(__name__)
RETRY_SECONDS = 5


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Answer without contacting any other service."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers, and whether work is late.

    The status is 200 even while no worker runs, because reports can be accepted and the load
    balancer must keep this process. With `?late=503`, which is for monitoring, the response is 503
    instead of "late".
    """
    wants_alarm = request.GET.dict() == {"late": "503"}
    if request.GET and not wants_alarm:
        return _refuse(problems.INVALID_INPUT, "The only parameter is late=503.")
    try:
        missing = describe_missing_migrations()
        if missing:
            return _refuse(problems.UNAVAILABLE, missing)
        is_late = bool(find_ages(now=timezone.now()).problem)
    except (OperationalError, InterfaceError) as error:
        logger.error("The database cannot be queried.", exc_info=error)
        return _refuse(problems.UNAVAILABLE, "The database does not answer.")
    if is_late and wants_alarm:
        return _refuse(
            problems.UNAVAILABLE, "Some work is late. Run manage.py status to see which."
        )
    return JsonResponse({"status": "late" if is_late else "ok"})


def _refuse(problem: problems.Problem, detail: str) -> HttpResponse:
    response = HttpResponse(
        problems.problem_body(problem, detail),
        status=problem.status,
        content_type=problems.CONTENT_TYPE,
    )
    if problem is problems.UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
