"""What migrations of both databases keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from aggregator.models import Comparison
from scripts.attacks.linker.server import django_on, migrate, running_server
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, plan_comparison
from surveys.manifest.question_types import QuestionType
from surveys.models import Survey
from tests.support.factories import make_launched_survey, make_survey

pytestmark = pytest.mark.slow
NAMES = [["q1", "q2"], ["q2", "q1"], []]


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh(
    request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Connect to an empty database."""
    with django_db_blocker.unblock():
        if request.param == "sqlite":
            with django_on(f"sqlite:///{tmp_path}/fresh.sqlite3"):
                yield
            return
        with running_server({}) as server, django_on(server.application_url):
            yield


@pytest.mark.usefixtures("fresh", "static_files")
def test_the_names_of_comparisons_survive_both_directions() -> None:
    migrate()
    wave = make_launched_survey()
    for names in NAMES:
        Comparison.objects.create(
            wave=wave, through_batch=1, method_version=1, kind=Comparison.Kind.TABLE, names=names
        )
    call_command("migrate", "aggregator", "0001", "--verbosity", "0", reverse=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT questions FROM aggregator_comparison ORDER BY id")
        assert cursor.fetchall() == [(",".join(names),) for names in NAMES]
    migrate()
    assert list(Comparison.objects.order_by("pk").values_list("names", flat=True)) == NAMES


@pytest.mark.usefixtures("fresh", "static_files")
def test_plans_survive_both_directions_and_regressions_go() -> None:
    migrate()
    survey = make_survey(questions=["Tired?", "Angry?", "Ill?"])
    wards = ["North", "South", "East"]
    add_question(survey=survey, text="Ward?", type=QuestionType.CHOICE, options=wards)
    for names in (("q1", "q2", "q3"), ("q1", "q4.1"), ("q1", "q4.all"), ("q3", "q1")):
        plan_comparison(survey=survey, names=names)
    call_command("migrate", "surveys", "0022", "--verbosity", "0", reverse=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT group_part FROM surveys_planned_comparison ORDER BY id")
        assert cursor.fetchall() == [("1",), ("",)]
    migrate()
    manifest = build_manifest(survey=Survey.objects.get(pk=survey.pk), wave_number=1)
    assert manifest.planned_comparisons == (("q1", "q4.1"), ("q3", "q1"))
