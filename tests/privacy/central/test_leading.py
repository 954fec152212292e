"""The chance to lead: against the normal approximation and exact integrals."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import integrate, stats

from privacy.central.leading import leader_chances

DRAWS = 1_000_000
# Six standard deviations of a share of that many draws.
NEAR = 6 * 0.5 / sqrt(DRAWS)


def test_two_options_agree_with_the_normal_approximation() -> None:
    # N1 - N2 of 1,000 reports: mean 40, variance n (λ1 + λ2 - (λ1 - λ2)²) = 998.4
    found = leader_chances([520, 480], total=1000, draws=DRAWS)
    assert found[0] == pytest.approx(stats.norm.cdf(40 / sqrt(998.4)), abs=2e-3)


def test_three_exclusive_options_agree_with_an_integral() -> None:
    shapes = np.array([12, 9, 4]) + 0.5

    def leads(value: float) -> float:
        first, *others = (stats.gamma(shape) for shape in shapes)
        return float(first.pdf(value) * np.prod([other.cdf(value) for other in others]))

    exact, _ = integrate.quad(leads, 0, 100)
    found = leader_chances([12, 9, 4], total=40, draws=DRAWS)
    assert found[0] == pytest.approx(exact, abs=NEAR)


def test_several_options_agree_with_an_integral() -> None:
    first, second = (stats.beta(count + 0.5, 30 - count + 0.5) for count in (20, 17))
    exact, _ = integrate.quad(lambda share: first.pdf(share) * second.cdf(share), 0, 1)
    found = leader_chances([20, 17], total=30, exclusive=False, draws=DRAWS)
    assert found[0] == pytest.approx(exact, abs=NEAR)


def test_the_order_of_options_does_not_matter_and_chances_sum_to_one() -> None:
    counts = [30, 25, 0, 28]
    found = leader_chances(counts, total=100, draws=DRAWS)
    turned = leader_chances(counts[::-1], total=100, draws=DRAWS)
    assert found.sum() == pytest.approx(1)
    assert found == pytest.approx(turned[::-1], abs=2 * NEAR)


def test_the_same_counts_always_say_the_same() -> None:
    assert leader_chances([5, 4], total=9).tolist() == leader_chances([5, 4], total=9).tolist()


@pytest.mark.parametrize(
    ("counts", "total", "exclusive"),
    [([6, 5], 10, True), ([11, 5], 10, False), ([5], 10, True), ([[1, 2]], 10, True)],
)
def test_counts_that_do_not_fit_are_refused(counts: list[int], total: int, exclusive: bool) -> None:
    with pytest.raises(ValueError, match="counts"):
        leader_chances(counts, total=total, exclusive=exclusive)
