"""Questions behind rules: one figure per quantity, from all codes that reveal who was asked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.results.estimate import Estimate, QuestionResult
from aggregator.results.estimating import compute_estimates
from aggregator.simulation.respondents import Answers, randomize_answers
from aggregator.simulation.truth import compute_truth
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.looks import repeated_level
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import with_strength
from surveys.manifest.rules import Rule
from tests.aggregator.routed import KIND, ROUTED, ask, yes
from tests.support.looks import EXPECTED, TEN_LOOKS, looks_of
from tests.support.manifests import make_manifest

ENDINGS = pytest.mark.parametrize("fixed_end", [True, False], ids=["fixed end", "watched"])
OPTIONS = (0.54, 0.31, 0.05, 0.10)
REFUSING = 0.05
TIMES = [n / EXPECTED for n in TEN_LOOKS]
WITH_REFUSALS = [*(share * (1 - REFUSING) for share in OPTIONS), REFUSING]


def estimate_reports(
    manifest: Manifest, reports: Sequence[bytes], *, fixed_end: bool, told: Sequence[str] = ()
) -> dict[str, QuestionResult]:
    columns = Columns.of(manifest)
    packed, size = pack_reports(columns.write_columns(reports), ks=columns.ks), len(reports)
    found = compute_estimates(
        manifest=manifest,
        counts=count_codes(packed, size=size, ks=columns.ks),
        tables=count_tables(packed, size=size, ks=columns.ks, tables=list_tables(manifest)),
        shown_at=looks_of(fixed_end=fixed_end),
        told=told,
    )
    return {result.question.name: result for result in found}


def send(manifest: Manifest, people: Sequence[Answers], *, seed: int) -> list[bytes]:
    generator = random.Random(seed)
    return [
        randomize_answers(manifest, answers, random_uint32=lambda: generator.getrandbits(32))
        for answers in people
    ]


def find(results: dict[str, QuestionResult], question: str, name: str) -> Estimate:
    [one] = [each for each in results[question].estimates if each.estimand.name == name]
    return one


def figures(one: Estimate) -> tuple[Any, ...]:
    """Return all that is shown about an estimate."""
    return one.value, one.standard_error, one.intervals, one.contradiction


EXAMPLE = replace(
    make_manifest(
        ask("q1", KIND.YES_NO),
        ask("q2", KIND.CHOICE, 4, rule=yes("q1"), refusal=True),
        ask("q3", KIND.YES_NO, rule=yes("q1")),
    ),
)


def draw_people(generator: random.Random, *, people: int, asked: float) -> list[Answers]:
    return [
        {
            "q1": int(generator.random() < asked),
            "q2": generator.choices([*range(4), None], WITH_REFUSALS)[0],
            "q3": int(generator.random() < 0.2),
        }
        for _ in range(people)
    ]


@ENDINGS
@pytest.mark.parametrize("asked", [0.0, 0.05, 0.3, 1.0])
def test_one_quantity_has_one_figure_and_each_point_lies_in_its_interval(
    fixed_end: bool, asked: float
) -> None:
    for seed in range(3):
        people = draw_people(random.Random(seed), people=1000, asked=asked)
        reports = send(EXAMPLE, people, seed=seed)
        results = estimate_reports(EXAMPLE, reports, fixed_end=fixed_end)
        said_yes = find(results, "q1", "1")
        for question in ("q2", "q3"):
            assert figures(find(results, question, "asked")) == figures(said_yes)
        answers = [find(results, "q3", code) for code in ("0", "1")]
        if answers[0].value is not None:
            assert sum(one.value or 0.0 for one in answers) == pytest.approx(1, abs=1e-6)
        for result in results.values():
            for one in result.estimates:
                if one.displayed is None:
                    assert one.standard_error is None
                    assert (one.low, one.high) == pytest.approx((0, 1), abs=1e-8)
                    continue
                for interval in (*one.intervals.inner, one.intervals.main):
                    low, high = interval.ends
                    assert low - 1e-9 <= one.displayed <= high + 1e-9, one.estimand.key


def expect(asked: float, *, total: int) -> tuple[list[list[int]], list[int]]:
    """Return the average counts of q1 and q2, and the average table of both."""
    parent, child = (question.mechanism.channel() for question in EXAMPLE.questions[:2])
    shares = np.zeros((2, 6))
    shares[0, 5] = 1 - asked
    shares[1, :5] = asked * np.array(WITH_REFUSALS)
    table = np.rint(total * parent @ shares @ child.T).astype(int)
    return [table.sum(axis=1).tolist(), table.sum(axis=0).tolist()], table.ravel().tolist()


@pytest.mark.parametrize("asked", [0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("total", [1000, 2000])
def test_intervals_are_no_wider_than_from_the_questions_own_code(asked: float, total: int) -> None:
    manifest = replace(EXAMPLE, questions=EXAMPLE.questions[:2])
    (of_parent, of_child), table = expect(asked, total=total)
    mechanism = manifest.questions[1].mechanism
    for fixed_end in (True, False):
        _, found = compute_estimates(
            manifest=manifest,
            counts=[of_parent, of_child],
            tables=[table],
            shown_at=looks_of(fixed_end=fixed_end),
            told=(),
        )
        for code, one in enumerate(found.estimates[:4]):
            alone = likelihood_ratio_share(
                counts=of_child,
                mechanism=mechanism,
                symbol=code,
                among=range(4),
                level=0.95 if fixed_end else repeated_level(0.95, times=TIMES),
            )
            assert one.high - one.low <= 1.001 * (alone.high - alone.low), one.estimand.key


def test_few_reports_with_little_noise_get_the_interval_that_always_holds() -> None:
    strong = with_strength(EXAMPLE.questions[0], flips=5)
    manifest = replace(EXAMPLE, questions=(strong, *EXAMPLE.questions[1:]))
    results = estimate_reports(manifest, send(manifest, [{"q1": 0}] * 50, seed=1), fixed_end=True)
    one = find(results, "q2", "1")
    assert one.method == "likelihood_ratio_joint"
    assert one.critical_value == pytest.approx(2.5758, abs=1e-4)  # the interval at 99 %
    assert one.intervals.inner == ()


BOTH: Rule = {"all": [yes("q1"), {"not": yes("q2", 0)}]}
SEVERAL = make_manifest(
    ask("q1", KIND.YES_NO),
    ask("q2", KIND.CHOICE, 3),
    ask("q3", KIND.YES_NO, rule=BOTH),
    ask("q4", KIND.SEVERAL, 2, rule=BOTH, refusal=True),
    ask("q5", KIND.SCALE, 4, minimum=1, maximum=4, rule=BOTH),
    ask("q6", KIND.NUMBER, minimum=0, maximum=20, rule=yes("q2", 0, 2), refusal=True),
    ask("q7", KIND.YES_NO, rule={"any": [yes("q2", 2), yes("q2", 0)]}),
)


def draw_several(people: int) -> list[Answers]:
    generator = random.Random(11)
    return [
        {
            "q1": int(generator.random() < 0.7),
            "q2": generator.randrange(3),
            "q3": int(generator.random() < 0.3),
            "q4": None if generator.random() < 0.1 else [1][: generator.randrange(2)],
            "q5": generator.randrange(4),
            "q6": None if generator.random() < 0.1 else generator.randrange(21),
            "q7": int(generator.random() < 0.5),
        }
        for _ in range(people)
    ]


@ENDINGS
def test_questions_with_one_rule_show_how_many_were_asked_once(fixed_end: bool) -> None:
    people = draw_several(4000)
    results = estimate_reports(SEVERAL, send(SEVERAL, people, seed=5), fixed_end=fixed_end)
    asked = {name: find(results, name, "asked") for name in ("q3", "q4", "q5", "q6", "q7")}
    assert figures(asked["q3"]) == figures(asked["q4"]) == figures(asked["q5"])
    assert asked["q5"].symbols == ("q1", "q2")
    # Both rules name the same two of the three codes of q2, but in different ways.
    assert figures(asked["q6"]) == figures(asked["q7"])
    assert asked["q6"].symbols == ("q2",)
    truth = compute_truth(SEVERAL, people)
    for result in results.values():
        for one in result.estimates:
            # At 99.999 %, z is 4.4 instead of 2.
            centre, width = (one.low + one.high) / 2, one.high - one.low
            assert abs(truth[one.estimand.key] - centre) <= 1.2 * width, one.estimand.key
            assert not one.contradiction
    shares = {name: find(results, "q4", name) for name in ("1", "2", "refused")}
    assert shares["1"].symbols == ("q1", "q2", "q4_gate", "q4_1")
    assert shares["2"].value == pytest.approx(0, abs=0.1)  # nobody chose it
    assert find(results, "q5", "mean").low >= 1


@ENDINGS
def test_a_survey_of_every_kind_of_rule_is_estimated(fixed_end: bool) -> None:
    generator = random.Random(3)
    people: list[Answers] = [
        {
            "q1": generator.choice([0, 1, None]),
            "q2": generator.randrange(4),
            "q3": generator.choice([None, [], [1], [2, 3], [1, 2]]),
            "q4": generator.randrange(3),
            "q5": generator.randrange(3),
            "q6": generator.choice([None, [1], [2], [1, 2]]),
            "q7": generator.randrange(2),
            "q8": generator.randrange(2),
            "q9": generator.choice([None, 5, 15]),
            "q10": [2],
        }
        for _ in range(3000)
    ]
    for drawn in (None, 2):
        manifest = replace(ROUTED, drawn=drawn)
        results = estimate_reports(manifest, send(manifest, people, seed=8), fixed_end=fixed_end)
        truth = compute_truth(manifest, people)
        for result in results.values():
            for one in result.estimates:
                centre, width = (one.low + one.high) / 2, one.high - one.low
                assert abs(truth[one.estimand.key] - centre) <= 1.2 * width, one.estimand.key


def make_large() -> Manifest:
    """Make a rule that distinguishes each of seven options of three questions."""
    parents = [ask(f"q{number}", KIND.CHOICE, 8) for number in (1, 2, 3)]
    rule: Rule = {"any": [yes(one.name, code) for one in parents for code in range(7)]}
    return make_manifest(
        *parents,
        ask("q4", KIND.YES_NO, rule=rule),
        ask("q5", KIND.SEVERAL, 2, rule=rule),
        ask("q6", KIND.SCALE, 3, minimum=1, maximum=3, rule=rule),
    )


@ENDINGS
def test_what_is_too_large_for_a_table_uses_the_questions_own_codes(fixed_end: bool) -> None:
    manifest = make_large()
    people: list[Answers] = [
        {"q1": i % 8, "q2": i % 7, "q3": 7, "q4": i % 2, "q5": [1], "q6": 2} for i in range(2000)
    ]
    results = estimate_reports(manifest, send(manifest, people, seed=4), fixed_end=fixed_end)
    assert find(results, "q4", "1").symbols == ("q4",)
    assert find(results, "q6", "mean").symbols == ("q6",)
    assert find(results, "q5", "1").symbols == ("q5_gate", "q5_1")
    for question in ("q4", "q5", "q6"):
        assert find(results, question, "asked").symbols == ("q4",)
    truth = compute_truth(manifest, people)
    for result in results.values():
        for one in result.estimates:
            centre, width = (one.low + one.high) / 2, one.high - one.low
            assert abs(truth[one.estimand.key] - centre) <= 1.2 * width, one.estimand.key


SITE = yes("q1", 0, 2)
DECLARED = make_manifest(
    ask("q1", KIND.DECLARED, 3),
    ask("q2", KIND.YES_NO, rule=SITE),
    ask("q3", KIND.SEVERAL, 2, rule=SITE, refusal=True),
    ask("q4", KIND.YES_NO),
    ask("q5", KIND.YES_NO, rule={"all": [SITE, yes("q4")]}),
)


def estimate_sites(
    sites: Sequence[int], *, fixed_end: bool, is_final: bool, manifest: Manifest = DECLARED
) -> dict[str, QuestionResult]:
    people: list[Answers] = [
        {"q1": site, "q2": i % 2, "q3": [1], "q4": int(i % 3 > 0), "q5": 1}
        for site, many in enumerate(sites)
        for i in range(many)
    ]
    reports = send(manifest, people, seed=9)
    told = ("q1",) if is_final else ()
    return estimate_reports(manifest, reports, fixed_end=fixed_end, told=told)


def test_a_group_that_is_shown_says_exactly_how_many_were_asked_after_the_close() -> None:
    for fixed_end in (True, False):
        results = estimate_sites([700, 200, 100], fixed_end=fixed_end, is_final=True)
        for question in ("q2", "q3"):
            asked = find(results, question, "asked")
            assert (asked.value, asked.low, asked.high) == (0.8, 0.8, 0.8)
            assert (asked.method, asked.symbols) == ("exact", ("q1",))
    fixed = estimate_sites([700, 200, 100], fixed_end=True, is_final=True)
    assert find(fixed, "q2", "1").symbols == ("q1", "q2")
    assert find(fixed, "q5", "asked").symbols == ("q1", "q4")
    assert find(fixed, "q5", "asked").value == pytest.approx(0.8 * 2 / 3, abs=0.1)


@pytest.mark.parametrize(
    ("sites", "is_final"),
    [
        ([700, 200, 100], False),  # people may look before the close
        ([893, 102, 5], True),  # two groups are hidden, and only one of them is asked
        ([1, 994, 5], True),  # too few people are asked
    ],
)
def test_otherwise_nothing_depends_on_an_answer_that_is_sent_as_it_is(
    sites: list[int], is_final: bool
) -> None:
    results = estimate_sites(sites, fixed_end=is_final, is_final=is_final)
    for question in ("q2", "q3"):
        assert find(results, question, "asked").symbols == ("q2",)
    assert find(results, "q2", "1").symbols == ("q2",)
    assert find(results, "q3", "1").symbols == ("q3_gate", "q3_1")
    assert find(results, "q5", "asked").symbols == ("q5",)
    assert not any("q1" in one.symbols for result in results.values() for one in result.estimates)
