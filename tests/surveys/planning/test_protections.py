"""The planner compares ways to protect a survey, and states what publishing it would cost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.level import Z_95
from privacy.planning.protections import Protection
from surveys.planning.plan_input import PlanInput
from surveys.planning.planner import Plan
from surveys.planning.protections import PUBLISHED, compare_protections, cost_of_publication
from tests.support.factories import make_user
from tests.support.fielding import sign_in
from tests.support.reading import text_of

SENTENCE = (
    "Central noise is cheaper because you trust us with the truth. Murmur does not offer that for "
    "sensitive answers."
)


@pytest.fixture
def client(db: None, static_files: None) -> Client:
    return sign_in(make_user())


def visible(response: Any) -> str:
    """Return the text of the page while all disclosures are closed."""
    html = re.sub(r"<details.*?</details>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.split())


def read(client: Client, **query: Any) -> Any:
    return client.get(reverse("surveys:plan"), query)


def test_the_ways_stand_side_by_side_for_the_same_people(client: Client) -> None:
    response = read(client, people=1000, margin="3.92")
    words = text_of(response)
    # 1.96 times .012649, .012714, .013993 and .030166; ±3.92 is a standard error of .02.
    assert "No protection ±2.5 points 400 people for ±3.9" in words
    assert "Central noise ±2.5 points 411 people for ±3.9" in words
    assert "Shuffled reports ±2.7 points 557 people for ±3.9" in words
    assert "Scrambled on the device Murmur ±5.9 points 2,275 people for ±3.9" in words
    # One question at ε = 1: b = 1, v = 1.8413. With λ = .35, .91/n + v (.65² + .35²)/(.25 n²) is
    # .02² for n = 2,279.3, and the square of .030233 for n = 1,000.
    assert "Scrambled, with a protected table Murmur ±5.9 points 2,280 people for ±3.9" in words
    assert SENTENCE in words
    assert "“Us” means the people who run the server" in words.partition(SENTENCE)[2][:60]
    html = response.content.decode()
    assert html.count("way-ours") == 2
    for trusted in (
        "The server, and every reader",
        "Only the person’s own device",
        "The person’s own device with the answers, the server with the noise",
    ):
        assert trusted in words


def test_the_picture_has_the_intervals_and_its_figures_as_text(client: Client) -> None:
    html = read(client, people=1000).content.decode()
    section = html.partition('id="protections-title"')[2].partition("</section>")[0]
    # The axis runs from 10 to 30 %; ±2.479 points around 20 % are 50 ±12.4 % of its length.
    places = re.findall(r'whisker" x1="([\d.]+)%" x2="([\d.]+)%"', section)
    ends = [float(end) for place in places for end in place]
    widths = (12.40, 12.46, 13.71, 29.56, 29.63)
    expected = [end for width in widths for end in (50 - width, 50 + width)]
    assert ends == pytest.approx(expected, abs=0.01)
    assert section.count('aria-hidden="true"') == len(places) == 5
    assert "<span>10\N{NO-BREAK SPACE}%</span><span>30\N{NO-BREAK SPACE}%</span>" in section
    assert "style=" not in section


def test_our_way_has_the_figures_of_the_verdict() -> None:
    for given_input in (PlanInput(), PlanInput(options=5, flips=12), PlanInput(part=0.3, people=9)):
        comparison = compare_protections(given_input)
        assert comparison is not None
        ours = next(line for line in comparison.lines if line.is_ours)
        plan = Plan(given=given_input)
        assert ours.margin == pytest.approx(plan.margin_at_end, rel=1e-6)
        assert ours.people == plan.people_at_end


def test_shuffling_is_left_out_for_more_than_two_answers(client: Client) -> None:
    comparison = compare_protections(PlanInput(options=3))
    assert comparison is not None
    ways = [line.protection for line in comparison.lines]
    assert ways == [Protection.NONE, Protection.CENTRAL, Protection.LOCAL, Protection.LOCAL]
    assert "Shuffled reports are left out: what they hide" in visible(read(client, options=3))
    assert "left out" not in text_of(read(client))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"part": 50}, "its price is worked out only if every person gets all questions."),
        # Five questions at ε = 1: b = 5.
        ({"questions": 5, "people": 49}, "it shows nothing with fewer than 50 people."),
    ],
)
def test_a_protected_table_that_is_left_out_has_a_reason(
    client: Client, query: dict[str, Any], reason: str
) -> None:
    page = read(client, **query)
    assert f"A protected table is left out: {reason}" in visible(page)
    assert PUBLISHED not in text_of(page)


@pytest.mark.parametrize("given_input", [PlanInput(), PlanInput(questions=12, people=5000)])
def test_the_people_of_a_protected_table_are_the_fewest(given_input: PlanInput) -> None:
    comparison = compare_protections(given_input)
    assert comparison is not None
    [published] = [line for line in comparison.lines if line.name == PUBLISHED]
    margins = []
    for people in (published.people, published.people - 1):
        cost = cost_of_publication(replace(given_input, people=people))
        assert cost is not None
        margins.append(Z_95 * cost.parts.total)
    assert margins[0] <= given_input.margin < margins[1]


@pytest.mark.parametrize("query", [{"refusing": 5}, {"asked": 30}, {"figure": "mean"}])
def test_what_no_formula_covers_is_not_compared(client: Client, query: dict[str, Any]) -> None:
    assert "Compare protections" not in text_of(read(client, **query))
    assert "Compare protections" in text_of(read(client))


@pytest.mark.parametrize(
    ("questions", "people", "words"),
    [
        # Two coins at ε = 1, b = q: v = 7.835 for two questions. With λ = .35 and n = 1,000,
        # sqrt(1 + 7.835 (.65² + .35²)/(1,000 · .35 · .65)) is 1.0093.
        (
            2,
            1000,
            "Protected publication of all 2 codes, ε = 1.00 widens the interval by 0.9 %",
        ),
        (1, 400, "Protected publication of the result, ε = 1.00 widens the interval by 0.5 %"),
        (1, 10**6, "widens the interval by less than 0.1 %"),
        # Gaussian from nine on, σ = 3 · 4.2247: sqrt(1 + 160.6 · .545/(100 · .2275)) is 2.20.
        (9, 100, "widens the interval by 120 %"),
        (5, 49, "shows nothing with fewer than 50 people"),
    ],
)
def test_the_plan_says_what_a_protected_publication_costs(
    client: Client, questions: int, people: int, words: str
) -> None:
    assert words in text_of(read(client, questions=questions, people=people))


@pytest.mark.parametrize("query", [{"refusing": 5}, {"part": 50}])
def test_no_price_of_publication_where_it_is_not_worked_out(
    client: Client, query: dict[str, Any]
) -> None:
    assert "Protected publication" not in text_of(read(client, **query))


@settings(deadline=None, max_examples=60)
@given(
    share=st.integers(1, 999),
    margin=st.integers(5, 490),
    people=st.integers(1, 10**8),
    flips=st.integers(1, 49),
    options=st.integers(2, 64),
    questions=st.integers(1, 100),
    part=st.integers(1, 100),
)
def test_whatever_the_form_accepts_can_be_compared(
    share: int, margin: int, people: int, flips: int, options: int, questions: int, part: int
) -> None:
    given_input = PlanInput(
        share=share / 1000,
        margin=margin / 1000,
        people=people,
        flips=flips,
        options=options,
        questions=questions,
        part=part / 100,
    )
    comparison = compare_protections(given_input)
    assert comparison is not None
    assert 0 <= comparison.axis.least < comparison.axis.greatest <= 1
    for line, whisker in comparison.rows:
        assert whisker
        assert 0 <= whisker.low <= whisker.value <= whisker.high <= 1
        assert line.people >= 1
    cost = cost_of_publication(given_input)
    assert (cost is None) == (part < 100)
    assert cost is None or cost.widening > 0
