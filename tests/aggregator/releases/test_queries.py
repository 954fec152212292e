"""Counts of releases: one report more or less changes them by at most the plan's sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from aggregator.batches.columns import Columns
from aggregator.models import Snapshot
from aggregator.releases.queries import leader_scores, median_scores, table_cells
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import check_request, list_candidates
from surveys.releasing.noise import ReleasePlan, plan_release
from tests.aggregator.routed import ask, yes
from tests.support.manifests import any_report, protect

Reports = list[bytes]


EVERY_KIND = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3, refusal=True, rule=yes("q1")),
    ask("q3", Kind.SEVERAL, 3, refusal=True),
    ask("q4", Kind.DECLARED, 4, refusal=True),
    ask("q5", Kind.SCALE, 5, minimum=1, maximum=5),
    ask("q6", Kind.SCALE, 4, minimum=1, maximum=4, refusal=True, rule=yes("q1")),
)
SUBSET = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3),
    ask("q3", Kind.SEVERAL, 3),
    ask("q4", Kind.DECLARED, 3),
    ask("q5", Kind.SCALE, 5, minimum=1, maximum=5),
    drawn=2,
)
MANIFESTS = [pytest.param(EVERY_KIND, id="all"), pytest.param(SUBSET, id="random-subset")]


def count(manifest: Manifest, reports: Reports) -> Snapshot:
    columns = Columns.of(manifest)
    rows = np.array([list(row) for row in columns.write_columns(reports)]).T
    counts = [
        np.bincount(row, minlength=k).tolist() for row, k in zip(rows, columns.ks, strict=True)
    ]
    return Snapshot(counts=counts, through_batch=1)


def neighbours(manifest: Manifest, *, seed: int = 20) -> Iterator[tuple[Snapshot, Snapshot]]:
    """Yield pairs of tables that differ by one report."""
    source = Random(seed)
    for size in (1, 2, 5, 30):
        for _ in range(25):
            reports = [any_report(manifest, source) for _ in range(size)]
            more = [*reports, any_report(manifest, source)]
            yield count(manifest, reports), count(manifest, more)


def make_plan(manifest: Manifest, kind: ReleaseKind, questions: Sequence[str]) -> ReleasePlan:
    request = ReleaseRequest(kind=kind, questions=tuple(questions), epsilon_hundredths=50)
    return plan_release(check_request(request, manifest), manifest, delta_nanos_left=0)


def candidates(manifest: Manifest, kind: ReleaseKind) -> list[str]:
    return [question.name for question in list_candidates(manifest, kind)]


def changes(
    manifest: Manifest, kind: ReleaseKind, name: str, score: Callable[..., dict[int, int]]
) -> Iterator[dict[int, int]]:
    question = next(one for one in manifest.questions if one.name == name)
    for fewer, more in neighbours(manifest):
        before, after = (score(one.counts, manifest, question) for one in (fewer, more))
        assert list(before) == list(after) == [option.code for option in question.options]
        yield {code: after[code] - before[code] for code in before}


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_one_report_adds_one_to_one_cell_of_each_symbol_that_it_has(manifest: Manifest) -> None:
    names = candidates(manifest, ReleaseKind.TABLE)
    for questions in (names, names[:1], names[2:4]):
        plan = make_plan(manifest, ReleaseKind.TABLE, questions)
        moved = []
        for fewer, more in neighbours(manifest):
            before, after = (table_cells(one.counts, manifest, questions) for one in (fewer, more))
            moves: Any = [
                b - a for name in before for a, b in zip(before[name], after[name], strict=True)
            ]
            assert set(moves) <= {0, 1}
            moved.append(sum(moves))
        # Each move is 0 or 1, so the sum of the moves equals the sum of their squares.
        assert max(moved) == plan.sensitivity


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_one_report_takes_nothing_from_any_option_and_adds_at_most_one(manifest: Manifest) -> None:
    for name in candidates(manifest, ReleaseKind.LEADER):
        plan = make_plan(manifest, ReleaseKind.LEADER, [name])
        assert plan.is_monotone
        found = {
            change
            for moves in changes(manifest, ReleaseKind.LEADER, name, leader_scores)
            for change in moves.values()
        }
        assert (min(found), max(found)) == (0, plan.sensitivity) == (0, 1)


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_one_report_moves_the_scores_of_points_by_no_more_than_the_plan_says(
    manifest: Manifest,
) -> None:
    names = candidates(manifest, ReleaseKind.MEDIAN)
    assert names
    for name in names:
        plan = make_plan(manifest, ReleaseKind.MEDIAN, [name])
        assert not plan.is_monotone
        found = [
            change
            for moves in changes(manifest, ReleaseKind.MEDIAN, name, median_scores)
            for change in moves.values()
        ]
        assert min(found) < 0 < max(found)
        assert 0.9 * plan.sensitivity < max(map(abs, found)) <= plan.sensitivity


def test_expected_reports_have_their_best_point_where_people_have_theirs() -> None:
    """The codes for a refusal and "not asked" are scrambled too, and must not move the point."""
    question = next(one for one in EVERY_KIND.questions if one.name == "q6")
    place = [symbol.name for symbol in EVERY_KIND.symbols].index("q6")
    channel = question.mechanism.channel()
    snapshot = count(EVERY_KIND, [bytes(len(EVERY_KIND.symbols))])
    for people in ([500, 100, 100, 100, 200, 4000], [0, 100, 100, 700, 3000, 0]):
        truth = np.array(people[: channel.shape[0]])
        snapshot.counts[place] = (channel @ truth * 10**6).round().astype(int).tolist()
        scores = median_scores(snapshot.counts, EVERY_KIND, question)
        points = truth[: question.answers]
        best = max(scores, key=lambda code: scores[code])
        assert best == int(np.searchsorted(points.cumsum(), points.sum() / 2))
