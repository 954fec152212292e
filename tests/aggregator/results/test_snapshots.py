"""Snapshots are a pure function of the batches; the ending decides the kind of interval."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from aggregator.batches.closing import close_due_waves
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Snapshot
from aggregator.results import snapshots
from aggregator.results.display import Standing, find_view
from aggregator.results.estimating import compute_estimates
from aggregator.results.snapshots import (
    METHOD_VERSION,
    find_waves_to_estimate,
    newest_snapshot,
    update_snapshot,
)
from privacy.shares.looks import critical_values
from surveys.lifecycle.services import close_wave
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Wave
from tests.support.fielding import send_people
from tests.support.verifying import find_differences
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
# Of 40 reports, 22 say Yes to the first question, 20 to the second, and 8 to the third.
ROWS = [bytes([i < 22, i % 2, i >= 32]) for i in range(40)]


def methods_of(snapshot: Snapshot) -> set[str]:
    return {
        estimate["intervals"]["main"]["method"]
        for question in snapshot.estimates
        for estimate in question["estimates"]
    }


def seal_all(wave: Wave) -> None:
    while seal_next_batch(wave_id=wave.pk):
        pass


def test_a_batch_after_the_newest_snapshot_is_due_work() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    assert not find_waves_to_estimate().exists()
    seal_all(wave)
    assert list(find_waves_to_estimate()) == [wave]
    update_snapshot(wave_id=wave.pk)
    assert not find_waves_to_estimate().exists()


def test_the_two_coin_estimate_is_twice_the_share_minus_a_half() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    seal_all(wave)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert (snapshot.total, snapshot.counts) == (40, [[18, 22], [20, 20], [32, 8]])
    yes = [question["estimates"][0] for question in snapshot.estimates]
    # 2·22/40 − ½ = 0.6, 2·20/40 − ½ = 0.5, 2·8/40 − ½ = −0.1: stored unclipped
    assert [code["value"] for code in yes] == pytest.approx([0.6, 0.5, -0.1], abs=1e-12)
    # √(0.55·0.45/40)/½
    assert yes[0]["standard_error"] == pytest.approx(0.157321327225523, abs=1e-12)


def update(wave: Wave) -> Snapshot:
    seal_all(wave)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    return snapshot


def list_critical(snapshot: Snapshot) -> set[float]:
    return {
        estimate["intervals"]["main"]["critical_value"]
        for question in snapshot.estimates
        for estimate in question["estimates"]
    }


def find_critical(totals: list[int], *, expected: int) -> float:
    return critical_values([total / expected for total in totals])[-1]


@pytest.mark.parametrize("expected", [None, 100, 10**6])
def test_a_wave_closed_by_hand_keeps_the_level_of_its_last_shown_look(expected: int | None) -> None:
    wave = make_wave(people_expected=expected)
    send_many(wave, ROWS * 5)
    seal_all(wave)
    early = update_snapshot(wave_id=wave.pk)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    late = update(wave)
    assert (late.final, late.total) == (True, 200)
    [value] = list_critical(late)
    if early is None:  # a look needs a tenth of the million expected
        assert (expected, late.totals) == (10**6, [])
        assert value == pytest.approx(1.95996, abs=1e-5)
        assert late.estimates[0]["estimates"][0]["intervals"]["inner"]
    else:
        # Below C = 30 reports nothing was shown, and the close spends nothing.
        shown = [total for total in early.totals if total >= 30]
        assert late.totals == early.totals
        assert value == pytest.approx(find_critical(shown, expected=expected or 1000))
        assert list_critical(early) == {value}
        assert methods_of(late) == {"clopper_pearson"}
        assert not late.estimates[0]["estimates"][0]["intervals"]["inner"]


@pytest.mark.parametrize(
    ("cap", "ending"), [(200, Wave.Ending.CAP), (500, Wave.Ending.OWNER), (None, Wave.Ending.DATE)]
)
def test_only_an_end_as_frozen_makes_up_for_looks(cap: int | None, ending: Wave.Ending) -> None:
    wave = make_wave(cap=cap)
    send_many(wave, ROWS * 4)
    assert max(list_critical(update(wave))) > 2.5
    send_many(wave, ROWS)
    close_wave(wave_id=wave.pk, ending=ending)
    [value] = list_critical(update(wave))
    assert (value < 1.961) == (ending != Wave.Ending.OWNER)


def test_the_smallest_survey_has_one_look_its_end() -> None:
    wave = make_wave(cap=30)  # K = 10 and C = 30
    send_many(wave, ROWS[:30])
    assert close_due_waves() == 1
    assert max(list_critical(update(wave))) == pytest.approx(1.95996, abs=1e-5)


def test_the_concentration_of_older_manifests_is_kept_and_changes_nothing() -> None:
    content = json.loads(bytes(make_wave().manifest))
    assert "concentration" not in content
    text = json.dumps(content | {"concentration": 111}, sort_keys=True, separators=(",", ":"))
    older = parse_manifest(text.encode())
    assert serialize_manifest(older) == text.encode()
    found = [
        compute_estimates(
            manifest=manifest,
            counts=[[60, 40]] * 3,
            tables=[],
            shown_at=[100],
            told=(),
        )
        for manifest in (older, replace(older, concentration=None))
    ]
    assert found[0] == found[1]


def test_a_random_subset_shows_nothing_before_the_close_unless_it_did_once() -> None:
    wave = make_wave(drawn=1)
    send_people(wave, people=400, seed=1)
    early = update(wave)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    late = update(wave)
    assert early.totals
    assert max(list_critical(late)) == pytest.approx(1.95996, abs=1e-5)
    Snapshot.objects.filter(pk=early.pk).update(earlier_final=False)
    Snapshot.objects.update(method_version=METHOD_VERSION - 1)
    assert min(list_critical(update(wave))) > 2


@pytest.mark.parametrize("looks_from", [0, 2])
def test_a_wave_of_an_earlier_version_counts_all_its_looks(looks_from: int) -> None:
    wave = make_wave()
    for _ in range(5):
        send_many(wave, ROWS)
        update(wave)
    right = Snapshot.objects.latest("through_batch")
    Snapshot.objects.update(
        method_version=METHOD_VERSION - 1, totals=[], looks_from=looks_from, tables=None
    )
    snapshot = update(wave)
    sizes = list(wave.batches.order_by("number").values_list("size", flat=True))
    if looks_from:
        assert snapshot.totals[:2] == [sizes[0], sizes[0] + sizes[1]]
        assert set(right.totals) <= set(snapshot.totals)
    else:
        assert (snapshot.totals, snapshot.estimates) == (right.totals, right.estimates)
    assert find_differences() == []
    Snapshot.objects.filter(pk=snapshot.pk).update(totals=[*snapshot.totals[:-1], 199])
    assert "at its looks do not follow" in find_differences()[-1]


def test_a_larger_wave_that_ended_as_fixed_has_the_shorter_interval() -> None:
    wave = make_wave(cap=200)
    send_many(wave, ROWS * 5)
    assert close_due_waves() == 1
    seal_all(wave)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert {
        e["intervals"]["main"]["method"] for q in snapshot.estimates for e in q["estimates"]
    } == {"likelihood_ratio"}


def test_a_snapshot_of_an_older_method_is_recomputed() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    seal_all(wave)
    update_snapshot(wave_id=wave.pk)
    assert not find_waves_to_estimate().exists()
    wave.snapshots.update(method_version=METHOD_VERSION - 1, estimates=[])
    assert newest_snapshot(wave) is None  # an outdated snapshot is not shown
    assert list(find_waves_to_estimate()) == [wave]
    update_snapshot(wave_id=wave.pk)
    renewed = newest_snapshot(wave)
    assert renewed is not None
    assert renewed.estimates
    assert not find_waves_to_estimate().exists()


@pytest.mark.parametrize("key", ["estimand", "low", "name"])
def test_a_snapshot_with_unknown_names_is_recomputed(key: str) -> None:
    """A half-applied upgrade leaves a snapshot with the right version but a wrong name inside."""
    wave = make_wave(display_minimum=10)
    send_many(wave, ROWS)
    seal_all(wave)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    right = snapshot.estimates
    text = json.dumps(right).replace(f'"{key}": ', '"of_another_release": ')
    wave.snapshots.update(estimates=json.loads(text))
    assert find_view(wave.survey).standing is Standing.RECOMPUTING
    assert list(find_waves_to_estimate()) == [wave]
    wave.snapshots.update(method_version=METHOD_VERSION)
    assert find_view(wave.survey).standing is Standing.RECOMPUTING
    assert list(find_waves_to_estimate()) == [wave]
    renewed = update_snapshot(wave_id=wave.pk)
    assert renewed is not None
    assert renewed.estimates == right
    assert find_view(wave.survey).standing is Standing.SHOWN


def test_an_open_wave_shows_only_the_guaranteed_interval() -> None:
    wave = make_wave(cap=1000)
    send_many(wave, ROWS * 5)
    snapshot = update(wave)
    assert not snapshot.final
    assert snapshot.estimates[0]["level"] == 0.95
    assert methods_of(snapshot) == {"clopper_pearson"}


def test_a_snapshot_taken_between_closing_and_the_last_batch_is_not_final() -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    seal_next_batch(wave_id=wave.pk)
    close_due_waves()
    early = update_snapshot(wave_id=wave.pk)
    assert early is not None
    assert (early.through_batch, early.final) == (1, False)
    seal_all(wave)
    assert list(find_waves_to_estimate()) == [wave]
    late = update_snapshot(wave_id=wave.pk)
    assert late is not None
    assert (late.through_batch, late.final) == (2, True)


def test_a_last_snapshot_that_missed_the_end_is_found_and_made_final() -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    close_due_waves()
    seal_all(wave)
    update_snapshot(wave_id=wave.pk)
    Snapshot.objects.update(final=False)
    assert list(find_waves_to_estimate()) == [wave]
    update_snapshot(wave_id=wave.pk)
    assert Snapshot.objects.get().final


def test_estimating_twice_changes_nothing() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    seal_all(wave)
    first = update_snapshot(wave_id=wave.pk)
    second = update_snapshot(wave_id=wave.pk)
    assert first is not None
    assert second is not None
    assert first.pk == second.pk
    assert (first.counts, first.estimates) == (second.counts, second.estimates)


def test_snapshots_made_step_by_step_equal_one_made_at_the_end() -> None:
    wave = make_wave()
    for _ in range(5):
        send_many(wave, ROWS)
        seal_all(wave)
        update_snapshot(wave_id=wave.pk)
    assert wave.snapshots.count() == 5
    newest = newest_snapshot(wave)
    assert newest is not None
    Snapshot.objects.all().delete()
    again = update_snapshot(wave_id=wave.pk)
    assert again is not None
    for name in ("through_batch", "looks", "total", "counts", "estimates"):
        assert getattr(again, name) == getattr(newest, name)


def test_old_snapshots_are_dropped_and_the_newest_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "KEPT_PER_WAVE", 3)
    wave = make_wave()
    for _ in range(5):
        send_many(wave, ROWS)
        seal_all(wave)
        update_snapshot(wave_id=wave.pk)
    assert list(wave.snapshots.values_list("through_batch", flat=True)) == [3, 4, 5]


def test_without_a_batch_there_is_no_snapshot() -> None:
    wave = make_wave()
    send_many(wave, ROWS[:19])
    assert update_snapshot(wave_id=wave.pk) is None


def test_exact_expected_counts_return_the_truth() -> None:
    # Each of four true replies is given by 64 people, one for each of the 4³ patterns of coins. One
    # coin in four changes a code, so the counts are exactly those expected.
    rows = [
        bytes(truth ^ (coin == 3) for truth, coin in zip(kind, coins, strict=True))
        for kind in ((1, 0, 0), (1, 1, 0), (0, 0, 0), (1, 0, 1))
        for coins in product(range(4), repeat=3)
    ]
    wave = make_wave()
    send_many(wave, rows)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    seal_all(wave)
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    shares = [question["estimates"][0]["value"] for question in snapshot.estimates]
    assert shares == pytest.approx([3 / 4, 1 / 4, 1 / 4], abs=1e-9)
