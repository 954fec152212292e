"""Weights of reports: correct means for any truth, least variance, and bad input."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from privacy.checks import Floats
from privacy.shares.joint.weights import efficient_weights, fixed_weights
from tests.privacy.shares.joint.designs import Mask, either_parent, follow_up, least_error


@pytest.mark.parametrize("design", [follow_up(), follow_up(refusal=True), either_parent()])
def test_weights_have_the_right_means_whatever_the_truth(
    design: tuple[Floats, Mask, Mask],
) -> None:
    channel, event, counted = design
    true = channel.shape[1]
    random = np.random.default_rng(5)
    for reference in (np.full(true, 1 / true), *random.dirichlet(np.ones(true), size=3)):
        top, bottom = efficient_weights(
            channel=channel,
            numerator=event * 1.0,
            denominator=counted * 1.0,
            reported=channel @ reference,
        )
        np.testing.assert_allclose(channel.T @ top, event, atol=1e-9)
        np.testing.assert_allclose(channel.T @ bottom, counted, atol=1e-9)


def test_no_other_weights_have_a_smaller_variance() -> None:
    channel, event, counted = follow_up(refusal=True)
    reported = channel @ np.array([0.6, 0.2, 0.15, 0.05])
    found, _ = efficient_weights(
        channel=channel, numerator=event * 1.0, denominator=counted * 1.0, reported=reported
    )
    # Other weights with the same means differ by a vector orthogonal to the channel's columns.
    hidden = np.linalg.svd(channel.T)[2][channel.shape[1] :]
    least = reported @ found**2
    for move in np.random.default_rng(2).normal(size=(20, len(hidden))) @ hidden:
        assert reported @ (found + 0.1 * move) ** 2 > least


def test_at_the_truth_the_variance_is_the_smallest_possible_one() -> None:
    channel, event, counted = follow_up()
    truth, share = np.array([0.7, 0.24, 0.06]), 0.2
    reported = channel @ truth
    top, bottom = efficient_weights(
        channel=channel, numerator=event * 1.0, denominator=counted * 1.0, reported=reported
    )
    error = sqrt(reported @ (top - share * bottom) ** 2) / 0.3
    assert error == pytest.approx(least_error(follow_up(), truth))


@pytest.mark.parametrize("design", [follow_up(), follow_up(refusal=True), either_parent()])
@pytest.mark.parametrize("asked", [0.1, 0.3, 0.6])
def test_fixed_weights_are_nearly_as_good_as_the_best(
    design: tuple[Floats, Mask, Mask], asked: float
) -> None:
    channel, event, counted = design
    among = np.arange(len(event)) > 0
    truth = np.where(among, asked / among.sum(), 1 - asked)
    share = truth[event].sum() / truth[counted].sum()
    top, bottom = fixed_weights(
        channel=channel, numerator=event * 1.0, denominator=counted * 1.0, asked=among
    )
    np.testing.assert_allclose(
        channel.T @ (top - share * bottom), event - share * counted, atol=1e-9
    )
    error = sqrt(channel @ truth @ (top - share * bottom) ** 2) / truth[counted].sum()
    best = least_error(design, truth)
    assert best <= error <= 1.06 * best


def test_fixed_weights_that_a_third_is_asked_are_the_best_ones() -> None:
    channel, event, counted = follow_up()
    asked = np.array([False, True, True])
    question = {"channel": channel, "numerator": event * 1.0, "denominator": counted * 1.0}
    found = fixed_weights(asked=asked, **question)
    reported = channel @ np.array([2 / 3, 1 / 6, 1 / 6])
    np.testing.assert_allclose(found, efficient_weights(reported=reported, **question))


def test_what_cannot_be_reported_has_no_weight() -> None:
    channel = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    top, bottom = efficient_weights(
        channel=channel, numerator=[0, 1], denominator=[1, 1], reported=[0.5, 0.5, 0]
    )
    np.testing.assert_allclose(top, [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(bottom, [1, 1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"channel": np.full((2, 2), 0.5)}, "channel must have linearly independent columns"),
        ({"channel": np.full((2, 3), 0.5)}, "numerator must have 3 entries"),
        ({"numerator": [1]}, "numerator must have 2 entries"),
        ({"denominator": [np.nan, 1]}, "denominator must be finite numbers"),
        ({"reported": [0.0, 1.0]}, "reported must be positive where a report is possible"),
        ({"reported": [-0.5, 1.0]}, "reported must be at least 0"),
        ({"reported": [[0.5, 0.5]]}, "reported must be flat"),
        ({"reported": [1.0]}, "channel must have 1 rows"),
    ],
)
def test_weights_that_cannot_be_found_are_refused(where: dict[str, object], message: str) -> None:
    usual = {
        "channel": [[0.75, 0.25], [0.25, 0.75]],
        "numerator": [0, 1],
        "denominator": [1, 1],
        "reported": [0.5, 0.5],
    }
    with pytest.raises(ValueError, match=message):
        efficient_weights(**(usual | where))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asked", [np.array([True]), np.array([1, 0]), np.array([[True, False]]), np.array([])]
)
def test_who_is_asked_must_match_the_cells(asked: Mask) -> None:
    with pytest.raises(ValueError, match="channel and asked must agree"):
        fixed_weights(
            channel=[[0.75, 0.25], [0.25, 0.75]], numerator=[0, 1], denominator=[1, 1], asked=asked
        )
