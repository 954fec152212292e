"""Processes that reserve and draw at the same moment, on both databases."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.conf import settings

from aggregator.models import Release, ReleaseFolder
from aggregator.releases.counters import read_identity
from aggregator.releases.drawing import draw_release
from aggregator.releases.folder import claim_folder, describe_wrong_folder
from aggregator.releases.ledger import read_account, reserve_planned, reserve_release
from aggregator.upkeep.deleting import delete_survey
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
from surveys.releasing.choice import NotReleasable
from tests.aggregator.releases.several_processes.running import run_at_once
from tests.support.waves import make_released_wave

AT_ONCE = 8
EACH = 6


def try_to_reserve(wave: Wave, question: int, epsilon: int) -> int | None:
    request = ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=(f"q{question}",), epsilon_hundredths=epsilon
    )
    try:
        return reserve_release(wave=wave, request=request).pk
    except NotReleasable:
        return None


def reserve_several(wave: Wave, first: int) -> list[int | None]:
    """Ask for different releases, which cost ε = 0.07 each."""
    return [try_to_reserve(wave, 1 + (first + step) % 48, 7) for step in range(EACH)]


def test_many_who_reserve_at_once_never_exceed_the_cap(database: str) -> None:
    wave = make_released_wave(questions=48, flips=45, rows=[bytes(48)] * 20)
    works = [partial(reserve_several, wave, EACH * place) for place in range(AT_ONCE)]
    reserved = [pk for found in run_at_once(works) for pk in found if pk]
    # 14 × 0.07 = 0.98, and one more would exceed 1.
    assert len(reserved) == len(set(reserved)) == 14
    account = read_account(wave)
    assert (account.spent, len(account.releases)) == (98, 14)


def test_the_same_release_reserved_at_once_is_charged_once(database: str) -> None:
    wave = make_released_wave()
    found = run_at_once([partial(try_to_reserve, wave, 1, 30)] * AT_ONCE)
    assert len(set(found)) == 1
    assert found[0] is not None
    assert read_account(wave).spent == 30


def charge_the_plan(wave: Wave, question: int) -> None:
    reserve_planned(wave_id=wave.pk)
    try_to_reserve(wave, question, 10)


def test_a_plan_charged_at_once_with_other_releases_is_charged_once(database: str) -> None:
    planned = [
        ReleaseRequest(kind=ReleaseKind.TABLE, questions=(name,), epsilon_hundredths=40)
        for name in ("q1", "q2")
    ]
    wave = make_released_wave(planned=planned)
    run_at_once([partial(charge_the_plan, wave, 1 + place % 3) for place in range(AT_ONCE)])
    # The two planned releases cost 0.40 each, and two others 0.10 each.
    assert [one.planned for one in wave.releases.order_by("pk")] == [True, True, False, False]
    assert read_account(wave).spent == 100


def draw_and_read(pk: int) -> object:
    draw_release(pk)
    return Release.objects.get(pk=pk).result


def test_two_workers_at_once_draw_one_figure(database: str, folder: Path) -> None:
    wave = make_released_wave()
    for question, epsilon in ((1, 20), (2, 30), (3, 40)):
        pk = try_to_reserve(wave, question, epsilon)
        assert pk is not None
        # A worker that finds the release already drawn returns early and reads the stored figure.
        figures = run_at_once([partial(draw_and_read, pk)] * 4)
        assert figures[0] is not None
        assert figures == [figures[0]] * 4
    keys = (folder / wave.manifest_hash_hex).read_text().split()
    assert sorted(keys) == sorted(release.key for release in wave.releases.all())
    assert read_account(wave).spent == 90


def test_processes_that_start_at_once_agree_on_one_folder(database: str, folder: Path) -> None:
    run_at_once([partial(claim_folder, folder)] * AT_ONCE)
    assert [path.name for path in folder.iterdir()] == ["identity"]
    assert ReleaseFolder.objects.get().identity == read_identity(folder)


def draw_in(folder: Path, pk: int) -> bool:
    settings.RELEASES = folder
    return draw_release(pk)


def test_of_two_folders_at_once_one_draws(database: str, folder: Path, tmp_path: Path) -> None:
    wave = make_released_wave()
    pk = try_to_reserve(wave, 1, 20)
    assert pk is not None
    folders = [folder, tmp_path / "another"]
    run_at_once([partial(draw_in, one, pk) for one in folders] * (AT_ONCE // 2))
    draw_in(folder, pk)
    [counting] = [one for one in folders if not describe_wrong_folder(one)]
    [drawn] = [one for one in folders if (one / wave.manifest_hash_hex).exists()]
    assert counting == drawn
    assert Release.objects.get(pk=pk).state == Release.State.DRAWN


def test_deleting_reserving_and_drawing_at_once_end_without_rows(database: str) -> None:
    wave = make_released_wave()
    pk = try_to_reserve(wave, 1, 20)
    assert pk is not None
    survey = wave.survey
    run_at_once(
        [
            partial(draw_release, pk),
            partial(try_to_reserve, wave, 2, 20),
            partial(delete_survey, survey=survey),
            partial(try_to_reserve, wave, 3, 20),
        ]
    )
    assert not Wave.objects.filter(pk=wave.pk).exists()
    assert not Release.objects.filter(wave=wave.pk).exists()
