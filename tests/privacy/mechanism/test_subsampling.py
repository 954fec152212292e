"""Subsampling follows its formula and never gives a larger epsilon."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.subsampling import subsampled_epsilon

EPSILONS = st.floats(0.01, 5)


@given(EPSILONS, st.floats(0.001, 1))
def test_subsampling_never_costs_more(epsilon: float, fraction: float) -> None:
    sampled = subsampled_epsilon(epsilon=epsilon, fraction=fraction)
    assert sampled == pytest.approx(log(1 + fraction * (exp(epsilon) - 1)), rel=1e-9)
    assert 0 < sampled <= epsilon * (1 + 1e-12)
