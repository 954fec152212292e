"""The planner: its table and verdict, what an attacker can infer, and bad input."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.level import Z_95
from surveys.authoring.drafts import build_manifest
from surveys.authoring.forms import PlanForm
from surveys.authoring.services import add_question
from surveys.models import Question
from surveys.planning.people_needed import people_needed
from surveys.planning.plan_input import PlanInput
from surveys.planning.plan_sentences import describe_assumption, describe_verdict, list_warnings
from surveys.planning.planner import Plan
from surveys.planning.planner_links import plan_for
from tests.support.factories import make_survey, make_user
from tests.support.fielding import sign_in
from tests.support.reading import text_of

# Flips, ε rounded up, people for ±5 at 5, 20 and 50 % and for ±2 at 20 %, design effect at 20 %,
# and true Yes among Yes codes at 1, 10 and 50 %.
TABLE = """
40 | 0.41 | 9,293 | 9,466 | 9,604 | 59,159 | 38.5× | 1 / 14 / 60 %
33 | 0.71 | 3,012 | 3,185 | 3,324 | 19,905 | 13.0× | 2 / 18 / 67 %
25 | 1.10 | 1,226 | 1,399 | 1,537 | 8,740 | 5.7× | 3 / 25 / 75 %
20 | 1.39 | 756 | 929 | 1,068 | 5,805 | 3.8× | 4 / 31 / 80 %
12 | 2.00 | 354 | 527 | 666 | 3,293 | 2.1× | 7 / 45 / 88 %
5 | 2.95 | 164 | 336 | 475 | 2,100 | 1.4× | 16 / 68 / 95 %
"""


@pytest.fixture
def client(db: None, static_files: None) -> Client:
    return sign_in(make_user())


def read(client: Client, **query: Any) -> Any:
    return client.get(reverse("surveys:plan"), query)


def rows_of(html: str, table: str) -> list[list[str]]:
    body = html.partition(f'id="{table}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            for cell in re.split(r"</t[hd]>", row)[:-1]
        ]
        for row in body.split("</tr>")[:-1]
    ]


def test_the_table_of_strengths_has_the_expected_figures(client: Client) -> None:
    rows = rows_of(read(client).content.decode(), "strengths")
    expected = [line.split(" | ") for line in TABLE.strip().splitlines()]
    rows[2][0] = rows[2][0].removesuffix(" chosen")
    # The third column is ± with 400 people; the fourth, people for ±5 at 20 %, is not repeated.
    assert [[*row[:2], row[4], row[3], *row[5:]] for row in rows] == expected
    assert rows[2][2] == "±9.3 points"


def test_the_verdict_has_the_expected_figures(client: Client) -> None:
    words = text_of(read(client))
    assert (
        "With 400 people and 25 flips of 100, you can only say “between 11 % and 29 %” if the true "
        "share is 20 %. For ±5 points, you need about 1,400 people, or 12 flips of 100 and about "
        "530 people (medium protection)."
    ) in words
    assert "for one look (normal approximation). The end is fixed before the survey opens" in words


def test_several_questions_may_share_the_budget(client: Client) -> None:
    response = read(client, questions=5, people=10_000)
    words = text_of(response)
    assert "5.50" in words  # 5 ln 3, rounded up
    assert "The total ε is above" not in words
    # docs/methods, "Splitting a budget", q = 5: .0095, .0456 and .0213, times 1.96.
    assert [row[2] for row in rows_of(response.content.decode(), "budgets")] == [
        "±1.9 points",
        "±8.9 points",
        "±4.2 points",
    ]


def test_watching_needs_more_people_and_the_verdict_says_so(client: Client) -> None:
    html = read(client, closing="watched", people=1400).content.decode()
    assert re.search(r'id="people-watched">\s*1,913', html)
    words = text_of(read(client, closing="watched", people=1400))
    assert "For ±5 points, you need about 1,900 people" in words
    assert "95 % intervals for all looks together, if you expect this many people." in words
    assert "The settings of the survey must say that you expect this many people." in words


def test_the_verdict_says_if_there_are_enough_people(client: Client) -> None:
    assert "That is as precise as you wanted (±5 points)." in text_of(read(client, people=1400))


def test_refusals_make_results_less_precise() -> None:
    plan = Plan(given=PlanInput(refusal=True, refusing=0.05, people=1941))
    assert plan.people_at_end == 1941
    assert plan.margin_at_end == pytest.approx(0.05, abs=1e-4)
    assert plan.mechanism.symbols == 3
    watched = Plan(given=PlanInput(refusal=True, refusing=0.05, people=1941, watched=True))
    assert watched.margin == pytest.approx(0.0579, abs=5e-5)
    assert watched.people_needed == watched.people_watched == 2604
    assert "all intervals hold together" in describe_assumption(watched)
    # Results that ignore refusals are not shown.
    assert watched.people_per_group is None
    assert Plan(given=PlanInput(refusal=True, questions=3)).budgets == []
    assert plan.design_effect > Plan(given=PlanInput()).design_effect


def test_a_rule_makes_results_less_precise() -> None:
    plan = Plan(given=PlanInput(rule=True, asked=0.3))
    # 30 % of 2,000 people are asked, and there is a code for "not asked" (docs/methods,
    # "Follow-ups"). Who was asked is known from the question that decides.
    wide = Plan(given=PlanInput(rule=True, asked=0.3, people=2000)).margin_at_end
    assert wide / Z_95 == pytest.approx(0.0585, abs=5e-5)
    # Everyone is asked, but there is a code for "not asked". It costs as much as an unused refusal,
    # minus what the deciding question reveals about who was asked.
    everybody = Plan(given=PlanInput(rule=True, asked=1.0)).people_at_end
    unused = Plan(given=PlanInput(refusal=True, refusing=0)).people_at_end
    assert 0.98 * unused < everybody < unused
    both = Plan(given=PlanInput(rule=True, asked=0.3, refusal=True))
    assert both.mechanism.symbols == 4
    assert both.people_at_end > plan.people_at_end > everybody
    assert both.people_watched > both.people_at_end
    assert "among those who answer, 30 % are asked, and 5 % of them prefer not to say" in (
        describe_verdict(both).replace("\N{NO-BREAK SPACE}", " ")
    )


def test_the_plan_says_what_an_attacker_can_infer(client: Client) -> None:
    words = text_of(read(client, share=10))
    assert "10 % of people 25 %" in words
    assert "by a factor of at most 3" in words
    assert "75 % of the time" in words
    # docs/methods, "Shuffling": with n = 50, the ε of one question falls from 1.099 to .871.
    shuffled = "question has ε = 0.88 with δ = one in a million"
    assert shuffled in words


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ({"flips": 8}, "the protection is light: someone who saw a code could guess the answer"),
        ({"flips": 5}, "an answer is hardly protected"),
        ({"questions": 6}, "The total ε is above 5.5"),
        ({"people": 30, "margin": 45}, "nothing would be sealed"),
        ({"people": 60}, "nothing would be shown"),
        ({"people": 50}, "would reach down to 0"),
        ({"people": 50, "share": 95}, "would reach up to 100 %"),
        ({"people": 20, "flips": 40}, "you would learn nothing"),
        ({"questions": 19}, "refuse a total ε above 20"),
        (
            {"options": 20, "flips": 25},
            "For this strength, 20 codes are many. The question takes 2.4 times",
        ),
    ],
)
def test_a_plan_shows_its_warning(client: Client, query: dict[str, Any], warning: str) -> None:
    assert warning in text_of(read(client, **query))


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ({"share": "0"}, "Enter the expected share as a number from 0.1 to 99.9."),
        ({"share": "one fifth"}, "Enter the expected share as a number from 0.1 to 99.9."),
        ({"share": "1e5"}, "Enter the expected share as a number from 0.1 to 99.9."),
        ({"share": "NaN"}, "Enter the expected share as a number from 0.1 to 99.9."),
        ({"margin": "-5"}, "Enter the precision as a number from 0.5 to 49."),
        ({"margin": "0.123456789"}, "Enter the precision as a number from 0.5 to 49."),
        ({"people": "0"}, "Enter the number of people as a whole number from 1 to 100,000,000."),
        ({"people": "1e9"}, "Enter the number of people as a whole number from 1 to 100,000,000."),
        ({"flips": "50"}, "Enter the flips as a whole number from 1 to 49."),
        ({"flips": "0"}, "Enter the flips as a whole number from 1 to 49."),
        ({"questions": "101"}, "Enter the number of questions as a whole number from 1 to 100."),
        ({"options": "1"}, "Enter the number of answers as a whole number from 2 to 64."),
        ({"options": "63", "refusing": "5", "asked": "9"}, "Enter at most 62 answers."),
        ({"figure": "sum"}, "Choose a share or a mean."),
        (
            {"figure": "mean", "options": "5"},
            "rounded to one of the two ends of its range. Enter 2.",
        ),
        ({"asked": "0"}, "Enter the percentage who are asked as a number from 1 to 99.9."),
        ({"closing": "never"}, "Choose one of the endings in the list."),
        (
            {"refusing": "100"},
            "Enter the percentage who prefer not to say as a number from 0 to 90.",
        ),
    ],
)
def test_bad_input_says_what_to_enter(client: Client, query: dict[str, str], advice: str) -> None:
    response = read(client, **query)
    assert response.status_code == 422
    words = text_of(response)
    assert "There is a problem" in words
    assert words.count(advice) == 2, "in the summary and at the field"
    assert "Is that enough people?" not in words


def test_a_decimal_comma_is_understood(client: Client) -> None:
    assert "7.5 %" in text_of(read(client, share="7,5"))


def test_collapsed_fields_stay_open_while_they_have_an_effect(client: Client) -> None:
    assert "<details >" in read(client).content.decode()
    response = read(client, refusing="5")
    assert "<details open>" in response.content.decode()
    assert "among those who answer, and 5 % prefer not to say" in text_of(response)


def test_a_draft_is_planned_by_the_people_that_each_question_needs(client: Client) -> None:
    """A rule costs more than many answers, although the mechanism alone seems more precise."""
    owner = make_user("author@example.org")
    survey = make_survey(owner=owner, questions=("Ever?",), cap=20_000)
    add_question(
        survey=survey,
        text="Which?",
        type=Question.Type.CHOICE,
        options=[str(number) for number in range(6)],
    )
    rule = {"name": str(survey.questions.all()[0].pk), "is": [1]}
    options = ["a", "b", "c", "d"]
    add_question(survey=survey, text="Who?", type=Question.Type.CHOICE, options=options, rule=rule)
    manifest = build_manifest(survey=survey, wave_number=1)
    plan = plan_for(manifest)
    assert plan is not None
    assert plan.number == 3
    assert plan.query["asked"] == 50
    needed = people_needed(manifest, manifest.questions[2])
    [shown] = [
        int(found.replace(",", ""))
        for found in re.findall(
            r"you need about ([\d,]+) people",
            text_of(read(client, **{**plan.query, "people": 1000})),
        )
    ]
    assert shown == pytest.approx(needed, rel=0.01)


def test_there_is_no_warning_if_there_are_enough_people(client: Client) -> None:
    words = text_of(read(client, share=5, margin=10, people=400))
    assert "as precise as you wanted" in words
    assert "too few people" not in words


@pytest.mark.parametrize(
    ("cap", "query"),
    [
        (None, "questions=3&amp;flips=40&amp;closing=watched"),
        (1500, "questions=3&amp;flips=40&amp;closing=fixed&amp;people=1500"),
    ],
)
def test_a_draft_passes_its_least_precise_question_and_its_end_to_the_planner(
    client: Client, cap: int | None, query: str
) -> None:
    survey = make_survey(owner=make_user("author@example.org"), flips=20, cap=cap)
    add_question(survey=survey, text="Stronger?", flips=40)
    page = sign_in(survey.owner).get(reverse("surveys:edit", args=[survey.slug]))
    assert f'{reverse("surveys:plan")}?{query}"' in page.content.decode()


@settings(deadline=None)
@given(
    share=st.integers(1, 999),
    margin=st.integers(5, 490),
    people=st.integers(1, 10**8),
    flips=st.integers(1, 49),
    options=st.integers(2, 62),
    refusing=st.one_of(st.just(""), st.integers(0, 90).map(str)),
    asked=st.one_of(st.just(""), st.integers(1, 99).map(str)),
    difference=st.integers(5, 900),
    closing=st.sampled_from(["fixed", "watched"]),
)
def test_whatever_the_form_accepts_can_be_planned(
    share: int,
    margin: int,
    people: int,
    flips: int,
    options: int,
    refusing: str,
    asked: str,
    difference: int,
    closing: str,
) -> None:
    form = PlanForm.from_query(
        {
            "share": str(share / 10),
            "margin": str(margin / 10),
            "people": str(people),
            "flips": str(flips),
            "questions": "3",
            "options": str(options),
            "refusing": refusing,
            "asked": asked,
            "difference": str(difference / 10),
            "closing": closing,
        }
    )
    assert form.is_valid(), form.errors
    plan = Plan(given=form.read())
    assert describe_verdict(plan)
    assert describe_assumption(plan)
    assert plan.total_epsilon >= plan.composed_epsilon
    assert plan.people_needed >= 1
    for line in plan.strengths:
        assert line.design_effect >= 1
    assert list_warnings(plan) is not None
    assert plan.people_per_group is None or plan.people_per_group >= 1
    assert all(line.margin > 0 for line in plan.budgets)
