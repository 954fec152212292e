"""A process is killed at each step of an alert's look, or four look at once, on both databases.

In every case the threshold's noise is drawn once, an alert that may be known is given up, and a
look that revealed nothing is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from django.db import connection

from aggregator.models import RawReport, Release
from aggregator.releases import alerts, counters
from aggregator.releases.alerts import find_alerts_to_look_at, look_at_alert
from aggregator.releases.counters import name_start
from aggregator.releases.folder import claim_folder
from aggregator.releases.ledger import read_account, reserve_planned
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from surveys.releasing.alerts import find_threshold
from tests.aggregator.releases.several_processes.running import kill_me, run_and_die, run_at_once
from tests.support.waves import make_protected_wave

ALERT = ReleaseRequest(
    kind=ReleaseKind.ALERT, questions=("q1",), epsilon_hundredths=60, answer=1, percent=20
)


def start(*, yes: int) -> tuple[Wave, Release]:
    """Charge an alert of a wave in which `yes` people said Yes: 900 are certainly enough."""
    wave = make_protected_wave(planned=[ALERT], people_expected=3000)
    RawReport.objects.bulk_create(
        RawReport(id=number.to_bytes(32, "big"), wave=wave, symbols=b"\1\0\0")
        for number in range(yes)
    )
    reserve_planned(wave_id=wave.pk)
    return wave, wave.releases.get()


def _kill_at(place: str, *, after: bool) -> Callable[[], object]:
    owners = {
        "counting": (alerts, "append_key", counters.append_key),
        "commit": (connection, "_commit", connection._commit),  # type: ignore[attr-defined]
        "drawing": (alerts, "find_threshold", find_threshold),
    }
    owner, name, step = owners[place]

    def run(*arguments: object) -> None:
        if after:
            step(*arguments)
        kill_me()

    return lambda: mock.patch.object(owner, name, run).start()


@pytest.mark.parametrize("yes", [0, 900])
@pytest.mark.parametrize(
    ("place", "after", "state", "ended"),
    [
        ("counting", False, "on", True),
        ("counting", True, "lost", False),
        ("commit", False, "lost", True),
        ("commit", True, "on", True),
        ("drawing", False, "lost", False),
    ],
)
def test_killed_at_the_first_look(
    yes: int, place: str, after: bool, state: str, ended: bool, database: str, folder: Path
) -> None:
    wave, release = start(yes=yes)
    claim_folder(folder)  # as a sweep would have done long ago

    def look_and_die() -> None:
        _kill_at(place, after=after)()
        look_at_alert(release.pk)

    run_and_die(look_and_die)
    release.refresh_from_db()
    kept = release.noisy_threshold
    look_at_alert(release.pk)
    release.refresh_from_db()
    goes_on = "drawn" if yes else "watching"
    assert release.state == ("lost" if state == "lost" else goes_on)
    assert kept in (None, release.noisy_threshold)
    written = (folder / wave.manifest_hash_hex).read_text().split()
    assert len(written) == len(set(written))
    assert written[0] == name_start(release.key)
    assert (release.key in written) == (ended and yes > 0)
    assert (read_account(wave).spent, read_account(wave).suspended) == (60, "")
    assert not find_alerts_to_look_at().exists()


def test_workers_that_look_at_once_draw_the_threshold_once(database: str, folder: Path) -> None:
    wave, release = start(yes=900)
    run_at_once([lambda: look_at_alert(release.pk)] * 4)
    release.refresh_from_db()
    assert (release.state, release.result) == ("drawn", {"alert": True})
    written = (folder / wave.manifest_hash_hex).read_text().split()
    assert written == [name_start(release.key), release.key]
