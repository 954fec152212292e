"""The code for the methods' tables computes for many surveys what Murmur shows for one survey."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.ratio_cells import RatioCells
from privacy.shares.scales import relaxed_likelihood_interval
from scripts.documentation.many_surveys import (
    find_limit,
    joint_statistic,
    list_counts,
    list_looks,
    maximize,
    relaxed_keeps,
)
from scripts.documentation.methods_ratios import list_shapes, weigh
from scripts.documentation.methods_shown import find_intervals
from scripts.documentation.ratio_designs import (
    Design,
    after_two,
    follow_up,
    gated_item,
    refusable,
    refusable_follow_up,
    scale_follow_up,
)

LIMIT = find_limit(0.95)
EPSILON = log(3)
DESIGNS = {
    "refusable": refusable(answers=3, epsilon=EPSILON),
    "follow-up": follow_up(answers=2, epsilon=EPSILON),
    "refusable follow-up": refusable_follow_up(answers=5, epsilon=2.0),
    "after two": after_two(answers=2, epsilon=2.0),
    "item": gated_item(epsilon=EPSILON),
}


def draw(design: Design, *, total: int, surveys: int) -> np.ndarray:
    truth = np.random.default_rng(5).dirichlet(np.ones(design.channel.shape[1]))
    return np.random.default_rng(7).multinomial(total, design.channel @ truth, size=surveys)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_joint_likelihood_keeps_the_same_shares(name: str) -> None:
    design = DESIGNS[name]
    cells = np.arange(design.channel.shape[1])
    for counts in draw(design, total=300, surveys=8):
        shown = joint_share(
            cells=JointCells(
                counts=counts, channel=design.channel, event=cells == 0, counted=cells < 2
            )
        )
        many = counts[None].astype(np.float64)
        for end, outer in ((shown.low, 0.0), (shown.high, 1.0)):
            statistic = float(joint_statistic(many, design.channel, end)[0])
            if end == outer:
                assert statistic <= LIMIT + 1e-3
            else:
                assert statistic == pytest.approx(LIMIT, abs=1e-3)


def test_a_question_alone_has_the_interval_of_three_cells() -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=4, epsilon=EPSILON)
    counts = [60, 70, 50, 70]
    shown = likelihood_ratio_share(counts=counts, mechanism=mechanism, symbol=0, among=[0, 1, 2])
    gathered = np.array([[60.0, 120.0, 70.0]])
    for end in (shown.low, shown.high):
        statistic = joint_statistic(gathered, DESIGNS["refusable"].channel, end)
        assert float(statistic[0]) == pytest.approx(LIMIT, abs=1e-3) or end in (0.0, 1.0)


def test_intervals_of_many_surveys_are_those_of_each() -> None:
    design = DESIGNS["follow-up"]
    counts = draw(design, total=2000, surveys=5)
    _, cells = maximize(counts.astype(np.float64), design.channel)
    shares = cells[:, 0] / cells[:, :2].sum(axis=1)
    lows, highs = find_intervals(counts.astype(np.float64), design, shares)
    event, counted = np.array([True, False, False]), np.array([True, True, False])
    for i, survey in enumerate(counts):
        shown = joint_share(
            cells=JointCells(counts=survey, channel=design.channel, event=event, counted=counted)
        )
        assert shown.share is not None
        assert shares[i] == pytest.approx(shown.share, abs=1e-4)
        assert (lows[i], highs[i]) == pytest.approx((shown.low, shown.high), abs=2e-4)


@pytest.mark.parametrize("shape", range(5))
def test_the_relaxed_likelihood_keeps_the_same_means(shape: int) -> None:
    design = scale_follow_up(points=5, epsilon=2.0)
    places = np.linspace(0.0, 1.0, 5)
    weights = weigh(design, numerator=[*places, 0.0], denominator=[*[1.0] * 5, 0.0])
    reported = design.report([*(0.5 * list_shapes(5)[shape]), 0.5])
    generator = np.random.default_rng(shape)
    for counts in generator.multinomial(300, reported, size=6).astype(np.float64):
        cells = RatioCells(counts=counts, numerator=weights[0], denominator=weights[1])
        shown = relaxed_likelihood_interval(cells=cells, level=0.95)

        def keeps(mean: float, counts: np.ndarray = counts) -> bool:
            return bool(relaxed_keeps(counts[None], *weights, ratio=mean, limit=LIMIT)[0])

        assert keeps(min(shown.low + 1e-4, 1.0))
        assert keeps(max(shown.high - 1e-4, 0.0))
        assert shown.low == 0 or not keeps(max(shown.low - 1e-4, 0.0))
        assert shown.high == 1 or not keeps(min(shown.high + 1e-4, 1.0))


def test_counts_that_are_left_out_hardly_ever_occur() -> None:
    for reported in ([0.2, 0.3, 0.5], [0.001, 0.499, 0.5]):
        for total in (10, 300):
            counts, chances = list_counts(total, np.array(reported))
            assert (counts.sum(axis=1) == total).all()
            assert chances.sum() == pytest.approx(1.0, abs=1e-6)


def test_looks_are_those_of_an_open_survey() -> None:
    # Computed by hand, the looks are at 50, 100, ..., 500, and then after a ninth more each time,
    # at 500 + 56 and 556 + 62. Figures are shown from 150 on.
    assert list_looks(50, 400, last=700) == [*range(150, 501, 50), 556, 618, 687]
    assert list_looks(50, 2000, last=700) == [200, 400, 600]
