"""After the folder that counts draws is lost, nothing that may have been drawn is drawn again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from aggregator.models import Release, ReleaseFolder, ReleaseLedger
from aggregator.releases.alerts import look_at_alert
from aggregator.releases.counters import read_identity
from aggregator.releases.drawing import CONTRADICTED, OTHER_FOLDER, draw_release
from aggregator.releases.folder import claim_folder
from aggregator.releases.ledger import (
    find_waves_to_release,
    read_account,
    reserve_planned,
    reserve_release,
)
from aggregator.upkeep.release_folder import RECORD_LOST
from aggregator.upkeep.verification.run import Verification
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from tests.support.waves import count_all, make_protected_wave, make_released_wave

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=20)


def reserve(wave: Wave, question: str = "q1") -> Release:
    return reserve_release(wave=wave, request=replace(TABLE, questions=(question,)))


def draw(release: Release) -> Release:
    draw_release(release.pk)
    release.refresh_from_db()
    return release


def replace_folder(database: str) -> None:
    call_command("replace_releases_folder", "--database", database)


def find_differences() -> list[str]:
    return [one.finding for one in Verification().run(Wave.objects.order_by("pk"))]


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.RELEASES = tmp_path / "releases"
    return tmp_path / "releases"


@pytest.fixture
def wave(folder: Path) -> Wave:
    """Make a wave with a drawn release and one that waits, and lose the folder."""
    wave = make_released_wave()
    draw(reserve(wave))
    reserve(wave, "q2")
    shutil.rmtree(folder)
    return wave


def test_a_complete_database_gives_up_what_waits_and_goes_on(
    wave: Wave, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_folder("complete")
    assert "given up, and stay paid for: 1." in capsys.readouterr().out
    assert ReleaseFolder.objects.get().identity == read_identity(folder)
    drawn, waiting = wave.releases.order_by("pk")
    assert (drawn.state, waiting.state, waiting.problem) == ("drawn", "lost", RECORD_LOST)
    assert draw_release(waiting.pk) is False
    assert draw(reserve(wave, "q3")).state == Release.State.DRAWN
    assert (read_account(wave).spent, read_account(wave).suspended) == (60, "")
    assert find_differences() == []


def test_a_restored_database_publishes_nothing_more_of_any_survey(
    wave: Wave, capsys: pytest.CaptureFixture[str]
) -> None:
    still_open = make_protected_wave(rows=[b"\0\1\0"] * 40, planned=[TABLE])
    charged_since = make_released_wave()
    replace_folder("restored")
    assert "Waves that publish and test nothing more: 3." in capsys.readouterr().out
    drawn, waiting = wave.releases.order_by("pk")
    assert (drawn.state, waiting.state, waiting.problem) == ("drawn", "lost", CONTRADICTED)
    assert read_account(wave).left == 0
    assert find_differences() == []
    # Releases not charged yet may have been drawn since the backup.
    count_all(still_open)
    reserve_planned(wave_id=still_open.pk)
    assert draw(still_open.releases.get()).problem == CONTRADICTED
    assert draw(reserve(charged_since)).problem == CONTRADICTED
    assert not ReleaseLedger.objects.filter(suspended="").exists()
    assert find_differences() == []
    # Surveys that open from now on are not affected.
    assert draw(reserve(make_released_wave())).state == Release.State.DRAWN


@pytest.mark.parametrize("database", ["complete", "restored"])
def test_an_alert_whose_looks_may_be_known_is_given_up(database: str, folder: Path) -> None:
    alert = ReleaseRequest(
        kind=ReleaseKind.ALERT, questions=("q1",), epsilon_hundredths=50, answer=1, percent=20
    )
    wave = make_protected_wave(rows=[b"\0\1\0"] * 40, planned=[alert, TABLE], people_expected=5000)
    reserve_planned(wave_id=wave.pk)
    waiting = wave.releases.get()
    assert look_at_alert(waiting.pk)
    folder.rename(folder.with_name("unmounted"))
    Release.objects.update(looked_on=None)  # the next day
    assert look_at_alert(waiting.pk) is False
    waiting.refresh_from_db()
    assert (waiting.state, waiting.problem) == (Release.State.WATCHING, OTHER_FOLDER)
    replace_folder(database)
    waiting.refresh_from_db()
    assert waiting.state == Release.State.LOST
    # Other planned releases are charged at the close, even though the whole cap counts as spent.
    count_all(wave)
    reserve_planned(wave_id=wave.pk)
    assert not find_waves_to_release().exists()
    table = draw(wave.releases.get(kind=ReleaseKind.TABLE))
    assert table.state == ("drawn" if database == "complete" else "lost")
    assert find_differences() == []


def test_a_backup_from_before_any_folder_can_be_restored_without_one(wave: Wave) -> None:
    ReleaseFolder.objects.all().delete()
    wave.releases.all().delete()
    ReleaseLedger.objects.all().delete()
    replace_folder("restored")
    assert draw(reserve(wave)).problem == CONTRADICTED


def test_a_restored_database_is_made_safe_after_a_worker_took_an_empty_folder(
    wave: Wave, folder: Path
) -> None:
    ReleaseFolder.objects.all().delete()
    wave.releases.filter(state="drawn").delete()
    claim_folder(folder)
    replace_folder("restored")
    assert wave.releases.get(state="lost").problem == CONTRADICTED


@pytest.mark.parametrize("database", ["complete", "restored"])
def test_it_can_run_again_after_it_stopped_halfway(database: str, wave: Wave, folder: Path) -> None:
    stop = mock.patch.object(ReleaseFolder.objects, "update_or_create", side_effect=RuntimeError)
    with stop, pytest.raises(RuntimeError):
        replace_folder(database)
    waiting = wave.releases.get(state="reserved")
    assert draw(waiting).state == Release.State.RESERVED  # no draw with a half-made folder
    before = (folder / wave.manifest_hash_hex).read_text()
    replace_folder(database)
    assert (folder / wave.manifest_hash_hex).read_text() == before
    waiting.refresh_from_db()
    assert waiting.state == Release.State.LOST


def test_the_folder_that_counts_is_not_replaced(folder: Path, settings: Settings) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    waiting = reserve(wave, "q2")
    with pytest.raises(CommandError, match="Nothing was changed"):
        replace_folder("complete")
    assert draw(waiting).state == Release.State.DRAWN
    settings.RELEASES = folder / "identity" / "below a file"
    with pytest.raises(CommandError, match="Nothing was changed"):
        replace_folder("restored")
    settings.RELEASES = None
    with pytest.raises(CommandError, match="Set MURMUR_RELEASES"):
        replace_folder("restored")
