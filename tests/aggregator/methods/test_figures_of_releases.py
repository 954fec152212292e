"""The figures that the methods state for releases are those that the code computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, log

import pytest

from privacy.central.attacks import needle_success, success_bound
from privacy.central.audit import audited_epsilon
from privacy.central.calibration import choose_table_noise
from privacy.central.composition import advanced_sum, group_delta, zcdp_epsilon
from privacy.central.median import median_scores, median_sensitivity
from privacy.central.noise import discrete_laplace_variance, simultaneous_bound
from privacy.central.reader import exact_count_epsilon, reader_epsilon, strength_for_reader
from privacy.central.selection import (
    exponential_mechanism_probabilities,
    permute_and_flip_probabilities,
    selection_bound,
)
from privacy.central.table import table_interval, table_standard_error
from privacy.level import Z_95
from privacy.mechanism.composition_with_delta import exact_composition
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.protections import (
    Protection,
    people_for_protected_standard_error,
    protected_standard_error,
)
from scripts.stack.stack import ROOT
from surveys.planning.plan_input import PlanInput
from surveys.planning.protections import PUBLISHED, compare_protections

CHAPTERS = ("releases", "choices", "drawing-and-checking", "planning")
TEXT = "\n".join(
    (ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8") for name in CHAPTERS
)
WORDS = " ".join(TEXT.split())
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
DELTA = 1e-6


def rows_of(section: str) -> list[list[str]]:
    """Return the rows of the tables of a section, without their headers."""
    body = TEXT.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in body.splitlines() if line.startswith("|")]
    return [row for row in rows if set("".join(row)) - set("-|")]


def short(value: float, digits: int = 3) -> str:
    """Write a number such as .125 without its leading zero, as the document does."""
    return f"{value:.{digits}f}".removeprefix("0")


def test_the_sums_of_the_ledger() -> None:
    for count, epsilon, row in zip(
        (200, 52, 12), (0.05, 0.1, 0.5), rows_of("Ledger")[1:], strict=True
    ):
        epsilons = [epsilon] * count
        rho = sum(each**2 / 2 for each in epsilons)
        assert row[0] == f"{count} of {f'{epsilon:g}'.removeprefix('0')}"
        assert float(row[2]) == pytest.approx(count * epsilon)
        assert row[3:] == [
            short(advanced_sum(epsilons=epsilons, delta=DELTA)),
            short(zcdp_epsilon(rho=rho, delta=DELTA)),
            short(exact_composition(epsilons=epsilons, delta=DELTA)),
        ]
    three = group_delta(epsilon=0.5, delta=DELTA, people=3)
    assert f"that is 1.5 and ${three * 1e6:.1f} \\cdot 10^{{-6}}$" in WORDS


def test_the_example_of_a_protected_table() -> None:
    variance = discrete_laplace_variance(scale=2)
    channel = {"other_probability": 0.25, "slope": 0.5, "noise_variance": variance}
    parts = table_standard_error(share=0.3, people=1000, mechanism_k=2, **channel)
    assert (
        f"the standard error is {short(parts.total, 4)}, of which people are "
        f"{short(parts.people, 4)}, scrambling {short(parts.scrambling, 4)} and publication "
        f"{short(parts.publication, 4)}"
    ) in WORDS
    without = (parts.people**2 + parts.scrambling**2) ** 0.5
    widening = short(100 * (parts.total / without - 1), 1)
    assert f"it is {short(without, 4)}, so publication widens the interval by {widening} %" in WORDS
    found = table_interval(count=405, people=1003, codes=2, **channel)
    assert (
        f"give {100 * float(found.share):.1f} %, from {100 * float(found.low):.1f} to "
        f"{100 * float(found.high):.1f} %"
    ) in WORDS
    bound = simultaneous_bound(scale=10, cells=10)
    assert f"no count is off by more than {ceil(bound)}." in WORDS


def test_gaussian_noise_is_chosen_from_nine_symbols_on() -> None:
    kinds = [
        choose_table_noise(symbols=each, epsilon=Fraction(1), delta=DELTA).mechanism
        for each in (8, 9)
    ]
    assert kinds == ["laplace", "gaussian"]
    assert (
        "that is Laplace noise for tables with up to 8 symbols, and Gaussian noise from 9 on"
        in WORDS
    )


def test_what_readers_learn() -> None:
    rows = rows_of("Epsilon for readers")[1:]
    for symbols, local, row in zip((2, 3, 5, 16), (log(3), log(3), 1, 2), rows, strict=True):
        mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=local)
        losses = (0.1, 0.25, 0.5, 1, 2)
        expected = [short(reader_epsilon(mechanism=mechanism, epsilon=each)) for each in losses]
        assert row == [f"{symbols}, {'ln 3' if local == log(3) else local}", *expected]
    ten = 10 * reader_epsilon(mechanism=COINS, epsilon=2 / 10)
    assert f"readers learn at most {short(ten)} about all ten answers" in WORDS


def test_what_readers_of_exact_results_learn() -> None:
    header, row = rows_of("Exact results for readers")
    people = [int(cell.replace(",", "")) for cell in header[1:]]
    found = [exact_count_epsilon(mechanism=COINS, people=each, delta=DELTA) for each in people]
    assert row[1:] == [short(each) for each in found]


@pytest.mark.parametrize(
    ("place", "find"),
    [(1, permute_and_flip_probabilities), (3, exponential_mechanism_probabilities)],
)
def test_how_often_each_option_leads(place: int, find: Callable[..., list[float]]) -> None:
    found = find([52, 50, 45, 40], rate=Fraction(1, 2))
    assert rows_of("Leader")[place][1:] == [short(each) for each in found]


def test_the_example_of_a_median() -> None:
    c = Fraction(1, 7)
    scores = median_scores((15, 20, 25, 25, 15), other_probability=c)
    sensitivity = median_sensitivity(5, other_probability=c)
    written = [f"{float(score):.1f}".replace("-", "−").removesuffix(".0") for score in scores]
    assert f"the scores are {', '.join(written[:4])} and {written[4]}" in WORDS
    assert f"$\\Delta = {sensitivity}$" in WORDS
    chances = permute_and_flip_probabilities(scores, rate=Fraction(1, 4) / sensitivity)
    bound = selection_bound(sensitivity=sensitivity, epsilon=0.5, candidates=5, level=1 - exp(-3))
    assert f"with probability {short(float(chances[2]))}, and with 95 % probability its" in WORDS
    assert f"within {bound:.1f} reports of the best" in WORDS


def test_the_figures_of_all_protections() -> None:
    errors, people = [], []
    for protection in Protection:
        given = {"protection": protection, "share": 0.2, "epsilon": log(3)}
        errors.append(short(protected_standard_error(**given, people=1000), 4))  # type: ignore[arg-type]
        people.append(f"{people_for_protected_standard_error(**given, standard_error=0.02):,}")  # type: ignore[arg-type]
    assert (
        f"the standard errors are {errors[0]} with none, {errors[1]} with central noise, "
        f"{errors[2]} shuffled and {errors[3]} with scrambling"
    ) in WORDS
    assert f"they take {', '.join(people[:3])} and {people[3]} people" in WORDS
    comparison = compare_protections(PlanInput(share=0.2, people=1000, margin=0.02 * Z_95))
    assert comparison is not None
    published = comparison.lines[-1]
    assert published.name == PUBLISHED
    assert (
        f"its standard error is also {short(published.margin / Z_95, 4)}, "
        f"and a standard error of .02 takes {published.people:,} people"
    ) in WORDS
    weaker = [
        strength_for_reader(people=each, epsilon=0.5, delta=DELTA) for each in (500, 1000, 5000)
    ]
    assert (
        f"$\\varepsilon_L = {weaker[0]:.2f}$ with 500 people, {weaker[1]:.2f} with 1,000 and "
        f"{weaker[2]:.2f} with 5,000"
    ) in WORDS


def test_how_often_attackers_are_right() -> None:
    bound, one, ten = (
        success_bound(epsilon=0.5),
        needle_success(symbols=1, scale=2),
        needle_success(symbols=10, scale=20),
    )
    assert bound == pytest.approx(one)
    assert f"at $\\varepsilon = .5$ that is {100 * bound:.0f} %" in WORDS
    assert re.search(
        rf"right in {100 * one:.0f} % of cases with one.* {100 * ten:.0f} % with ten", WORDS
    )


def test_the_example_of_an_audit() -> None:
    found = audited_epsilon(hits=62_246, other_hits=37_754, runs=100_000)
    assert f"62,246 and 37,754, $\\hat \\varepsilon = {short(found)}$" in WORDS
