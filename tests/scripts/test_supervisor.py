"""When the supervisor of scripts/run restarts a process that has died."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from scripts.stack import supervisor
from scripts.stack.stack import Stack
from scripts.stack.supervisor import Restarts, Stopped, StopRequest


def deaths_in_a_row(restarts: Restarts, count: int, *, lived: float, now: float = 0) -> list[float]:
    pauses = []
    for _ in range(count):
        pause = restarts.note_death("worker", now=now)
        assert pause is not None
        assert not pause or not restarts.is_due("worker", now=now + pause - 0.1)
        now += pause
        assert restarts.is_due("worker", now=now)
        restarts.note_start("worker", now=now)
        now += lived
        pauses.append(pause)
    return pauses


def test_pauses_grow_to_a_minute_and_never_end() -> None:
    pauses = deaths_in_a_row(Restarts(), 12, lived=1)
    assert pauses == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]


def test_a_process_that_ran_for_a_minute_starts_again_at_once() -> None:
    assert deaths_in_a_row(Restarts(), 5, lived=60) == [0] * 5


def test_a_death_is_counted_once_while_it_waits() -> None:
    restarts = Restarts()
    assert restarts.note_death("worker", now=0) == 0
    assert restarts.note_death("worker", now=0.5) is None
    assert restarts.note_death("beat", now=0.5) == 0


def test_a_process_that_cannot_even_be_started_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the disk is full, opening the log of a process can fail too."""
    stack, request = Stack(var=tmp_path, port=1), StopRequest()
    tried: list[str] = []
    clock = [0.0]

    def start(name: str) -> None:
        tried.append(name)
        request.asked = tried.count("web") == 5
        raise OSError(28, "No space left on device")

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(stack, "start", start)
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with pytest.raises(Stopped):
        supervisor._keep_up(stack, request)
    assert tried.count("web") == 5
    assert 0 + 1 + 2 + 4 + 8 <= clock[0] < 20
    assert "web could not be started: No space left on device." in capsys.readouterr().out


def test_output_on_a_full_disk_does_not_end_the_supervisor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    supervisor._say("worker died")
