"""What a snapshot contains: which intervals, for how many shares together, and which warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from aggregator.results.estimands import estimands_of
from aggregator.results.estimate import QuestionResult
from aggregator.results.estimating import compute_estimates
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import clopper_pearson, likelihood_ratio
from privacy.shares.looks import repeated_level
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option
from tests.support.looks import EXPECTED, TEN_LOOKS, looks_of
from tests.support.manifests import make_manifest
from tests.support.sampling.estimates import estimate_alone, fit_alone


def make_question(number: int, *, k: int = 2, flips: int = 25) -> ManifestQuestion:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    return ManifestQuestion(
        name=f"q{number}",
        type=QuestionType.YES_NO if k == 2 else QuestionType.CHOICE,
        text=f"Question {number}?",
        flips=flips,
        threshold=mechanism.threshold,
        options=tuple(Option(code=code, text=f"Option {code}") for code in range(k)),
    )


def estimate(
    manifest: Manifest, counts: list[list[int]], *, fixed_end: bool
) -> list[QuestionResult]:
    return compute_estimates(
        manifest=manifest, counts=counts, tables=[], shown_at=looks_of(fixed_end=fixed_end), told=()
    )


def test_questions_with_different_k_and_strength_are_estimated_side_by_side() -> None:
    questions = [make_question(1), make_question(2, k=4, flips=10), make_question(3, flips=5)]
    counts = [[600, 400], [400, 300, 200, 100], [900, 100]]
    found = estimate(make_manifest(*questions), counts, fixed_end=True)
    for question, cells, result in zip(questions, counts, found, strict=True):
        alone = estimate_alone(counts=cells, mechanism=question.mechanism)
        joint = fit_alone(counts=cells, mechanism=question.mechanism)
        codes = result.estimates
        assert [code.count for code in codes] == cells
        assert [code.value for code in codes] == pytest.approx(list(alone.shares))
        assert [code.joint_value for code in codes] == pytest.approx(list(joint))
        errors = [code.standard_error for code in codes]
        assert errors == pytest.approx(list(alone.standard_errors))
        interval = likelihood_ratio(
            successes=cells,
            total=1000,
            other_probability=question.mechanism.other_probability,
            slope=question.mechanism.slope,
        )
        assert [code.low for code in codes] == pytest.approx(list(interval.low), abs=1e-12)
        assert [code.high for code in codes] == pytest.approx(list(interval.high), abs=1e-12)


def test_inner_intervals_lie_inside_and_simultaneous_ones_outside() -> None:
    manifest = make_manifest(make_question(1), make_question(2))
    for fixed_end in (False, True):
        [first, _] = estimate(manifest, [[600, 400], [550, 450]], fixed_end=fixed_end)
        for code in first.estimates:
            inner = code.intervals.inner
            # An interval that holds at every look has no inner intervals at 50 or 80 %.
            assert [each.level for each in inner] == ([0.5, 0.8] if fixed_end else [])
            inwards = [code.intervals.simultaneous, code.intervals.main, *reversed(inner)]
            ends = [each.low for each in inwards] + [each.high for each in reversed(inwards)]
            assert ends == sorted(ends)
            assert len(set(ends)) == len(ends)


def test_simultaneous_intervals_count_the_shares_that_are_shown() -> None:
    questions = [make_question(1), make_question(2, k=4)]
    shown = [[f.name for f in estimands_of(question) if f.shown] for question in questions]
    assert shown == [["1"], ["0", "1", "2", "3"]]
    found = estimate(make_manifest(*questions), [[600, 400], [400, 300, 200, 100]], fixed_end=False)
    assert {round(result.simultaneous_level, 12) for result in found} == {0.99}
    expected = clopper_pearson(
        successes=400,
        total=1000,
        other_probability=0.25,
        slope=0.5,
        level=repeated_level(0.99, times=[n / EXPECTED for n in TEN_LOOKS]),
    )
    assert found[0].estimates[1].intervals.simultaneous.ends == pytest.approx(
        (float(expected.low), float(expected.high))
    )


def test_few_reports_with_little_noise_get_the_guaranteed_interval() -> None:
    question = make_question(1, flips=2)
    mechanism = question.mechanism
    [found] = estimate(make_manifest(question), [[45, 5]], fixed_end=True)
    assert {row.method for row in found.estimates} == {"clopper_pearson"}
    assert found.level == LEVEL
    expected = clopper_pearson(
        successes=5,
        total=50,
        other_probability=mechanism.other_probability,
        slope=mechanism.slope,
    )
    assert found.estimates[1].low == pytest.approx(float(expected.low), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "flips", "total", "people"),
    [(16, 25, 100, 1), (16, 25, 100, 3), (16, 12, 100, 1), (5, 25, 50, 1), (2, 2, 50, 1)],
)
def test_chance_alone_contradicts_fewer_than_5_of_100_questions(
    k: int, flips: int, total: int, people: int
) -> None:
    """People gave only the first few answers; other codes come from the mechanism alone."""
    question = make_question(1, k=k, flips=flips)
    manifest, mechanism = make_manifest(question), question.mechanism
    reported = np.full(k, mechanism.other_probability)
    reported[:people] += mechanism.slope / people
    draws = np.random.default_rng(20261122).multinomial(total, reported, size=500)
    seen = 0
    for counts in draws.tolist():
        [found] = estimate(manifest, [counts], fixed_end=True)
        seen += found.contradiction
        for code in found.estimates:
            assert code.contradiction == found.contradiction
            assert code.contradiction or code.low < code.high
    assert seen / len(draws) < 0.05


def test_all_items_of_one_question_together_seldom_contradict() -> None:
    """Nobody chose any of 20 items, and by chance, one of them has suspiciously few codes."""
    question = replace(
        make_question(1, flips=5),
        type=QuestionType.SEVERAL,
        options=tuple(Option(code=code, text=f"Item {code}") for code in range(1, 21)),
    )
    # Of 100 codes for the first item, none says Yes; the mechanism alone would make about 5 say so.
    # The chance is 0.6 % for one item, and 11 % for any of the 20.
    counts = [[100, 0], *[[95, 5]] * 19]
    [found] = estimate(make_manifest(question), counts, fixed_end=True)
    first = found.estimates[0]
    assert first.method == "clopper_pearson"
    assert not found.contradiction
    assert first.low == 0 < first.high


@pytest.mark.parametrize("type_", [QuestionType.CHOICE, QuestionType.SCALE])
@pytest.mark.parametrize("refusal", [False, True])
def test_an_interval_is_empty_only_in_a_contradiction(type_: QuestionType, refusal: bool) -> None:
    """At looks, other intervals are used for means and for shares of those who answered."""
    mechanism = RandomizedResponse.from_flips(symbols=4 + refusal, flips=25)
    question = replace(
        make_question(1, k=4),
        type=type_,
        threshold=mechanism.threshold,
        minimum=0,
        maximum=3,
        refusal=refusal,
    )
    seen = set()
    for few in range(0, 200, 4):
        rest = (1000 - few) // (3 + refusal)
        counts = [few] + [rest] * (3 + refusal)
        [found] = estimate(make_manifest(question), [counts], fixed_end=False)
        seen.add(found.contradiction)
        for one in found.estimates:
            assert one.contradiction or one.low < one.high
    assert seen == {False, True}


def test_an_alarm_needs_more_than_a_contradiction() -> None:
    manifest = make_manifest(*(make_question(number) for number in range(1, 6)))
    fine = [[700, 300]] * 4
    # In the long run, two coins show Yes at least 250 times in 1,000.
    seen = set()
    for yes in range(150, 251, 5):
        found = estimate(manifest, [[1000 - yes, yes], *fine], fixed_end=False)
        assert not any(result.alarm for result in found[1:])
        contradicts = {row.contradiction for row in found[0].estimates}
        assert len(contradicts) == 1
        seen.add((contradicts.pop(), found[0].alarm))
    # A contradiction at 95 % comes first; an alarm needs counts that are further out.
    assert seen == {(False, False), (True, False), (True, True)}


def test_an_alarm_does_not_need_an_interval_that_can_be_empty() -> None:
    [found] = estimate(make_manifest(make_question(1)), [[850, 150]], fixed_end=True)
    assert {row.method for row in found.estimates} == {"likelihood_ratio"}
    assert not any(row.contradiction for row in found.estimates)
    assert found.alarm


@pytest.mark.parametrize("fixed_end", [True, False])
def test_after_a_fixed_end_fewer_fakes_raise_the_alarm(fixed_end: bool) -> None:
    """If nobody says Yes, two coins show Yes in 250 of 1,000 reports on average."""
    manifest = make_manifest(make_question(1))
    alarms = {}
    for yes in (250, 215, 214, 180):
        [found] = estimate(manifest, [[1000 - yes, yes]], fixed_end=fixed_end)
        alarms[yes] = found.alarm
    assert alarms == {250: False, 215: False, 214: fixed_end, 180: True}


@pytest.mark.long
@pytest.mark.parametrize(
    ("type_", "symbols", "flips", "everybody"),
    [
        (QuestionType.CHOICE, 17, 25, 16),
        (QuestionType.SCALE, 6, 12, 5),
    ],
)
def test_chance_seldom_contradicts_a_question_with_all_its_figures(
    type_: QuestionType, symbols: int, flips: int, everybody: int
) -> None:
    """Everybody refuses, so most intervals are at their limit."""
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    question = replace(
        make_question(1, k=symbols - 1),
        type=type_,
        flips=flips,
        threshold=mechanism.threshold,
        minimum=0,
        maximum=symbols - 2,
        refusal=True,
    )
    manifest = make_manifest(question)
    reported = np.full(symbols, mechanism.other_probability)
    reported[everybody] += mechanism.slope
    runs, more = 75, (50, 100, 250, 600)
    generator = np.random.default_rng(20261122)
    ever = ended = 0
    for _ in range(runs):
        batches = [generator.multinomial(people, reported) for people in more]
        looks = np.cumsum(batches, axis=0).tolist()
        watched = [
            compute_estimates(
                manifest=manifest,
                counts=[counts],
                tables=[],
                shown_at=[50, 150, 400, 1000][: place + 1],
                told=(),
            )[0]
            for place, counts in enumerate(looks)
        ]
        ever += any(found.contradiction for found in watched)
        ended += estimate(manifest, [looks[0]], fixed_end=True)[0].contradiction
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={ever}, {ended} expected at most {0.05 * runs}, accepted up to {limit}")
    assert max(ever, ended) <= limit
