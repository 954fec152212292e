"""Hourly upkeep of the history, and deletion of a survey with the details of its changes."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from surveys.history.recording import record_ending
from surveys.models import HistoryChanges, HistoryRow, Survey, Verb, Wave, start_of, today

# The longest time that workers may be stopped.
DAYS_TO_HIDE = timedelta(days=7)
_WRITE_AGAIN = (
    "UPDATE surveys_history SET number = number WHERE day >= %(since)s AND day < %(today)s",
    (
        "UPDATE surveys_history_changes c SET number = c.number FROM surveys_history h WHERE "
        "h.slug = c.slug AND h.number = c.number AND h.day >= %(since)s AND h.day < %(today)s"
    ),
)
# A survey's row may keep the number of the transaction that created it. Only the day of creation is
# therefore kept, not the moment.
_KEEP_THE_DAY = """
    UPDATE surveys_survey SET created_at = date_trunc('day', created_at, 'UTC') WHERE id IN (
        SELECT id FROM surveys_survey WHERE created_at <> date_trunc('day', created_at, 'UTC')
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
"""


def record_endings() -> None:
    """Record which surveys were closed by a date or cap on an earlier day.

    A survey with a cap ends at the moment of its last report. A row written on the same day would
    stand between rows of acts by people, whose times are in a log, and would therefore date the
    last report. Until the next day, only the wave stores the moment.
    """
    written = HistoryRow.objects.filter(slug=OuterRef("survey__slug"), verb=Verb.ENDED)
    waves = Wave.objects.electronic().closed().exclude(ending=Wave.Ending.OWNER)
    due = waves.filter(~Exists(written), closed_at__lt=start_of(today())).order_by("survey__slug")
    for pk in due.values_list("survey", flat=True):
        with transaction.atomic():
            survey = Survey.objects.select_for_update(no_key=True).filter(pk=pk).first()
            wave = survey and survey.find_wave()
            if survey and wave:
                record_ending(survey, wave)


def hide_moments() -> None:
    """Give rows of past days one hidden transaction number, and forget drafts' times of creation.

    PostgreSQL stores with each row the number of the transaction that wrote it. These numbers rise
    with time, so they could date the row. SQLite has no such numbers.
    """
    if connection.vendor != "postgresql":
        return
    days = {"today": today(), "since": today() - DAYS_TO_HIDE}
    with connection.cursor() as cursor:
        with transaction.atomic():
            for statement in _WRITE_AGAIN:
                cursor.execute(statement, days)
        cursor.execute(_KEEP_THE_DAY)
        for table in (HistoryRow, HistoryChanges, Survey):
            cursor.execute(f"VACUUM {table._meta.db_table}")  # removes the old versions of rows


@transaction.atomic
def forget_old_rows() -> None:
    """Delete rows once their last day is past. The database refuses to delete other rows."""
    HistoryRow.objects.filter(kept_until__lt=today()).delete()
    kept = HistoryRow.objects.filter(slug=OuterRef("slug"), number=OuterRef("number"))
    HistoryChanges.objects.filter(~Exists(kept)).delete()


def delete_with_changes(survey: Survey) -> None:
    """Delete a survey and the details of changes in its history. The history's rows stay.

    The database requires that the row about the deletion is written first.
    """
    survey.delete()
    HistoryChanges.objects.filter(slug=survey.slug).delete()
