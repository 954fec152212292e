"""A share from several questions at once: other solvers, edge cases, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, chi2

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.profiles import LikelyShares
from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share
from tests.privacy.shares.joint.designs import Mask, either_parent, follow_up, least_error

ONE_IN_A_MILLION = 1e-6
LIMIT = chi2.ppf(0.95, 1)


def draw(
    design: tuple[Floats, Mask, Mask], truth: Sequence[float], people: int, seed: int
) -> JointCells:
    channel, event, counted = design
    reports = np.random.default_rng(seed).multinomial(people, channel @ np.array(truth))
    return JointCells(counts=reports, channel=channel, event=event, counted=counted)


def expect(design: tuple[Floats, Mask, Mask], truth: Sequence[float], people: int) -> JointCells:
    channel, event, counted = design
    reports = np.round(channel @ np.array(truth) * people).astype(np.int64)
    return JointCells(counts=reports, channel=channel, event=event, counted=counted)


CASES = [
    (follow_up(), [0.7, 0.24, 0.06]),
    (follow_up(), [0.9, 0.08, 0.02]),
    (follow_up(), [0.4, 0.0, 0.6]),
    (follow_up(), [0.0, 0.8, 0.2]),
    (follow_up(flips=5), [0.9, 0.1, 0.0]),
    (follow_up(refusal=True), [0.5, 0.2, 0.2, 0.1]),
    (follow_up(refusal=True), [0.7, 0.0, 0.3, 0.0]),
    (follow_up(refusal=True), [0.9, 0.05, 0.05, 0.0]),
    (either_parent(), [0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]),
    (either_parent(), [0.6, 0.0, 0.2, 0.2, 0.0, 0.0, 0.0]),
]


@pytest.mark.parametrize(("design", "truth"), CASES)
@pytest.mark.parametrize("people", [60, 1000])
def test_the_ends_are_those_of_a_search_over_all_likely_shares(
    design: tuple[Floats, Mask, Mask], truth: list[float], people: int
) -> None:
    cells = draw(design, truth, people, seed=people)
    found = joint_share(cells=cells)
    shares, _ = maximize_likelihood(counts=cells.counts, channel=cells.channel)
    parts = [cells.event, cells.counted & ~cells.event]
    region = LikelyShares(
        counts=cells.counts, channel=cells.channel, shares=shares, level=0.95, parts=parts
    )
    low, high = 0.0, 1.0
    if region.without(cells.counted) is None:
        low, high = region.interval(
            estimand=lambda p: p[cells.event].sum() / p[cells.counted].sum(), limits=(0.0, 1.0)
        )
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-5)
    most_likely = shares[cells.event].sum() / shares[cells.counted].sum()
    assert found.share == pytest.approx(most_likely, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_ends_are_where_the_best_likelihood_has_fallen_enough(seed: int) -> None:
    # By definition, without a search: for each share, maximize the likelihood over a fine grid of
    # shares of people asked.
    cells = draw(follow_up(), [0.4, 0.35, 0.25], 1500, seed=seed)
    found = joint_share(cells=cells)
    asked = np.linspace(0.2, 1.0, 8001)

    def best(share: float) -> float:
        shares = np.array([1 - asked, asked * (1 - share), asked * share])
        return float((cells.counts @ np.log(cells.channel @ shares)).max())

    assert found.share is not None
    for end in (found.low, found.high):
        assert 0 < end < 1
        assert 2 * (best(found.share) - best(end)) == pytest.approx(LIMIT, abs=1e-4)
    for share in np.linspace(0, 1, 101):
        assert best(float(share)) <= best(found.share) + 1e-6


@pytest.mark.parametrize(
    ("level", "errors", "seed"),
    [(0.99, 0.45, 4), (0.99, 0.45, 19), (0.99, 0.48, 0), (0.999, 0.45, 2), (0.95, 0.25, 0)],
)
def test_an_end_that_a_known_group_makes_impossible_is_never_reached(
    level: float, errors: float, seed: int
) -> None:
    """The event is a yes in one of two declared groups; at 1, the other group could not report."""
    generator = np.random.default_rng(seed)
    said_yes = generator.random(240) < 0.5
    codes = said_yes ^ (generator.random(240) < errors)
    counts = np.bincount(np.arange(240) % 2 * 2 + codes, minlength=4)
    keep = np.array([[1 - errors, errors], [errors, 1 - errors]])
    event = np.array([False, True, False, False])
    found = joint_share(
        cells=JointCells(
            counts=counts, channel=np.kron(np.eye(2), keep), event=event, counted=np.ones(4, bool)
        ),
        level=level,
    )
    # By definition: for each share, maximize the likelihood over a fine grid of group sizes.
    group = np.linspace(0, 1, 20_003)[1:-1]

    def best(share: float) -> float:
        yes = np.minimum(share / group, 1)
        code = errors + (1 - 2 * errors) * yes
        pairs = counts[0] * np.log(1 - code) + counts[1] * np.log(code)
        groups = counts[:2].sum() * np.log(group) + counts[2:].sum() * np.log(1 - group)
        return float((pairs + groups)[group >= share].max())

    shares = np.linspace(0, 0.999, 1000)
    heights = np.array([best(share) for share in shares])
    inside = shares[2 * (heights.max() - heights) <= chi2.ppf(level, 1)]
    assert found.high < 1
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=1.5e-3)


def test_routing_makes_a_follow_up_more_precise() -> None:
    # With 2,000 people, of whom 30 in 100 are asked, and each question at ln 3, the standard error
    # falls from .070 to .0585.
    cells = expect(follow_up(), [0.7, 0.24, 0.06], 2000)
    found = joint_share(cells=cells)
    assert found.share == pytest.approx(0.2, abs=1e-5)
    assert found.among_share == pytest.approx(0.3, abs=1e-5)
    least = least_error(follow_up(), [0.7, 0.24, 0.06]) / sqrt(2000)
    assert found.standard_error == pytest.approx(least, abs=1e-6)
    assert found.standard_error == pytest.approx(0.0585, abs=1e-4)
    alone = likelihood_ratio_share(
        counts=cells.counts.reshape(2, 3).sum(axis=0).tolist(),
        mechanism=RandomizedResponse.from_flips(symbols=3, flips=25),
        symbol=1,
        among=[0, 1],
    )
    assert alone.standard_error == pytest.approx(0.070, abs=1e-3)


@pytest.mark.parametrize("flips", [25, 12, 5])
@pytest.mark.parametrize("asked", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_no_interval_is_wider_than_from_the_follow_up_alone(
    flips: int, asked: float, share: float
) -> None:
    truth = [1 - asked, asked * (1 - share), asked * share]
    cells = expect(follow_up(flips), truth, 2000)
    joint = joint_share(cells=cells)
    alone = likelihood_ratio_share(
        counts=cells.counts.reshape(2, 3).sum(axis=0).tolist(),
        mechanism=RandomizedResponse.from_flips(symbols=3, flips=flips),
        symbol=1,
        among=[0, 1],
    )
    # Counts are rounded to whole reports.
    assert joint.high - joint.low <= (alone.high - alone.low) * 1.001


def test_where_nobody_may_have_been_asked_the_share_can_be_anything() -> None:
    found = joint_share(cells=expect(follow_up(), [0.98, 0.014, 0.006], 500))
    assert (found.low, found.high) == (0, 1)
    assert found.share == pytest.approx(0.3, abs=0.2)
    nobody = joint_share(cells=expect(follow_up(), [1.0, 0.0, 0.0], 4000))
    assert (nobody.share, nobody.standard_error, nobody.low, nobody.high) == (None, None, 0, 1)


def test_the_ends_are_exact_where_most_likely_nobody_was_asked() -> None:
    found = [
        joint_share(cells=draw(follow_up(), [1.0, 0.0, 0.0], people, seed=seed))
        for people in (5, 30, 1000)
        for seed in range(40)
    ]
    nobody = [(each.low, each.high) for each in found if each.share is None]
    assert len(nobody) > 10
    assert set(nobody) == {(0.0, 1.0)}


@pytest.mark.parametrize("people", [1, 3, 100, 10**9])
@pytest.mark.parametrize("truth", [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
def test_the_share_lies_in_its_interval(truth: list[float], people: int) -> None:
    found = joint_share(cells=draw(follow_up(), truth, people, seed=people))
    assert found.share is None or 0 <= found.low <= found.share <= found.high <= 1


def test_the_other_answers_have_the_mirrored_interval() -> None:
    cells = draw(follow_up(refusal=True), [0.5, 0.2, 0.2, 0.1], 1000, seed=7)
    others = JointCells(
        counts=cells.counts,
        channel=cells.channel,
        event=cells.counted & ~cells.event,
        counted=cells.counted,
    )
    one, other = joint_share(cells=cells), joint_share(cells=others)
    assert (one.share, other.share) != (None, None)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-8)


def test_a_higher_level_gives_a_wider_interval() -> None:
    cells = draw(follow_up(), [0.5, 0.3, 0.2], 1000, seed=1)
    narrow, usual, wide = (joint_share(cells=cells, level=level) for level in (0.5, 0.95, 0.999))
    assert wide.low < usual.low < narrow.low < narrow.high < usual.high < wide.high


def test_a_parent_that_is_sent_as_it_is_leaves_only_those_it_was_asked_of() -> None:
    # With a declared parent, results are as if only those who said yes to it had been in the
    # survey.
    child = RandomizedResponse.from_flips(symbols=3, flips=25).channel()
    possible = [(0, 2), (1, 0), (1, 1)]
    channel = np.array([np.kron(np.eye(2)[:, i], child[:, j]) for i, j in possible]).T
    design = channel, np.array([False, False, True]), np.array([False, True, True])
    among = channel[3:, 1:], np.array([False, True]), np.array([True, True])
    all_people = draw(design, [0.6, 0.25, 0.15], 1000, seed=3)
    asked = JointCells(
        counts=all_people.counts[3:], channel=among[0], event=among[1], counted=among[2]
    )
    one, other = joint_share(cells=all_people), joint_share(cells=asked)
    assert (one.low, one.share, one.high) == pytest.approx((other.low, other.share, other.high))
    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-4)
    assert one.among_share == pytest.approx(all_people.counts[3:].sum() / 1000)


def misses(truth: Sequence[float], people: int, *, surveys: int) -> int:
    """Count how many intervals of simulated surveys miss the truth."""
    channel, event, counted = follow_up()
    share = truth[2] / (truth[1] + truth[2])
    missed = 0
    for reports in np.random.default_rng(17).multinomial(
        people, channel @ np.array(truth), size=surveys
    ):
        cells = JointCells(counts=reports, channel=channel, event=event, counted=counted)
        found = joint_share(cells=cells)
        missed += not found.low <= share <= found.high
    return missed


def test_a_joint_share_covers_the_truth() -> None:
    surveys = 250
    missed = misses([0.7, 0.21, 0.09], 1000, surveys=surveys)
    assert missed <= binom.ppf(1 - ONE_IN_A_MILLION, surveys, 0.07)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"counts": np.zeros(6, dtype=np.int64)}, "counts must be flat and hold at least one"),
        ({"counts": np.ones((2, 3), dtype=np.int64)}, "counts must be flat"),
        ({"counts": np.array([1, 1, 1, 1, 1, -1])}, "counts must be whole and not negative"),
        ({"counts": np.ones(4, dtype=np.int64)}, "channel must have 4 rows"),
        ({"channel": np.ones((6, 3))}, "channel must have columns that sum to one"),
        ({"channel": follow_up()[0] * np.nan}, "channel must be finite numbers"),
        ({"event": np.array([True, False])}, "event must be 3 truth values"),
        ({"counted": np.array([0, 1, 1])}, "counted must be 3 truth values"),
        ({"event": np.zeros(3, dtype=bool)}, "event must be some, but not all"),
        ({"event": np.array([False, True, True])}, "event must be some, but not all"),
        ({"event": np.array([True, False, True])}, "event must be some, but not all"),
        (
            {"channel": np.vstack([np.eye(3), np.zeros((3, 3))])},
            "counts must be 0 where no true combination is reported so",
        ),
    ],
)
def test_cells_that_do_not_fit_are_refused(where: dict[str, object], message: str) -> None:
    channel, event, counted = follow_up()
    usual = {
        "counts": np.ones(6, dtype=np.int64),
        "channel": channel,
        "event": event,
        "counted": counted,
    }
    with pytest.raises(ValueError, match=message):
        JointCells(**(usual | where))  # type: ignore[arg-type]
