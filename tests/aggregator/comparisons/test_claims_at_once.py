"""On PostgreSQL, concurrent workers divide a wave only once and test each claim only once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from aggregator.batches.halves import HalfIsOpen
from aggregator.comparisons.claims import (
    Claim,
    ClaimsChanged,
    add_claim,
    ask_to_open,
    list_stored,
    remove_claim,
    stamp_claims,
)
from aggregator.comparisons.jobs import run_comparison
from aggregator.comparisons.opening import open_half
from aggregator.models import Batch, Comparison, SealedHalf, Snapshot
from aggregator.releases.counters import find_file
from aggregator.results.groups import halves
from aggregator.results.snapshots import update_snapshot
from scripts.attacks.linker.server import Server, django_on
from tests.support.halves import end, open_wave_with_wards

pytestmark = pytest.mark.django_db(transaction=True)
ABOVE, MORE = (Claim(names=("q1", "q3.0"), is_higher=True, than=than) for than in (30, None))


def test_halves_are_drawn_once_and_test_the_claims_that_one_window_showed(
    postgres_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    tmp_path: Path,
) -> None:
    settings.RELEASES = tmp_path
    monkeypatch.setattr(halves, "EQUATIONS_OF_A_CLAIM", 0)
    url = postgres_server.application_url

    def run(step: Callable[[], object]) -> object:
        with django_on(url), suppress(HalfIsOpen, ClaimsChanged):
            return step()
        return None

    def run_at_once(*steps: Callable[[], object]) -> list[object]:
        with ThreadPoolExecutor(len(steps)) as pool:
            return list(pool.map(run, steps))

    with django_on(url):
        rows = [bytes([row % 2, row % 3 == 0, row // 3 % 2]) for row in range(300)]
        wave = end(open_wave_with_wards(people_expected=400), rows=rows)
        SealedHalf.objects.all().delete()
        Batch.every.update(is_held=False)
        Snapshot.objects.all().delete()
    run_at_once(*[lambda: update_snapshot(wave_id=wave.pk)] * 4)
    with django_on(url):
        half = SealedHalf.objects.get()
        assert (half.has_groups, half.through_batch) == (True, wave.batches.count())
        assert Snapshot.objects.get().through_batch == half.through_batch
        add_claim(wave=wave, claim=ABOVE)
        seen = stamp_claims([ABOVE])
    run_at_once(
        *[lambda: ask_to_open(wave=wave, seen=seen)] * 2,
        lambda: add_claim(wave=wave, claim=MORE),
        lambda: remove_claim(wave=wave, claim=ABOVE),
    )
    with django_on(url):
        half.refresh_from_db()
        if half.asked_on is None:  # the claims had changed before
            seen = stamp_claims(list_stored(half))
            ask_to_open(wave=wave, seen=seen)
    run_at_once(*[lambda: open_half(wave_id=wave.pk)] * 2)
    with django_on(url):
        half.refresh_from_db()
        assert len(find_file(tmp_path, bytes(wave.manifest_hash)).read_text().split()) == 1
        assert stamp_claims(list_stored(half)) == seen
        rows_of_claims = list(Comparison.objects.values_list("pk", flat=True))
        assert len(rows_of_claims) == len({one.names for one in list_stored(half)})
    for pk in rows_of_claims:
        found = run_at_once(*[partial(run_comparison, comparison_id=pk)] * 2)
        assert sorted(map(bool, found)) == [False, True]
