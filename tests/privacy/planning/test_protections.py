"""The same share under four protections: figures computed by hand, and properties."""

from __future__ import annotations

from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.central.noise import discrete_laplace_variance
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import one_report_spread
from privacy.planning.protections import (
    Protection,
    people_for_protected_standard_error,
    protected_standard_error,
)

LN3 = log(3)
NONE, CENTRAL, SHUFFLED, LOCAL = Protection

shares = st.floats(0.01, 0.99)
epsilons = st.floats(0.05, 6)
people_counts = st.integers(1, 10**7)


def error(protection: Protection, **given: float) -> float:
    values = {"share": 0.2, "people": 1000, "epsilon": LN3, **given}
    return protected_standard_error(protection=protection, **values)  # type: ignore[arg-type]


def people(protection: Protection, **given: float) -> int:
    values = {"share": 0.2, "standard_error": 0.02, "epsilon": LN3, **given}
    return people_for_protected_standard_error(
        protection=protection,
        **values,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("protection", "expected"), [(NONE, 0.012649111), (CENTRAL, 0.012714443), (LOCAL, 0.030166206)]
)
def test_standard_errors_of_the_reference(protection: Protection, expected: float) -> None:
    # sqrt(.16/1000), sqrt(.16/1000 + 2/(1.0986**2 10**6)), sqrt(.16/1000 + 3/4000)
    assert round(error(protection), 9) == expected


def test_people_of_the_reference() -> None:
    # .16/.0004; n**2 .0004 - .16 n - 2/1.0986**2 = 0; (.16 + .75)/.0004
    assert [people(each) for each in (NONE, CENTRAL, LOCAL)] == [400, 411, 2275]
    # (.16 + sqrt(.16**2 + 4 * .0004 * 200))/(2 * .0004) = 934.8
    assert people(CENTRAL, epsilon=0.1) == 935


@pytest.mark.parametrize(
    ("number", "shuffled", "local"),
    [(500, 0.028044, 0.042661), (1000, 0.016838, 0.030166), (5000, 0.006108, 0.013491)],
)
def test_shuffled_reports_of_the_reference(number: int, shuffled: float, local: float) -> None:
    # Shuffled reports from which readers may learn ε = .5 at δ = 10⁻⁶ are compared with scrambling
    # at ln 3 on the device.
    assert round(error(SHUFFLED, people=number, epsilon=0.5), 6) == shuffled
    assert round(error(LOCAL, people=number), 6) == local


@given(shares, people_counts, st.integers(1, 49), st.integers(2, 64))
def test_the_local_way_is_the_mechanism_that_runs(
    share: float, number: int, flips: int, answers: int
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=answers, flips=flips)
    # T is an integer out of 2**32, so a channel with exactly this ε differs by up to 2**-32.
    assert error(
        LOCAL, share=share, people=number, epsilon=mechanism.epsilon, answers=answers
    ) == pytest.approx(one_report_spread(share=share, mechanism=mechanism) / sqrt(number), rel=1e-6)


@given(shares, people_counts, epsilons, st.integers(2, 64))
def test_protection_costs_precision_and_more_answers_never_help(
    share: float, number: int, epsilon: float, answers: int
) -> None:
    given_values = {"share": share, "people": number, "epsilon": epsilon}
    assert error(NONE, **given_values) < error(CENTRAL, **given_values)
    assert error(NONE, **given_values) < error(LOCAL, **given_values)
    for protection in (CENTRAL, LOCAL):
        more = error(protection, **given_values, answers=answers)
        assert more >= error(protection, **given_values) * (1 - 1e-12)


@settings(deadline=None, max_examples=30)
@given(shares, st.integers(1, 10**6), st.floats(0.05, 3))
def test_shuffling_lies_between_no_protection_and_the_device(
    share: float, number: int, epsilon: float
) -> None:
    given_values = {"share": share, "people": number, "epsilon": epsilon}
    shuffled = error(SHUFFLED, **given_values)
    assert error(NONE, **given_values) < shuffled <= error(LOCAL, **given_values) * (1 + 1e-6)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(Protection), st.floats(0.05, 0.95), st.floats(0.002, 0.2), st.floats(0.05, 3)
)
def test_the_people_are_the_fewest_that_reach_the_precision(
    protection: Protection, share: float, wanted: float, epsilon: float
) -> None:
    found = people(protection, share=share, standard_error=wanted, epsilon=epsilon)

    def reached(number: int) -> float:
        return error(protection, share=share, people=number, epsilon=epsilon) / wanted

    assert reached(found) <= 1 + 1e-6
    assert found == 1 or reached(found - 1) > 1 - 1e-6


def test_the_noise_of_two_answers_and_of_more() -> None:
    """If n is public, one of two counts gives the other; a table of three has sensitivity 2."""
    for answers, sensitivity in ((2, 1), (3, 2)):
        noise = error(CENTRAL, epsilon=0.1, answers=answers) ** 2 - error(NONE) ** 2
        scale = sensitivity / 0.1
        assert noise * 1000**2 == pytest.approx(2 * scale**2, rel=1e-9)
        # The discrete noise that Murmur draws has a variance that is smaller by 1/6.
        assert 2 * scale**2 - discrete_laplace_variance(scale=scale) == pytest.approx(1 / 6, 1e-3)


def test_shuffled_reports_have_two_answers() -> None:
    with pytest.raises(ValueError, match="answers must be 2 for shuffled reports, got 3"):
        error(SHUFFLED, answers=3)
    with pytest.raises(ValueError, match="answers must be 2 for shuffled reports, got 3"):
        people(SHUFFLED, answers=3)


def test_no_number_of_people_reaches_what_floats_cannot_count() -> None:
    assert people(LOCAL, standard_error=1e-9) == 2**53
    assert people(CENTRAL, standard_error=1e-10) == 2**53
