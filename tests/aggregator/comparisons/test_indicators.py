"""What can be compared in a survey with every question type; tables under a random subset."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from accounts.models import User
from aggregator.background.levels import Levels, write_background
from aggregator.batches.columns import Columns
from aggregator.batches.packing import count_codes, pack_reports, unpack_reports
from aggregator.comparisons.analysis import (
    APART,
    analyse_pairs,
    analyse_regression,
    analyse_table,
)
from aggregator.comparisons.choice import (
    NO_PAIR_ASKED,
    check_choice,
)
from aggregator.comparisons.counting import cross_tabulate_indicators
from aggregator.comparisons.pairs import PairCodes, PairTables
from aggregator.comparisons.result import PairsResult
from aggregator.comparisons.words.all_pairs_sentences import (
    NOT_IN_FILE,
    NOT_TESTED,
    describe_pairs_left_out,
)
from aggregator.comparisons.words.two_questions_sentences import NEARER_92, describe_coverage
from aggregator.models import Comparison, RowsFile
from aggregator.simulation.demo_surveys import STUDY
from aggregator.simulation.respondents import randomize_answers
from privacy.associations.contradictions import Contradiction
from privacy.associations.tables import kronecker
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.comparing.choice import (
    ALL_KNOWN,
    DIFFERENT_QUESTIONS,
    OUTCOME_AS_PREDICTOR,
    SAME_QUESTION,
    UNKNOWN_QUESTION,
    NotComparable,
)
from surveys.comparing.indicators import (
    Indicator,
    find_indicators,
    list_indicators,
)
from surveys.comparing.pairs import list_pair_indicators, list_pairs
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.question_types import QuestionType
from surveys.models import Survey
from tests.support.factories import make_survey

Kind = Comparison.Kind
Truth = dict[tuple[int, ...], float]  # maps the true codes of all symbols to a share of people


@pytest.fixture
def manifest(db: None) -> Manifest:
    owner = User.objects.create_user(email="indicators@example.org")
    survey = Survey.objects.create_owned(owner, title="Study", drawn=4)
    STUDY.add_questions(survey)
    return build_manifest(survey=survey, wave_number=1)


@pytest.fixture
def reports(manifest: Manifest) -> list[bytes]:
    generator = random.Random(5)
    return [
        randomize_answers(manifest, answers, random_uint32=lambda: generator.getrandbits(32))
        for answers in STUDY.people()[:700]
    ]


def test_reports_with_a_subset_survive_packing(manifest: Manifest, reports: list[bytes]) -> None:
    columns = Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    matrix = columns.read_symbols(unpack_reports(packed, size=len(reports), ks=columns.ks))
    assert sorted(row.tobytes() for row in matrix) == sorted(reports)
    counts = columns.read_counts(count_codes(packed, size=len(reports), ks=columns.ks))
    for place, symbol in enumerate(manifest.symbols):
        shown = [report[place] for report in reports if report[place] != NOT_DRAWN]
        assert counts[place] == [shown.count(code) for code in range(symbol.k)]


def test_a_cross_tabulation_counts_the_reports_that_have_both_questions(
    manifest: Manifest, reports: list[bytes]
) -> None:
    columns = Columns.of(manifest)
    packed = pack_reports(columns.write_columns(reports), ks=columns.ks)
    names = [indicator.name for indicator in list_indicators(manifest)]
    for pair in list(combinations(names, 2))[::5]:
        indicators = find_indicators(manifest, pair)
        if indicators[0].symbol != indicators[1].symbol:
            found = cross_tabulate_indicators(
                packed, size=len(reports), columns=columns, indicators=indicators
            )
            assert found.tolist() == count_by_rows(reports, indicators).tolist()


def count_by_rows(reports: Sequence[bytes], indicators: Sequence[Indicator]) -> Any:
    """Return the joint table of the reports in which all indicators were drawn."""
    counts = np.zeros([indicator.codes for indicator in indicators], dtype=int)
    for report in reports:
        if not any(report[indicator.place] == NOT_DRAWN for indicator in indicators):
            gates = (
                0 if indicator.gate_place is None else report[indicator.gate_place]
                for indicator in indicators
            )
            codes = (
                gate * indicator.symbol.k + report[indicator.place]
                for indicator, gate in zip(indicators, gates, strict=True)
            )
            counts[tuple(codes)] += 1
    return counts


@pytest.fixture
def plain(db: None) -> Manifest:
    """Make a survey of four questions; each person is asked two of them."""
    owner = User.objects.create_user(email="plain@example.org")
    survey = Survey.objects.create_owned(owner, title="Plain", drawn=2)
    for number in range(4):
        add_question(survey=survey, text=f"Number {number}?")
    return build_manifest(survey=survey, wave_number=1)


def send_anything(manifest: Manifest, *, people: int) -> list[bytes]:
    generator = random.Random(9)
    names = [question.name for question in manifest.questions]
    return [
        randomize_answers(
            manifest,
            {name: generator.randrange(2) for name in names},
            random_uint32=lambda: generator.getrandbits(32),
        )
        for _ in range(people)
    ]


def count_pairs(manifest: Manifest, reports: Sequence[bytes]) -> PairTables:
    columns, codes = Columns.of(manifest), PairCodes(manifest, list_pair_indicators(manifest))
    for some in (reports[:99], reports[99:]):
        codes.add(pack_reports(columns.write_columns(some), ks=columns.ks), size=len(some))
    return codes.result()


def test_tables_of_all_pairs_agree_with_counting_rows(
    manifest: Manifest, reports: list[bytes]
) -> None:
    tables, pairs = count_pairs(manifest, reports), list(list_pairs(list_pair_indicators(manifest)))
    assert {one.symbol.name for pair in pairs for one in pair} == {
        symbol.name for symbol in manifest.symbols if not symbol.is_gate
    }
    for pair in pairs:
        assert tables.count(*pair).tolist() == count_by_rows(reports, pair).tolist()


def test_pairs_that_too_few_people_were_asked_are_named(plain: Manifest) -> None:
    reports = send_anything(plain, people=700)  # a sixth of people are asked each pair
    indicators, tables = list_pair_indicators(plain), count_pairs(plain, reports)
    numbers = sorted(int(tables.count(*pair).sum()) for pair in list_pairs(indicators))
    found = analyse_pairs(manifest=plain, indicators=indicators, tables=tables, minimum=numbers[2])
    assert sorted(pair.n for pair in found.pairs) == numbers[2:]
    assert sorted(pair.n for pair in found.untested) == numbers[:2]
    text = describe_pairs_left_out(found, plain)
    first, second = found.untested[0].indicators
    assert f"{first.upper()} and {second.upper()}" in text
    assert f"fewer than {plain.crowd} people were asked both" in text


def test_pairs_are_refused_if_nobody_is_asked_two_questions(plain: Manifest) -> None:
    alone = replace(plain, drawn=1)
    with pytest.raises(NotComparable, match=re.escape(NO_PAIR_ASKED)):
        check_choice(
            manifest=alone, kind=Kind.PAIRS, names=[], is_final=True, rows_file=make_rows_file()
        )
    check_choice(
        manifest=plain, kind=Kind.PAIRS, names=[], is_final=True, rows_file=make_rows_file()
    )


def test_pairs_across_blocks_that_may_not_be_compared_are_named(plain: Manifest) -> None:
    reports = send_anything(plain, people=1200)
    indicators = list_pair_indicators(plain)
    found = analyse_pairs(
        manifest=plain,
        indicators=indicators,
        tables=count_pairs(plain, reports),
        minimum=50,
        crosses_blocks=False,
    )
    across = [
        (one.name, other.name)
        for one, other in combinations(indicators, 2)
        if one.symbol.block != other.symbol.block
    ]
    assert [pair.indicators for pair in found.untested] == across
    assert len(found.pairs) + len(across) == len(list(combinations(indicators, 2)))
    text = describe_pairs_left_out(found, plain)
    assert text.startswith(f"Not tested, {NOT_TESTED[APART]}: ")
    assert "fewer than" not in text


@pytest.mark.django_db
def test_questions_that_no_pair_can_have_are_named() -> None:
    survey = make_survey(questions=["Tired?", "Ill?"])
    add_question(survey=survey, text="Who?", type=QuestionType.DECLARED, options=["A", "B"])
    manifest = build_manifest(survey=survey, wave_number=1)
    nothing = Contradiction(while_watched=False, after_fixed_end=False)
    found = PairsResult(n=500, contradiction=nothing, pairs=(), untested=())
    assert describe_pairs_left_out(found, manifest) == NOT_IN_FILE.format(questions="Q3")


def test_every_answer_that_can_form_groups_is_an_indicator(manifest: Manifest) -> None:
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    assert list(indicators) == [
        *("q1.0", "q1.1"),
        *("q2", "q3", "q4.0", "q4.1", "q4.2", "q4.3", "q5.1", "q5.2", "q5.3", "q5.4"),
        *("q6.1", "q6.2", "q6.3", "q6.4", "q7", "q8.yes", "q8.follow_up"),
    ]
    assert indicators["q5.3"].label == "Q5 (4 or more)"
    assert (indicators["q5.3"].yes, indicators["q5.3"].no) == ((3, 4), (0, 1, 2))
    assert indicators["q8.follow_up"].variable.categories == ((2,), (1,), (0,))
    assert [name for name, indicator in indicators.items() if indicator.is_number] == ["q3", "q7"]


def make_rows_file() -> RowsFile:
    """Make one file of rows, which distinguishes all answers to Q1."""
    levels = Levels(question="q1", levels=((0,), (1,)), hidden=frozenset())
    return RowsFile(chosen=write_background((levels,)))


@pytest.mark.parametrize(
    ("kind", "names", "message"),
    [
        (Kind.TABLE, ["q4.1", "q4.2"], DIFFERENT_QUESTIONS),
        (Kind.TABLE, ["q3", "q2"], "Answers to Q2 decide whether Q3 is asked"),
        (Kind.TABLE, ["q2", "q7"], "Q7 is a number"),
        (Kind.TABLE, ["q1.0", "q1.1"], ALL_KNOWN),
        (Kind.TABLE, ["q2", "t1"], UNKNOWN_QUESTION),
        (Kind.REGRESSION, ["q7", "q2"], "Q7 is a number"),
        (Kind.REGRESSION, ["q2", "q4.1", "q4.2"], SAME_QUESTION),
        (Kind.REGRESSION, ["q4.1", "q4.2"], OUTCOME_AS_PREDICTOR),
        (
            Kind.REGRESSION,
            ["q2", "q4.1", "q5.2", "q6.1", "q8.yes"],
            "nobody was asked all of these",
        ),
    ],
)
def test_a_choice_that_cannot_be_compared_is_refused(
    manifest: Manifest, kind: Comparison.Kind, names: list[str], message: str
) -> None:
    with pytest.raises(NotComparable, match=re.escape(message)):
        check_choice(
            manifest=manifest, kind=kind, names=names, is_final=True, rows_file=make_rows_file()
        )


@pytest.fixture
def gated(db: None) -> Manifest:
    """Make a survey in which Q2 is asked after Yes to Q1; both Q2 and Q3 may be refused."""
    owner = User.objects.create_user(email="gates@example.org")
    survey = Survey.objects.create_owned(owner, title="Gates")
    first = add_question(survey=survey, text="Ever?")
    rule = {"name": str(first.pk), "is": [1]}
    several: dict[str, Any] = {"type": "several", "options": ["A", "B"], "refusal": True}
    add_question(survey=survey, text="Which?", rule=rule, **several)
    add_question(survey=survey, text="Where?", **several)
    add_question(survey=survey, text="When?")
    return build_manifest(survey=survey, wave_number=1)


def expect_counts(indicators: Sequence[Indicator], truth: Truth) -> Any:
    """Return the counts expected in the reports of ten million people with these true codes."""
    symbols = [
        part
        for indicator in indicators
        for part in (indicator.gate, indicator.symbol)
        if part is not None
    ]
    channel = kronecker([symbol.mechanism.channel() for symbol in symbols])
    shares = np.zeros([symbol.k for symbol in symbols])
    for codes, share in truth.items():
        shares[codes] = share
    counts = np.rint(10_000_000 * (channel @ shares.ravel())).astype(np.int64)
    return counts.reshape([indicator.codes for indicator in indicators])


def test_indicators_behind_a_gate_are_compared_among_those_who_answered(gated: Manifest) -> None:
    indicators = find_indicators(gated, ["q2.1", "q2.2"])
    # Gate 0 means answered, 1 refused, and 2 not asked. Half of people answer, and among them, A
    # and B are independent.
    answered: Truth = {(0, a, b): 0.5 * (0.4 if a else 0.6) * 0.5 for a in (0, 1) for b in (0, 1)}
    counts = expect_counts(indicators, {**answered, (1, 0, 0): 0.1, (2, 0, 0): 0.4})
    found = analyse_table(indicators=indicators, counts=counts)
    assert found.share_first.estimate == pytest.approx(0.4, abs=1e-4)
    assert found.share_second.estimate == pytest.approx(0.4, abs=1e-4)
    assert found.test.p_value > 0.99
    assert indicators[0].category_texts == ("No", "Yes", "Not asked or no answer")


def test_indicators_behind_two_gates_are_compared_among_those_who_answered_both(
    gated: Manifest,
) -> None:
    indicators = find_indicators(gated, ["q2.1", "q3.1"])
    both: Truth = {(0, a, 0, b): 0.3 * (0.5 if a == b else 0.1) for a in (0, 1) for b in (0, 1)}
    both = {codes: 0.3 * share / sum(both.values()) for codes, share in both.items()}
    rest: Truth = {(1, 0, 0, 1): 0.2, (2, 0, 0, 0): 0.2, (2, 0, 1, 0): 0.1, (0, 1, 1, 0): 0.2}
    found = analyse_table(indicators=indicators, counts=expect_counts(indicators, both | rest))
    assert found.share_first.estimate == pytest.approx(5 / 6, abs=1e-4)
    assert found.share_second.estimate == pytest.approx(1 / 6, abs=1e-4)
    effect = analyse_regression(
        indicators=indicators, counts=expect_counts(indicators, both | rest)
    )
    assert effect.terms[1].coefficient == pytest.approx(2 * np.log(5), abs=1e-3)


def test_only_if_people_are_silent_on_both_questions_do_intervals_cover_less(
    gated: Manifest,
) -> None:
    plain, first, second = find_indicators(gated, ["q1", "q2.1", "q3.1"])
    assert describe_coverage(first, second) == NEARER_92
    assert describe_coverage(plain, first) == describe_coverage(first, plain) == ""


def test_gates_are_counted_with_the_first_of_their_indicators(gated: Manifest) -> None:
    generator = random.Random(9)
    sent = [bytes(generator.randrange(symbol.k) for symbol in gated.symbols) for _ in range(300)]
    columns = Columns.of(gated)
    packed = pack_reports(columns.write_columns(sent), ks=columns.ks)
    for names in (["q2.2", "q2.1"], ["q1", "q3.2", "q2.1", "q3.1"]):
        indicators = find_indicators(gated, names)
        found = cross_tabulate_indicators(
            packed, size=len(sent), columns=columns, indicators=indicators
        )
        assert found.tolist() == count_by_rows(sent, indicators).tolist()
    assert [one.name for one in list_indicators(gated) if one.is_plain] == ["q1", "q4"]
    # For a pair of items of one question, the gate is counted once; for any other pair, the gates
    # of both questions are counted.
    indicators = list_pair_indicators(gated)
    codes = PairCodes(gated, indicators)
    codes.add(packed, size=len(sent))
    for pair in list_pairs(indicators):
        assert codes.result().count(*pair).tolist() == count_by_rows(sent, pair).tolist()


def test_a_number_may_be_the_outcome_of_two_questions(manifest: Manifest) -> None:
    names = ["q7", "q2"]
    check_choice(
        manifest=manifest, kind=Kind.TABLE, names=names, is_final=True, rows_file=make_rows_file()
    )
