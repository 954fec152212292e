"""What migrations of both databases keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.exceptions import IrreversibleError
from pytest_django.plugin import DjangoDbBlocker

from aggregator.models import Comparison, ReleaseLedger
from aggregator.releases.ledger import reserve_planned
from aggregator.upkeep.deleting import delete_survey
from scripts.attacks.linker.server import django_on, migrate, running_server
from scripts.stack.prepared import copy_empty_database
from surveys.access import Action, can
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question, plan_comparison, plan_release
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import HistoryRow, Membership, Role, Survey, Wave
from surveys.models.asked_questions import record_questions
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey
from tests.support.waves import make_protected_wave

pytestmark = pytest.mark.slow
TABLE = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=30)
NAMES = [["q1", "q2"], ["q2", "q1"], []]


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh(
    request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Connect to a database without rows; that of SQLite is a copy, which has all migrations."""
    with django_db_blocker.unblock():
        if request.param == "sqlite":
            copy_empty_database(tmp_path / "fresh.sqlite3")
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
def test_segments_go_with_their_number_and_other_comparisons_stay() -> None:
    migrate()
    wave, kinds = make_launched_survey(), Comparison.Kind
    for kind, number in ((kinds.SEGMENTS, 2), (kinds.SEGMENTS, 3), (kinds.TABLE, 0)):
        Comparison.objects.create(
            wave=wave, through_batch=1, method_version=1, kind=kind, names=["q1"], segments=number
        )
    call_command("migrate", "aggregator", "0026", "--verbosity", "0", reverse=True)
    migrate()
    assert list(Comparison.objects.values_list("kind", "segments")) == [(kinds.TABLE, 0)]


def go_back(app: str, migration: str) -> None:
    call_command("migrate", app, migration, "--verbosity", "0", reverse=True)


@pytest.mark.usefixtures("fresh", "static_files")
def test_what_alerts_and_folders_promise_is_not_forgotten() -> None:
    migrate()
    alert = ReleaseRequest(
        kind=ReleaseKind.ALERT, questions=("q1",), epsilon_hundredths=50, answer=1, percent=20
    )
    wave = make_protected_wave(planned=[TABLE, alert], people_expected=5000)
    reserve_planned(wave_id=wave.pk)
    with pytest.raises(IrreversibleError, match="any folder count"):
        go_back("aggregator", "0027")
    ReleaseLedger.objects.all().delete()
    with pytest.raises(IrreversibleError, match="1 alerts were charged"):
        go_back("aggregator", "0023")
    migrate()
    assert wave.releases.get().kind == ReleaseKind.ALERT
    wave.releases.all().delete()
    go_back("aggregator", "0023")


@pytest.mark.usefixtures("fresh", "static_files")
def test_tables_by_groups_leave_drafts_only() -> None:
    migrate()
    surveys = [make_survey(publication=Publication.PROTECTED) for _ in range(2)]
    for survey in surveys:
        wards = ["North", "South"]
        add_question(survey=survey, text="Ward?", type=QuestionType.DECLARED, options=wards)
        for request in (TABLE, replace(TABLE, group="q3")):
            plan_release(survey=survey, request=request)
    opened, draft = surveys
    wave = open_survey(survey=opened)
    for app, migration in (("aggregator", "0024"), ("surveys", "0025")):
        with pytest.raises(IrreversibleError, match="1 opened surveys plan tables by groups"):
            go_back(app, migration)
        migrate()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    delete_survey(survey=opened)
    go_back("aggregator", "0024")
    go_back("surveys", "0025")
    migrate()
    manifest = build_manifest(survey=Survey.objects.get(pk=draft.pk), wave_number=1)
    assert manifest.planned_releases == (TABLE,)


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


@pytest.mark.usefixtures("fresh", "static_files")
def test_owners_become_members_and_come_back_with_what_they_asked() -> None:
    migrate()
    owner, other = make_user(), make_user()
    kept = make_launched_survey(owner=owner)
    gone = make_launched_survey(owner=owner)
    close_wave(wave_id=gone.pk, ending=Wave.Ending.DATE)
    # It lasted, so it counts after its deletion.
    record_questions(survey=gone.survey_id, manifest=gone.description)
    delete_survey(survey=gone.survey)
    drafts = [make_survey(owner=one) for one in (other, owner)]
    drafts[0].memberships.create(account=owner, role=Role.EDITOR)
    assert kept.count_elsewhere() == 1
    go_back("surveys", "0031")
    with connection.cursor() as cursor:
        cursor.execute("SELECT owner_id FROM surveys_survey ORDER BY id")
        assert [row[0] for row in cursor.fetchall()] == [owner.pk, other.pk, owner.pk]
    migrate()
    assert [survey.owner for survey in Survey.objects.order_by("pk")] == [owner, other, owner]
    assert Membership.objects.count() == 3
    assert [survey.role for survey in Survey.objects.of(owner)] == [Role.OWNER] * 2
    assert can(owner, Action.DELETE, kept.survey)
    assert not can(other, Action.READ, kept.survey)
    assert kept.count_elsewhere() == 1
    assert make_launched_survey(owner=owner).count_elsewhere() == 2
    kept.survey.memberships.create(account=other, role=Role.VIEWER)
    close_wave(wave_id=kept.pk, ending=Wave.Ending.DATE)
    record_questions(survey=kept.survey_id, manifest=kept.description)
    delete_survey(survey=kept.survey)
    with pytest.raises(IrreversibleError, match="1 groups of people"):
        go_back("surveys", "0031")


@pytest.mark.usefixtures("fresh", "static_files")
def test_the_history_goes_with_its_triggers_and_comes_back_guarded() -> None:
    migrate()
    survey = make_survey()
    go_back("surveys", "0030")
    migrate()
    assert not HistoryRow.objects.exists()
    add_question(survey=survey, text="Another one?")
    with pytest.raises(DatabaseError, match="cannot change"):
        HistoryRow.objects.all().delete()


@pytest.mark.usefixtures("fresh", "static_files")
def test_drafts_get_names_and_opened_surveys_keep_their_manifests() -> None:
    migrate()
    opened = make_launched_survey(questions=["Smoke?"])
    draft = make_survey(questions=["Do you smoke?", "Do you smoke?", "吸烟吗？", "Data"])
    add_question(survey=draft, type=QuestionType.INFORMATION, text="Read.")
    go_back("surveys", "0027")
    with pytest.raises(DatabaseError), connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SELECT name FROM surveys_question")
    migrate()
    names = list(draft.questions.values_list("name", flat=True))
    assert names == ["smoke", "smoke_b", "item_a", "data_a", ""]
    assert opened.survey.questions.get().name == ""
    assert bytes(Wave.objects.get(pk=opened.pk).manifest) == bytes(opened.manifest)
    with pytest.raises(DatabaseError), transaction.atomic():
        draft.questions.filter(position=2).update(name="SMOKE")
