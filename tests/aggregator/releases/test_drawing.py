"""A worker draws a release once; a file outside the database counts draws."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.public_releases import find_charged
from aggregator.releases import drawing
from aggregator.releases.drawing import (
    CONTRADICTED,
    INTERRUPTED,
    NO_FILE,
    NOT_COUNTED,
    draw_release,
    find_releases_to_draw,
)
from aggregator.releases.folder import claim_folder
from aggregator.releases.ledger import read_account, reserve_release
from aggregator.releases.noise import Sampler, prepare_sampler
from aggregator.releases.readers import reader_epsilons
from aggregator.upkeep.deleting import delete_survey
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey, Wave, today
from surveys.releasing.choice import NotReleasable
from surveys.releasing.noise import ReleasePlan
from tests.support.factories import make_survey, open_survey
from tests.support.waves import count_all, make_released_wave, send_many

pytestmark = pytest.mark.django_db(transaction=True)


def reserve(wave: Wave, *questions: str, epsilon: int = 20) -> Release:
    request = ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=questions or ("q1",), epsilon_hundredths=epsilon
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
    # The same request makes another release and costs its price again.
    assert draw(reserve(wave)).state == Release.State.DRAWN
    assert read_account(wave).spent == 40


def test_a_figure_that_readers_saw_before_a_backup_was_restored_is_lost_and_counts() -> None:
    """The backup was made in the minutes between the reservation and the draw."""
    wave = make_released_wave()
    release = reserve(wave)
    backup = Release.objects.filter(pk=release.pk).values().get()
    account = ReleaseLedger.objects.values().get()
    assert draw(release).state == Release.State.DRAWN
    seen = reader_epsilons(wave.description, [release])
    Release.objects.filter(pk=release.pk).update(**backup)
    ReleaseLedger.objects.update(**account)
    release = draw(release)
    assert (release.state, release.problem) == (Release.State.LOST, INTERRUPTED)
    assert "a backup from before the draw was restored" in release.problem
    stored = read_account(wave)
    assert (stored.spent, stored.suspended) == (20, "")
    assert reader_epsilons(wave.description, stored.releases) == seen
    assert find_charged(wave, day=today()).releases == ()
    assert find_charged(wave, day=today() + timedelta(days=1)).releases == (release,)


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
        assert first.result == figure  # the figure that readers know is kept


def test_a_database_from_before_the_first_release_counts_as_spent(folder: Path) -> None:
    wave = make_released_wave()
    draw(reserve(wave))
    Release.objects.all().delete()
    ReleaseLedger.objects.all().delete()
    assert draw(reserve(wave, "q2")).problem == CONTRADICTED
    assert read_account(wave).left == 0


def test_a_worker_without_a_folder_leaves_releases_to_others(settings: Settings) -> None:
    release = reserve(make_released_wave())
    settings.RELEASES = None
    assert draw_release(release.pk) is False
    assert [found.pk for found in find_releases_to_draw()] == [release.pk]


def test_a_folder_that_cannot_be_written_is_said_and_the_release_is_drawn_later(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    release = reserve(make_released_wave())
    folder.write_text("a file stands where the folder should be")
    for _ in range(3):  # every sweep tries again
        assert (draw(release).state, release.problem) == (Release.State.RESERVED, NO_FILE)
    told = [record.levelname for record in caplog.records if record.name != "murmur.audit"]
    assert told == ["ERROR"]
    folder.unlink()
    assert (draw(release).state, release.problem) == (Release.State.DRAWN, "")
    assert read_account(release.wave).spent == 20


def test_a_full_disk_leaves_no_half_line_and_the_release_is_drawn_later(folder: Path) -> None:
    wave = make_released_wave()
    release = reserve(wave)
    claim_folder(folder)
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
    assert not file_of(wave, folder).exists()


def test_no_statement_holds_an_exact_count() -> None:
    """PostgreSQL may log statements, so only noisy figures may be written into one."""
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
    assert not any(re.search(r"\b(123|241|364)\b", sql) for sql in written)


@contextmanager
def day(number: int) -> Iterator[date]:
    """Set the clock to noon of this day of December 2026."""
    noon = datetime(2026, 12, number, 12, tzinfo=UTC)
    with mock.patch("aggregator.models.timezone.now", return_value=noon):
        yield noon.date()


def test_a_figure_drawn_after_midnight_appears_after_the_next_one() -> None:
    wave = make_released_wave()
    with day(4):
        release = reserve(wave)
    assert release.public_from == date(2026, 12, 5)
    with day(9):
        draw(release)
    assert (release.reserved_on, release.public_from) == (date(2026, 12, 4), date(2026, 12, 10))


def test_invented_answers_appear_on_the_day_of_the_draw() -> None:
    wave = make_released_wave()
    Survey.objects.update(demo=True)
    with day(4):
        release = draw(reserve(wave))
    assert release.public_from == date(2026, 12, 4)


def test_a_clock_that_jumps_draws_and_charges_nothing_again() -> None:
    wave = make_released_wave()
    with day(10):
        release = draw(reserve(wave))
    figure = release.result
    for number in (30, 1, 11, 10):
        with day(number):
            assert reserve(wave) == release
            assert draw_release(release.pk) is False
            release.refresh_from_db()
            assert (release.result, release.public_from) == (figure, date(2026, 12, 11))
            assert read_account(wave).spent == 20


def test_the_ledgers_of_waves_are_apart(folder: Path) -> None:
    """A rehearsal is a separate survey, so its draws cost the real survey nothing."""
    wave, other = make_released_wave(), make_released_wave()
    draw(reserve(wave))
    file_of(wave, folder).unlink()
    assert draw(reserve(other)).state == Release.State.DRAWN
    assert draw(reserve(wave, "q2")).problem == CONTRADICTED
    assert (read_account(wave).left, read_account(other).left) == (0, 80)


@pytest.mark.parametrize("kind", [ReleaseKind.LEADER, ReleaseKind.MEDIAN])
def test_a_choice_stores_the_code_of_an_option(kind: ReleaseKind) -> None:
    """Everybody sent the fourth of five points; the chance of another choice is below 10⁻²⁰."""
    survey = make_survey(
        questions=[],
        rehearsal=True,
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
    )
    add_question(
        survey=survey, text="How often?", flips=25, type=QuestionType.SCALE, minimum=1, maximum=5
    )
    wave = open_survey(survey=survey)
    send_many(wave, [b"\3"] * 300)
    count_all(wave)
    request = ReleaseRequest(kind=kind, questions=("q1",), epsilon_hundredths=200)
    reserve(wave)
    release = draw(reserve_release(wave=wave, request=request))
    assert release.result == {"code": wave.description.questions[0].options[3].code}


def test_an_item_that_many_chose_leads_and_its_number_stays_unknown() -> None:
    survey = make_survey(
        questions=[],
        rehearsal=True,
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
    )
    add_question(
        survey=survey, text="Which?", flips=25, type=QuestionType.SEVERAL, options=["a", "b", "c"]
    )
    wave = open_survey(survey=survey)
    send_many(wave, [b"\0\1\0"] * 60)
    count_all(wave)
    request = ReleaseRequest(kind=ReleaseKind.LEADER, questions=("q1",), epsilon_hundredths=200)
    reserve(wave)
    release = draw(reserve_release(wave=wave, request=request))
    assert release.result == {"code": wave.description.questions[0].options[1].code}
