"""The regression agrees with another implementation, a general optimizer on the raw likelihood."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from scipy.stats import chi2

from aggregator.simulation.demo_surveys import REDBOOK_COUNTS
from privacy.associations.latent_regression import fit_latent_logistic
from tests.support.latent_tables import COINS, PLAIN, surveys_of, true_table

PREDICTORS = list(product((0, 1), repeat=3))
DESIGN = np.array([[1.0, *row] for row in PREDICTORS])
CODES = list(product((0, 1), repeat=4))


class Likelihood:
    """The function -log L of seven logits of predictor combinations and four coefficients."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.counts = np.array([counts[code] for code in CODES], dtype=float)
        own = COINS.other_probability + COINS.slope  # the chance that an answer is sent as it is
        same = np.array([[np.sum(np.equal(code, true)) for true in CODES] for code in CODES])
        self.kept = own**same * (1 - own) ** (4 - same)

    def parts(self, place: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.exp(log_softmax(np.append(place[:7], 0.0))), expit(DESIGN @ place[7:])

    def __call__(self, place: NDArray[np.float64]) -> float:
        masses, event = self.parts(place)
        return -float(
            self.counts @ np.log(self.kept @ np.concatenate([masses * (1 - event), masses * event]))
        )

    def gradient(self, place: NDArray[np.float64]) -> NDArray[np.float64]:
        masses, event = self.parts(place)
        shares = np.concatenate([masses * (1 - event), masses * event])
        by_shares = self.kept.T @ (self.counts / (self.kept @ shares))
        no, yes = by_shares[:8], by_shares[8:]
        by_masses = no * (1 - event) + yes * event
        by_logits = masses * (by_masses - masses @ by_masses)
        by_odds = DESIGN.T @ (masses * event * (1 - event) * (yes - no))
        return -np.concatenate([by_logits[:7], by_odds])

    def minimize(
        self, *, column: int | None = None, at: float = 0.0
    ) -> tuple[NDArray[np.float64], float]:
        """Search from zero, optionally with one coefficient fixed."""
        free = np.array(
            [place for place in range(11) if place != (None if column is None else 7 + column)]
        )

        def full(some: NDArray[np.float64]) -> NDArray[np.float64]:
            place = np.full(11, at)
            place[free] = some
            return place

        found = minimize(
            lambda some: self(full(some)),
            np.zeros(len(free)),
            jac=lambda some: self.gradient(full(some))[free],
            method="BFGS",
            options={"gtol": 1e-7, "maxiter": 5000},
        )
        return full(found.x), float(found.fun)


def marriage() -> NDArray[np.int64]:
    """Draw reports of the women in the demo, whose figures were published in 1978."""
    women = np.zeros((2, 2, 2, 2))
    for answers, number in REDBOOK_COUNTS.items():
        women[answers] = number
    [counts] = surveys_of(women / women.sum(), [PLAIN] * 4, people=6366, surveys=1, seed=1978)
    return np.asarray(counts)


TRUTH = true_table([-0.4, 0.8, -0.6, 0.0], sizes=[2, 2, 2])
SURVEYS = surveys_of(TRUTH, [PLAIN] * 4, people=20_000, surveys=10, seed=60)


@pytest.mark.parametrize("number", [*range(10), "demo"])
def test_another_implementation_finds_the_same(number: int | str) -> None:
    counts = marriage() if number == "demo" else SURVEYS[int(number)]
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN] * 4)
    other = Likelihood(counts)
    place, least = other.minimize()
    assert fit.coefficients == pytest.approx(place[7:], abs=2e-6)
    assert fit.log_likelihood == pytest.approx(-least, abs=1e-6)
    for column, test in enumerate(fit.tests):
        _, held = other.minimize(column=column)
        assert test.statistic == pytest.approx(2 * (held - least), abs=1e-5)
        for end in (fit.low[column], fit.high[column]):
            _, held = other.minimize(column=column, at=float(end))
            assert 2 * (held - least) == pytest.approx(chi2.ppf(0.95, df=1), abs=1e-5)
