"""The words below a release, and the sentences for readers of exact results."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from aggregator.models import Release
from aggregator.releases.sentences import (
    describe_exact_readers,
    list_lines,
    promise,
    write_scale,
)
from surveys.manifest.question_types import QuestionType as Kind
from surveys.manifest.releases import ReleaseKind
from tests.aggregator.routed import ask, yes
from tests.support.manifests import make_manifest, protect
from tests.support.releases.stored import as_gaussian, finish, plan

ROOT = Path(__file__).parents[3]


EVERY = protect(
    ask("q1", Kind.YES_NO),
    ask("q2", Kind.DECLARED, 3),
    ask("q3", Kind.SCALE, 5, minimum=1, maximum=5),
)


def lines_of(release: Release, *, spent: int | None = None) -> dict[str, str]:
    total = release.epsilon_hundredths if spent is None else spent
    return {line.name: line.text for line in list_lines(release, EVERY, spent_hundredths=total)}


def test_lines_have_one_order_and_lead_to_the_methods() -> None:
    lines = list_lines(plan(EVERY, "q1"), EVERY, spent_hundredths=100)
    assert [(line.name, line.anchor) for line in lines] == [
        ("Took part", "two-promises"),
        ("About answers, to readers", "epsilon-for-readers"),
        ("Spent", "ledger"),
        ("Mechanism", "protected-table"),
    ]


def test_a_table_with_laplace_noise() -> None:
    release = finish(plan(EVERY, "q1", epsilon=50), {"cells": {"q1": [1, 2]}})
    assert lines_of(release) == {
        "Took part": "ε = 0.50",
        "About answers, to readers": "ε = 0.48 at most (server: 1.10)",
        "Spent": "0.50 of the 3.00 that this survey may spend",
        "Mechanism": (
            "Discrete Laplace noise of scale 2 on every count, drawn once by OpenDP 0.16.0"
        ),
    }
    assert "all releases together 0.80" in lines_of(release, spent=80)["Spent"]
    assert promise(release, EVERY) == (
        "With this release alone, a guess about whether a given person took part is right at most "
        "63 times in 100, instead of 50. This holds if at least 10 others took part."
    )


def test_a_table_with_gaussian_noise_adds_its_delta_to_the_chance() -> None:
    release = as_gaussian(plan(EVERY, "q1"), deviation=Fraction(9, 2), symbols=1, nanos=1000)
    lines = lines_of(release)
    assert lines["Took part"] == "ε = 1.00, δ = 10⁻⁶"
    assert "δ = 10⁻⁶" in lines["About answers, to readers"]
    assert lines["Mechanism"] == (
        "Discrete Gaussian noise with a standard deviation of 4.5 on every count, drawn once"
    )
    # δ adds less than a tenth to 73.1.
    assert "right at most 74 times in 100, instead of 50." in promise(release, EVERY)


def test_the_answer_about_which_readers_learn_most_is_named() -> None:
    text = lines_of(plan(EVERY, "q1", "q2", epsilon=50))["About answers, to readers"]
    assert text == "ε = 0.50 about Q2 at most (the server has this answer as it is)"


def test_a_float_a_little_above_a_hundredth_is_that_hundredth() -> None:
    text = lines_of(plan(EVERY, "q2", epsilon=55))["About answers, to readers"]
    assert text.startswith("ε = 1.10 at most")


def test_choices_name_their_scale_in_reports() -> None:
    leader = plan(EVERY, "q2", kind=ReleaseKind.LEADER, epsilon=50)
    assert "exponential noise of scale 2, drawn once" in lines_of(leader)["Mechanism"]
    median = plan(EVERY, "q3", kind=ReleaseKind.MEDIAN, epsilon=50)
    # 2 × 1.429 / .5: a report moves a score by 10/7, rounded up to thousandths.
    assert "exponential noise of scale about 5.72, drawn once" in lines_of(median)["Mechanism"]


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        ("2", "2"),
        ("89/5", "17.8"),
        ("10/3", "about 3.33"),
        ("387/16", "about 24.2"),
        ("8750/3", "about 2,917"),
        ("12345", "12,345"),
    ],
)
def test_scales_are_numbers(scale: str, text: str) -> None:
    assert write_scale(Fraction(scale)) == text


def test_readers_of_exact_results_see_counts_only() -> None:
    manifest = replace(make_manifest(ask("q1", Kind.YES_NO)), display_minimum=100)
    assert describe_exact_readers(manifest) == (
        "Readers of this page learn at most ε = 0.56, δ = 10⁻⁶ about an answer if at least 100 "
        "people answered honestly, because readers see counts only. The server learns at most ε = "
        "1.10. If anyone publishes rows of reports, readers learn as much as the server."
    )


def test_where_only_the_scrambling_protects_it_is_said() -> None:
    manifest = replace(
        make_manifest(
            ask("q1", Kind.YES_NO), ask("q2", Kind.YES_NO, rule=yes("q1")), ask("q3", Kind.YES_NO)
        ),
        display_minimum=100,
    )
    text = describe_exact_readers(manifest)
    assert "ε = 0.56, δ = 10⁻⁶ about the answer to Q3 if" in text
    assert "about the answer to Q1 or Q2. The server learns as much" in text


def test_nothing_scrambled_is_nothing_to_say() -> None:
    assert describe_exact_readers(make_manifest(ask("q1", Kind.DECLARED, 3))) == ""


# Matches words that contradict facts: δ is not the chance of an exception, noise hides nothing
# completely, and the chance that a guess is right has an upper limit.
FALSE = re.compile(
    r"except with (a )?probability|exceptions (of|with|to)|an exception were|accept a chance"
    r"|million that more|(noise,? (which|that)|Releases) hide|Leads:|In the middle:"
    r"|people (away )?from the middle|with as many answers below|in 95 of 100|true leader with"
)
SPEAKING = ("templates", "aggregator", "surveys", "docs/methods", "docs/glossary.md", "README.md")


def test_no_page_and_no_chapter_says_what_is_false_about_a_release() -> None:
    files = [
        file
        for place in SPEAKING
        for file in [ROOT / place, *(ROOT / place).rglob("*")]
        if file.suffix in {".py", ".html", ".md"}
    ]
    found = {
        file.relative_to(ROOT): match[0]
        for file in files
        # Strings and sentences may continue on the next line.
        for match in FALSE.finditer(re.sub(r'\s*"\s+f?"\s*|\s+', " ", file.read_text()))
    }
    assert not found
