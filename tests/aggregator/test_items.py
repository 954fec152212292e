"""What can be compared in a survey of every type, and that a subset leaves joint counts right."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from accounts.models import User
from aggregator.analysis import count_pair
from aggregator.comparisons import NotComparable, _check_choice, find_plain_items
from aggregator.demo_surveys import STUDY
from aggregator.items import count_items, list_items
from aggregator.joint_counts import PairCounter
from aggregator.layout import Layout
from aggregator.models import Comparison
from aggregator.packing import count_codes, pack_reports, unpack_reports
from aggregator.respondents import randomize_answers
from surveys.drafts import describe
from surveys.manifest import NOT_DRAWN, Manifest
from surveys.services import create_survey

Kind = Comparison.Kind


@pytest.fixture
def manifest(db: None) -> Manifest:
    owner = User.objects.create_user(email="items@example.org")
    survey = create_survey(owner=owner, title="Study", drawn=4)
    STUDY.add_questions(survey)
    return describe(survey=survey, wave_number=1)


@pytest.fixture
def reports(manifest: Manifest) -> list[bytes]:
    generator = random.Random(5)
    return [
        randomize_answers(manifest, answers, random_uint32=lambda: generator.getrandbits(32))
        for answers in STUDY.people()[:700]
    ]


def test_reports_with_a_subset_survive_packing(manifest: Manifest, reports: list[bytes]) -> None:
    layout = Layout.of(manifest)
    packed = pack_reports(layout.write_columns(reports), ks=layout.ks)
    matrix = layout.read_symbols(unpack_reports(packed, size=len(reports), ks=layout.ks))
    assert sorted(row.tobytes() for row in matrix) == sorted(reports)
    counts = layout.read_counts(count_codes(packed, size=len(reports), ks=layout.ks))
    for place, symbol in enumerate(manifest.symbols):
        shown = [report[place] for report in reports if report[place] != NOT_DRAWN]
        assert counts[place] == [shown.count(code) for code in range(symbol.k)]


def test_joint_counts_are_of_the_reports_that_have_both(
    manifest: Manifest, reports: list[bytes]
) -> None:
    layout = Layout.of(manifest)
    packed = pack_reports(layout.write_columns(reports), ks=layout.ks)
    items = list_items(manifest)
    for pair in list(combinations(items, 2))[::5]:
        if pair[0].symbol == pair[1].symbol:
            continue
        found = count_items(packed, size=len(reports), layout=layout, items=pair)
        expected = np.zeros(tuple(item.symbol.k for item in pair), dtype=int)
        for report in reports:
            codes = tuple(report[item.place] for item in pair)
            if NOT_DRAWN not in codes:
                expected[codes] += 1
        assert found.tolist() == expected.tolist()


def test_all_pairs_of_plain_items_agree_with_counting_rows(
    manifest: Manifest, reports: list[bytes]
) -> None:
    layout = Layout.of(manifest)
    packed = pack_reports(layout.write_columns(reports), ks=layout.ks)
    counter = PairCounter(ks=layout.ks)
    counter.add(packed, size=len(reports))
    items = find_plain_items(manifest)
    assert len(items) == 4  # those of "select several"; all others have more than two codes
    for pair in combinations(items, 2):
        expected = count_items(packed, size=len(reports), layout=layout, items=pair)
        found = count_pair(counter.result(), layout, *pair)
        assert found.tolist() == expected.tolist()


def test_every_answer_that_makes_groups_is_an_item(manifest: Manifest) -> None:
    items = {item.name: item for item in list_items(manifest)}
    assert list(items) == [
        *("q3", "q4", "q5.0", "q5.1", "q5.2", "q5.3", "q6.1", "q6.2", "q6.3", "q6.4"),
        *("q7.1", "q7.2", "q7.3", "q7.4", "q8", "q9.yes", "q9.follow_up"),
    ]
    assert items["q6.3"].label == "Q6 (4 or more)"
    assert (items["q6.3"].yes, items["q6.3"].no) == ((3, 4), (0, 1, 2))
    assert items["q9.follow_up"].variable.categories == ((2,), (1,), (0,))
    assert [name for name, item in items.items() if item.is_number] == ["q4", "q8"]


@pytest.mark.parametrize(
    ("kind", "names", "message"),
    [
        (Kind.TABLE, ["q5.1", "q5.2"], "Choose two different questions"),
        (Kind.TABLE, ["q3", "q8"], "Q8 is a number"),
        (Kind.TABLE, ["q3", "q1"], "Choose questions of this survey"),
        (Kind.REGRESSION, ["q8", "q3"], "Q8 is a number"),
        (Kind.REGRESSION, ["q3", "q5.1", "q5.2"], "answers to the same question"),
        (Kind.REGRESSION, ["q5.1", "q5.2"], "cannot be one of its predictors"),
        (Kind.REGRESSION, ["q3", "q5.1", "q6.2", "q7.1", "q9.yes"], "nobody was asked all 5"),
    ],
)
def test_what_makes_no_comparison_is_refused(
    manifest: Manifest, kind: Comparison.Kind, names: list[str], message: str
) -> None:
    with pytest.raises(NotComparable, match=message):
        _check_choice(manifest=manifest, kind=kind, names=names)


def test_a_number_may_be_the_outcome_of_two_questions(manifest: Manifest) -> None:
    _check_choice(manifest=manifest, kind=Kind.TABLE, names=["q8", "q3"])
