"""Which estimates may be published, which need a mark of caution, and which are not shown."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from aggregator.results.estimands import estimands_of
from aggregator.results.estimate import Estimate, Interval, Intervals, QuestionResult, Status
from aggregator.results.estimating import compute_estimates
from aggregator.results.reliability import Reliability, rate
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, fixed_options
from tests.support.manifests import make_manifest, make_question

PUBLISHABLE, CAUTION, NOT_SHOWN = Reliability
# The better ratings come first.
ORDER = list(Reliability)
ONE_LOOK = 1.95996


# The width computed by hand is 2 · c · SE.
@pytest.mark.parametrize(
    ("error", "critical", "rating"),
    [
        (0.0, ONE_LOOK, PUBLISHABLE),  # counted
        (0.0663, ONE_LOOK, PUBLISHABLE),  # .2599
        (0.0664, ONE_LOOK, CAUTION),  # .2603
        (0.1275, ONE_LOOK, CAUTION),  # .4998
        (0.1276, ONE_LOOK, NOT_SHOWN),  # .5002
        (0.0367, 3.54, PUBLISHABLE),  # .2598, at the first of ten looks
        (0.0368, 3.54, CAUTION),
        (0.0707, 3.54, NOT_SHOWN),  # .5006
        (None, ONE_LOOK, NOT_SHOWN),
        (0.01, None, CAUTION),  # an earlier version stored no critical value
    ],
)
def test_the_rating_is_that_of_the_width_at_a_share_of_a_fifth(
    error: float | None, critical: float | None, rating: Reliability
) -> None:
    assert rate(error, critical) is rating


@given(st.floats(0, 1), st.floats(1, 6), st.floats(0, 1))
def test_a_less_precise_design_is_never_rated_better(
    error: float, critical: float, further: float
) -> None:
    precise = ORDER.index(rate(error, critical))
    assert ORDER.index(rate(error + further, critical)) >= precise
    assert ORDER.index(rate(error, critical + further)) >= precise


def estimate_yes(flips: int, total: int, yes: int) -> Estimate:
    [found] = compute_estimates(
        manifest=make_manifest(make_question(flips=flips)),
        counts=[[total - yes, yes]],
        tables=[],
        shown_at=(),
        told=(),
    )
    return found.shown[0]


@pytest.mark.parametrize(
    ("flips", "total", "share"),
    [
        (25, 1400, 0.05), (25, 2000, 0.04), (25, 2000, 0.03), (12, 500, 0.05), (5, 300, 0.05),
        (12, 200, 0.05), (25, 3000, 0.05), (25, 400, 0.08), (5, 100, 0.03),
    ],
)  # fmt: skip
def test_publishable_shares_cover_as_often_as_all(flips: int, total: int, share: float) -> None:
    """Here, a rule on the estimate itself would publish only results that are high by chance."""
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    reported = mechanism.other_probability + mechanism.slope * share
    likely = np.flatnonzero(binom.pmf(np.arange(total + 1), total, reported) > 1e-12).tolist()
    found = [estimate_yes(flips, total, yes) for yes in likely]
    honest = (Status.OK, Status.OUTSIDE)
    ratings = {one.reliability for one in found if one.status in honest}
    assert len(ratings) == 1, "nothing depends on what the reports say"
    covered = sum(
        float(binom.pmf(yes, total, reported))
        for yes, one in zip(likely, found, strict=True)
        if one.low <= share <= one.high
    )
    assert covered >= 0.93


def test_a_conditional_share_is_rated_by_the_design_and_by_how_many_answer() -> None:
    question = make_question(refusal=True)
    manifest = make_manifest(question)
    [found] = _estimate(manifest, [[900, 700, 400]])
    channel = question.mechanism.channel()
    answering = (1600 / 2000 - 2 * channel[0, 1]) / (channel[0, 0] - channel[0, 1])
    truth = np.array([0.8 * answering, 0.2 * answering, 1 - answering])
    reported, d = channel @ truth, channel[0, 0] - channel[0, 1]
    of_yes = (np.array([0, 1, 0]) - channel[0, 1]) / d
    of_all = (np.array([1, 1, 0]) - 2 * channel[0, 1]) / d
    spread = sqrt(float(reported @ (of_yes - 0.2 * of_all) ** 2)) / answering
    shown = next(one for one in found.estimates if one.estimand.name == "1")
    assert shown.design_error == pytest.approx(spread / sqrt(2000), rel=1e-6)


def test_a_mean_is_rated_as_a_part_of_its_scale() -> None:
    [scale] = _estimate(
        make_manifest(make_question("scale", options=5, minimum=1, maximum=5)),
        [[300, 250, 200, 150, 100]],
    )
    mean = next(one for one in scale.estimates if one.is_mean)
    mechanism = RandomizedResponse.from_flips(symbols=5, flips=25)
    places = (np.linspace(0, 1, 5) - mechanism.other_probability * 2.5) / mechanism.slope
    reported = mechanism.channel() @ [0.8, 0, 0, 0, 0.2]
    assert mean.design_error == pytest.approx(
        sqrt(float(reported @ (places - 0.2) ** 2) / 1000), rel=1e-6
    )


def _estimate(manifest: object, counts: list[list[int]]) -> list[QuestionResult]:
    return compute_estimates(manifest=manifest, counts=counts, tables=[], shown_at=(), told=())  # type: ignore[arg-type]


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
    main = Interval(
        low=low, high=high, level=0.95, method="likelihood_ratio", critical_value=ONE_LOOK
    )
    *_, yes = estimands_of(question)
    return Estimate(
        estimand=yes,
        symbols=("q1",),
        total=2000,
        count=900,
        value=value,
        standard_error=error,
        design_error=error,
        intervals=Intervals(main=main, inner=(), simultaneous=main),
        contradiction=False,
    )


def test_the_value_shown_lies_inside_its_interval() -> None:
    """An estimate of 214.7 % must not stand beside an interval from 62 to 100 %."""
    estimate = make_estimate(value=2.147, error=0.69, interval=(0.62, 1.0))
    assert estimate.displayed == 1
    assert estimate.value == 2.147
    assert estimate.reliability is NOT_SHOWN
    inside = make_estimate(value=0.1, error=0.02, interval=(0.12, 0.2))
    assert inside.displayed == 0.12


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
