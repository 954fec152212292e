"""What the product draws: it fits the exact probabilities, and loses no more than it charged for.

Everything goes the product's way: a request and a manifest make a plan, the plan a sampler, and
OpenDP draws. It cannot be seeded. The tests of losses together fail by chance less than once in a
million runs, each comparison of frequencies once in a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray

from aggregator.models import Release
from aggregator.releases.noise import Sampler, prepare_sampler
from aggregator.releases.requests import (
    ReleasePlan,
    ReleaseRequest,
    check_request,
    find_other_probability,
    plan_release,
)
from privacy.central.noise import discrete_gaussian_probability, discrete_laplace_probability
from privacy.central.selection import permute_and_flip_probabilities
from privacy.central.typical import scaled_scores
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType as Kind
from tests.aggregator.routed import ask
from tests.support.manifests import make_manifest
from tests.support.sampling.audits import RUNS, measure_loss
from tests.support.sampling.frequencies import among, chi_squared_p

pytestmark = pytest.mark.slow

BY_CHANCE = 1e-6
TOGETHER = 1000
EPSILON = 0.5
MANIFEST = replace(
    make_manifest(
        ask("q1", Kind.YES_NO),
        ask("q2", Kind.CHOICE, 4),
        ask("q3", Kind.SCALE, 3, minimum=1, maximum=3),
        ask("q4", Kind.DECLARED, 3),
    ),
    publication=Publication.PROTECTED,
    release_epsilon_hundredths=300,
    release_delta_nanos=1000,
)
SCALE = next(one for one in MANIFEST.questions if one.name == "q3")


NINE = replace(
    MANIFEST,
    questions=make_manifest(*(ask(f"q{number}", Kind.YES_NO) for number in range(1, 10))).questions,
)


def make_plan(kind: Release.Kind, *questions: str) -> ReleasePlan:
    request = ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=50)
    return plan_release(check_request(request, MANIFEST), MANIFEST, delta_nanos_left=1000)


def gaussian_plan() -> ReleasePlan:
    """Nine questions at epsilon = 1 and delta = 10**-6, the fewest that take Gaussian noise."""
    questions = tuple(one.name for one in NINE.questions)
    request = ReleaseRequest(kind=Release.Kind.TABLE, questions=questions, epsilon_hundredths=100)
    plan = plan_release(check_request(request, NINE), NINE, delta_nanos_left=1000)
    assert (plan.mechanism, plan.sensitivity) == (Release.Mechanism.GAUSSIAN, 9)
    assert (plan.epsilon_hundredths, plan.delta_nanos) == (100, 1000)
    return plan


def draw_cells(plan: ReleasePlan, counts: Sequence[int], *, runs: int = RUNS) -> NDArray[np.int64]:
    """One row for each run. All are cells of one large table, which have independent noise."""
    cells = prepare_sampler(plan).draw([*counts] * runs)
    assert {type(cell) for cell in cells} == {int}  # floats would give counts away, see the audit
    return np.array(cells).reshape(runs, len(counts))


def all_positive(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((cells >= 1).all(axis=1))


def draw_places(sampler: Sampler, scores: Sequence[int]) -> NDArray[np.int64]:
    """A composition of many draws, because calling each takes three times as long."""
    together = dp.c.make_composition([sampler.draw] * TOGETHER)
    return np.array([place for _ in range(RUNS // TOGETHER) for place in together(list(scores))])


def typical(counts: Sequence[int]) -> list[int]:
    return scaled_scores(counts, other_probability=find_other_probability(SCALE))


# Exact probabilities


@pytest.mark.parametrize("questions", [("q1",), ("q1", "q2", "q3")])
def test_cells_of_a_table_have_discrete_laplace_noise(questions: tuple[str, ...]) -> None:
    plan = make_plan(Release.Kind.TABLE, *questions)
    assert plan.scale == 2 * len(questions)
    noise = draw_cells(plan, [0])[:, 0].tolist()
    assert chi_squared_p(
        noise,
        lambda value: float(discrete_laplace_probability(value, scale=plan.scale)),
        most=200,
    ) > BY_CHANCE  # fmt: skip


def test_cells_of_a_large_table_have_discrete_gaussian_noise() -> None:
    plan = gaussian_plan()
    noise = draw_cells(plan, [0])[:, 0].tolist()
    assert chi_squared_p(
        noise,
        lambda value: float(discrete_gaussian_probability(value, variance=plan.scale**2)),
        most=200,
    ) > BY_CHANCE  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", [Release.Kind.LEADER, Release.Kind.TYPICAL])
def test_choices_have_the_chances_of_permute_and_flip(kind: Release.Kind) -> None:
    is_leader = kind == Release.Kind.LEADER
    plan = make_plan(kind, "q2" if is_leader else "q3")
    scores = [52, 50, 45, 40] if is_leader else typical((20, 25, 25))
    chances = permute_and_flip_probabilities(scores, rate=1 / plan.scale).tolist()
    drawn = draw_places(prepare_sampler(plan), scores).tolist()
    assert chi_squared_p(drawn, among(chances), most=len(scores)) > BY_CHANCE


# Losses. Each test also says that nearly all of the loss is found; that part fails by chance less
# than once in a million runs too.


def test_a_table_loses_no_more_than_it_was_charged_for() -> None:
    """One report has one code in each of two questions; the event is about both of them."""
    plan = make_plan(Release.Kind.TABLE, "q1", "q2")
    fewer, more = draw_cells(plan, [0, 0]), draw_cells(plan, [1, 1])
    measured = measure_loss(all_positive(more), all_positive(fewer))
    assert 0.7 * EPSILON < measured <= EPSILON


@pytest.mark.long
def test_a_replaced_report_loses_no_more_than_twice_that() -> None:
    plan = make_plan(Release.Kind.TABLE, "q1")
    one, other = draw_cells(plan, [1, 0]), draw_cells(plan, [0, 1])
    events = [(cells[:, 0] >= 1) & (cells[:, 1] <= 0) for cells in (one, other)]
    measured = measure_loss(events[0], events[1])
    assert 0.8 * 2 * EPSILON < measured <= 2 * EPSILON


@pytest.mark.parametrize("runs", [RUNS // 5, pytest.param(RUNS, marks=pytest.mark.long)])
def test_a_table_with_gaussian_noise_loses_no_more_than_it_was_charged_for(runs: int) -> None:
    """One report changes nine cells; their sum tells most about it."""
    plan = gaussian_plan()
    fewer, more = (draw_cells(plan, [count] * 9, runs=runs).sum(axis=1) for count in (0, 1))
    assert 0 < measure_loss(more >= 54, fewer >= 54, delta=plan.delta_nanos / 1e9) <= 1


@pytest.mark.long
def test_a_leader_loses_no_more_than_it_was_charged_for() -> None:
    sampler = prepare_sampler(make_plan(Release.Kind.LEADER, "q4"))
    tie, led = (draw_places(sampler, counts) for counts in ([7, 7, 0], [8, 7, 0]))
    assert 0.8 * EPSILON < measure_loss(tie == 1, led == 1) <= EPSILON


@pytest.mark.long
def test_a_typical_answer_loses_no_more_than_it_was_charged_for() -> None:
    sampler = prepare_sampler(make_plan(Release.Kind.TYPICAL, "q3"))
    fewer, more = (draw_places(sampler, typical(counts)) for counts in ((2, 4, 4), (3, 4, 4)))
    assert 0.5 * EPSILON < measure_loss(fewer == 2, more == 2) <= EPSILON


def test_the_audit_would_notice_the_noise_of_one_question_on_three() -> None:
    plan = make_plan(Release.Kind.TABLE, "q1")
    fewer, more = (draw_cells(plan, [count] * 3, runs=RUNS // 5) for count in (0, 1))
    assert measure_loss(all_positive(more), all_positive(fewer)) > EPSILON
