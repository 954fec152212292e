"""The product's draws fit the exact probabilities and lose no more than was charged.

Draws are made as in the product: a request and a manifest make a plan, the plan makes a sampler,
and OpenDP draws. OpenDP cannot be seeded. By chance, all tests of losses together fail less than
once in a million runs, and so does each comparison of frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray

from aggregator.releases.noise import Sampler, prepare_alert_sampler, prepare_sampler
from privacy.central.above_threshold import first_alert_probabilities
from privacy.central.key_driver import rule_scores
from privacy.central.median import scaled_scores
from privacy.central.noise import discrete_gaussian_probability, discrete_laplace_probability
from privacy.central.selection import permute_and_flip_probabilities
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.releasing.choice import check_request
from surveys.releasing.noise import (
    Mechanism,
    ReleasePlan,
    find_other_probability,
    plan_release,
    plan_table_of_choice,
)
from tests.aggregator.routed import ask
from tests.support.manifests import make_manifest, protect
from tests.support.sampling.audits import RUNS, measure_loss
from tests.support.sampling.frequencies import among, chi_squared_p

BY_CHANCE = 1e-6
TOGETHER = 1000
FEW = RUNS // 5
EPSILON = 0.5
MANIFEST = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 4),
    ask("q3", Kind.SCALE, 3, minimum=1, maximum=3),
    ask("q4", Kind.DECLARED, 3),
)
SCALE = next(one for one in MANIFEST.questions if one.name == "q3")


NINE = replace(
    MANIFEST,
    questions=make_manifest(*(ask(f"q{number}", Kind.YES_NO) for number in range(1, 10))).questions,
)


def make_plan(kind: ReleaseKind, *questions: str) -> ReleasePlan:
    request = ReleaseRequest(kind=kind, questions=questions, epsilon_hundredths=50)
    return plan_release(check_request(request, MANIFEST), MANIFEST, delta_nanos_left=1000)


def gaussian_plan() -> ReleasePlan:
    """Plan nine questions at epsilon = 1 and delta = 10**-6, the fewest with Gaussian noise."""
    questions = tuple(one.name for one in NINE.questions)
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=questions, epsilon_hundredths=100)
    plan = plan_release(check_request(request, NINE), NINE, delta_nanos_left=1000)
    assert (plan.mechanism, plan.sensitivity) == (Mechanism.GAUSSIAN, 9)
    assert (plan.epsilon_hundredths, plan.delta_nanos) == (100, 1000)
    return plan


def draw_cells(plan: ReleasePlan, counts: Sequence[int], *, runs: int = RUNS) -> NDArray[np.int64]:
    """Draw one row for each run; all rows are parts of one large table with independent noise."""
    cells = prepare_sampler(plan).draw([*counts] * runs)
    assert {type(cell) for cell in cells} == {int}  # floats would reveal counts, see the audit
    return np.array(cells).reshape(runs, len(counts))


def all_positive(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((cells >= 1).all(axis=1))


def draw_places(sampler: Sampler, scores: Sequence[int], *, runs: int = RUNS) -> NDArray[np.int64]:
    """Compose many draws, because separate calls take three times as long."""
    together = dp.c.make_composition([sampler.draw] * TOGETHER)
    return np.array([place for _ in range(runs // TOGETHER) for place in together(list(scores))])


def median(counts: Sequence[int]) -> list[int]:
    return scaled_scores(counts, other_probability=find_other_probability(SCALE))


# Exact probabilities


@pytest.mark.parametrize("questions", [("q1",), ("q1", "q2", "q3")])
def test_cells_of_a_table_have_discrete_laplace_noise(questions: tuple[str, ...]) -> None:
    plan = make_plan(ReleaseKind.TABLE, *questions)
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
@pytest.mark.parametrize("kind", [ReleaseKind.LEADER, ReleaseKind.MEDIAN])
def test_choices_have_the_chances_of_permute_and_flip(kind: ReleaseKind) -> None:
    is_leader = kind == ReleaseKind.LEADER
    plan = make_plan(kind, "q2" if is_leader else "q3")
    scores = [52, 50, 45, 40] if is_leader else median((20, 25, 25))
    chances = permute_and_flip_probabilities(scores, rate=1 / plan.scale).tolist()
    drawn = draw_places(prepare_sampler(plan), scores).tolist()
    assert chi_squared_p(drawn, among(chances), most=len(scores)) > BY_CHANCE


# Losses. Each test also checks how much of the loss is found. This check fails by chance less than
# once in a million runs too: its bound is five standard deviations below the expected figure.


def test_a_table_loses_no_more_than_it_was_charged_for() -> None:
    """One report contributes one code to each of two questions; the event is about both codes."""
    plan = make_plan(ReleaseKind.TABLE, "q1", "q2")
    fewer, more = draw_cells(plan, [0, 0]), draw_cells(plan, [1, 1])
    measured = measure_loss(all_positive(more), all_positive(fewer))
    assert 0.7 * EPSILON < measured <= EPSILON


@pytest.mark.long
def test_a_table_by_groups_loses_no_more_and_its_group_twice_that() -> None:
    """Draw cells without a person, with the person, and with the person moved to another group."""
    request = ReleaseRequest(
        kind=ReleaseKind.TABLE, questions=("q1", "q2"), epsilon_hundredths=50, group="q4"
    )
    plan = plan_release(check_request(request, MANIFEST), MANIFEST, delta_nanos_left=1000)
    nobody, first, second = ([0] * 4, [1, 1, 0, 0], [0, 0, 1, 1])
    drawn = [draw_cells(plan, counts) for counts in (nobody, first, second)]
    here = [all_positive(cells[:, :2]) for cells in drawn]
    assert 0.7 * EPSILON < measure_loss(here[1], here[0]) <= EPSILON
    moved = [one & (cells[:, 2:] <= 0).all(axis=1) for one, cells in zip(here, drawn, strict=True)]
    assert 0.7 * 2 * EPSILON < measure_loss(moved[1], moved[2]) <= 2 * EPSILON


@pytest.mark.long
def test_a_replaced_report_loses_no_more_than_twice_that() -> None:
    plan = make_plan(ReleaseKind.TABLE, "q1")
    one, other = draw_cells(plan, [1, 0]), draw_cells(plan, [0, 1])
    events = [(cells[:, 0] >= 1) & (cells[:, 1] <= 0) for cells in (one, other)]
    measured = measure_loss(events[0], events[1])
    assert 0.8 * 2 * EPSILON < measured <= 2 * EPSILON


@pytest.mark.parametrize("runs", [FEW, pytest.param(RUNS, marks=pytest.mark.long)])
def test_a_table_with_gaussian_noise_loses_no_more_than_it_was_charged_for(runs: int) -> None:
    """One report changes nine cells, whose sum reveals the most about the report."""
    plan = gaussian_plan()
    fewer, more = (draw_cells(plan, [count] * 9, runs=runs).sum(axis=1) for count in (0, 1))
    assert 0 < measure_loss(more >= 54, fewer >= 54, delta=plan.delta_nanos / 1e9) <= 1


@pytest.mark.long
def test_a_leader_loses_no_more_than_it_was_charged_for() -> None:
    sampler = prepare_sampler(make_plan(ReleaseKind.LEADER, "q4"))
    tie, led = (draw_places(sampler, counts) for counts in ([7, 7, 0], [8, 7, 0]))
    assert 0.8 * EPSILON < measure_loss(tie == 1, led == 1) <= EPSILON


@pytest.mark.long
def test_a_median_loses_no_more_than_it_was_charged_for() -> None:
    sampler = prepare_sampler(make_plan(ReleaseKind.MEDIAN, "q3"))
    fewer, more = (draw_places(sampler, median(counts)) for counts in ((2, 2, 3), (3, 2, 3)))
    assert 0.3 * EPSILON < measure_loss(more == 0, fewer == 0) <= EPSILON


def draw_alerts(
    distances: Sequence[int], *, looks: str = "fresh", runs: int = RUNS
) -> NDArray[np.int64]:
    """Return the look at which each run's alert comes, or the number of looks if none comes."""
    sampler = prepare_alert_sampler(make_alert_plan())
    found = []
    for _ in range(runs // TOGETHER):
        thresholds = np.array(dp.c.make_composition([sampler.draw_threshold] * TOGETHER)(0))
        first = np.full(TOGETHER, len(distances))
        for place, distance in reversed(list(enumerate(distances))):
            noisy = np.full(TOGETHER, distance)
            if looks == "fresh":
                noisy = np.array(dp.c.make_composition([sampler.draw_look] * TOGETHER)(distance))
            first = np.where(noisy >= thresholds, place, first)
        found.append(first)
    return np.concatenate(found)


def make_alert_plan() -> ReleasePlan:
    alert = ReleaseRequest(
        kind=ReleaseKind.ALERT, questions=("q1",), epsilon_hundredths=50, answer=1, percent=20
    )
    manifest = replace(MANIFEST, people_expected=3000)
    return plan_release(check_request(alert, manifest), manifest, delta_nanos_left=1000)


def test_an_alert_comes_as_often_as_the_formula_says() -> None:
    distances = [-3, 2, 5, 4]
    chances = first_alert_probabilities(distances, threshold=0, epsilon=EPSILON).tolist()
    drawn = draw_alerts(distances, runs=FEW).tolist()
    assert chi_squared_p(drawn, among(chances), most=5) > BY_CHANCE


@pytest.mark.long
def test_an_alert_loses_no_more_than_it_was_charged_for() -> None:
    """One report moves the distance of the last look in one direction, all others in the other."""
    fewer, more = draw_alerts([0, 0, 0, 0]), draw_alerts([-1, -1, -1, 1])
    assert 0.24 * EPSILON < measure_loss(more == 3, fewer == 3) <= EPSILON


def test_the_audit_would_notice_looks_without_noise() -> None:
    fewer, more = (draw_alerts(one, looks="bare", runs=FEW) for one in ([1, 0], [0, 1]))
    assert measure_loss(more == 1, fewer == 1) > EPSILON


COINS = NINE.questions[0].mechanism


def plan_key_driver() -> ReleasePlan:
    names = tuple(one.name for one in NINE.questions[:3])
    request = ReleaseRequest(kind=ReleaseKind.KEY_DRIVER, questions=names, epsilon_hundredths=50)
    return plan_release(check_request(request, NINE), NINE, delta_nanos_left=1000)


def rules(*agreeing: int, yes: int, total: int) -> list[int]:
    return rule_scores(agreeing=agreeing, yes=yes, total=total, predictors=[COINS, COINS])


@pytest.mark.long
def test_a_key_driver_loses_no_more_than_each_draw_was_charged_for() -> None:
    """Each draw has half of ε; the person's outcome agrees only with the second predictor."""
    plan = plan_key_driver()
    sampler, each = prepare_sampler(plan), float(plan.epsilon_each)
    assert each == EPSILON / 2
    tie, led = (
        draw_places(sampler, scores)
        for scores in (rules(60, 60, yes=30, total=60), rules(60, 61, yes=31, total=61))
    )
    assert 0.7 * each < measure_loss(tie == 0, led == 0) <= each
    fewer, more = (
        draw_cells(plan_table_of_choice(plan), cells) for cells in ([0] * 4, [0, 0, 0, 1])
    )
    assert 0.75 * each < measure_loss(more[:, 3] >= 1, fewer[:, 3] >= 1) <= each


@pytest.mark.long
def test_rules_have_the_chances_of_permute_and_flip() -> None:
    plan = plan_key_driver()
    scores = rules(34, 38, yes=25, total=60)
    chances = permute_and_flip_probabilities(scores, rate=1 / plan.scale).tolist()
    drawn = draw_places(prepare_sampler(plan), scores).tolist()
    assert chi_squared_p(drawn, among(chances), most=len(scores)) > BY_CHANCE


def test_the_audit_would_notice_scores_of_rules_that_move_both_ways() -> None:
    """OpenDP is told that scores only rise, but (N - .375 n) / .25 rises by 2.5 or falls by 1.5."""
    plan = replace(plan_key_driver(), draws=1, scale=Fraction(5000), sensitivity=2500)

    def score(*agreeing: int, total: int) -> list[int]:
        found = [(one - Fraction(3, 8) * total) / Fraction(1, 4) for one in agreeing]
        return [round(1000 * one) for one in found]

    sampler = prepare_sampler(plan)
    tie, led = (
        draw_places(sampler, scores, runs=FEW)
        for scores in (score(60, 60, total=60), score(60, 61, total=61))
    )
    assert measure_loss(tie == 0, led == 0) > 1.2 * EPSILON


def test_the_audit_would_notice_the_noise_of_one_question_on_three() -> None:
    plan = make_plan(ReleaseKind.TABLE, "q1")
    fewer, more = (draw_cells(plan, [count] * 3, runs=FEW) for count in (0, 1))
    assert measure_loss(all_positive(more), all_positive(fewer)) > EPSILON
