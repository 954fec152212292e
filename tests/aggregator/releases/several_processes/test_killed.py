"""A process is killed at each step between reserving and drawing, on both databases.

In every case the cap holds, a charged loss stays, and nothing is drawn twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from django.db import connection

from aggregator.models import Release
from aggregator.releases import counters, drawing
from aggregator.releases.drawing import INTERRUPTED, draw_release
from aggregator.releases.folder import claim_folder
from aggregator.releases.ledger import (
    find_waves_to_release,
    read_account,
    reserve_planned,
    reserve_release,
)
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from tests.aggregator.releases.several_processes.running import kill_me, run_and_die
from tests.support.waves import make_released_wave

TABLE = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1", "q2"), epsilon_hundredths=60)


def _before(place: str) -> Callable[[], object]:
    """Return a function that makes a process kill itself before a step of a draw."""
    names = {
        "counting the draw": (drawing, "append_key"),
        "the key is on the disk": (os, "fsync"),
        "drawing": (drawing._Draw, "draw"),
        "storing the figure": (drawing, "find_public_day"),
    }
    owner, name = names[place]
    return lambda: mock.patch.object(owner, name, kill_me).start()


def _after(place: str) -> Callable[[], object]:
    def patch() -> None:
        if place == "counting the draw":
            append = counters.append_key
            mock.patch.object(drawing, "append_key", _then_die(append)).start()
        elif place == "drawing":
            draw = drawing._Draw.draw
            mock.patch.object(drawing._Draw, "draw", _then_die(draw)).start()
        else:
            commit = connection._commit  # type: ignore[attr-defined]
            mock.patch.object(connection, "_commit", _then_die(commit)).start()

    return patch


def _then_die(step: Callable[..., object]) -> Callable[..., object]:
    def run(*arguments: object, **named: object) -> None:
        step(*arguments, **named)
        kill_me()

    return run


def _before_the_commit() -> None:
    mock.patch.object(connection, "_commit", kill_me).start()


def reserve(wave: Wave) -> Release:
    return reserve_release(wave=wave, request=TABLE)


@pytest.mark.parametrize("charged", [False, True])
def test_killed_while_reserving(charged: bool, database: str) -> None:
    wave = make_released_wave()
    patch = _after("the commit") if charged else _before_the_commit

    def reserve_and_die() -> None:
        patch()
        reserve(wave)

    run_and_die(reserve_and_die)
    assert wave.releases.count() == charged
    assert read_account(wave).spent == 60 * charged
    # The browser's second try, or a worker, continues from there.
    release = reserve(wave)
    assert draw_release(release.pk)
    assert (wave.releases.count(), read_account(wave).spent) == (1, 60)


@pytest.mark.parametrize("charged", [False, True])
def test_killed_while_a_plan_is_charged(charged: bool, database: str) -> None:
    other = replace(TABLE, questions=("q3",), epsilon_hundredths=40)
    wave = make_released_wave(planned=[TABLE, other])
    patch = _after("the commit") if charged else _before_the_commit

    def charge_and_die() -> None:
        patch()
        reserve_planned(wave_id=wave.pk)

    run_and_die(charge_and_die)
    assert wave.releases.count() == 2 * charged  # either all releases or none
    assert find_waves_to_release().exists() is not charged
    reserve_planned(wave_id=wave.pk)
    assert (wave.releases.count(), read_account(wave).spent) == (2, 100)


@pytest.mark.parametrize(
    ("patch", "state"),
    [
        pytest.param(_before("counting the draw"), "drawn", id="before counting"),
        pytest.param(_before("the key is on the disk"), "lost", id="before the disk has it"),
        pytest.param(_after("counting the draw"), "lost", id="after counting"),
        pytest.param(_before("drawing"), "lost", id="before drawing"),
        pytest.param(_after("drawing"), "lost", id="after drawing"),
        pytest.param(_before_the_commit, "lost", id="before the commit"),
        pytest.param(_after("the commit"), "drawn", id="after the commit"),
    ],
)
def test_killed_while_drawing(
    patch: Callable[[], object], state: str, database: str, folder: Path
) -> None:
    wave = make_released_wave()
    release = reserve(wave)
    claim_folder(folder)  # as a sweep would have done long ago

    def draw_and_die() -> None:
        patch()
        draw_release(release.pk)

    run_and_die(draw_and_die)
    release.refresh_from_db()
    known = release.result
    for _ in range(2):  # a second attempt changes nothing
        draw_release(release.pk)
        release.refresh_from_db()
        assert release.state == state
        assert release.result == known or known is None
        known = release.result
    assert (release.problem == INTERRUPTED) == (state == "lost")
    account = read_account(wave)
    assert (account.spent, account.suspended) == (60, "")
    assert (folder / wave.manifest_hash_hex).read_text() == f"{release.key}\n"
