"""What readers of releases can learn about an answer, checked by tables and by all outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest

from aggregator.models import Release
from aggregator.releases.readers import (
    ReaderLine,
    exact_reader_epsilons,
    find_worst,
    reader_epsilons,
)
from aggregator.releases.sentences import describe_exact_readers
from privacy.central.noise import discrete_gaussian_probability
from privacy.central.reader import exact_count_epsilon, reader_epsilon
from privacy.central.selection import permute_and_flip_probabilities
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_epsilon
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.readers import find_answered
from surveys.manifest.releases import ReleaseKind
from tests.aggregator.routed import ask, yes
from tests.support.manifests import make_manifest, protect
from tests.support.releases.stored import as_gaussian, plan

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


def only(manifest: Manifest, *releases: Release) -> ReaderLine:
    [line] = reader_epsilons(manifest, releases)
    return line


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(5, 0.049968770), (25, 0.246154088), (50, 0.470614920)]
)
def test_one_question_with_two_coins(epsilon: int, expected: float) -> None:
    """A replaced code changes two cells, so ε of the release counts twice."""
    manifest = protect(ask("q1", Kind.YES_NO))
    line = only(manifest, plan(manifest, "q1", epsilon=epsilon))
    assert line.reader == pytest.approx(expected, abs=1e-9)
    assert line.server == pytest.approx(log(3))
    assert line.delta == 0


def test_ten_questions_in_one_table() -> None:
    manifest = protect(*(ask(f"q{number}", Kind.YES_NO) for number in range(1, 11)), delta=0)
    release = plan(manifest, *(one.name for one in manifest.questions), epsilon=100)
    lines = reader_epsilons(manifest, [release])
    assert [line.reader for line in lines] == pytest.approx([0.099750624] * 10, abs=1e-9)
    assert sum(line.server for line in lines) == pytest.approx(10.986122887)


def test_an_answer_that_nobody_released_has_no_line() -> None:
    manifest = protect(ask("q1", Kind.YES_NO), ask("q2", Kind.YES_NO))
    assert reader_epsilons(manifest, []) == ()
    assert find_worst(reader_epsilons(manifest, [])) is None
    assert only(manifest, plan(manifest, "q2")).question.name == "q2"


def test_a_declared_answer_has_no_scrambling_to_pass() -> None:
    manifest = protect(ask("q1", Kind.DECLARED, 3), ask("q2", Kind.YES_NO))
    lines = reader_epsilons(manifest, [plan(manifest, "q1", "q2", epsilon=50)])
    assert [line.reader for line in lines] == pytest.approx([0.5, 0.246154088], abs=1e-9)
    assert lines[0].server == inf


def test_readers_never_learn_more_than_the_server_or_than_was_promised() -> None:
    weak = ask("q1", Kind.YES_NO)
    manifest = protect(weak, ask("q2", Kind.CHOICE, 5), ask("q3", Kind.SEVERAL, 4, refusal=True))
    for names in (["q1"], ["q2"], ["q3"], ["q1", "q2", "q3"]):
        release = plan(manifest, *names, epsilon=300)
        for line in reader_epsilons(manifest, [release]):
            assert line.reader <= line.server
            promised = find_answered(manifest, line.question).epsilon
            assert line.reader <= promised * (1 + 1e-9)


def test_questions_that_tell_about_an_answer_count() -> None:
    manifest = protect(
        ask("q1", Kind.YES_NO),
        ask("q2", Kind.YES_NO, rule=yes("q1")),
        ask("q3", Kind.YES_NO, same_fact="q1"),
        ask("q4", Kind.YES_NO),
    )
    alone = reader_epsilon(
        mechanism=RandomizedResponse.from_flips(symbols=3, flips=25), epsilon=0.2
    )
    lines = reader_epsilons(manifest, [plan(manifest, "q2", epsilon=10)])
    assert {line.question.name: line.reader for line in lines} == pytest.approx(
        {"q1": alone, "q2": alone, "q3": alone}
    )
    both = reader_epsilons(manifest, [plan(manifest, name, epsilon=10) for name in ("q1", "q2")])
    coins = reader_epsilon(mechanism=COINS, epsilon=0.2)
    assert {line.question.name: line.reader for line in both} == pytest.approx(
        {"q1": alone + coins, "q2": alone, "q3": alone + coins}
    )


def test_a_declared_answer_is_told_by_who_was_asked() -> None:
    manifest = protect(ask("q1", Kind.DECLARED, 3), ask("q2", Kind.YES_NO, rule=yes("q1")))
    declared, _ = reader_epsilons(manifest, [plan(manifest, "q2", epsilon=10)])
    assert declared.question.name == "q1"
    assert declared.reader > 0


def test_of_random_subsets_the_largest_that_can_be_drawn_counts() -> None:
    """q1 and q3 ask about the same fact in different blocks, and each person gets one block."""
    questions = (
        ask("q1", Kind.YES_NO),
        ask("q2", Kind.YES_NO),
        ask("q3", Kind.YES_NO, same_fact="q1"),
    )
    found = [
        reader_epsilons(
            manifest, [plan(manifest, "q1", epsilon=10), plan(manifest, "q3", epsilon=10)]
        )
        for manifest in (protect(*questions, drawn=1), protect(*questions))
    ]
    one = reader_epsilon(mechanism=COINS, epsilon=0.2)
    assert [lines[0].reader for lines in found] == pytest.approx([one, 2 * one])


def test_gaussian_noise_has_a_small_exception() -> None:
    manifest = protect(ask("q1", Kind.YES_NO))
    release = as_gaussian(plan(manifest, "q1"), deviation=Fraction(9), symbols=1, nanos=500)
    line = only(manifest, release)
    assert 0 < line.reader < line.server
    assert line.delta == 500e-9
    # CKS 2020 at rho = 2 / (2 * 81): .527 in nats for the report, and less for the answer.
    assert line.reader < 0.6
    twice = only(manifest, release, release)
    assert line.reader < twice.reader < 2 * line.reader


def test_a_leader_beside_a_gaussian_table_adds_its_own_loss_and_no_more() -> None:
    """The ε of items add up. Only δ grows by more: at most by the factor e^ε of the other items."""
    manifest = protect(ask("q1", Kind.SEVERAL, 3))
    table = as_gaussian(plan(manifest, "q1"), deviation=Fraction(8), symbols=3, nanos=500)
    leader = plan(manifest, "q1", kind=ReleaseKind.LEADER, epsilon=10)
    alone, both = only(manifest, table), only(manifest, table, leader)
    extra = only(manifest, leader).reader
    assert alone.reader < both.reader <= alone.reader + extra
    assert alone.delta == 500e-9
    assert alone.delta < both.delta <= alone.delta * exp(both.reader) * (1 + 1e-9)


def laplace_corners(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield outputs with every cell far above or below its count, where ratios are largest."""
    for signs in product((-50, 50), repeat=len(counts)):
        yield tuple(count + sign for count, sign in zip(counts, signs, strict=True))


def worst_ratio(
    channels: Sequence[Sequence[float]], likelihoods: Sequence[Sequence[float]]
) -> float:
    """Return the largest log ratio of the chances of an output under two answers.

    `channels[x][y]` is the chance of report y under answer x, and `likelihoods[o][y]` is the chance
    of output o given report y.
    """
    worst = 0.0
    for output in likelihoods:
        chances = [
            sum(share * chance for share, chance in zip(channel, output, strict=True))
            for channel in channels
        ]
        worst = max(worst, log(max(chances) / min(chances)))
    return worst


def table_likelihoods(counts: Sequence[int], scale: float) -> list[list[float]]:
    """Return the chance of each corner output, up to a factor, given the code of one report."""
    found = []
    for output in laplace_corners(counts):
        row = []
        for code in range(len(counts)):
            cells = [count + (place == code) for place, count in enumerate(counts)]
            off = sum(abs(seen - cell) for seen, cell in zip(output, cells, strict=True))
            row.append(exp(-(off - 50 * len(counts)) / scale))
        found.append(row)
    return found


def channel_of(mechanism: RandomizedResponse) -> list[list[float]]:
    t, c = mechanism.keep_probability, mechanism.other_probability
    return [
        [t if x == y else c for y in range(mechanism.symbols)] for x in range(mechanism.symbols)
    ]


@pytest.mark.parametrize("options", [2, 3, 8])
@pytest.mark.parametrize("epsilon", [20, 100])
def test_no_output_of_a_table_beats_the_bound_and_some_output_reaches_it(
    options: int, epsilon: int
) -> None:
    manifest = protect(ask("q1", Kind.CHOICE, options), delta=0)
    release = plan(manifest, "q1", epsilon=epsilon)
    line = only(manifest, release)
    likelihoods = table_likelihoods([7] * options, float(Fraction(release.scale)))
    found = worst_ratio(channel_of(manifest.questions[0].mechanism), likelihoods)
    assert found == pytest.approx(line.reader, rel=1e-6)
    assert found <= line.reader


def test_gaussian_noise_keeps_its_exception_over_all_outputs() -> None:
    """A replaced code moves two cells; a bound for one cell would understate what readers learn."""
    manifest = protect(ask("q1", Kind.YES_NO))
    release = as_gaussian(plan(manifest, "q1"), deviation=Fraction(9), symbols=1, nanos=500)
    line = only(manifest, release)
    values = np.arange(-120, 121)
    at_zero, at_one = (
        discrete_gaussian_probability(values - place, variance=81) for place in (0, 1)
    )
    given_no, given_yes = np.outer(at_one, at_zero), np.outer(at_zero, at_one)
    t, c = COINS.keep_probability, COINS.other_probability
    no, yes_ = t * given_no + c * given_yes, c * given_no + t * given_yes

    def exceeds(epsilon: float) -> float:
        return float(np.maximum(yes_ - exp(epsilon) * no, 0).sum())

    assert exceeds(line.reader) <= line.delta
    assert exceeds(0.85 * line.reader) > line.delta


def test_losses_add_up_before_the_scrambling_and_not_after() -> None:
    """With many codes, two releases reveal more than twice as much as one."""
    manifest = protect(ask("q1", Kind.CHOICE, 8), delta=0)
    release = plan(manifest, "q1", epsilon=10)
    once, twice = only(manifest, release), only(manifest, release, release)
    likelihoods = table_likelihoods([7] * 8, float(Fraction(release.scale)))
    both = [[chance**2 for chance in row] for row in likelihoods]
    found = worst_ratio(channel_of(manifest.questions[0].mechanism), both)
    assert 2 * once.reader < found <= twice.reader


@pytest.mark.parametrize("epsilon", [20, 100])
def test_no_leader_beats_the_bound(epsilon: int) -> None:
    manifest = protect(ask("q1", Kind.CHOICE, 3))
    line = only(manifest, plan(manifest, "q1", kind=ReleaseKind.LEADER, epsilon=epsilon))
    channel = channel_of(manifest.questions[0].mechanism)
    for counts in product(range(6), repeat=3):
        chances = [
            permute_and_flip_probabilities(
                [count + (place == code) for place, count in enumerate(counts)],
                rate=epsilon / 100,
            )
            for code in range(3)
        ]
        likelihoods = [[chances[code][output] for code in range(3)] for output in range(3)]
        assert worst_ratio(channel, likelihoods) <= line.reader


@pytest.mark.parametrize("epsilon", [20, 100])
def test_no_leader_among_items_beats_the_bound(epsilon: int) -> None:
    """Two people may differ in all items, and the code of each item moves one score by one."""
    manifest = protect(ask("q1", Kind.SEVERAL, 3))
    line = only(manifest, plan(manifest, "q1", kind=ReleaseKind.LEADER, epsilon=epsilon))
    one = channel_of(COINS)
    reports = list(product((0, 1), repeat=3))
    channel = [
        [one[x[0]][y[0]] * one[x[1]][y[1]] * one[x[2]][y[2]] for y in reports] for x in reports
    ]
    for counts in product(range(4), repeat=3):
        chances = [
            permute_and_flip_probabilities(
                [count + code for count, code in zip(counts, report, strict=True)],
                rate=epsilon / 100,
            )
            for report in reports
        ]
        likelihoods = [[chance[output] for chance in chances] for output in range(3)]
        assert worst_ratio(channel, likelihoods) <= line.reader
    assert line.reader < line.server


@pytest.mark.parametrize(("minimum", "expected"), [(100, 0.550065527), (1000, 0.142057674)])
def test_exact_counts_of_two_coins(minimum: int, expected: float) -> None:
    manifest = replace(make_manifest(ask("q1", Kind.YES_NO)), display_minimum=minimum)
    [line] = exact_reader_epsilons(manifest)
    assert line.reader == pytest.approx(expected, abs=1e-9)
    assert line.server == pytest.approx(log(3))
    assert line.delta == 1e-6


def test_exact_counts_of_more_codes_are_shuffled() -> None:
    manifest = replace(make_manifest(ask("q1", Kind.CHOICE, 4)), display_minimum=500)
    [line] = exact_reader_epsilons(manifest)
    mechanism = manifest.questions[0].mechanism
    assert line.reader == pytest.approx(
        shuffle_epsilon(mechanism=mechanism, people=500, delta=1e-6)
    )


def test_items_share_the_exception_and_add_up() -> None:
    manifest = replace(make_manifest(ask("q1", Kind.SEVERAL, 3)), display_minimum=1000)
    [line] = exact_reader_epsilons(manifest)
    assert 3 * 0.142057674 < line.reader < 3 * 0.16
    assert line.delta == 1e-6


def test_what_a_rule_or_a_gate_ties_together_is_no_separate_count() -> None:
    """Figures of such questions come from joint counts, which only the scrambling protects."""
    manifest = replace(
        make_manifest(
            ask("q1", Kind.YES_NO),
            ask("q2", Kind.YES_NO, rule=yes("q1")),
            ask("q3", Kind.SEVERAL, 2, refusal=True),
            ask("q4", Kind.YES_NO),
            ask("q5", Kind.DECLARED, 3),
            ask("q6", Kind.YES_NO, rule=yes("q5")),
        ),
        display_minimum=1000,
    )
    lines = {line.question.name: line for line in exact_reader_epsilons(manifest)}
    assert list(lines) == ["q1", "q2", "q3", "q4"]
    for name in ("q1", "q2", "q3"):
        assert lines[name].reader == lines[name].server
    assert lines["q4"].reader == pytest.approx(0.142057674, abs=1e-9)


def test_a_large_display_minimum_takes_no_longer_and_the_bound_stays_valid() -> None:
    """The bound for 2,000 people also holds for a million, where an exact one takes seconds."""
    manifest = make_manifest(ask("q1", Kind.YES_NO), ask("q2", Kind.CHOICE, 4))
    lines = [
        exact_reader_epsilons(replace(manifest, display_minimum=minimum))
        for minimum in (2000, 1_000_000)
    ]
    assert lines[0] == lines[1]
    for line, find in zip(lines[1], (exact_count_epsilon, shuffle_epsilon), strict=True):
        mechanism = line.question.mechanism
        assert find(mechanism=mechanism, people=5000, delta=1e-6) < line.reader
    assert "at least 2,000 people" in describe_exact_readers(
        replace(manifest, display_minimum=1_000_000)
    )


def test_with_few_people_the_scrambling_protects_more() -> None:
    manifest = replace(make_manifest(ask("q1", Kind.YES_NO)), display_minimum=10)
    [line] = exact_reader_epsilons(manifest)
    assert line.reader <= line.server
