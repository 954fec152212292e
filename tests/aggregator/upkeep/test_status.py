"""`manage.py status` tells operators what strangers are not told."""

from __future__ import annotations

import socket
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from aggregator.models import DueWork, Upkeep
from aggregator.upkeep import status


def run() -> tuple[str, str]:
    """Return what the command prints, and its error."""
    out = StringIO()
    try:
        call_command("status", stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("swept", "due", "found", "problem"),
    [
        (1, 2, 0, ""),
        (None, None, None, "No worker has looked for due work yet."),
        (200, 2, 0, "No worker has looked for due work for 200 seconds."),
        (1, 300, 0, "The oldest due work has been waiting for 300 seconds."),
        (-60, None, 0, "in the future: check the clocks."),
        (1, None, 2, "Run manage.py verify"),
    ],
)
def test_the_operator_reads_what_is_late(
    swept: float | None, due: float | None, found: int | None, problem: str
) -> None:
    now = timezone.now()
    if swept is not None:
        Upkeep.objects.create(job=Upkeep.Job.SWEEP, ended_at=now - timedelta(seconds=swept))
    if due is not None:
        DueWork.objects.create(kind="seal", subject=1, since=now - timedelta(seconds=due))
    if found is not None:
        Upkeep.objects.create(job=Upkeep.Job.VERIFY, ended_at=now, found={"count": found})
    printed, error = run()
    assert problem in error
    assert bool(problem) == bool(error)
    assert f"last sweep         {'none' if swept is None else f'{swept} s ago'}" in printed
    assert f"oldest due work    {'none' if due is None else f'{due} s ago'}" in printed
    assert f"differences found  {'unknown' if found is None else found}" in printed
    assert "limiter            does not answer" in printed


@pytest.mark.django_db
def test_a_limiter_that_is_silent_does_not_answer() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with override_settings(LIMITER_URL=f"redis://127.0.0.1:{silent.getsockname()[1]}/0"):
            assert not status.limiter_answers()
