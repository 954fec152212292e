"""Results of comparisons survive JSON, and results that cannot be read are recomputed."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.comparisons.jobs import OLDER_METHOD, find_comparisons_to_run
from aggregator.comparisons.result import (
    ComparisonResult,
    FactorTest,
    PairsResult,
    PairTest,
    Profile,
    RegressionResult,
    SegmentsResult,
    Term,
    Together,
    TwoQuestionsResult,
    UntestedPair,
)
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.stored import (
    TEST_METHODS,
    UnreadableResult,
    read_result,
    write_result,
)
from aggregator.comparisons.words.all_pairs_sentences import TEST_NAMES
from aggregator.models import Comparison
from aggregator.results.snapshots import METHOD_VERSION
from privacy.associations.contradictions import Contradiction
from privacy.associations.latent_regression import AdjustedShare, AdjustedShares
from privacy.associations.significance import SignificanceTest
from privacy.associations.two_questions import AssociationEstimate
from surveys.models import Wave
from tests.support.comparisons import ask, compute, make_answered_wave
from tests.support.fielding import sign_in
from tests.support.reading import text_of

Kind = Comparison.Kind
NAMES = ("q1", "q2", "q2.all", "q3")
FIGURE = AssociationEstimate(
    raw=-0.1, standard_error=None, estimate=0.0, low=-inf, high=inf, level=0.95
)
NONE = Contradiction(while_watched=False, after_fixed_end=False)
LATER = Contradiction(while_watched=False, after_fixed_end=True)
ALONE = Together(family=1, looks=0)
TABLE = TwoQuestionsResult(
    n=10,
    together=ALONE,
    contradiction=NONE,
    outcome_range=(1, 7),
    counts=((1, 2), (3, 4)),
    shares=((0.1, 0.2), (0.3, 0.4)),
    standard_errors=((0.01, 0.02), (0.03, 0.04)),
    joint_shares=((0.1, 0.2), (0.3, 0.4)),
    share_first=FIGURE,
    share_second=FIGURE,
    difference=FIGURE,
    odds_ratio=FIGURE,
    log_odds_ratio=FIGURE,
    phi=FIGURE,
    test=SignificanceTest(
        method="fisher_exact", statistic=None, degrees_of_freedom=None, p_value=0.5
    ),
)
SHARE = AdjustedShare(estimate=0.3, low=0.2, high=0.4)
TERM = Term(
    name="q2=1",
    coefficient=0.1,
    standard_error=0.2,
    low=-0.3,
    high=800.0,
    odds_ratio=1.1,
    odds_ratio_low=0.7,
    odds_ratio_high=inf,
    adjusted=AdjustedShares(name="q2=1", share=SHARE, reference=SHARE, difference=SHARE),
    statistic=0.25,
    p_value=0.6,
)
REGRESSION = RegressionResult(
    n=10,
    together=ALONE,
    contradiction=LATER,
    cells=4,
    log_likelihood=-12.5,
    level=0.95,
    terms=(TERM, replace(TERM, adjusted=None)),
    factors=(FactorTest(indicator="q2.all", degrees_of_freedom=2, statistic=1.5, p_value=0.47),),
)
PAIRS = PairsResult(
    n=10,
    contradiction=NONE,
    pairs=(
        PairTest(
            indicators=("q1", "q2"),
            n=8,
            counts=((1, 2), (3, 2)),
            more_often_together=1,
            method="pearson",
            statistic=0.1,
            p_value=0.75,
            adjusted_p_value=0.75,
        ),
    ),
    untested=(UntestedPair(indicators=("q1", "q3"), n=2, reason="few"),),
)
SEGMENTS = SegmentsResult(
    n=10,
    contradiction=NONE,
    profiles=(Profile(size=1.0, size_spread=0.0, shares=(0.1, 0.2), spread=0.1),),
)
RESULTS = [
    (Kind.TABLE, TABLE),
    (Kind.REGRESSION, REGRESSION),
    (Kind.PAIRS, PAIRS),
    (Kind.SEGMENTS, SEGMENTS),
]


@pytest.mark.parametrize(("kind", "result"), RESULTS)
def test_a_result_survives_json(kind: str, result: ComparisonResult) -> None:
    text = json.dumps(write_result(result), allow_nan=False)
    assert read_result(kind, json.loads(text), indicators=NAMES) == result


def test_the_keys_of_older_rows_are_kept() -> None:
    stored = write_result(TABLE)
    assert stored["range"] == [1, 7]
    assert stored["difference"] == {
        "raw": -0.1,
        "standard_error": None,
        "estimate": 0.0,
        "low": "-inf",
        "high": "inf",
        "level": 0.95,
        "design_error": None,
    }
    [pair] = write_result(PAIRS)["pairs"]
    assert (pair["questions"], pair["together"]) == (["q1", "q2"], 1)


def test_an_undefined_value_is_null() -> None:
    undefined = AssociationEstimate(
        raw=nan, standard_error=nan, estimate=nan, low=0.0, high=1.0, level=0.95
    )
    table = TwoQuestionsResult(**{**vars(TABLE), "phi": undefined})
    assert write_result(table)["phi"]["raw"] is None


def unknown_key(stored: dict[str, Any]) -> None:
    stored["mystery"] = 1


def lost_key(stored: dict[str, Any]) -> None:
    del stored["contradiction"]


def other_type(stored: dict[str, Any]) -> None:
    stored["n"] = "many"


def a_boolean_for_a_number(stored: dict[str, Any]) -> None:
    stored["n"] = True


COMMON = [unknown_key, lost_key, other_type, a_boolean_for_a_number]


@pytest.mark.parametrize("spoil", COMMON)
@pytest.mark.parametrize(("kind", "result"), RESULTS)
def test_a_spoiled_result_is_unreadable(
    kind: str, result: ComparisonResult, spoil: Callable[[dict[str, Any]], None]
) -> None:
    stored = write_result(result)
    spoil(stored)
    with pytest.raises(UnreadableResult):
        read_result(kind, stored, indicators=NAMES)


@pytest.mark.parametrize(
    ("kind", "result", "place", "value"),
    [
        (Kind.TABLE, TABLE, ("test", "method"), "crystal ball"),
        (Kind.TABLE, TABLE, ("difference", "low"), None),
        (Kind.TABLE, TABLE, ("difference", "low"), "infinite"),
        (Kind.TABLE, TABLE, ("difference", "low"), nan),
        (Kind.TABLE, TABLE, ("difference",), [1, 2]),
        (Kind.TABLE, TABLE, ("range",), [1]),
        (Kind.TABLE, TABLE, ("shares",), [[0.1, 0.2]]),
        (Kind.TABLE, TABLE, ("counts", 0), [1, 2, 3]),
        (Kind.REGRESSION, REGRESSION, ("terms", 0, "name"), "q9=1"),
        (Kind.PAIRS, PAIRS, ("pairs", 0, "questions"), ["q1", "q9"]),
        (Kind.PAIRS, PAIRS, ("pairs", 0, "method"), "crystal ball"),
        (Kind.PAIRS, PAIRS, ("untested",), {}),
        (Kind.PAIRS, REGRESSION, ("n",), 10),
        ("cake", TABLE, ("n",), 10),
    ],
)
def test_unknown_names_and_values_are_unreadable(
    kind: str, result: ComparisonResult, place: tuple[Any, ...], value: Any
) -> None:
    stored: Any = write_result(result)
    inner = stored
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(UnreadableResult):
        read_result(kind, stored, indicators=NAMES)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_anything_else_is_unreadable(stored: Any) -> None:
    for kind in Kind.values:
        with pytest.raises(UnreadableResult):
            read_result(kind, stored, indicators=NAMES)


def test_every_test_method_has_a_description() -> None:
    assert TEST_NAMES.keys() == TEST_METHODS


def spoil_row(comparison: Comparison, **changes: Any) -> None:
    stored = deepcopy(comparison.result)
    assert stored is not None
    Comparison.objects.filter(pk=comparison.pk).update(result=stored | changes)
    comparison.refresh_from_db()


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize(
    ("kind", "names"),
    [(Kind.TABLE, ["q1", "q2"]), (Kind.REGRESSION, ["q1", "q2"]), (Kind.PAIRS, [])],
)
@pytest.mark.parametrize("page", ["result", "result/panel", "result.csv"])
def test_an_unreadable_result_waits_until_the_sweep_recomputes_it(
    kind: Comparison.Kind, names: list[str], page: str
) -> None:
    wave = make_answered_wave(people=2000)
    comparison = compute(ask(wave, kind, *names))
    right = comparison.result
    spoil_row(comparison, mystery=1)
    client = sign_in(wave.survey.owner)
    root = f"/surveys/{wave.survey.slug}/compare/{comparison.pk}"
    response = client.get(f"{root}/{page}")
    if page == "result.csv":
        assert response.status_code == 404
    else:
        assert response.status_code == 200
        assert 'id="progress"' in response.content.decode()
    comparison.refresh_from_db()
    assert (comparison.state, comparison.result) == (Comparison.State.WAITING, None)
    assert list(find_comparisons_to_run()) == [comparison]
    assert compute(comparison).result == right
    done = client.get(f"{root}/result")
    assert 'id="download-comparison"' in done.content.decode()


@pytest.mark.django_db
def test_an_unreadable_result_of_an_older_method_is_computed_by_the_current_one() -> None:
    comparison = compute(ask(make_answered_wave(), Kind.TABLE, "q1", "q2"))
    spoil_row(comparison, mystery=1)
    Comparison.objects.update(method_version=METHOD_VERSION - 1)
    comparison.refresh_from_db()
    assert find_standing(comparison).result is None
    assert compute(comparison).method_version == METHOD_VERSION
    assert find_standing(comparison).result is not None


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
def test_an_unreadable_result_that_has_a_newer_row_says_so() -> None:
    wave = make_answered_wave()
    old = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    spoil_row(old, mystery=1)
    Comparison.objects.update(method_version=METHOD_VERSION - 1)
    new = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    assert new != old
    client = sign_in(wave.survey.owner)
    page = client.get(f"/surveys/{wave.survey.slug}/compare/{old.pk}/result")
    assert OLDER_METHOD in text_of(page)
    new.refresh_from_db()
    assert new.state == Comparison.State.DONE


@pytest.mark.django_db
@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize("changes", [{"names": ["q1", "q99"]}, {"kind": "cake"}])
def test_a_row_with_unknown_names_is_not_found_and_not_listed(changes: dict[str, Any]) -> None:
    wave: Wave = make_answered_wave(people=60)
    comparison = compute(ask(wave, Kind.TABLE, "q1", "q2"))
    Comparison.objects.filter(pk=comparison.pk).update(**changes)
    client = sign_in(wave.survey.owner)
    root = f"/surveys/{wave.survey.slug}/compare"
    assert client.get(root).status_code == 200
    assert client.get(f"{root}/{comparison.pk}/result").status_code == 404
    assert client.get(f"{root}/{comparison.pk}/result.csv").status_code == 404
