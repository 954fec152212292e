"""The start page, the list of problems and the guide to the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aggregator.problems import ALL_PROBLEMS
from aggregator.views.home import PAGE_SIZE
from surveys.authoring.services import add_question
from surveys.models import Question
from tests.support.factories import make_launched_survey, make_survey, make_user
from tests.support.fielding import field, sign_in
from tests.support.reading import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def test_visitors_see_the_claim_and_the_special_case() -> None:
    words = text_of(Client().get("/"))
    assert "Hear the crowd, never the person." in words
    assert "2n′/n − ½" in words
    assert "Sign in" in words
    assert "nonymous" not in words


def test_a_new_researcher_is_invited_to_create_a_survey() -> None:
    response = sign_in(make_user()).get("/")
    assert "No surveys yet" in text_of(response)
    assert reverse("surveys:create") in response.content.decode()


def test_a_researchers_surveys_are_listed_with_state_and_sealed_reports() -> None:
    owner = make_user()
    make_survey(owner=owner, title="A draft")
    make_launched_survey(
        owner=owner, title="For later", opens_at=timezone.now() + timedelta(days=9)
    )
    make_launched_survey(owner=owner, title="Running")
    field(make_launched_survey(owner=owner, title="Done"), yes=[20, 20], total=1234)
    make_survey(title="Somebody else's")
    words = text_of(sign_in(owner).get("/"))
    for line in ("Draft A draft", "Opens later For later", "Open Running", "Closed Done"):
        assert line in words
    assert "1,234 sealed reports" in words
    assert "Somebody else" not in words


def test_a_long_list_is_divided_into_pages() -> None:
    owner = make_user()
    for number in range(PAGE_SIZE + 1):
        make_survey(owner=owner, title=f"Survey {number}", questions=[])
    client = sign_in(owner)
    assert "Survey 0 " not in text_of(client.get("/"))
    assert "Survey 0 " in text_of(client.get("/?page=2"))
    assert client.get("/?page=nonsense").status_code == 200


@pytest.mark.parametrize("surveys", [1, 6])
def test_the_number_of_queries_does_not_grow_with_the_surveys(
    surveys: int, django_assert_num_queries: Any
) -> None:
    owner = make_user()
    for _ in range(surveys):
        make_launched_survey(owner=owner)
    client = sign_in(owner)
    with django_assert_num_queries(5):  # session, user, count, surveys, waves
        client.get("/")


def test_every_problem_has_one_line_and_one_address() -> None:
    page = Client().get(reverse("aggregator:problems")).content.decode()
    slugs = [problem.slug for problem in ALL_PROBLEMS]
    assert len(set(slugs)) == len(slugs)
    for problem in ALL_PROBLEMS:
        assert page.count(f'id="{problem.slug}"') == 1
        assert problem.advice
        assert Client().get(problem.type)["Location"] == f"/problems#{problem.slug}"
    assert Client().get("/problems/no-such-reason").status_code == 404


def test_the_guide_links_to_the_schema() -> None:
    page = Client().get(reverse("aggregator:api_guide")).content.decode()
    assert 'href="/api/schema"' in page
    assert 'href="/problems"' in page


def test_each_survey_in_the_list_leads_to_its_next_step() -> None:
    owner = make_user()
    empty = make_survey(owner=owner, title="Empty", questions=())
    draft = make_survey(owner=owner, title="Draft")
    running = make_launched_survey(owner=owner, title="Running").survey
    over = field(make_launched_survey(owner=owner, title="Over"), yes=[20, 20], total=100)
    nobody = field(make_launched_survey(owner=owner, title="Nobody"), yes=[0, 0], total=0)
    page = sign_in(owner).get("/").text
    for survey, step, route in (
        (empty, "Add the first question", "surveys:question_create"),
        (draft, "Continue the draft", "surveys:edit"),
        (running, "Share the link", "surveys:share"),
        (over, "Read the report", "aggregator:report"),
        (nobody, "Copy as a new draft", "surveys:copy"),
    ):
        before = page.split(f'aria-label="{step}: {survey.title}"')[0]
        assert reverse(route, args=[survey.slug]) in before[-500:], survey.title


def test_texts_to_read_are_not_counted_as_questions() -> None:
    survey = make_survey(title="With a text")
    add_question(survey=survey, text="Please read this.", type=Question.Type.INFORMATION)
    assert "2 questions" in text_of(sign_in(survey.owner).get("/"))
