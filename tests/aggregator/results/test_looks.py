"""Looks: results of an open wave change only if at least K and a tenth of the reports are new."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from aggregator.batches.columns import Columns
from aggregator.batches.sealing import seal_next_batch
from aggregator.comparisons.jobs import request_comparison
from aggregator.comparisons.standing import find_standing
from aggregator.models import Batch, Comparison, Snapshot
from aggregator.results.display import Standing, find_view
from aggregator.results.looks import EVERYBODY, Replay, list_least, reports_needed
from aggregator.results.snapshots import (
    METHOD_VERSION,
    find_waves_to_estimate,
    newest_snapshot,
    update_snapshot,
)
from surveys.authoring.services import add_question
from surveys.comparing.choice import NotComparable
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from surveys.models import Wave
from tests.support.comparisons import compute
from tests.support.factories import YES_NO, make_launched_survey, make_survey, open_survey
from tests.support.fielding import process, send_codes, send_people, sign_in
from tests.support.manifests import make_manifest
from tests.support.reading import text_of
from tests.support.verifying import find_differences

K = 10
FOUR = ("First?", "Second?", "Third?", "Fourth?")
Counts = list[list[int]]


def ask(name: str) -> ManifestQuestion:
    question = ManifestQuestion(
        name=name, type=QuestionType.YES_NO, text=f"{name}?", options=YES_NO
    )
    return with_strength(question, flips=25)


GROUPS = ManifestQuestion(
    name="q5",
    type=QuestionType.DECLARED,
    text="Where?",
    options=tuple(Option(code=code, text=str(code)) for code in range(3)),
)
EVERYONE = make_manifest(
    *(ask(f"q{number}") for number in range(1, 5)), GROUPS, minimum_batch=K, display_minimum=K
)
SUBSET = replace(EVERYONE, drawn=2)


def make_batch(manifest: Manifest, *, size: int, seed: int) -> Counts:
    """Count a batch whose reports have random codes and random blocks."""
    draw = random.Random(seed)
    columns = Columns.of(manifest)
    rows = []
    for _ in range(size):
        blocks = draw.sample(range(4), manifest.drawn or 4)
        masks = [int(block in blocks) for block in range(columns.mask_count)]
        codes = [draw.randrange(2) if block in blocks else 0 for block in range(4)]
        rows.append([*masks, *codes, draw.randrange(3)])
    return [
        [sum(row[place] == code for row in rows) for code in range(k)]
        for place, k in enumerate(columns.ks)
    ]


def replay(manifest: Manifest, batches: Sequence[Counts]) -> Replay:
    found = Replay(manifest)
    for number, counts in enumerate(batches, start=1):
        found.take(number, counts, [])
    return found


def count_asked(batches: Sequence[Counts], part: int) -> int:
    """Count the reports in which a part was asked, in the simplest way."""
    if part == EVERYBODY:
        return sum(sum(counts[0]) for counts in batches)
    return sum(counts[part - 1][1] for counts in batches)


def add_up(batches: Sequence[Counts], column: int) -> list[int]:
    return [sum(cells) for cells in zip(*(counts[column] for counts in batches), strict=True)]


manifests = st.builds(
    lambda manifest, expected: replace(manifest, people_expected=expected),
    st.sampled_from([EVERYONE, SUBSET]),
    st.sampled_from([None, 100, 1000]),
)
sizes = st.lists(st.integers(K, 60), max_size=25)


def test_a_look_needs_a_tenth_of_all_reports_including_the_new_ones() -> None:
    for seen in range(3000):
        new = reports_needed(seen=seen, least=1)
        assert 10 * new >= seen + new
        assert new == 1 or 10 * (new - 1) < seen + new - 1
    assert reports_needed(seen=90, least=50) == 50


def test_a_tenth_of_the_people_expected_is_needed_of_each_block_its_share() -> None:
    assert list_least(EVERYONE) == (K,)
    assert list_least(replace(EVERYONE, people_expected=1001)) == (101,)
    # Each of four blocks is asked of half the people.
    assert list_least(replace(SUBSET, people_expected=1001)) == (101, 51, 51, 51, 51)
    assert list_least(replace(SUBSET, people_expected=99)) == (K,) * 5


@given(manifests, sizes, st.integers(0, 1000))
def test_each_look_shows_the_batches_up_to_it_and_comes_when_the_rule_says(
    manifest: Manifest, sizes: list[int], seed: int
) -> None:
    batches = [
        make_batch(manifest, size=size, seed=seed + place) for place, size in enumerate(sizes)
    ]
    least = list_least(manifest)
    looks = [0] * len(least)
    for number in range(1, len(batches) + 1):
        for part in range(len(least)):
            if part and not looks[EVERYBODY]:
                continue
            new = count_asked(batches[looks[part] : number], part)
            n = count_asked(batches[:number], part)
            if new >= least[part] and 10 * new >= n:
                looks[part] = number
    found = replay(manifest, batches)
    assert found.looks == looks
    assert found.total == count_asked(batches[: looks[EVERYBODY]], EVERYBODY)
    for column, cells in enumerate(found.counts):
        if manifest.drawn is None or column == len(found.counts) - 1:
            shown = looks[EVERYBODY]
        else:
            shown = looks[1 + column % 4]  # four masks come first, and then four symbols
        if shown:
            assert cells == add_up(batches[:shown], column)
        else:
            assert not any(cells)


@given(manifests, sizes, st.integers(0, 25))
def test_batches_taken_in_two_runs_make_the_same_looks_as_in_one(
    manifest: Manifest, sizes: list[int], cut: int
) -> None:
    batches = [make_batch(manifest, size=size, seed=place) for place, size in enumerate(sizes)]
    first = replay(manifest, batches[:cut])
    second = Replay(manifest)
    second.resume(
        looks=first.looks, counts=first.counts, tables=[], total=first.total, totals=first.totals
    )
    for number in range(min(first.looks) + 1, len(batches) + 1):
        second.take(number, batches[number - 1], [])
    whole = replay(manifest, batches)
    assert (second.looks, second.counts, second.total) == (whole.looks, whole.counts, whole.total)
    assert second.totals == whole.totals
    assert whole.total == (whole.totals or [0])[-1]


pytestmark = pytest.mark.django_db


def seal(wave: Wave, size: int) -> None:
    """Seal exactly one batch of this size, leaving K reports waiting."""
    waiting = K if wave.batches.exists() else 0
    send_codes(wave, yes=[size // 2] * len(wave.description.questions), total=size + K - waiting)
    batch = seal_next_batch(wave_id=wave.pk)
    assert batch is not None
    assert batch.size == size


def shown(wave: Wave) -> tuple[int, int, int]:
    """Return the number of reports on the results page, in the list and in the API."""
    view, client = find_view(wave.survey), sign_in(wave.survey.owner)
    text = text_of(client.get("/"))
    listed = int(text.partition(" sealed report")[0].split()[-1].replace(",", ""))
    told = client.get(f"/api/surveys/{wave.survey.slug}").json()["sealed"]
    return view.snapshot.total if view.snapshot else 0, listed, told


@pytest.mark.usefixtures("static_files")
def test_fewer_new_reports_than_a_tenth_change_nothing_that_anybody_sees() -> None:
    wave = make_launched_survey()
    seal(wave, 200)
    update_snapshot(wave_id=wave.pk)
    before = find_view(wave.survey).seen
    assert shown(wave) == (200, 200, 200)
    seal(wave, 15)
    update_snapshot(wave_id=wave.pk)
    assert shown(wave) == (200, 200, 200)
    assert find_view(wave.survey).seen == before
    page = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/results")
    assert "after at least 23 new reports" in text_of(page)
    seal(wave, 10)
    update_snapshot(wave_id=wave.pk)
    assert shown(wave) == (225, 225, 225)
    assert find_differences() == []


@pytest.mark.usefixtures("static_files")
def test_the_close_makes_the_look_for_which_too_few_people_came() -> None:
    wave = make_launched_survey()
    for size in (200, 15):
        seal(wave, size)
        update_snapshot(wave_id=wave.pk)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    update_snapshot(wave_id=wave.pk)
    assert shown(wave) == (200, 200, 200)  # the last K reports are still unsealed
    assert seal_next_batch(wave_id=wave.pk) is not None
    assert find_waves_to_estimate().get() == wave
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert (snapshot.final, shown(wave)) == (True, (225, 225, 225))
    assert not find_waves_to_estimate().exists()
    assert find_differences() == []


@pytest.mark.usefixtures("static_files")
def test_nothing_is_shown_before_a_tenth_of_the_people_expected_came() -> None:
    wave = make_launched_survey(people_expected=1000)
    seal(wave, 60)
    assert not find_waves_to_estimate().exists()  # otherwise it would be due until more people come
    assert update_snapshot(wave_id=wave.pk) is None
    assert find_view(wave.survey).standing is Standing.WAITING
    page = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/results")
    assert "appear after 110 reports" in text_of(page)
    page = sign_in(wave.survey.owner).get(f"/surveys/{wave.survey.slug}/compare")
    assert "Comparisons appear after 110 reports, or when the survey closes." in text_of(page)
    assert shown(wave) == (0, 0, 0)
    seal(wave, 40)
    assert find_waves_to_estimate().get() == wave
    update_snapshot(wave_id=wave.pk)
    assert shown(wave) == (100, 100, 100)


def test_the_close_shows_a_survey_that_fewer_people_answered_than_expected() -> None:
    wave = make_launched_survey(people_expected=1000)
    seal(wave, 60)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    seal_next_batch(wave_id=wave.pk)
    assert find_waves_to_estimate().get() == wave
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert (snapshot.total, snapshot.final) == (70, True)


def test_batches_without_a_look_are_due_until_a_worker_has_decided_so() -> None:
    wave = make_launched_survey()
    seal(wave, 200)
    update_snapshot(wave_id=wave.pk)
    seal(wave, 15)
    assert find_waves_to_estimate().get() == wave
    update_snapshot(wave_id=wave.pk)
    assert not find_waves_to_estimate().exists()


def test_a_wave_whose_manifest_is_broken_does_not_stop_the_sweep() -> None:
    wave = make_launched_survey()
    seal(wave, 20)
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER surveys_wave_frozen")
    Wave.objects.update(manifest=b"{}")
    assert find_waves_to_estimate().get() == wave


def test_fewer_batches_than_the_snapshot_counted_change_nothing() -> None:
    """One table could have been restored from an older copy than the other."""
    wave = make_launched_survey()
    for size in (50, 50):
        seal(wave, size)
        update_snapshot(wave_id=wave.pk)
    Batch.objects.filter(number=2).delete()
    assert not find_waves_to_estimate().exists()
    snapshot = update_snapshot(wave_id=wave.pk)
    assert snapshot is not None
    assert snapshot.total == 100
    assert "batch 2 is missing" in find_differences()[-1]


def make_old_snapshots(wave: Wave) -> None:
    """Store what earlier versions stored: after each batch, a snapshot that counts everything."""
    for batch in wave.batches.order_by("number"):
        everything = Replay(wave.description, looks_from=batch.number)
        for each in wave.batches.filter(number__lte=batch.number).order_by("number"):
            everything.take(each.number, each.counts, [])
        snapshot = Snapshot.objects.create(
            wave=wave,
            through_batch=batch.number,
            method_version=METHOD_VERSION - 1,
            total=everything.total,
            counts=everything.counts,
            estimates=[],
        )
        assert snapshot.looks == []


@pytest.mark.parametrize("settings", [{}, {"drawn": 2}])
def test_an_upgrade_never_takes_reports_back(settings: dict[str, Any]) -> None:
    wave = make_launched_survey(questions=FOUR, **settings)
    sizes = [200, 15]
    for size in sizes:
        send_people(wave, people=size + (0 if wave.batches.exists() else K), seed=size)
        assert seal_next_batch(wave_id=wave.pk) is not None
    make_old_snapshots(wave)
    # The upgrade to looks did this, so that no page goes back to fewer reports.
    Snapshot.objects.update(looks_from=F("through_batch"), decided_through=F("through_batch"))
    update_snapshot(wave_id=wave.pk)
    for size, total in ((15, 215), (15, 245)):
        send_people(wave, people=size, seed=1000 + total)
        assert seal_next_batch(wave_id=wave.pk) is not None
        update_snapshot(wave_id=wave.pk)
        snapshot = newest_snapshot(wave)
        assert snapshot is not None
        assert (snapshot.total, snapshot.looks_from) == (total, 2)
        assert snapshot.totals == [200, 215, 245][: 2 + (total == 245)]
    assert find_differences() == []


def make_subset(*, sizes: Sequence[int], **settings: Any) -> Wave:
    wave = make_launched_survey(questions=FOUR, drawn=2, **settings)
    for place, size in enumerate(sizes):
        send_people(wave, people=size + (0 if place else K), seed=place)
        assert seal_next_batch(wave_id=wave.pk) is not None
        update_snapshot(wave_id=wave.pk)
    return wave


def test_each_block_moves_by_its_own_reports_and_verify_agrees() -> None:
    wave = make_subset(sizes=[16, *[14] * 12])
    rows = list(wave.snapshots.order_by("through_batch"))
    assert {len(set(row.looks)) for row in rows} != {1}  # blocks have looks at different batches
    for before, after in pairwise(rows):
        for part in range(1, 5):
            old, new = before.counts[part - 1][1], after.counts[part - 1][1]
            assert new == old or new - old >= max(K, reports_needed(seen=old, least=K))
    assert find_differences() == []
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert seal_next_batch(wave_id=wave.pk) is not None
    final = update_snapshot(wave_id=wave.pk)
    assert final is not None
    assert (final.total, set(final.looks)) == (16 + 14 * 12 + K, {14})
    assert find_differences() == []


def test_questions_of_different_blocks_are_compared_only_after_the_close() -> None:
    wave = make_subset(sizes=[250, *[14] * 6])
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    for kind, names in (
        (Comparison.Kind.TABLE, ["q1", "q2"]),
        (Comparison.Kind.REGRESSION, ["q1", "q2"]),
        (Comparison.Kind.PAIRS, []),
    ):
        with pytest.raises(NotComparable, match=r"once the survey (is|has) closed"):
            request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    for kind, names in ((Comparison.Kind.TABLE, ["q1", "q2"]), (Comparison.Kind.PAIRS, [])):
        comparison = request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names)
        assert comparison.through_batch == wave.batches.count()
        assert compute(comparison).state == Comparison.State.DONE
    assert find_differences() == []


def test_a_comparison_within_a_block_reads_the_batches_up_to_its_look() -> None:
    survey = make_survey(questions=["Ever?"], drawn=1)
    rule = {"name": str(survey.questions.get().pk), "is": [1]}
    for text, each in (("Last year?", rule), ("Often?", rule), ("Other?", None)):
        add_question(survey=survey, text=text, rule=each)
    wave = open_survey(survey=survey)
    compared = set()
    for place, size in enumerate([120, *[14] * 8]):
        send_people(wave, people=size + (0 if place else K), seed=place)
        assert seal_next_batch(wave_id=wave.pk) is not None
        snapshot = update_snapshot(wave_id=wave.pk)
        assert snapshot is not None
        comparison = request_comparison(
            wave=wave, snapshot=snapshot, kind=Comparison.Kind.TABLE, names=["q2", "q3"]
        )
        assert comparison.through_batch == snapshot.looks[1]
        assert find_standing(comparison).is_newest
        if comparison.pk not in compared:
            result = compute(comparison).result
            assert result is not None
            assert result["n"] == snapshot.counts[0][1]  # those who were asked the block
        compared.add(comparison.pk)
    assert 1 < len(compared) < 9
    assert find_differences() == []
