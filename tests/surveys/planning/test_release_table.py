"""What releases cost and how many people they need, in the planner and in the methods."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from django.urls import reverse

from privacy.central.median import median_scores
from privacy.mechanism.mechanisms import RandomizedResponse
from scripts.documentation import methods_releases
from scripts.documentation.methods_releases import score_points, simulate_right
from scripts.stack.stack import ROOT
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.planning.assumptions import MARGIN, SHARE
from surveys.planning.release_table import (
    PEOPLE_FILE,
    RIGHT,
    describe_key_driver_people,
    list_release_lines,
)
from tests.support.factories import make_user
from tests.support.fielding import sign_in
from tests.support.manifests import make_manifest, make_question
from tests.support.reading import text_of

KINDS = (ReleaseKind.LEADER, ReleaseKind.MEDIAN, ReleaseKind.KEY_DRIVER)
RIGHT_IN_9 = "people to be right in 9 of 10 surveys."


@pytest.mark.usefixtures("db", "static_files")
@pytest.mark.parametrize(
    ("flips", "rows"),
    [
        (
            25,
            (
                "Table: 74 990",
                "Leader: 63 870",
                "Median: 63 250",
                "Alert: 63 5,300",
                "Key driver: 63 2,100",
            ),
        ),
        (
            12,
            (
                "Table: 74 377",
                "Leader: 63 290",
                "Median: 63 83",
                "Alert: 63 3,000",
                "Key driver: 63 420",
            ),
        ),
    ],
)
def test_the_planner_says_what_releases_cost(flips: int, rows: tuple[str, ...]) -> None:
    words = text_of(sign_in(make_user()).get(reverse("surveys:plan"), {"flips": flips}))
    for row in rows:
        kind, figures = row.split(": ")
        assert re.search(rf"{kind} [^.]+\. {figures}", words)
    assert f"for one question with {flips} flips of 100" in words
    cheap = ", ".join(f"{kind}: ε = 0.50" for kind in ("Leader", "Median", "Alert", "Key driver"))
    assert f"Table: ε = 1.00, {cheap}." in words


@pytest.mark.parametrize("flips", [1, 49])
def test_every_strength_of_the_planner_has_its_people(flips: int) -> None:
    assert all(line.people > 0 for line in list_release_lines(flips))


def test_the_stored_people_are_those_of_the_methods() -> None:
    people = {
        kind.value: {
            flips: line.people
            for flips in methods_releases.FLIPS
            for line in list_release_lines(flips)
            if line.kind == kind
        }
        for kind in KINDS
    }
    assert methods_releases.write_people(people) == PEOPLE_FILE.read_text("utf-8")
    text = (ROOT / "docs" / "methods" / "planning.md").read_text("utf-8")
    assert methods_releases.write_release_table(people) in text


@pytest.mark.parametrize(
    ("kind", "flips"),
    [
        *product(KINDS[:2], (5, 25)),
        pytest.param(ReleaseKind.KEY_DRIVER, 25, marks=pytest.mark.long),
    ],
)
def test_the_people_are_what_the_simulation_finds(kind: ReleaseKind, flips: int) -> None:
    stored = next(line.people for line in list_release_lines(flips) if line.kind == kind)
    assert stored == methods_releases.find_people(kind, flips)
    # A fifth fewer people are too few; the standard error of the simulation is .001.
    assert (
        simulate_right(kind, flips, stored) >= RIGHT > simulate_right(kind, flips, 8 * stored // 10)
    )


def test_scores_of_many_surveys_are_those_of_one() -> None:
    counts = np.random.default_rng(3).multinomial(60, [0.2] * 5, size=40)
    c = Fraction(1, 7)
    expected = [
        [float(one) for one in median_scores(row, other_probability=c)] for row in counts.tolist()
    ]
    assert score_points(counts.astype(np.float64), float(c)) == pytest.approx(np.array(expected))


def test_a_table_with_these_people_is_right_in_9_of_10_surveys() -> None:
    """Surveys are drawn with the noise of a real table, b = 1; z = 4.9 occurs once in a million."""
    people, runs = list_release_lines(25)[0].people, 20_000
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=25)
    generator = np.random.default_rng(5)
    yes = generator.binomial(
        people, mechanism.other_probability + mechanism.slope * SHARE, size=runs
    )
    a = np.exp(-1.0)
    noise = generator.geometric(1 - a, size=(2, 2, runs))
    cells = np.stack([people - yes, yes]) + noise[0] - noise[1]
    shares = (cells[1] / cells.sum(axis=0) - mechanism.other_probability) / mechanism.slope
    right = float(np.mean(np.abs(shares - SHARE) <= MARGIN))
    assert abs(right - RIGHT) < 4.9 * sqrt(RIGHT * (1 - RIGHT) / runs) + 0.005


@pytest.mark.parametrize(
    ("flips", "people", "said"),
    [
        ((10, 10, 10), 360, f"about 360 {RIGHT_IN_9}"),
        ((10, 10, 10), 359, f"about 360 {RIGHT_IN_9} You expect fewer."),
        ((39, 39, 39), 56_000, f"about 56,000 {RIGHT_IN_9}"),
        ((10, 10, 25), None, f"about 2,100 {RIGHT_IN_9}"),
        ((39, 10, 10), 2_100, f"about 56,000 {RIGHT_IN_9} You expect fewer."),
    ],
)
def test_a_key_driver_needs_the_people_of_its_strongest_question(
    flips: tuple[int, ...], people: int | None, said: str
) -> None:
    names = [f"q{number}" for number in range(1, 4)]
    questions = [make_question(name=name, flips=f) for name, f in zip(names, flips, strict=True)]
    request = ReleaseRequest(
        kind=ReleaseKind.KEY_DRIVER, questions=tuple(names), epsilon_hundredths=100
    )
    manifest = make_manifest(*questions, make_question(name="q4", flips=49))
    found = describe_key_driver_people(request, manifest, people=people)
    assert found == f"At ε = 0.50, a key driver among ten predictors needs {said}"
