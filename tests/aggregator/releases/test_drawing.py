"""Drawing a release: once, by a worker, with a file outside of the database that counts draws."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from aggregator.models import Release, ReleaseLedger
from aggregator.releases import drawing
from aggregator.releases.drawing import (
    CONTRADICTED,
    INTERRUPTED,
    NO_FILE,
    NOT_COUNTED,
    draw_release,
    find_releases_to_draw,
)
from aggregator.releases.ledger import read_account, reserve_release
from aggregator.releases.noise import Sampler, prepare_sampler
from aggregator.releases.requests import NotReleasable, ReleasePlan, ReleaseRequest
from aggregator.upkeep.deleting import delete_survey
from surveys.models import Wave
from tests.support.waves import make_released_wave

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.RELEASES = tmp_path / "releases"
    return tmp_path / "releases"


def reserve(wave: Wave, *questions: str, epsilon: int = 20) -> Release:
    request = ReleaseRequest(
        kind=Release.Kind.TABLE, questions=questions or ("q1",), epsilon_hundredths=epsilon
    )
    return reserve_release(wave=wave, request=request)


def draw(release: Release) -> Release:
    draw_release(release.pk)
    release.refresh_from_db()
    return release


def file_of(wave: Wave, folder: Path) -> Path:
    return folder / wave.manifest_hash_hex


def test_a_table_has_a_noisy_number_for_every_code_and_its_key_is_in_the_file(folder: Path) -> None:
    wave = make_released_wave()
    release = draw(reserve(wave, "q1", "q3"))
    assert release.state == Release.State.DRAWN
    assert release.result is not None
    assert {name: len(cells) for name, cells in release.result["cells"].items()} == {
        "q1": 2,
        "q3": 2,
    }
    assert release.library == "OpenDP 0.16.0"
    assert file_of(wave, folder).read_text() == f"{release.key}\n"
    assert file_of(wave, folder).stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


def test_what_is_drawn_is_never_drawn_again(folder: Path) -> None:
    wave = make_released_wave()
    release = draw(reserve(wave))
    figure = release.result
    assert draw_release(release.pk) is False
    assert draw(release).result == figure
    assert len(file_of(wave, folder).read_text().splitlines()) == 1
    assert not find_releases_to_draw().exists()


def test_a_worker_that_dies_after_it_counted_the_draw_leaves_the_loss_and_no_figure() -> None:
    wave = make_released_wave()
    release = reserve(wave)
    with (
        mock.patch.object(drawing._Draw, "draw", side_effect=RuntimeError),
        pytest.raises(RuntimeError),
    ):
        draw_release(release.pk)
    release.refresh_from_db()
    assert release.state == Release.State.RESERVED
    assert (draw(release).state, release.problem) == (Release.State.LOST, INTERRUPTED)
    assert read_account(wave).spent == 20
    # The same request is another release, and costs again.
    assert draw(reserve(wave)).state == Release.State.DRAWN
    assert read_account(wave).spent == 40


@pytest.mark.parametrize("what", ["file lost", "database older", "file damaged", "file unfinished"])
def test_a_contradiction_spends_the_whole_cap_and_nothing_is_drawn(what: str, folder: Path) -> None:
    wave = make_released_wave()
    first = draw(reserve(wave))
    figure = first.result
    path = file_of(wave, folder)
    if what == "file lost":
        path.unlink()
    elif what == "database older":
        first.delete()
        ReleaseLedger.objects.update(spent_hundredths=0)
    else:
        path.write_text(path.read_text() + ("?\n" if what == "file damaged" else "a" * 31))
    before = path.read_bytes() if path.exists() else b""
    second = draw(reserve(wave, "q2"))
    assert (second.state, second.problem, second.result) == (
        Release.State.LOST,
        CONTRADICTED,
        None,
    )
    account = read_account(wave)
    assert (account.left, account.delta_left, account.suspended) == (0, 0, "restored")
    assert (path.read_bytes() if path.exists() else b"") == before
    with pytest.raises(NotReleasable):
        reserve(wave, "q3", epsilon=1)
    if what != "database older":
        first.refresh_from_db()
        assert first.result == figure  # what readers know stays


def test_a_database_from_before_the_first_release_counts_as_spent(folder: Path) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    Release.objects.all().delete()
    ReleaseLedger.objects.all().delete()
    assert draw(reserve(wave, "q2")).problem == CONTRADICTED
    assert read_account(wave).left == 0


def test_the_file_of_another_machine_counts_as_spent(settings: Settings, tmp_path: Path) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    settings.RELEASES = tmp_path / "of another machine"
    assert draw(reserve(wave, "q2")).problem == CONTRADICTED
    assert not (tmp_path / "of another machine").exists()


def test_a_worker_without_a_folder_leaves_releases_to_others(settings: Settings) -> None:
    release = reserve(make_released_wave())
    settings.RELEASES = None
    assert draw_release(release.pk) is False
    assert [found.pk for found in find_releases_to_draw()] == [release.pk]


def test_a_folder_that_cannot_be_written_is_said_and_the_release_is_drawn_later(
    folder: Path,
) -> None:
    release = reserve(make_released_wave())
    folder.write_text("a file stands where the folder should be")
    assert (draw(release).state, release.problem) == (Release.State.RESERVED, NO_FILE)
    folder.unlink()
    assert (draw(release).state, release.problem) == (Release.State.DRAWN, "")
    assert read_account(release.wave).spent == 20


def test_a_full_disk_leaves_no_half_line_and_the_release_is_drawn_later(folder: Path) -> None:
    wave = make_released_wave()
    release = reserve(wave)
    with mock.patch("aggregator.releases.counters.os.fsync", side_effect=OSError):
        assert draw(release).problem == NO_FILE
    assert file_of(wave, folder).read_bytes() == b""
    assert draw(release).state == Release.State.DRAWN


def test_without_counted_results_it_waits() -> None:
    release = reserve(make_released_wave())
    release.wave.snapshots.update(final=False)
    assert draw(release).problem == NOT_COUNTED
    release.wave.snapshots.update(final=True)
    assert draw(release).state == Release.State.DRAWN


def test_a_survey_deleted_while_its_release_waits_is_not_drawn(folder: Path) -> None:
    wave = make_released_wave()
    first, second = draw(reserve(wave)), reserve(wave, "q2")
    path = file_of(wave, folder)
    delete_survey(survey=wave.survey)
    assert draw_release(second.pk) is False
    # A backup may bring the survey back; the file must still know what was drawn.
    assert path.read_text() == f"{first.key}\n"


def test_a_survey_deleted_during_the_draw_stores_nothing(folder: Path) -> None:
    wave = make_released_wave()
    release = reserve(wave)

    def delete_first(plan: ReleasePlan) -> Sampler:
        delete_survey(survey=wave.survey)
        return prepare_sampler(plan)

    with mock.patch.object(drawing, "prepare_sampler", delete_first):
        draw_release(release.pk)
    assert not Release.objects.exists()
    assert not folder.exists()


def test_no_statement_holds_an_exact_count() -> None:
    """PostgreSQL may log statements, so only figures with noise may be written into one."""
    wave = make_released_wave(rows=[b"\0\1\0"] * 123 + [b"\1\1\0"] * 241)
    release = reserve(wave)
    sampler = Sampler(draw=lambda counts: [-7 for _ in counts], library="none")
    with (
        mock.patch.object(drawing, "prepare_sampler", return_value=sampler),
        CaptureQueriesContext(connection) as queries,
    ):
        draw(release)
    assert release.state == Release.State.DRAWN
    written = [query["sql"] for query in queries if not query["sql"].startswith("SELECT")]
    assert any('{"q1": [-7, -7]}' in sql for sql in written)
    assert not any("123" in sql or "241" in sql or "364" in sql for sql in written)
