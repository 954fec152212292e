"""Folders that count draws: a second one is noticed, and nothing is drawn with the wrong one."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from pytest_django.fixtures import Settings

from aggregator.models import Release, ReleaseFolder
from aggregator.releases import drawing
from aggregator.releases.counters import make_identity, read_identity
from aggregator.releases.drawing import CONTRADICTED, INTERRUPTED, NO_FILE, OTHER_FOLDER
from aggregator.releases.drawing import draw_release as draw_now
from aggregator.releases.folder import (
    REMEDY,
    WITHOUT_DRAWS,
    claim_folder,
    describe_wrong_folder,
)
from aggregator.releases.ledger import read_account, reserve_release
from aggregator.tasks import sweep
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from tests.support.waves import make_released_wave

pytestmark = pytest.mark.django_db(transaction=True)


def reserve(wave: Wave, question: str = "q1") -> Release:
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=(question,), epsilon_hundredths=20)
    return reserve_release(wave=wave, request=request)


def draw(release: Release) -> Release:
    draw_now(release.pk)
    release.refresh_from_db()
    return release


@pytest.fixture(autouse=True)
def broker() -> Iterator[None]:
    """Make sweeps send no messages."""
    with (
        mock.patch("aggregator.tasks.send_due_work"),
        mock.patch("aggregator.tasks.drop_waiting_sweeps"),
    ):
        yield


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "of another machine"


def test_the_first_sweep_makes_a_folder_the_one_that_counts(folder: Path) -> None:
    sweep()
    assert ReleaseFolder.objects.get().identity == read_identity(folder) != ""
    assert [path.name for path in folder.iterdir()] == ["identity"]
    assert (folder / "identity").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("is_new", [True, False])
def test_another_folder_draws_nothing_and_says_why(
    is_new: bool, settings: Settings, folder: Path, other: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    waiting = reserve(wave, "q2")
    if not is_new:
        make_identity(other)
    settings.RELEASES = other
    for _ in range(3):  # every sweep tries again
        sweep()
        assert (draw(waiting).state, waiting.problem) == (Release.State.RESERVED, OTHER_FOLDER)
    assert not list(other.glob("?" * 64))
    [line] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert REMEDY in str(line.exc_info)
    settings.RELEASES = folder
    assert (draw(waiting).state, waiting.problem) == (Release.State.DRAWN, "")
    assert (read_account(wave).spent, read_account(wave).suspended) == (40, "")


def test_what_died_on_one_machine_is_not_drawn_on_another(
    settings: Settings, folder: Path, other: Path
) -> None:
    release = reserve(make_released_wave())
    with (
        mock.patch.object(drawing._Draw, "draw", side_effect=RuntimeError),
        pytest.raises(RuntimeError),
    ):
        draw(release)
    settings.RELEASES = other
    assert draw(release).state == Release.State.RESERVED
    settings.RELEASES = folder
    assert (draw(release).state, release.problem) == (Release.State.LOST, INTERRUPTED)


def test_a_lost_or_unmounted_folder_is_not_made_again(folder: Path, tmp_path: Path) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    folder.rename(tmp_path / "unmounted")
    folder.mkdir()
    waiting = reserve(wave, "q2")
    sweep()
    assert draw(waiting).problem == OTHER_FOLDER
    assert not list(folder.iterdir())
    folder.rmdir()
    assert draw(waiting).problem == OTHER_FOLDER
    (tmp_path / "unmounted").rename(folder)
    assert draw(waiting).state == Release.State.DRAWN


def test_a_database_from_before_any_folder_takes_the_old_one_with_its_draws(folder: Path) -> None:
    wave = make_released_wave()
    release = draw(reserve(wave))
    ReleaseFolder.objects.all().delete()
    Release.objects.update(state=Release.State.RESERVED, result=None)
    assert (draw(release).state, release.problem) == (Release.State.LOST, INTERRUPTED)
    assert ReleaseFolder.objects.get().identity == read_identity(folder)
    Release.objects.all().delete()
    assert draw(reserve(wave, "q2")).problem == CONTRADICTED


def test_a_database_from_before_any_folder_does_not_take_one_without_draws(
    settings: Settings, folder: Path, other: Path
) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    waiting = reserve(make_released_wave())
    ReleaseFolder.objects.all().delete()
    settings.RELEASES = other
    for is_new in (True, False):
        sweep()
        assert describe_wrong_folder(other) == WITHOUT_DRAWS
        assert (draw(waiting).state, waiting.problem) == (Release.State.RESERVED, OTHER_FOLDER)
        assert not ReleaseFolder.objects.exists()
        if is_new:
            make_identity(other)
    settings.RELEASES = folder
    assert draw(waiting).state == Release.State.DRAWN


def test_a_first_folder_that_comes_after_releases_were_charged_draws_them() -> None:
    assert draw(reserve(make_released_wave())).state == Release.State.DRAWN


def test_a_folder_that_can_only_be_read_is_not_claimed(folder: Path) -> None:
    release = reserve(make_released_wave())
    folder.mkdir()
    with mock.patch("os.open", side_effect=OSError(errno.EROFS, "read-only")):
        sweep()
        assert draw(release).problem == NO_FILE
    assert not ReleaseFolder.objects.exists()
    sweep()
    with mock.patch("os.open", side_effect=OSError(errno.EROFS, "read-only")):
        assert describe_wrong_folder(folder) == ""
        assert draw(release).problem == NO_FILE
    assert draw(release).state == Release.State.DRAWN


@pytest.mark.parametrize("content", ["", "?\n", f"{'a' * 32}\n{'b' * 32}\n"])
def test_a_damaged_identity_is_none(content: str, folder: Path) -> None:
    claim_folder(folder)
    (folder / "identity").write_text(content)
    assert describe_wrong_folder(folder)
    with pytest.raises(OSError, match="damaged"):
        make_identity(folder)
    shutil.rmtree(folder)
    assert describe_wrong_folder(folder)
