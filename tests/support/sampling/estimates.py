"""The estimates of one question, without the rest of its survey."""

from __future__ import annotations

from collections.abc import Sequence

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.estimation import (
    MarginalEstimates,
    estimate_marginal_shares,
    fit_joint_shares,
)


def estimate_alone(*, counts: Sequence[int], mechanism: RandomizedResponse) -> MarginalEstimates:
    return estimate_marginal_shares(
        successes=counts,
        total=sum(counts),
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
    )


def fit_alone(*, counts: Sequence[int], mechanism: RandomizedResponse) -> Floats:
    return fit_joint_shares(
        counts=counts, other_probability=mechanism.other_probability, slope=mechanism.slope
    )
