"""Which estimates may be published, need a mark of caution, or are not shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.results.estimands import estimands_of
from aggregator.results.estimate import Estimate, Interval, Intervals
from aggregator.results.reliability import (
    Reliability,
    find_effective_people,
    rate_mean,
    rate_share,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, fixed_options

PUBLISHABLE, CAUTION, NOT_SHOWN = Reliability
# Better first.
ORDER = list(Reliability)


# By hand: .2 · .8/SE² people.
@pytest.mark.parametrize(
    ("share", "error", "interval", "rating"),
    [
        # .16/.03² = 178 people; width .12, and .12/.2 = 60 % of the share.
        (0.2, 0.03, (0.14, 0.26), PUBLISHABLE),
        # .16/.073² = 30.02 people; width .30 and .31.
        (0.5, 0.073, (0.35, 0.65 - 1e-12), PUBLISHABLE),
        (0.5, 0.073, (0.345, 0.655), CAUTION),
        # .16/.0731² = 29.9 people, however narrow the interval.
        (0.5, 0.0731, (0.45, 0.55), CAUTION),
        # .16/.02² = 400 people; .078/.04 = 195 % of the share.
        (0.04, 0.02, (0.002, 0.08), CAUTION),
        # Width .05: precise enough, although it is many times the share.
        (0.004, 0.013, (0.0, 0.0499), PUBLISHABLE),
        (0.0, 0.013, (0.0, 0.0499), PUBLISHABLE),
        (0.0, 0.013, (0.0, 0.06), CAUTION),
        # .16/.125² = 10.2 people and .16/.127² = 9.9 people.
        (0.2, 0.125, (0.0, 0.45), CAUTION),
        (0.2, 0.127, (0.0, 0.45), NOT_SHOWN),
        # Width .50 and .51.
        (0.5, 0.1, (0.25, 0.75), CAUTION),
        (0.5, 0.1, (0.245, 0.755), NOT_SHOWN),
        # The headline from nothing: 100 % from an unclipped 215 % with a standard error of 69.
        (1.0, 0.69, (0.62, 1.0), NOT_SHOWN),
    ],
)
def test_a_share_is_rated_by_its_effective_people_and_the_width_of_its_interval(
    share: float, error: float, interval: tuple[float, float], rating: Reliability
) -> None:
    found = rate_share(share=share, standard_error=error, interval=interval, total=5000)
    assert found is rating


def test_no_report_counts_as_more_than_one_direct_answer() -> None:
    """All or none of a few codes have a standard error of 0."""
    assert find_effective_people(standard_error=0, total=20) == 20
    assert find_effective_people(standard_error=0.01, total=20) == 20
    rating = rate_share(share=0, standard_error=0, interval=(0, 0.04), total=20)
    assert rating is CAUTION


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_what_is_shown_depends_on_the_error_and_not_on_the_estimate(share: float) -> None:
    for error, rating in ((0.126, CAUTION), (0.127, NOT_SHOWN)):
        interval = (max(0.0, share - 0.2), min(1.0, share + 0.2))
        found = rate_share(share=share, standard_error=error, interval=interval, total=5000)
        assert found is rating


@given(
    share=st.floats(0, 1),
    error=st.floats(0, 2),
    total=st.integers(1, 10_000),
    below=st.floats(0, 1),
    above=st.floats(0, 1),
    further=st.floats(0, 1),
)
def test_a_less_precise_share_is_never_rated_better(
    share: float, error: float, total: int, below: float, above: float, further: float
) -> None:
    low, high = share * (1 - below), share + (1 - share) * above
    precise = rate_share(share=share, standard_error=error, interval=(low, high), total=total)
    wider = (low * (1 - further), high + (1 - high) * further)
    for worse in (
        rate_share(share=share, standard_error=error + further, interval=(low, high), total=total),
        rate_share(share=share, standard_error=error, interval=wider, total=total),
        rate_share(share=share, standard_error=error, interval=(low, high), total=1),
    ):
        assert ORDER.index(worse) >= ORDER.index(precise)


@pytest.mark.parametrize(
    ("error", "interval", "rating"),
    [
        (0.25, (2.0, 3.1), PUBLISHABLE),  # 1.1 of 4 points are 27.5 %
        (0.25, (2.0, 3.3), CAUTION),  # 32.5 %
        (0.25, (2.0, 4.1), NOT_SHOWN),  # 52.5 %
        # Cut off at an end of the scale, an interval looks more precise than the mean is. .292 and
        # .293 are 7.30 and 7.33 % of the scale: .16/.0730² = 30.02 and .16/.0733² = 29.8 people.
        (0.292, (1.0, 1.9), PUBLISHABLE),
        (0.293, (1.0, 1.9), CAUTION),
        (0.505, (1.0, 1.9), CAUTION),  # .16/.12625² = 10.04
        (0.507, (1.0, 1.9), NOT_SHOWN),  # .16/.12675² = 9.96
    ],
)
def test_a_mean_is_rated_by_its_error_and_interval_as_parts_of_the_scale(
    error: float, interval: tuple[float, float], rating: Reliability
) -> None:
    found = rate_mean(standard_error=error, interval=interval, scale=(1.0, 5.0), total=5000)
    assert found is rating


def make_estimate(
    *, value: float | None, error: float | None, interval: tuple[float, float]
) -> Estimate:
    question = ManifestQuestion(
        name="q1",
        type=QuestionType.YES_NO,
        text="Is it so?",
        flips=25,
        threshold=RandomizedResponse.from_flips(symbols=2, flips=25).threshold,
        options=fixed_options(QuestionType.YES_NO),
    )
    low, high = interval
    main = Interval(low=low, high=high, level=0.95, method="likelihood_ratio")
    *_, yes = estimands_of(question)
    return Estimate(
        estimand=yes,
        symbols=("q1",),
        total=2000,
        count=900,
        value=value,
        standard_error=error,
        intervals=Intervals(main=main, inner=(), simultaneous=main),
        contradiction=False,
    )


def test_the_value_shown_lies_inside_its_interval() -> None:
    """The estimate of D3: 214.7 % beside an interval from 62 to 100 %."""
    estimate = make_estimate(value=2.147, error=0.69, interval=(0.62, 1.0))
    assert estimate.displayed == 1
    assert estimate.value == 2.147
    assert estimate.reliability is NOT_SHOWN
    inside = make_estimate(value=0.1, error=0.02, interval=(0.12, 0.2))
    assert inside.displayed == 0.12


def test_what_is_rated_is_the_share_as_it_is_displayed() -> None:
    """At 0 % an interval from 0 to 6 % is wide; at −2 % no relative width would exist."""
    assert make_estimate(value=-0.02, error=0.013, interval=(0, 0.06)).reliability is CAUTION


def test_without_an_estimate_or_error_nothing_is_shown() -> None:
    for value, error in ((None, None), (0.3, None)):
        estimate = make_estimate(value=value, error=error, interval=(0.2, 0.4))
        assert estimate.reliability is NOT_SHOWN


def test_a_contradiction_is_not_shown_and_an_alarm_needs_caution_at_least() -> None:
    good = make_estimate(value=0.3, error=0.02, interval=(0.26, 0.34))
    assert good.reliability is PUBLISHABLE
    assert replace(good, contradiction=True).reliability is NOT_SHOWN
    assert replace(good, alarm=True).reliability is CAUTION
    vague = make_estimate(value=0.3, error=0.2, interval=(0, 0.7))
    assert replace(vague, alarm=True).reliability is NOT_SHOWN
