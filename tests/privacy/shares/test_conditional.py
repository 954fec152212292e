"""Shares among those who answered: estimates and properties of the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import ConditionalShare, likelihood_ratio_share

REFUSAL = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)


@st.composite
def cases(draw: st.DrawFn, *, most: int = 5000) -> dict[str, Any]:
    k = draw(st.integers(3, 8))
    flips = draw(st.integers(2, 45))
    among = draw(st.permutations(range(k)))[: draw(st.integers(2, k - 1))]
    return {
        "mechanism": RandomizedResponse.from_flips(symbols=k, flips=flips),
        "counts": draw(st.lists(st.integers(0, most), min_size=k, max_size=k).filter(any)),
        "among": among,
        "symbol": draw(st.sampled_from(among)),
    }


def miss(found: ConditionalShare, truth: float) -> bool:
    return not found.low <= truth <= found.high


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


# Estimates


@settings(deadline=None)
@given(cases(most=50))
def test_exact_expected_counts_return_the_true_share_among_answers(case: dict[str, Any]) -> None:
    people = np.array(case["counts"])
    answers = people[list(case["among"])].sum()
    assume(answers > 0)
    reports = expected_reports(case["mechanism"], people / people.sum(), 10**15)
    found = likelihood_ratio_share(**{**case, "counts": reports})
    truth = people[case["symbol"]] / answers
    assert found.share == pytest.approx(truth, abs=1e-9)
    assert found.among_share == pytest.approx(answers / people.sum(), abs=1e-9)
    assert found.low - 1e-9 <= truth <= found.high + 1e-9


def test_the_standard_error_matches_the_spread_of_repeated_surveys() -> None:
    for truth in ((0.2, 0.4, 0.1, 0.3), (0.02, 0.5, 0.4, 0.08), (0.5, 0.0, 0.0, 0.5)):
        question: dict[str, Any] = {"mechanism": FOUR, "symbol": 0, "among": (0, 1, 2)}
        drawn = np.random.default_rng(1954).multinomial(
            4000, FOUR.channel() @ np.array(truth), size=4000
        )
        shares = [
            likelihood_ratio_share(counts=counts.tolist(), **question).share for counts in drawn
        ]
        expected = likelihood_ratio_share(counts=expected_reports(FOUR, truth, 4000), **question)
        assert expected.standard_error is not None
        spread = np.std(np.array(shares, dtype=np.float64))
        print(f"replicates {spread:.5f} formula {expected.standard_error:.5f}")
        assert spread == pytest.approx(expected.standard_error, rel=0.1)


def test_without_a_positive_share_of_answers_there_is_no_ratio() -> None:
    for counts in ([390, 395, 1215], [25, 28, 92], [1, 15, 34], [13, 3, 34]):
        found = likelihood_ratio_share(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
        assert found.share is None
        assert found.standard_error is None
        assert found.among_share < 0
        assert (found.low, found.high) == (0, 1)


# Properties


@settings(deadline=None)
@given(case=cases(), random=st.randoms())
def test_relabelling_the_codes_changes_nothing(case: dict[str, Any], random: Any) -> None:
    before = likelihood_ratio_share(**case)
    order = list(range(len(case["counts"])))
    random.shuffle(order)
    after = likelihood_ratio_share(
        counts=[case["counts"][code] for code in order],
        mechanism=case["mechanism"],
        symbol=order.index(case["symbol"]),
        among=[order.index(code) for code in case["among"]],
    )
    assert (after.low, after.high) == pytest.approx((before.low, before.high), abs=1e-9)
    assert after.share == pytest.approx(before.share)
    assert after.standard_error == pytest.approx(before.standard_error)


@settings(deadline=None)
@given(case=cases())
def test_with_two_answers_the_interval_of_one_mirrors_that_of_the_other(
    case: dict[str, Any],
) -> None:
    first, second = case["among"][:2]
    case = {**case, "among": (first, second)}
    one, other = (
        likelihood_ratio_share(**{**case, "symbol": symbol}) for symbol in (first, second)
    )
    assert [other.low, other.high] == pytest.approx([1 - one.high, 1 - one.low], abs=1e-6)
    if one.share is not None and one.among_share > 1e-6:
        assert other.share == pytest.approx(1 - one.share, rel=1e-6, abs=1e-6)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-6)


@settings(deadline=None)
@given(case=cases())
def test_a_higher_level_gives_a_wider_interval(case: dict[str, Any]) -> None:
    narrow, wide = (
        likelihood_ratio_share(**case, level=0.8),
        likelihood_ratio_share(**case, level=0.99),
    )
    assert (narrow.level, wide.level) == (0.8, 0.99)
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [1, 2]}, "counts must have 3 entries, got [1, 2]"),
        ({"counts": [1, 2, -1]}, "counts must be whole and not negative, got [1, 2, -1]"),
        ({"counts": [0, 0, 0]}, "counts must hold at least one report, got none"),
        ({"among": [0, 0]}, "among must be some of the codes [0, 1, 2], got [0, 0]"),
        ({"among": [0, 3]}, "among must be some of the codes [0, 1, 2], got [0, 3]"),
        ({"level": 0.0}, "level must lie in (0, 1), got 0.0"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
    ],
)
def test_impossible_arguments_are_rejected(arguments: dict[str, Any], message: str) -> None:
    usual = {"counts": [5, 5, 5], "mechanism": REFUSAL, "symbol": 0, "among": [0, 1]}
    with pytest.raises(ValueError) as refused:
        likelihood_ratio_share(**{**usual, **arguments})
    assert str(refused.value) == message


def test_an_answer_must_be_among_the_answers() -> None:
    usual: dict[str, Any] = {
        "counts": [5, 5, 5],
        "mechanism": REFUSAL,
        "symbol": 2,
        "among": [0, 1],
    }
    with pytest.raises(ValueError) as refused:
        likelihood_ratio_share(**usual)
    assert str(refused.value) == "symbol must be one of [0, 1], got 2"


@pytest.mark.parametrize("among", [[0], [0, 1, 2]])
def test_the_likelihood_ratio_needs_other_answers_and_others(among: list[int]) -> None:
    with pytest.raises(ValueError) as refused:
        likelihood_ratio_share(counts=[5, 5, 5], mechanism=REFUSAL, symbol=0, among=among)
    assert str(refused.value) == f"among must be at least two codes, but not all, got {among}"


# Impossible and rare counts


def test_an_empty_cell_is_no_contradiction_where_few_reports_are_swapped() -> None:
    hardly_any = RandomizedResponse.from_epsilon(symbols=3, epsilon=4)
    for counts, truth in (([50, 0, 0], 1.0), ([0, 50, 0], 0.0), ([0, 30, 20], 0.0)):
        found = likelihood_ratio_share(counts=counts, mechanism=hardly_any, symbol=0, among=(0, 1))
        assert not miss(found, truth)
        assert 0 < found.high - found.low < 1
