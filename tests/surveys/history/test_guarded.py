"""The databases refuse to change the history, or to shorten it before its time."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import BooleanField
from django.utils import timezone

from surveys.authoring.services import create_survey, delete_draft, save_draft
from surveys.history.recording import keep_until
from surveys.history.upkeep import forget_old_rows
from surveys.models import HistoryChanges, HistoryRow, Survey
from tests.support.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("database")]
REFUSED = "the history of a survey cannot change"
BOTH = [
    "UPDATE surveys_history SET account = 7",
    "UPDATE surveys_history SET kept_until = '2000-01-01'",
    "UPDATE surveys_history SET number = number + 7",
    "DELETE FROM surveys_history",
    "UPDATE surveys_history_changes SET number = number + 7",
    "DELETE FROM surveys_history_changes",
]
ROW = "(slug, number, day, kept_until, account, verb, kind)"
ONLY = {
    "sqlite": [
        f"REPLACE INTO surveys_history {ROW} SELECT * FROM surveys_history",
        "REPLACE INTO surveys_history_changes SELECT * FROM surveys_history_changes",
    ],
    "postgresql": [
        "TRUNCATE surveys_history",
        "TRUNCATE surveys_history_changes",
    ],
}


@pytest.fixture
def survey(database: None) -> Survey:
    survey = create_survey(owner=make_user(), title="Before")
    survey.title = "After"
    save_draft(survey=survey)
    return survey


def read_all() -> list[object]:
    return [
        *HistoryRow.objects.order_by("number").values_list(),
        *HistoryChanges.objects.values_list(),
    ]


@pytest.mark.usefixtures("survey")
def test_nothing_can_be_changed_or_removed() -> None:
    before = read_all()
    assert len(before) == 3
    for statement in BOTH + ONLY[connection.vendor]:
        with (
            pytest.raises(DatabaseError, match=REFUSED),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    assert read_all() == before


def test_rows_can_be_deleted_the_day_after_their_last_one(survey: Survey) -> None:
    today = timezone.now().date()
    for number, kept_until in ((3, today), (4, today - timedelta(days=1))):
        HistoryRow.objects.create(
            slug=survey.slug, number=number, day=date(2015, 1, 1), kept_until=kept_until
        )
        changes = [["Title", None, "Old"]]
        HistoryChanges.objects.create(slug=survey.slug, number=number, changes=changes)
    forget_old_rows()
    assert set(HistoryRow.objects.values_list("number", flat=True)) == {1, 2, 3}
    assert set(HistoryChanges.objects.values_list("number", flat=True)) == {2, 3}


def test_rows_are_kept_until_the_end_of_a_year() -> None:
    assert keep_until(date(2028, 2, 29)) == date(2038, 12, 31)
    assert keep_until(date(9995, 1, 1)) == date(9999, 12, 31)


def test_what_was_changed_goes_with_the_survey_and_the_rows_stay(survey: Survey) -> None:
    assert HistoryChanges.objects.get().changes == [["Title", "Before", "After"]]
    delete_draft(survey=survey)
    assert not HistoryChanges.objects.exists()
    acts = HistoryRow.objects.order_by("number").values_list("number", "verb", "slug")
    assert list(acts) == [
        (1, "created", survey.slug),
        (2, "changed", survey.slug),
        (3, "deleted", survey.slug),
    ]


def test_later_migrations_can_rebuild_the_table_of_surveys(survey: Survey) -> None:
    """On SQLite, a table that a trigger names could not be rebuilt."""
    field = BooleanField(default=False)
    field.set_attributes_from_name("later")
    with connection.schema_editor() as editor:
        editor.add_field(Survey, field)
    assert Survey.objects.get().slug == survey.slug
