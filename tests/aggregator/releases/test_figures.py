"""Figures of noisy releases agree with examples worked by hand; intervals cover as promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.stats import binom

from aggregator.releases.figures import ChosenFigure, FigureRow, TableFigures, read_figures
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.questions import ManifestQuestion, Symbol
from surveys.manifest.releases import ReleaseKind
from surveys.manifest.rules import Rule
from surveys.releasing.choice import list_candidates
from surveys.releasing.noise import Mechanism, count_most_symbols, list_symbols
from tests.aggregator.routed import ask, yes
from tests.support.manifests import protect
from tests.support.releases.stored import add_noise, as_gaussian, finish, plan

EVERY_KIND = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3, refusal=True, rule=yes("q1")),
    ask("q3", Kind.SEVERAL, 3, refusal=True),
    ask("q4", Kind.DECLARED, 4, refusal=True),
    ask("q5", Kind.NUMBER, minimum=0, maximum=20),
    ask("q6", Kind.SCALE, 5, minimum=1, maximum=5),
    ask("q7", Kind.FOLLOW_UP),
)
SUBSET = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.CHOICE, 3),
    ask("q3", Kind.YES_NO),
    ask("q4", Kind.DECLARED, 3),
    drawn=2,
)
# The true share of each code. Some are 0 or 1, where intervals are hardest.
TRUTH: Mapping[str, Sequence[float]] = {
    "q1": (0.7, 0.3),
    "q2": (0.1, 0.2, 0.0, 0.05, 0.65),
    "q3_gate": (0.9, 0.1),
    "q3_1": (0.6, 0.4),
    "q3_2": (0.98, 0.02),
    "q3_3": (0.1, 0.9),
    "q4": (0.5, 0.3, 0.19, 0.01, 0.0),
    "q5": (0.35, 0.65),
    "q6": (0.05, 0.1, 0.2, 0.3, 0.35),
    "q7": (0.6, 0.15, 0.25),
}
OF_SUBSET = {"q1": (0.7, 0.3), "q2": (0.6, 0.4, 0.0), "q3": (0.0, 1.0), "q4": (0.5, 0.5, 0.0)}


def table_of(manifest: Manifest, cells: Mapping[str, Sequence[int]], epsilon: int) -> TableFigures:
    names = {symbol.question for symbol in manifest.symbols if symbol.name in cells}
    release = finish(plan(manifest, *names, epsilon=epsilon), {"cells": dict(cells)})
    figures = read_figures(release, manifest)
    assert isinstance(figures, TableFigures)
    return figures


def test_a_share_worked_by_hand() -> None:
    """This is the example in the methods: noisy cells (598, 405), two coins, b = 2."""
    manifest = protect(ask("q1", Kind.YES_NO))
    figures = table_of(manifest, {"q1": [598, 405]}, 50)
    [question] = figures.questions
    [row] = question.rows
    assert (row.text, row.count, figures.people, question.people) == ("Yes", 405, 1003, 1003)
    assert row.share == row.estimate == pytest.approx(0.307577268, abs=1e-9)
    assert (row.low, row.high) == pytest.approx((0.247171858, 0.369428146), abs=1e-9)
    assert question.people_needed == 20
    parts = row.parts
    squares = parts.people**2 + parts.scrambling**2 + parts.publication**2
    assert parts.total**2 == pytest.approx(squares)
    assert parts.publication < parts.people < parts.scrambling


def test_shares_are_of_everyone_who_was_asked_that_symbol() -> None:
    cells = {
        "q2": [200, 180, 170, 190, 260],
        "q3_gate": [700, 300],
        "q3_1": [600, 400],
        "q3_2": [700, 300],
        "q3_3": [300, 700],
        "q4": [400, 300, 200, 100, 0],
    }
    figures = table_of(EVERY_KIND, cells, 300)
    choice, several, group = figures.questions
    assert [row.key for row in choice.rows] == ["0", "1", "2", "refused", "not_asked"]
    assert [row.key for row in several.rows] == ["1", "2", "3", "refused"]
    assert [row.share for row in group.rows] == pytest.approx([0.4, 0.3, 0.2, 0.1, 0.0])
    assert [row.key for row in group.rows] == ["0", "1", "2", "3", "refused"]
    assert sum(row.estimate for row in choice.rows) == pytest.approx(1)
    # Two coins: 60 % show No.
    assert several.rows[0].estimate == pytest.approx(2 * 0.4 - 0.5)
    assert [row.is_authors for row in several.rows] == [True, True, True, False]
    assert choice.mean is group.mean is None


@pytest.mark.parametrize(
    ("question", "has_shares", "has_mean"),
    [
        (ask("q1", Kind.NUMBER, minimum=0, maximum=60), False, True),
        (ask("q1", Kind.SCALE, 2, minimum=0, maximum=10), False, True),  # long: rounded to one bit
        (ask("q1", Kind.SCALE, 7, minimum=-3, maximum=3), True, True),
        (ask("q1", Kind.SCALE, 3, minimum=1, maximum=3, refusal=True), True, False),
    ],
)
def test_every_kind_of_number_has_its_mean_where_everybody_answers(
    question: ManifestQuestion, *, has_shares: bool, has_mean: bool
) -> None:
    (found,) = table_of(protect(question), {"q1": [900] * question.k}, 100).questions
    assert (bool(found.rows), found.mean is not None) == (has_shares, has_mean)
    if found.mean is not None:
        assert question.minimum is not None
        assert question.maximum is not None
        middle = (question.minimum + question.maximum) / 2
        assert found.mean.share == pytest.approx(middle)
        assert found.mean.low < middle < found.mean.high


@pytest.mark.parametrize("rule", [None, yes("q1")])
def test_a_rounded_number_that_some_do_not_answer_has_no_table(rule: Rule | None) -> None:
    number = ask("q2", Kind.NUMBER, minimum=0, maximum=60, refusal=rule is None, rule=rule)
    manifest = protect(ask("q1", Kind.YES_NO), number)
    assert [one.name for one in list_candidates(manifest, ReleaseKind.TABLE)] == ["q1"]


def test_a_number_has_only_a_mean_and_a_scale_has_both() -> None:
    cells = {"q5": [400, 600], "q6": [195, 180, 240, 210, 178]}
    number, scale = table_of(EVERY_KIND, cells, 200).questions
    assert number.rows == ()
    assert number.mean is not None
    assert number.mean.share == pytest.approx(20 * (2 * 0.6 - 0.5))
    assert 0 <= number.mean.low < number.mean.share < number.mean.high <= 20
    assert len(scale.rows) == 5
    assert scale.mean is not None
    points = sum(row.estimate * (place + 1) for place, row in enumerate(scale.rows))
    assert scale.mean.estimate == pytest.approx(points)


def test_a_number_that_some_did_not_answer_is_not_offered() -> None:
    manifest = protect(
        ask("q1", Kind.NUMBER, minimum=0, maximum=9, refusal=True), ask("q2", Kind.YES_NO)
    )
    offered = list_candidates(manifest, ReleaseKind.TABLE)
    assert [question.name for question in offered] == ["q2"]


@pytest.mark.parametrize(("cells", "is_enough"), [([12, 8], True), ([12, 7], False)])
def test_too_few_is_decided_on_the_noisy_number(cells: list[int], is_enough: bool) -> None:
    manifest = protect(ask("q1", Kind.YES_NO))
    figures = table_of(manifest, {"q1": cells}, 50)
    [question] = figures.questions
    assert figures.is_enough == question.is_enough == is_enough
    assert bool(question.rows) == is_enough
    assert figures.people_needed == 20


def test_one_symbol_with_too_few_hides_its_question_and_no_other() -> None:
    cells = {
        "q1": [500, 500],
        "q3_gate": [90, 2],
        "q3_1": [60, 2],
        "q3_2": [-3, 9],
        "q3_3": [50, 9],
    }
    yes_no, several = table_of(EVERY_KIND, cells, 100).questions
    assert yes_no.is_enough
    assert not several.is_enough
    assert several.people_needed == 50


def test_negative_and_impossible_cells_give_shares_from_0_to_1() -> None:
    manifest = protect(ask("q1", Kind.DECLARED, 3))
    [question] = table_of(manifest, {"q1": [-4, 60, -2]}, 50).questions
    assert [row.share for row in question.rows] == [0, 1, 0]
    assert all(0 <= row.low <= row.share <= row.high <= 1 for row in question.rows)
    assert question.rows[0].estimate < 0
    assert question.rows[0].count == -4


def test_people_are_pooled_over_what_everyone_was_asked() -> None:
    """Everyone is asked q4, but not the other questions, so `people` is the sum of q4's codes."""
    cells = {"q1": [300, 360], "q4": [500, 300, 203]}
    figures = table_of(SUBSET, cells, 100)
    assert figures.people == 1003
    assert [one.people for one in figures.questions] == [660, 1003]
    assert table_of(SUBSET, {"q1": [300, 360]}, 100).people is None
    # Weights 1/2 and 1/5: (1000/2 + 1070/5) / (7/10).
    pooled = table_of(EVERY_KIND, {"q1": [500, 500], "q4": [570, 200, 200, 100, 0]}, 300)
    assert pooled.people == 1020


def test_a_leader_and_a_median_have_their_text_and_bound() -> None:
    leader = finish(plan(EVERY_KIND, "q2", kind=ReleaseKind.LEADER, epsilon=50), {"code": 2})
    figure = read_figures(leader, EVERY_KIND)
    assert isinstance(figure, ChosenFigure)
    assert (figure.code, figure.text) == (2, "2")
    # The bound counts people: one more person moves the expected number of reports by d = 2/7 (five
    # codes).
    assert figure.bound == pytest.approx((np.log(3) + np.log(20)) / 0.5 / (2 / 7), rel=1e-6)
    median = finish(plan(EVERY_KIND, "q6", kind=ReleaseKind.MEDIAN, epsilon=50), {"code": 3})
    point = read_figures(median, EVERY_KIND)
    assert isinstance(point, ChosenFigure)
    assert (point.code, point.text) == (3, "3")
    c = float(RandomizedResponse.from_flips(symbols=5, flips=25).other_probability)
    # Each person who answers differently moves the score by twice the slope.
    exact = 2 * (1 + 3 * c) / 0.5 * (np.log(5) + np.log(20)) / (1 - 5 * c) / 2
    assert point.bound is not None
    # Whole thousandths are drawn, which takes a little more noise.
    assert exact < point.bound < 1.001 * exact


def test_a_typical_answer_of_an_earlier_version_keeps_its_name_and_has_no_bound() -> None:
    typical = finish(plan(EVERY_KIND, "q6", epsilon=50), {"code": 3})
    typical.kind = typical.request["kind"] = ReleaseKind.TYPICAL
    point = read_figures(typical, EVERY_KIND)
    assert isinstance(point, ChosenFigure)
    assert (point.kind, point.code, point.bound) == (ReleaseKind.TYPICAL, 3, None)


def test_what_was_not_drawn_has_no_figures() -> None:
    with pytest.raises(ValueError, match="drawn"):
        read_figures(plan(EVERY_KIND, "q1"), EVERY_KIND)


def shown_shares(symbol: Symbol, truth: Sequence[float]) -> list[float]:
    if symbol.threshold is None:
        return list(truth)
    found = symbol.mechanism
    return [found.other_probability + found.slope * share for share in truth]


def find_true(
    truth: Mapping[str, Sequence[float]], question: ManifestQuestion, row: FigureRow
) -> float:
    """Return the value that an interval must cover."""
    if row.key == "mean" and question.is_rounded:
        return 20 * truth[question.name][1]
    if row.key == "mean":
        return sum((code + 1) * share for code, share in enumerate(truth[question.name]))
    if row.key in ("refused", "not_asked"):
        code = question.refused_code if row.key == "refused" else question.not_asked_code
        return truth[question.gate_name or question.name][code or 0]
    if question.has_items:
        return truth[question.item_name(int(row.key))][1]
    return truth[question.name][int(row.key)]


@pytest.mark.parametrize("mechanism", [Mechanism.LAPLACE, Mechanism.GAUSSIAN])
@pytest.mark.parametrize(("manifest", "people"), [(EVERY_KIND, 130), (SUBSET, 60)])
def test_intervals_cover_the_truth_of_every_kind_of_question(
    manifest: Manifest, people: int, mechanism: Mechanism
) -> None:
    """The coverage is at least .93 wherever the rule shows figures, even for the fewest people."""
    runs, source, codes = 1000, Random(20), np.random.default_rng(20)
    truth = TRUTH if manifest is EVERY_KIND else OF_SUBSET
    names = [one.name for one in manifest.questions]
    symbols = list_symbols(manifest, names)
    hits, shown = Counter[str](), Counter[str]()
    for _ in range(runs):
        release = plan(manifest, *names, epsilon=100)
        if mechanism == Mechanism.GAUSSIAN:
            most = count_most_symbols(manifest, names)
            as_gaussian(release, deviation=Fraction(3 * most, 2), symbols=most, nanos=1000)
        counts = {
            symbol.name: codes.multinomial(
                people * 2 // 3 if manifest.drawn and symbol.block is not None else people,
                shown_shares(symbol, truth[symbol.name]),
            ).tolist()
            for symbol in symbols
        }
        finish(release, {"cells": add_noise(release, counts, source=source)})
        figures = read_figures(release, manifest)
        assert isinstance(figures, TableFigures)
        for question in figures.questions:
            for row in (*question.rows, *([question.mean] if question.mean else [])):
                key = f"{question.question.name} {row.key}"
                hits[key] += row.low <= find_true(truth, question.question, row) <= row.high
                shown[key] += 1
    for key, count in shown.items():
        assert count > runs / 4, key
        least = binom.ppf(1e-6, count, 0.93)
        print(f"{key}: n = {people}, k = {count}, covered {hits[key]}, at least {least:.0f}")
        assert hits[key] >= least, key


@pytest.mark.parametrize("mechanism", [Mechanism.LAPLACE, Mechanism.GAUSSIAN])
@pytest.mark.parametrize("names", [("q1",), ("q1", "q3", "q4"), ("q2",)])
def test_the_margin_holds_the_number_of_people(
    names: tuple[str, ...], mechanism: Mechanism
) -> None:
    runs, source, people = 1000, Random(8), 1000
    inside = 0
    for _ in range(runs):
        release = plan(EVERY_KIND, *names, epsilon=40)
        if mechanism == Mechanism.GAUSSIAN:
            as_gaussian(release, deviation=Fraction(7), symbols=5, nanos=1000)
        counts = {
            symbol.name: [people, *[0] * (symbol.k - 1)]
            for symbol in list_symbols(EVERY_KIND, names)
        }
        finish(release, {"cells": add_noise(release, counts, source=source)})
        figures = read_figures(release, EVERY_KIND)
        assert isinstance(figures, TableFigures)
        assert figures.people is not None
        inside += abs(figures.people - people) <= figures.margin
    least = binom.ppf(1e-6, runs, 0.95)
    print(f"{names}: {inside} of {runs} inside, at least {least:.0f}")
    assert least <= inside < runs


@pytest.mark.parametrize("people", [12, 15, 19])
@pytest.mark.parametrize(("kind", "share"), [(Kind.DECLARED, 0.0), (Kind.YES_NO, 0.3)])
def test_of_too_few_people_few_shares_are_shown_and_wrong(
    kind: Kind, share: float, people: int
) -> None:
    """At b = 2, noise may lift fewer than 20 people above the rule's minimum."""
    runs, source, codes = 2000, Random(people), np.random.default_rng(people)
    manifest = protect(ask("q1", kind, 2))
    [symbol] = manifest.symbols
    shown = wrong = 0
    for _ in range(runs):
        release = plan(manifest, "q1", epsilon=50)
        counts = codes.multinomial(people, shown_shares(symbol, (1 - share, share))).tolist()
        finish(release, {"cells": add_noise(release, {"q1": counts}, source=source)})
        figures = read_figures(release, manifest)
        assert isinstance(figures, TableFigures)
        for row in figures.questions[0].rows:
            if row.key == "1":
                shown += 1
                wrong += not row.low <= share <= row.high
    most = binom.isf(1e-6, runs, 0.04)
    print(f"n = {people}: {shown} of {runs} shown, {wrong} wrong, at most {most:.0f}")
    assert 0 < shown < runs
    assert wrong <= most
