"""The most likely shares: closed forms, random alternatives, and tables of many questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from privacy.associations.maximum_likelihood import log_likelihood_of, maximize_likelihood
from privacy.associations.tables import (
    Variable,
    estimate_table,
    prepare_table,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from tests.support.latent_tables import PLAIN, joint_channel, tables, two_by_two
from tests.support.sampling.estimates import fit_alone


def test_em_finds_the_closed_form_for_one_question() -> None:
    random = np.random.default_rng(3)
    for _ in range(300):
        k = int(random.integers(2, 13))
        mechanism = RandomizedResponse.from_flips(symbols=k, flips=int(random.integers(1, 46)))
        people = int(10 ** random.uniform(0, 6))
        shares = random.dirichlet(np.full(k, random.choice([0.1, 1, 10])))
        counts = [int(count) for count in random.multinomial(people, shares)]
        found = estimate_table(counts=counts, variables=[Variable.plain(mechanism)])
        exact = fit_alone(counts=counts, mechanism=mechanism)
        assert found.joint_shares == pytest.approx(exact, abs=1e-6), counts


@settings(deadline=None, max_examples=60)
@given(tables())
def test_no_other_table_is_more_likely(case: tuple[list[Variable], NDArray[np.int64]]) -> None:
    variables, counts = case
    found = estimate_table(counts=counts, variables=variables)
    gathered, channel = prepare_table(counts=counts, variables=variables)
    reported = gathered.ravel() / found.total
    best = found.joint_shares.ravel()
    # The likelihood is concave, so at its maximum no direction towards a corner of the simplex
    # leads up.
    slopes = channel.T @ (reported / (channel @ best))
    assert found.total * (slopes.max() - 1) < 1e-9 + found.total * 1e-11
    assert found.log_likelihood == pytest.approx(
        log_likelihood_of(counts=gathered.ravel(), channel=channel, shares=best)
    )


def test_an_estimate_inside_the_simplex_is_the_maximum_itself() -> None:
    found = two_by_two()
    assert (found.joint_shares == found.shares).all()
    _, channel = prepare_table(counts=found.counts, variables=[PLAIN, PLAIN])
    by_em, height = maximize_likelihood(counts=found.counts.ravel(), channel=channel)
    assert by_em == pytest.approx(found.shares.ravel(), abs=1e-6)
    assert height == pytest.approx(found.log_likelihood, abs=1e-9)


@pytest.mark.parametrize("questions", [6, 8])
def test_tables_of_many_questions_converge(questions: int) -> None:
    variables = [PLAIN] * questions
    random = np.random.default_rng(questions)
    truth = random.dirichlet(np.full(2**questions, 0.1))
    counts = random.multinomial(4000, joint_channel(variables) @ truth).reshape((2,) * questions)
    found = estimate_table(counts=counts, variables=variables)
    assert found.joint_shares.sum() == pytest.approx(1, abs=1e-12)
