"""Writes the history of a survey: one row for each act, in the same transaction as the act.

For acts that are also logged, the line in the log is written here, once the transaction is
committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, QuerySet

from accounts import audit
from accounts.acting import acting_account, reading_account
from surveys.models import HistoryChanges, HistoryRow, Kind, Survey, Verb, Wave, today

Change = tuple[str, Any, Any]  # what was changed, the value before, and the value after
# The names of acts in the log (docs/operations.md). The log leaves out changes to drafts and the
# times at which people saw results.
LOGGED: Mapping[tuple[Verb, Kind], str] = {
    (Verb.OPENED, Kind.SURVEY): "survey-opened",
    (Verb.CLOSED, Kind.SURVEY): "survey-closed",
    (Verb.DELETED, Kind.SURVEY): "survey-deleted",
    (Verb.EXPIRED, Kind.SURVEY): "survey-deleted-on-its-date",
    (Verb.WITHDREW, Kind.PUBLIC_PAGE): "public-results-off",
    (Verb.PUBLISHED, Kind.PUBLIC_PAGE): "public-results-on",
    (Verb.CHANGED, Kind.BACKGROUND): "background",
    (Verb.RELEASED, Kind.RELEASE): "release-reserved",
    (Verb.ASKED_TO_OPEN, Kind.SEALED_HALF): "sealed-half-opened",
}
DOWNLOAD = "export"
# The names of changes whose values are account numbers. Pages show the names of these accounts.
PERSON, OWNER = "person", "owner"


def record(
    survey: Survey,
    verb: Verb,
    kind: Kind,
    *,
    changes: Sequence[Change] = (),
    facts: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the row of an act, in the same transaction as the act.

    An act that locks other rows must call `lock_survey` first. `facts` about the act are also
    written to its line in the log, and must not contain anything that a person typed.
    """
    assert connection.in_atomic_block, "the act and its row must be one transaction"
    account = acting_account()
    lock_survey(survey)
    row = _append(survey, verb, kind, account=account, day=today())
    listed = [*map(list, changes), *([name, None, value] for name, value in facts.items())]
    if listed:
        HistoryChanges.objects.create(slug=survey.slug, number=row.number, changes=listed)
    event = DOWNLOAD if verb == Verb.DOWNLOADED else LOGGED.get((verb, kind))
    if event is not None:
        line = partial(audit.record, event, account=account, survey=survey.slug, **facts)
        transaction.on_commit(line)


@transaction.atomic
def _record_first_look(survey: Survey, *, account: int, day: date) -> None:
    lock_survey(survey)
    if not _find_looks(survey, account=account, day=day).exists():
        _append(survey, Verb.SAW, Kind.RESULTS, account=account, day=day)


def record_seen(survey: Survey) -> None:
    """Record, at most once a day, that the reader of this page saw results of the survey.

    The row is written before the results are sent, so that no one sees results without a record.
    """
    account, day = reading_account(), today()
    if account is not None and not _find_looks(survey, account=account, day=day).exists():
        _record_first_look(survey, account=account, day=day)


def _find_looks(survey: Survey, *, account: int, day: date) -> QuerySet[HistoryRow]:
    return HistoryRow.objects.filter(slug=survey.slug, verb=Verb.SAW, account=account, day=day)


def record_ending(survey: Survey, wave: Wave) -> None:
    """Record, once, that a date or cap closed a wave. The caller has locked the survey."""
    if wave.closed_at is None or wave.ending not in (Wave.Ending.DATE, Wave.Ending.CAP):
        return
    day = wave.closed_at.date()
    is_written = HistoryRow.objects.filter(slug=survey.slug, verb=Verb.ENDED).exists()
    if not is_written and keep_until(day) >= today():
        _append(survey, Verb.ENDED, Kind.SURVEY, account=None, day=day)


def lock_survey(survey: Survey) -> None:
    """Lock the row of a survey, so that the numbers of its history have no gaps.

    Deleting the survey locks this row first. An act that locks other rows must also lock this row
    first, or the act and the deletion could wait for each other. Raises Survey.DoesNotExist if the
    survey was deleted.
    """
    Survey.objects.select_for_update(no_key=True).only("pk").get(pk=survey.pk)


def keep_until(day: date) -> date:
    """Return the last day on which a row must be kept, which is the last day of a year."""
    return date(min(day.year + settings.HISTORY_YEARS, date.max.year), 12, 31)


def _append(
    survey: Survey, verb: Verb, kind: Kind, *, account: int | None, day: date
) -> HistoryRow:
    """Write the next row of a survey that the caller has locked."""
    rows = HistoryRow.objects.filter(slug=survey.slug)
    last: int = rows.aggregate(last=Max("number"))["last"] or 0
    return HistoryRow.objects.create(
        slug=survey.slug,
        number=last + 1,
        day=day,
        kept_until=keep_until(day),
        account=account,
        verb=verb,
        kind=kind,
    )
