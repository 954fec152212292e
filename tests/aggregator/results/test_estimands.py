"""Every estimand describes the people whom it names, in a population whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.combinations import list_declared
from aggregator.batches.joint_tables import list_tables
from aggregator.results.estimands import Among, Estimand, EstimandKind, estimands_of, list_estimands
from aggregator.results.estimate import Estimate, Intervals, QuestionResult
from aggregator.results.estimating import compute_estimates
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.alarms import find_contradictions
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import clopper_pearson, likelihood_ratio, simultaneous_level
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.looks import repeated_level
from privacy.shares.ratio_cells import conditional_cells
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from surveys.manifest.rules import Rule
from tests.support.factories import FOLLOW_UP, YES_NO
from tests.support.looks import CRITICAL, EXPECTED, TEN_LOOKS, looks_of
from tests.support.manifests import make_manifest

REFUSED, NOT_ASKED = "refused", "not asked"
Person = Mapping[str, Any]  # by question: a code, a number, a set of items, or one of the above
TYPES = ("yes_no", "choice", "scale", "long_scale", "number", "several", "follow_up")
IF_YES: Rule = {"name": "q1", "is": [1]}
PEOPLE = 40
REPORTS = PEOPLE * 10**11
TIMES = [n / EXPECTED for n in TEN_LOOKS]
AT_LOOK = repeated_level(LEVEL, times=TIMES)


def make_question(
    name: str, kind: str, *, refusal: bool = False, rule: Rule | None = None, flips: int = 25
) -> ManifestQuestion:
    details: dict[str, dict[str, Any]] = {
        "yes_no": {"options": YES_NO},
        "choice": {"options": tuple(Option(code=i, text=f"Option {i}") for i in range(4))},
        "scale": {
            "options": tuple(Option(code=i, text=str(i + 2)) for i in range(5)),
            "minimum": 2,
            "maximum": 6,
        },
        "long_scale": {"minimum": 0, "maximum": 10},
        "number": {"minimum": -5, "maximum": 20, "unit": "hours"},
        "several": {
            "options": tuple(Option(code=i, text=f"Item {i}") for i in range(1, 4)),
            "limit": 2,
        },
        "follow_up": {"options": FOLLOW_UP, "follow_up": "Often?"},
    }
    question = ManifestQuestion(
        name=name,
        type=QuestionType("scale" if kind == "long_scale" else kind),
        text=f"{kind}?",
        refusal=refusal,
        rule=rule,
        **details[kind],
    )
    return with_strength(question, flips=flips)


def make_every_type() -> Manifest:
    """Make a yes/no question for rules, then every type with and without refusal and rule."""
    questions = [make_question("q1", "yes_no")]
    for kind, refusal, rule in product(TYPES, (False, True), (None, IF_YES)):
        number = len(questions) + 1
        questions.append(
            make_question(
                f"q{number}", kind, refusal=refusal, rule=rule, flips=(25, 12, 40)[number % 3]
            )
        )
    apart = ManifestQuestion(
        name=f"q{len(questions) + 1}",
        type=QuestionType.DECLARED,
        text="Site?",
        options=tuple(Option(code=i, text=f"Site {i}") for i in range(3)),
    )
    text = ManifestQuestion(
        name=f"q{len(questions) + 2}", type=QuestionType.INFORMATION, text="Thank you."
    )
    return make_manifest(*questions, apart, text, minimum_batch=50, display_minimum=100)


EVERY_TYPE = make_every_type()


def draw_people(manifest: Manifest, *, seed: int = 1965) -> list[Person]:
    generator = np.random.default_rng(seed)
    people: list[Person] = []
    for index in range(PEOPLE):
        person: dict[str, Any] = {}
        for question in manifest.questions:
            if question.type == "information":
                continue
            if question.rule is not None and person["q1"] != 1:
                person[question.name] = NOT_ASKED
            elif question.refusal and generator.random() < 0.2:
                person[question.name] = REFUSED
            elif question.type == "several":
                person[question.name] = set(generator.permutation([1, 2, 3])[: index % 3].tolist())
            elif question.is_rounded:
                assert question.minimum is not None
                person[question.name] = question.minimum + int(generator.integers(question.points))
            else:
                person[question.name] = int(generator.integers(len(question.options)))
        people.append(person)
    return people


def latent_shares(question: ManifestQuestion, answer: Any) -> dict[str, list[float]]:
    """Return the probability of each true code of each symbol, given this answer."""

    def certain(code: int, k: int) -> list[float]:
        return [float(code == other) for other in range(k)]

    extra = {REFUSED: question.refused_code, NOT_ASKED: question.not_asked_code}
    silent = isinstance(answer, str)
    if question.type == "several":
        sent = {
            f"{question.name}_{item}": certain(int(not silent and item in answer), 2)
            for item in range(1, len(question.options) + 1)
        }
        if question.has_gate:
            code = extra[answer] if silent else 0
            assert code is not None
            sent[f"{question.name}_gate"] = certain(code, question.gate_k)
        return sent
    if silent:
        code = extra[answer]
        assert code is not None
        return {question.name: certain(code, question.k)}
    if question.is_rounded:
        assert question.minimum is not None
        up = (answer - question.minimum) / (question.points - 1)
        return {question.name: [1 - up, up, *[0.0] * (question.k - 2)]}
    return {question.name: certain(answer, question.k)}


def expected_counts(
    manifest: Manifest, people: list[Person], *, reports: int = REPORTS
) -> list[list[int]]:
    """Fill the batches' columns with expected counts, rounded, instead of draws."""
    latent = {
        symbol.name: np.zeros(symbol.k)
        for symbol in manifest.symbols
        if symbol.threshold is not None
    }
    declared = {}
    for question in manifest.questions:
        if question.type == "declared":
            codes = [person[question.name] for person in people]
            declared[question.name] = np.bincount(codes, minlength=question.k) / len(people)
        elif question.is_scrambled:
            for person in people:
                for name, shares in latent_shares(question, person[question.name]).items():
                    latent[name] += np.array(shares) / len(people)
    columns = []
    part = 1.0
    if manifest.drawn is not None:
        part = manifest.drawn / manifest.block_count
        held = round(reports * part)
        columns = [[reports - held, held]] * manifest.block_count
    for symbol in manifest.symbols:
        if symbol.threshold is None:
            columns.append([round(share * reports) for share in declared[symbol.name]])
            continue
        cells = symbol.mechanism.channel() @ latent[symbol.name] * reports * part
        counts = [round(cell) for cell in cells]
        counts[0] += reports - round(reports * part)  # people who were not asked this block
        columns.append(counts)
    return columns


def expected_tables(
    manifest: Manifest, people: list[Person], *, reports: int = REPORTS
) -> list[list[int]]:
    """Fill the joint tables with expected counts, person by person."""
    part = 1.0 if manifest.drawn is None else manifest.drawn / manifest.block_count
    tables = []
    for table in list_tables(manifest):
        cells = np.zeros(table.cells)
        for person in people:
            own: NDArray[Any] = np.ones(1)
            for axis in table.axes:
                symbol = axis.symbol
                question = next(one for one in manifest.questions if one.name == symbol.question)
                if symbol.threshold is None:
                    codes = np.eye(symbol.k)[person[question.name]]
                else:
                    latent = latent_shares(question, person[question.name])[symbol.name]
                    codes = symbol.mechanism.channel() @ latent
                own = np.kron(own, np.bincount(axis.classes, weights=codes))
            cells += own / len(people)
        tables.append([round(cell) for cell in cells * reports * part])
    return tables


def estimate_people(
    manifest: Manifest, people: list[Person], *, fixed_end: bool, reports: int = REPORTS
) -> list[QuestionResult]:
    return compute_estimates(
        manifest=manifest,
        counts=expected_counts(manifest, people, reports=reports),
        tables=expected_tables(manifest, people, reports=reports),
        shown_at=looks_of(fixed_end=fixed_end),
        told=[one.name for one in list_declared(manifest)] if fixed_end else (),
    )


def estimate_codes(
    manifest: Manifest, counts: list[list[int]], *, fixed_end: bool
) -> list[QuestionResult]:
    """Compute estimates from codes that are as independent as whole numbers allow."""
    by_name = dict(zip((symbol.name for symbol in manifest.symbols), counts, strict=True))
    tables = []
    for table in list_tables(manifest):
        cells: NDArray[Any] = np.ones(1)
        for axis in table.axes:
            codes = np.array(by_name[axis.symbol.name])
            cells = np.kron(cells, np.bincount(axis.classes, weights=codes / codes.sum()))
        tables.append([round(cell) for cell in cells * sum(counts[0])])
    return compute_estimates(
        manifest=manifest,
        counts=counts,
        tables=tables,
        shown_at=looks_of(fixed_end=fixed_end),
        told=(),
    )


def true_value(question: ManifestQuestion, name: str, people: list[Person]) -> float:
    """Find the true value by counting people, without using codes or symbols."""
    answers = [person[question.name] for person in people]
    asked = [answer for answer in answers if answer != NOT_ASKED]
    given = [answer for answer in asked if answer != REFUSED]

    def share(among: list[Any], some: Iterable[Any]) -> float:
        return len(list(some)) / len(among)

    if name == "asked":
        return share(answers, asked)
    if name == "refused":
        return share(asked, [answer for answer in asked if answer == REFUSED])
    if name == "mean":
        first = 0 if question.is_rounded else question.minimum
        return float(sum(given) / len(given) + (first or 0))
    if name == "yes":
        return share(given, [answer for answer in given if answer > 0])
    if name == "follow_up":
        yes = [answer for answer in given if answer > 0]
        return share(yes, [answer for answer in yes if answer == 1])
    if question.type == "several":
        return share(given, [answer for answer in given if int(name) in answer])
    return share(given, [answer for answer in given if answer == int(name)])


def estimates_of(found: list[QuestionResult]) -> list[Estimate]:
    return [estimate for result in found for estimate in result.estimates]


def check_truth(manifest: Manifest, people: list[Person], found: list[QuestionResult]) -> None:
    estimates = estimates_of(found)
    assert [estimate.estimand for estimate in estimates] == list_estimands(manifest)
    for estimate in estimates:
        estimand, intervals = estimate.estimand, estimate.intervals
        truth = true_value(estimand.question, estimand.name, people)
        # The search for the most likely share stops within a small fraction of a standard error.
        tolerance = 1e-6 if estimate.method == "likelihood_ratio_joint" else 1e-9
        assert estimate.value == pytest.approx(truth, abs=tolerance), estimand.key
        for interval in (intervals.main, intervals.simultaneous, *intervals.inner):
            assert interval.low - 1e-9 <= truth <= interval.high + 1e-9, estimand.key
            assert interval.high - interval.low < 0.01, estimand.key
        assert not estimate.contradiction
        if estimate.joint_value is not None:
            assert estimate.joint_value == pytest.approx(truth, abs=1e-9)
    assert not any(result.alarm for result in found)


@pytest.mark.parametrize("fixed_end", [True, False])
def test_exact_expected_counts_return_the_truth_of_every_estimand(fixed_end: bool) -> None:
    people = draw_people(EVERY_TYPE)
    found = estimate_people(EVERY_TYPE, people, fixed_end=fixed_end)
    check_truth(EVERY_TYPE, people, found)
    check_what_is_stored(found)
    for estimate in estimates_of(found):
        main, simultaneous = estimate.intervals.main, estimate.intervals.simultaneous
        assert main.critical_value == pytest.approx(1.95996 if fixed_end else CRITICAL, abs=1e-4)
        assert (simultaneous.critical_value or 0) > (main.critical_value or 9)
        assert bool(estimate.intervals.inner) == fixed_end


def check_what_is_stored(found: list[QuestionResult]) -> None:
    """Check that the snapshot's JSON is read back as exactly the same estimates."""
    for result in found:
        row = result.to_json()
        stored = json.loads(json.dumps(row, allow_nan=False))
        assert stored == row
        assert QuestionResult.from_json(stored, result.question, minimum=1) == result
        too_few = QuestionResult.from_json(stored, result.question, minimum=result.total + 1)
        assert too_few == replace(result, total=0, alarm=False, estimates=())


@pytest.mark.parametrize("fixed_end", [True, False])
def test_people_who_were_not_drawn_do_not_count_in_random_subsets(fixed_end: bool) -> None:
    manifest = replace(EVERY_TYPE, drawn=4)
    assert manifest.block_count == 15
    people = draw_people(manifest)
    assert len(expected_counts(manifest, people)) == len(Columns.of(manifest).ks)
    found = estimate_people(manifest, people, fixed_end=fixed_end)
    for question in found:  # except for cells that were rounded
        assert abs(question.total - REPORTS * 4 / 15) < 5
    check_truth(manifest, people, found)


def test_every_estimand_names_its_group() -> None:
    for question in EVERY_TYPE.questions:
        extras = question.refusal or question.rule is not None
        for estimand in estimands_of(question):
            if estimand.name == "refused":
                expected = Among.EVERYONE if question.rule is None else Among.ASKED
            elif estimand.name == "asked":
                expected = Among.EVERYONE
            elif estimand.name == "follow_up":
                expected = Among.YES
            else:
                expected = Among.ANSWERED if extras else Among.EVERYONE
            assert estimand.of is expected
            restricted = estimand.among is not None or bool(estimand.gate)
            assert restricted == (estimand.of is not Among.EVERYONE)


def test_questions_that_are_not_randomized_have_no_estimands() -> None:
    apart = [question for question in EVERY_TYPE.questions if not question.is_scrambled]
    assert [question.type for question in apart] == ["declared", "information"]
    assert not any(list(estimands_of(question)) for question in apart)
    declared = make_manifest(*apart[:1])
    assert estimate_codes(declared, [[5, 6, 7]], fixed_end=True) == []


def ends_from_outside(intervals: Intervals) -> list[float]:
    """Return all ends in order, from the lowest low end to the highest high end."""
    inwards = [intervals.simultaneous, intervals.main, *reversed(intervals.inner)]
    return [each.low for each in inwards] + [each.high for each in reversed(inwards)]


def estimate_one(
    question: ManifestQuestion, counts: list[list[int]], *, fixed_end: bool = False
) -> dict[str, Estimate]:
    [found] = estimate_codes(make_manifest(question), counts, fixed_end=fixed_end)
    return {estimate.estimand.name: estimate for estimate in found.estimates}


def find(estimands: Iterable[Estimand], name: str) -> Estimand:
    [estimand] = [estimand for estimand in estimands if estimand.name == name]
    return estimand


def test_the_share_of_several_codes_is_one_minus_that_of_the_others() -> None:
    question = make_question("q1", "follow_up")
    rows = estimate_one(question, [[500, 300, 200]])
    no = clopper_pearson(
        successes=500,
        total=1000,
        other_probability=question.mechanism.other_probability,
        slope=question.mechanism.slope,
        level=AT_LOOK,
    )
    assert rows["yes"].count == 500
    assert rows["yes"].low == pytest.approx(1 - float(no.high))
    assert rows["yes"].high == pytest.approx(1 - float(no.low))
    # If people may refuse, this is a share among those who answered.
    behind = estimate_one(make_question("q1", "follow_up", refusal=True), [[400, 200, 200, 200]])
    assert behind["yes"].value is not None
    assert behind["yes"].low < behind["yes"].value < behind["yes"].high
    assert behind["yes"].method == "likelihood_ratio_conditional"


def test_an_item_behind_a_gate_is_estimated_from_both_together() -> None:
    """People who refuse choose no item, so of the four combinations reported, three can be true."""
    question = make_question("q1", "several", refusal=True)
    gate = RandomizedResponse(symbols=2, threshold=question.gate_threshold or 0)
    counts = [[700, 300], [600, 400], [500, 500], [650, 350]]
    possible = [(0, 0), (0, 1), (1, 0)]
    channel = np.array(
        [np.kron(gate.channel()[:, i], question.mechanism.channel()[:, j]) for i, j in possible]
    ).T
    reports = np.array([420, 280, 180, 120])  # the first item, independent of the gate
    watched, fixed = (estimate_one(question, counts, fixed_end=end)["1"] for end in (False, True))

    cells = JointCells(
        counts=reports,
        channel=channel,
        event=np.array([False, True, False]),
        counted=np.array([True, True, False]),
    )
    for one, level in ((fixed, LEVEL), (watched, AT_LOOK)):
        expected = joint_share(cells=cells, level=level)
        assert one.method == "likelihood_ratio_joint"
        assert [one.value, one.low, one.high] == pytest.approx(
            [expected.share, expected.low, expected.high]
        )
    assert fixed.symbols == watched.symbols == ("q1_gate", "q1_1")


def test_an_item_has_no_share_if_nobody_seems_to_have_answered() -> None:
    question = make_question("q1", "several", refusal=True)
    for fixed_end in (True, False):
        rows = estimate_one(
            question, [[240, 760], [740, 260], [750, 250], [750, 250]], fixed_end=fixed_end
        )
        assert (rows["1"].value, rows["1"].standard_error) == (None, None)
        assert (rows["1"].low, rows["1"].high) == pytest.approx((0, 1), abs=1e-8)


@pytest.mark.parametrize(
    ("refusal", "fixed_end", "method"),
    [
        (False, True, "likelihood_ratio"),
        (False, False, "clopper_pearson"),
        (True, True, "likelihood_ratio_conditional"),
        (True, False, "likelihood_ratio_conditional"),
    ],
)
def test_a_rounded_number_is_estimated_from_its_bit(
    refusal: bool, fixed_end: bool, method: str
) -> None:
    question = make_question("q1", "number", refusal=refusal)
    counts, mechanism = ([500, 300, 200] if refusal else [600, 400]), question.mechanism
    row = estimate_one(question, [counts], fixed_end=fixed_end)["mean"]
    bits: dict[str, Any] = {"counts": counts, "mechanism": mechanism, "among": [0, 1]}
    cells = conditional_cells(event=[1], **bits)
    assert cells.ratio is not None
    assert cells.standard_error is not None
    assert row.value == pytest.approx(-5 + 25 * cells.ratio)
    assert row.standard_error == pytest.approx(25 * cells.standard_error)
    if not refusal:
        find = likelihood_ratio if fixed_end else clopper_pearson
        share = find(
            successes=400,
            total=1000,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=LEVEL if fixed_end else AT_LOOK,
        )
        low, high = float(share.low), float(share.high)
    else:
        among = likelihood_ratio_share(symbol=1, level=LEVEL if fixed_end else AT_LOOK, **bits)
        low, high = among.low, among.high
    assert [row.low, row.high] == pytest.approx([-5 + 25 * low, -5 + 25 * high])
    assert (row.method, row.effective_sample_size) == (method, None)


def test_inner_intervals_lie_inside_and_simultaneous_ones_outside_for_every_estimand() -> None:
    people = draw_people(EVERY_TYPE)
    shown = sum(estimand.shown for estimand in list_estimands(EVERY_TYPE))
    for fixed_end in (True, False):
        found = estimate_people(EVERY_TYPE, people, fixed_end=fixed_end, reports=4000)
        levels = {result.simultaneous_level for result in found}
        assert levels == {simultaneous_level(LEVEL, shares=shown)}
        for estimate in estimates_of(found):
            inside = [inner.level for inner in estimate.intervals.inner]
            assert inside == ([0.5, 0.8] if fixed_end else [])
            ends = ends_from_outside(estimate.intervals)
            assert ends == sorted(ends), estimate.estimand.key


def test_yes_is_shown_and_no_is_not() -> None:
    estimands = list(estimands_of(make_question("q1", "yes_no", refusal=True)))
    assert [estimand.name for estimand in estimands] == ["1", "0", "refused"]
    assert [estimand.shown for estimand in estimands] == [True, False, True]
    assert find(estimands, "1").kind is EstimandKind.SHARE


def test_the_alarm_watches_every_code_of_every_symbol() -> None:
    """The alarm also watches the codes of the gate, "prefer not to say" and "not asked"."""
    question = make_question("q1", "several", refusal=True)
    quiet = [[700, 300], [600, 400], [600, 400], [600, 400]]
    for symbol, cells in ((0, [900, 100]), (2, [900, 100])):
        counts = [cells if place == symbol else fine for place, fine in enumerate(quiet)]
        for fixed_end in (True, False):
            [found] = estimate_codes(make_manifest(question), counts, fixed_end=fixed_end)
            assert found.alarm
    [found] = estimate_codes(make_manifest(question), quiet, fixed_end=True)
    assert not found.alarm


def test_the_alarm_level_counts_every_code_of_larger_questions() -> None:
    question = make_question("q1", "choice")
    mechanism = question.mechanism
    level = repeated_level(simultaneous_level(0.99, shares=4), times=TIMES)
    seen = set()
    for count in range(200, 400, 2):
        rest = 2000 - count
        cells = [count, rest // 3, rest // 3, rest - 2 * (rest // 3)]
        [found] = estimate_codes(make_manifest(question), [cells], fixed_end=False)
        expected = find_contradictions(
            successes=cells,
            total=2000,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=level,
        ).any()
        assert found.alarm == bool(expected)
        seen.add(found.alarm)
    assert seen == {True, False}
