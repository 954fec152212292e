"""A sealed half is tested once, even if a backup from before the test is restored."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings

from aggregator.comparisons import opening
from aggregator.comparisons.claims import (
    Claim,
    add_claim,
    ask_to_open,
    list_tested,
    remove_claim,
    stamp_claims,
)
from aggregator.comparisons.jobs import find_comparisons_to_run, run_comparison
from aggregator.comparisons.opening import NO_RECORD, TESTED_BEFORE, name_test, open_half
from aggregator.models import Batch, Comparison, SealedHalf
from aggregator.releases.counters import find_file
from aggregator.upkeep.deleting import delete_survey
from aggregator.upkeep.release_folder import replace_folder
from surveys.models import Wave
from tests.support.fielding import sign_in
from tests.support.halves import list_differences, make_divided_wave

pytestmark = pytest.mark.django_db
FIRST = Claim(names=("q1", "q2"), is_higher=True)
OTHER = Claim(names=("q1", "q3"), is_higher=False)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.RELEASES = tmp_path / "releases"
    return tmp_path / "releases"


@pytest.fixture
def wave() -> Wave:
    wave = make_divided_wave()
    for claim in (FIRST, OTHER):
        add_claim(wave=wave, claim=claim)
    return wave


def ask(wave: Wave, *claims: Claim) -> SealedHalf:
    """Replace the recorded claims by these, ask for their test, and open the half."""
    half = SealedHalf.objects.get(wave=wave)
    for claim in (FIRST, OTHER):
        remove_claim(wave=wave, claim=claim)
    for claim in claims:
        add_claim(wave=wave, claim=claim)
    ask_to_open(wave=wave, seen=stamp_claims(claims))
    open_half(wave_id=wave.pk)
    half.refresh_from_db()
    return half


def restore(wave: Wave) -> None:
    """Undo the test in the database, as restoring a backup from before the test does."""
    half = SealedHalf.objects.get(wave=wave)
    Batch.every.filter(wave=wave, number__gt=half.through_batch).update(is_held=True)
    Comparison.objects.filter(wave=wave).delete()
    half.asked_on, half.opened_on, half.obstacle = None, None, ""
    half.save()


def findings(wave: Wave) -> list[tuple[str, str]]:
    while (found := find_comparisons_to_run().first()) is not None:
        run_comparison(comparison_id=found.pk)
    tested = list_tested(SealedHalf.objects.get(wave=wave), wave.description)
    return sorted((one.title, one.finding) for one in tested)


def test_after_a_restore_only_the_same_claims_are_tested_with_the_same_result(wave: Wave) -> None:
    assert ask(wave, FIRST, OTHER).opened_on
    before = findings(wave)
    assert list_differences() == []
    restore(wave)
    assert list_differences() == []  # the recorded claims are those that were tested
    for others in ([FIRST], [OTHER], [FIRST, Claim(names=("q2", "q3"), is_higher=True)]):
        half = ask(wave, *others)
        assert (half.opened_on, half.obstacle) == (None, TESTED_BEFORE)
        assert Batch.every.filter(wave=wave, is_held=True).exists()
        assert not Comparison.objects.exists()
        remove_claim(wave=wave, claim=others[-1])
    assert list_differences() == []  # the stored obstacle already informs the owner
    assert ask(wave, OTHER, FIRST).opened_on  # the same claims in another order
    assert findings(wave) == before
    assert list_differences() == []


def test_a_half_that_was_tested_opens_without_claims_and_verification_says_it_before(
    wave: Wave, folder: Path
) -> None:
    ask(wave, FIRST)
    restore(wave)
    SealedHalf.objects.update(claims=[OTHER.to_json()])
    [difference] = list_differences()
    assert "claims that this database does not have were tested on it before" in difference
    assert ask(wave).opened_on
    assert list_differences() == []
    restore(wave)
    assert ask(wave, OTHER).obstacle == TESTED_BEFORE
    assert ask(wave, FIRST).opened_on
    find_file(folder, bytes(wave.manifest_hash)).write_text("?")
    restore(wave)
    assert ask(wave, FIRST).obstacle == TESTED_BEFORE  # nobody knows what the file recorded
    assert ask(wave).opened_on


def test_other_sealed_reports_are_another_test(wave: Wave) -> None:
    ask(wave, FIRST)
    restore(wave)  # the backup is from before the draw, so other halves are drawn
    SealedHalf.objects.update(through_batch=SealedHalf.objects.get().through_batch - 1)
    assert ask(wave, FIRST).obstacle == TESTED_BEFORE


def test_a_worker_that_dies_after_the_record_leaves_the_claims_to_the_next_one(
    wave: Wave, folder: Path
) -> None:
    with (
        mock.patch.object(opening, "release_held", side_effect=RuntimeError),
        pytest.raises(RuntimeError),
    ):
        ask(wave, FIRST)
    path = find_file(folder, bytes(wave.manifest_hash))
    recorded = path.read_text()
    half = SealedHalf.objects.get()
    assert (recorded, half.opened_on) == (f"{name_test(half)}\n", None)
    assert open_half(wave_id=wave.pk)
    assert (path.read_text(), open_half(wave_id=wave.pk)) == (recorded, False)
    assert len(findings(wave)) == 1


@pytest.mark.usefixtures("static_files")
def test_without_a_record_the_half_stays_sealed_and_its_claims_as_they_are(
    wave: Wave, settings: Settings, folder: Path
) -> None:
    settings.RELEASES = None
    assert (ask(wave, FIRST).obstacle, open_half(wave_id=wave.pk)) == ("", False)
    settings.RELEASES = folder
    with mock.patch("aggregator.releases.counters.os.fsync", side_effect=OSError):
        assert not open_half(wave_id=wave.pk)
    assert SealedHalf.objects.get().obstacle == NO_RECORD
    page = sign_in(wave.survey.owner).get(
        reverse("aggregator:sealed_half", args=[wave.survey.slug])
    )
    assert (NO_RECORD in page.text, "Remove" in page.text, page["Refresh"]) == (True, False, "5")
    assert open_half(wave_id=wave.pk)


@pytest.mark.parametrize("is_restored", [True, False])
def test_another_folder_in_place_of_a_lost_one_tests_nothing_a_second_time(
    wave: Wave, settings: Settings, tmp_path: Path, is_restored: bool
) -> None:
    if not is_restored:
        ask(wave, FIRST)
    settings.RELEASES = tmp_path / "another"
    replace_folder(tmp_path / "another", is_restored=is_restored)
    restore(wave)
    assert ask(wave, OTHER).obstacle == TESTED_BEFORE
    assert bool(ask(wave, FIRST).opened_on) is not is_restored


def test_a_deleted_survey_that_a_backup_brings_back_is_not_tested_again(
    wave: Wave, folder: Path
) -> None:
    ask(wave, FIRST)
    restore(wave)
    half = SealedHalf.objects.get()
    path, key = find_file(folder, bytes(wave.manifest_hash)), name_test(half)
    delete_survey(survey=wave.survey)
    assert not open_half(wave_id=half.wave_id)
    assert opening.find_other_tests(path, "0" * len(key))
    assert not opening.find_other_tests(path, key)
