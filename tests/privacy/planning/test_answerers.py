"""Precision among those who answer: worked examples, other formulas, and simulated surveys."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.checks import Floats
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import (
    ExpectedReports,
    expect_answers,
    expect_item,
    one_report_ratio_spread,
    people_for_ratio_half_width,
    ratio_half_width,
)
from privacy.planning.precision import watched_level

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(4, 12), flips=st.integers(1, 45)
)
shares, asked_shares = st.floats(0, 1), st.floats(0.05, 1)
parents = st.integers(1, 45).map(
    lambda flips: RandomizedResponse.from_flips(symbols=2, flips=flips)
)


def spread(reports: ExpectedReports) -> float:
    return one_report_ratio_spread(reports=reports)


def fisher_spread(channel: Floats, truth: Floats, gradient: Floats) -> float:
    """Compute the spread of a function of the true shares from the inverse of Fisher's information.

    The first true share is one minus the others; the gradient is with respect to those others.
    """
    slopes = channel[:, 1:] - channel[:, :1]
    information = (slopes.T / (channel @ truth)) @ slopes
    return sqrt(float(gradient @ np.linalg.solve(information, gradient)))


# One question alone


def test_refusals_raise_the_people_needed_from_1399_to_1941() -> None:
    # docs/methods, "Refusals"
    assert THREE.threshold == SCALE * 3 // 5
    assert THREE.other_probability == pytest.approx(0.2)
    reports = expect_answers(share=0.2, refusing=0.05, mechanism=THREE)
    assert people_for_ratio_half_width(reports=reports, half_width=0.05) == 1941
    kept = RandomizedResponse(symbols=3, threshold=3 * 2**30)
    assert kept.epsilon == pytest.approx(log(6))


@given(shares, asked_shares, st.floats(0, 0.8), mechanisms)
def test_a_question_alone_has_the_spread_of_the_delta_method(
    share: float, asked: float, refusing: float, mechanism: RandomizedResponse
) -> None:
    reports = expect_answers(share=share, asked=asked, refusing=refusing, mechanism=mechanism)
    # docs/methods, "Refusals": x and y are the reported shares of the answer and of other answers
    c, d, answering = mechanism.other_probability, mechanism.slope, asked * (1 - refusing)
    x = c + d * answering * share
    y = (mechanism.symbols - 3) * c + d * answering * (1 - share)
    variance = x * (1 - share) ** 2 + y * share**2 - (x * (1 - share) - y * share) ** 2
    expected = sqrt(max(variance, 0)) / (d * answering)
    assert spread(reports) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(shares, st.floats(0, 0.8), mechanisms)
def test_more_refusals_need_more_people(
    share: float, refusing: float, mechanism: RandomizedResponse
) -> None:
    few, many = (
        people_for_ratio_half_width(
            reports=expect_answers(share=share, refusing=refused, mechanism=mechanism),
            half_width=0.05,
        )
        for refused in (refusing, refusing + 0.1)
    )
    assert few <= many


@pytest.mark.parametrize(("asked", "flips", "symbols"), [(0.3, 10, 3), (0.7, 25, 4), (0.5, 5, 6)])
def test_the_spread_is_that_of_simulated_surveys(asked: float, flips: int, symbols: int) -> None:
    # The symbols are "not asked", "yes" and the other answers. Of these other answers, people have
    # only the first.
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    truth = np.zeros(symbols)
    truth[:3] = 1 - asked, asked * 0.2, asked * 0.8
    people, surveys = 40_000, 20_000
    reported = np.random.default_rng(3).multinomial(people, mechanism.channel() @ truth, surveys)
    raw = (reported / people - mechanism.other_probability) / mechanism.slope
    estimates = raw[:, 1] / raw[:, 1:].sum(axis=1)
    expected = spread(expect_answers(share=0.2, asked=asked, mechanism=mechanism))
    assert estimates.std() * sqrt(people) == pytest.approx(
        expected, rel=4.9 / sqrt(2 * surveys) + 0.01
    )


def test_a_packed_follow_up_is_much_more_accurate_at_the_same_total() -> None:
    # As in docs/methods, "Follow-ups", there are two questions at ln 3 and 2,000 people; 30 % are
    # asked, and 20 % of those say yes. The codes of the packed question are no, yes-no and yes-yes.
    packed = RandomizedResponse.from_epsilon(symbols=3, epsilon=COINS.epsilon + THREE.epsilon)
    errors = [
        spread(reports) / sqrt(2000)
        for reports in (
            expect_answers(share=0.2, asked=0.3, mechanism=THREE),
            expect_answers(share=0.2, asked=0.3, mechanism=THREE, parent=COINS.channel()),
            expect_answers(share=0.2, refusing=0.7, mechanism=packed, answers=2),
        )
    ]
    assert [round(error, 4) for error in errors] == [0.0699, 0.0585, 0.0314]


# With the question that decides who is asked


@given(shares, asked_shares, parents, st.integers(1, 45))
def test_parent_and_child_have_the_spread_of_fisher_s_information(
    share: float, asked: float, parent: RandomizedResponse, flips: int
) -> None:
    child = RandomizedResponse.from_flips(symbols=3, flips=flips)
    reports = expect_answers(share=share, asked=asked, mechanism=child, parent=parent.channel())
    first, second = parent.channel(), child.channel()
    truths = ((0, 2), (1, 1), (1, 0))  # not asked; another answer; the answer
    channel = np.array([np.kron(first[:, i], second[:, j]) for i, j in truths]).T
    truth = np.array([1 - asked, asked * (1 - share), asked * share])
    gradient = np.array([-share, 1 - share]) / asked
    assert spread(reports) == pytest.approx(fisher_spread(channel, truth, gradient), rel=1e-6)


@given(shares, asked_shares, st.floats(0, 0.8), mechanisms, parents)
def test_the_deciding_question_never_costs_precision(
    share: float,
    asked: float,
    refusing: float,
    mechanism: RandomizedResponse,
    parent: RandomizedResponse,
) -> None:
    alone = expect_answers(share=share, asked=asked, refusing=refusing, mechanism=mechanism)
    jointly = expect_answers(
        share=share, asked=asked, refusing=refusing, mechanism=mechanism, parent=parent.channel()
    )
    known = expect_answers(
        share=share, asked=asked, refusing=refusing, mechanism=mechanism, parent=np.eye(2)
    )
    assert spread(known) <= spread(jointly) * (1 + 1e-9)
    assert spread(jointly) <= spread(alone) * (1 + 1e-9)


def test_who_was_asked_is_nothing_new_if_everybody_was() -> None:
    alone = expect_answers(share=0.2, asked=1.0, mechanism=THREE)
    assert spread(alone) == pytest.approx(
        spread(expect_answers(share=0.2, refusing=0.0, mechanism=THREE))
    )


# "Several answers"


@pytest.mark.parametrize("asked", [None, 0.5])
@pytest.mark.parametrize("flips", [5, 25])
def test_item_and_gate_have_the_spread_of_fisher_s_information(
    asked: float | None, flips: int
) -> None:
    item = RandomizedResponse.from_flips(symbols=2, flips=flips)
    gate = RandomizedResponse.from_flips(symbols=2 if asked is None else 3, flips=flips)
    reports = expect_item(share=0.2, refusing=0.1, asked=asked, mechanism=item, gate=gate)
    among = 1.0 if asked is None else asked
    truths, truth = [(1, 0), (0, 0), (0, 1)], [among * 0.1, among * 0.72, among * 0.18]
    gradient = [-0.2, 0.8]
    if asked is not None:
        truths, truth, gradient = [(2, 0), *truths], [1 - asked, *truth], [0, *gradient]
    first, second = gate.channel(), item.channel()
    channel = np.array([np.kron(first[:, i], second[:, j]) for i, j in truths]).T
    expected = fisher_spread(channel, np.array(truth), np.array(gradient) / (among * 0.9))
    assert spread(reports) == pytest.approx(expected)


# Watched


@pytest.mark.parametrize("refusing", [0.05, 0.5])
@pytest.mark.parametrize("parent", [None, COINS.channel()], ids=["alone", "jointly"])
def test_the_watched_number_of_people_reaches_the_precision(
    refusing: float, parent: Floats | None
) -> None:
    reports = expect_answers(share=0.2, asked=0.5, refusing=refusing, mechanism=FOUR, parent=parent)
    level = watched_level()
    people = people_for_ratio_half_width(reports=reports, half_width=0.1, level=level)

    def width(people: int) -> float:
        return ratio_half_width(reports=reports, people=people, level=level)

    assert width(people) <= 0.1 < width(people - 1)
    fixed = people_for_ratio_half_width(reports=reports, half_width=0.1)
    assert people / fixed == pytest.approx((2.2701 / 1.95996) ** 2, rel=0.01)


@pytest.mark.parametrize(
    ("asked", "fixed", "watched"),
    [
        (0.1, (122_927, 62_832), (164_909, 84_290)),
        (0.3, (15_025, 10_506), (20_156, 14_094)),
        (0.6, (4269, 3783), (5726, 5075)),
    ],
)
def test_the_people_for_a_follow_up_are_those_of_the_methods(
    asked: float, fixed: tuple[int, int], watched: tuple[int, int]
) -> None:
    for parent, at_end, at_looks in zip((None, COINS.channel()), fixed, watched, strict=True):
        reports = expect_answers(share=0.2, asked=asked, mechanism=THREE, parent=parent)
        found = [
            people_for_ratio_half_width(reports=reports, half_width=0.05, level=level)
            for level in (0.95, watched_level())
        ]
        assert found == [at_end, at_looks]


def test_a_precision_that_nobody_can_reach_has_a_number_all_the_same() -> None:
    many = RandomizedResponse.from_flips(symbols=62, flips=49)
    reports = expect_answers(
        share=0.2, asked=0.01, refusing=0.9, mechanism=many, parent=COINS.channel()
    )
    assert people_for_ratio_half_width(reports=reports, half_width=0.005) > 10**12


# Bad input


def test_refusals_and_rules_need_a_code() -> None:
    with pytest.raises(ValueError, match="mechanism must have"):
        expect_answers(share=0.2, refusing=0.1, mechanism=COINS)
    with pytest.raises(ValueError, match="mechanism must have at least 4"):
        expect_answers(share=0.2, refusing=0.1, asked=0.3, mechanism=THREE)
    with pytest.raises(ValueError, match="gate must have"):
        expect_item(share=0.2, refusing=0.1, asked=0.3, mechanism=COINS, gate=COINS)
    with pytest.raises(ValueError, match="answers must be"):
        expect_answers(share=0.2, asked=0.3, mechanism=FOUR, answers=2)


def test_a_question_that_everybody_is_asked_has_no_parent() -> None:
    with pytest.raises(ValueError, match="parent must be None"):
        expect_answers(share=0.2, refusing=0.1, mechanism=THREE, parent=COINS.channel())
    for parent in ([[0.5], [0.5]], [0.5, 0.5], [[0.5, 0.6], [0.5, 0.5]], [[2, 0], [-1, 1]]):
        with pytest.raises(ValueError, match="parent must"):
            expect_answers(share=0.2, asked=0.1, mechanism=THREE, parent=parent)
