"""Pages of an account in 200 teams with 5,000 surveys: the start page and a page of a survey."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from surveys.access import Action, can
from surveys.models import Membership, Role, Survey, Team, TeamMember, TeamSurvey
from tests.support.factories import make_survey, make_user
from tests.support.fielding import at

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
TEAMS, SURVEYS = 200, 5000


def make_many(account: User) -> None:
    """Share 5,000 surveys of a colleague through 200 teams."""
    colleague = make_user()
    surveys = Survey.objects.bulk_create(Survey(title=f"Survey {n}") for n in range(SURVEYS))
    Membership.objects.bulk_create(
        Membership(survey=survey, account=colleague, role=Role.OWNER) for survey in surveys
    )
    teams = Team.objects.bulk_create(Team(name=f"Team {n}") for n in range(TEAMS))
    TeamMember.objects.bulk_create(
        TeamMember(team=team, account=account, role=Role.VIEWER) for team in teams
    )
    TeamSurvey.objects.bulk_create(
        TeamSurvey(team=teams[place % TEAMS], survey=survey) for place, survey in enumerate(surveys)
    )


def count_queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


@pytest.mark.long
def test_many_teams_and_surveys_take_no_more_queries(owner: User, author: Client) -> None:
    survey = make_survey(owner=owner)
    pages = ("/", at("questions", survey), "/api/surveys")
    for path in pages:
        author.get(path)  # fills caches that are filled only once
    few = [count_queries(author, path) for path in pages]
    make_many(owner)
    many = [count_queries(author, path) for path in pages]
    assert all(more <= less for more, less in zip(many, few, strict=True)), (many, few)
    assert few[0] <= 12
    assert Survey.objects.of(owner).count() == SURVEYS + 1
    assert not can(owner, Action.EDIT, Survey.objects.order_by("pk")[1])
