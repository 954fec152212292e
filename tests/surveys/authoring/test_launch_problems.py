"""Each problem of a draft links to the field that repairs it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from surveys.authoring.errors import NotLaunchable
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.launch_problems import Problem
from surveys.authoring.services import add_question, add_translation
from surveys.definition.creating import create_draft
from surveys.manifest.manifest import Publication
from surveys.models import Question
from tests.support.factories import make_survey
from tests.support.fielding import at
from tests.support.questionnaires import Rows, read_sheets

HEAD: Rows = [["type", "name", "label", "calculation"]]
ITEMS: Rows = [["select_one of", name, f"{name}?"] for name in "ab"]
LISTS: Rows = [["list_name", "name", "label"], ["of", "0", "Never"], ["of", "1", "Often"]]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def test_each_problem_leads_to_the_field_that_repairs_it(author: Client, owner: User) -> None:
    bad: dict[str, Any] = {
        "opens_at": datetime(2026, 1, 2, tzinfo=UTC),
        "closes_at": datetime(2026, 1, 1, tzinfo=UTC),
        "delete_on": timezone.now().date(),
        "people_expected": 1000,
        "coins": True,
        "sealed_half": True,
        "drawn": 9,
    }
    survey = make_survey(owner=owner, questions=(), **bad)
    protected = make_survey(
        owner=owner,
        publication=Publication.PROTECTED,
        cap=500,
        people_expected=1_000_000,
        release_delta_nanos=1000,
    )
    empty = make_survey(owner=owner, questions=())
    for number in range(2):
        add_question(
            survey=survey,
            type=Question.Type.NUMBER,
            text="How old?",
            minimum=0,
            maximum=9,
            flips=40 + number,
        )
    for language in ("de", "en"):
        add_translation(survey=survey, language=language)
    fields = set()
    for draft in (survey, protected, empty):
        problems = find_launch_problems(survey=draft, now=timezone.now())
        pages = [author.get(at(name, draft)).text for name in ("edit", "launch")]
        for problem in problems:
            assert isinstance(problem, Problem), problem
            shown = problem.__html__()
            assert all(shown in page for page in pages), shown
            assert unescape(re.sub("<[^>]+>", "", shown)) == problem
            [href] = re.findall('href="([^"]+)"', shown)
            path, _, field = href.partition("#")
            assert not field or f'id="{field}"' in author.get(path).text, href
            fields.add(field)
    assert fields >= {"id_closes_at", "id_cap", "id_release_delta_nanos", "id_delete_on"}
    assert fields >= {"id_sealed_half", "id_coins", "id_drawn", "question-list", ""}
    assert "<a " not in str(NotLaunchable(problems))


def test_a_score_from_a_sum_without_a_label_needs_a_text(owner: User) -> None:
    rows = [*HEAD, *ITEMS, ["calculate", "PHQ_total", None, "${a} + ${b}"]]
    drafted = read_sheets(rows, LISTS)
    assert drafted.definition["questions"][0]["source_name"] == "PHQ_total"
    survey = create_draft(drafted.definition, owner=owner)
    [problem] = find_launch_problems(survey=survey, now=timezone.now())
    assert "“PHQ_total”. Write a text for respondents." in problem
    survey.questions.update(text="How often?")
    assert find_launch_problems(survey=survey, now=timezone.now()) == []
