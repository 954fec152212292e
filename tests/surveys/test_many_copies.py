"""No page needs more queries for a survey with a hundred opened copies than for one with few."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from surveys.authoring.services import copy_survey, launch_survey
from surveys.manifest.manifest import Limit
from surveys.models import Survey
from tests.support.factories import make_launched_survey, make_user
from tests.support.fielding import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
OF_ANY = ("/", "/api/surveys")
OF_DRAFTS = ("/surveys/{slug}/", "/surveys/{slug}/preview", "/surveys/{slug}/launch")
OF_OPEN = ("/surveys/{slug}/results", "/s/{slug}", "/s/{slug}/check", "/s/{slug}/page.html")


def open_copies(survey: Survey, number: int) -> None:
    for _ in range(number):
        launch_survey(survey=copy_survey(survey=survey), acknowledged=set(Limit))


def count_queries(client: Client, pages: Sequence[str], survey: Survey) -> dict[str, int]:
    found = {}
    for page in pages:
        with CaptureQueriesContext(connection) as queries:
            reply = client.get(page.format(slug=survey.slug))
        assert reply.status_code == 200, page
        found[page] = len(queries)
    return found


@pytest.mark.long
def test_a_hundred_copies_of_a_survey_cost_no_page_more_queries_than_three() -> None:
    owner = make_user()
    survey = make_launched_survey(owner=owner).survey
    draft = copy_survey(survey=survey)
    client = sign_in(owner)

    def count_all() -> dict[str, int]:
        return count_queries(client, OF_ANY + OF_OPEN, survey) | count_queries(
            client, OF_DRAFTS, draft
        )

    open_copies(survey, 3)
    count_all()  # the first time, some results are cached
    before = count_all()
    open_copies(survey, 97)
    count_all()
    assert count_all() == before
