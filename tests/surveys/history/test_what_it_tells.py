"""A linker for people's actions, which stay the same while reports arrive at different times.

The linker reads the history, accounts, tokens, sessions and mails as the database stores them, in
physical order and with hidden columns, like an intruder who also knows when every person acted. The
tables must be the same whether the survey reached its cap before, between or after what people did
that day, and in whatever order its reports came. A control records the end when the cap is reached,
and must be caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.db import connection, transaction
from django.test import Client

from accounts.models import User
from accounts.tokens import Scope, make_token
from aggregator.batches.closing import close_due_waves
from aggregator.models import RawReport
from aggregator.tasks import tend_history
from surveys.history.recording import lock_survey, record_ending
from surveys.lifecycle.services import state_people_invited
from surveys.models import HistoryRow, Survey, Verb, Wave
from tests.support.factories import make_launched_survey, make_user
from tests.support.fielding import sign_in

pytestmark = pytest.mark.django_db(transaction=True)
MIDNIGHT = datetime(2031, 5, 6, tzinfo=UTC)
CAP = 40
CAPPED, OTHER = "capped", "other"
TABLES = (
    "accounts_user",
    "accounts_token",
    "accounts_mail",
    "django_session",
    "surveys_membership",
)
RANDOM = ("password", "digest", "session_key", "session_data")
# The hours in which the cap is reached; people act at 9, 12 and 15.
HOURS = (8, 10, 13, 23)


def act(hour: int) -> None:
    """Let people act on both surveys, differently in each hour."""
    for slug in (CAPPED, OTHER):
        state_people_invited(survey=Survey.objects.get(slug=slug), people=100 * hour)
    owner = User.objects.get()
    _, token = make_token(user=owner, name=str(hour), scopes=[*Scope], days=30)
    if hour == 12:
        assert sign_in(owner).post("/accounts/", {"name": "New"}).status_code == 302
        program = Client(headers={"Authorization": f"Bearer {token}"})
        assert program.get(f"/api/surveys/{CAPPED}/definition").status_code == 200


def field(wave: Wave, *, hour: int) -> None:
    """Let the last reports arrive, in a different order for each hour, and close the wave."""
    ids = sorted(bytes([i]) * 32 for i in range(CAP))
    for i in range(CAP):  # each in a separate transaction
        RawReport.objects.create(id=ids[(i * (2 * hour + 1)) % CAP], wave=wave, symbols=b"\0\1")
    assert close_due_waves() == 1


def live_a_day(*, cap_at: int, leaky: bool = False) -> list[tuple[object, ...]]:
    """Return the history after a day on which the cap was reached in this hour."""
    with mock.patch("django.utils.timezone.now", return_value=MIDNIGHT - timedelta(hours=1)):
        owner = make_user("owner@example.org")
        wave = make_launched_survey(owner=owner, cap=CAP, slug=CAPPED)
        make_launched_survey(owner=owner, slug=OTHER)
    for hour in range(24):
        with mock.patch("django.utils.timezone.now", return_value=MIDNIGHT.replace(hour=hour)):
            if hour == cap_at:
                field(wave, hour=hour)
                if leaky:
                    with transaction.atomic():
                        lock_survey(wave.survey)
                        record_ending(wave.survey, Wave.objects.get(pk=wave.pk))
            if hour in (9, 12, 15):
                act(hour)
            tend_history()
    assert HistoryRow.objects.filter(verb=Verb.ENDED).exists() == leaky
    with mock.patch("django.utils.timezone.now", return_value=MIDNIGHT + timedelta(days=1)):
        tend_history()
    return list(read_stored())


def read_stored() -> Iterator[tuple[object, ...]]:
    hidden = "xmin::text" if connection.vendor == "postgresql" else "''"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT *, {hidden} FROM surveys_history")
        rows = cursor.fetchall()
        # All rows of that day have one transaction number, so the number dates none of them.
        day = {row[-1] for row in rows if str(row[2]) == f"{MIDNIGHT:%Y-%m-%d}"}
        assert len(day) == 1
        yield from ((*map(str, row[:-1]), row[-1] in day) for row in rows)
        cursor.execute("SELECT number, changes FROM surveys_history_changes")
        yield from cursor.fetchall()
        cursor.execute(f"SELECT {hidden} FROM accounts_token")
        assert len({*cursor.fetchall()}) == 1
        if connection.vendor == "postgresql":  # other databases number no transactions
            cursor.execute("SELECT DISTINCT created_at FROM surveys_survey")
            assert cursor.fetchall() == [(MIDNIGHT - timedelta(days=1),)]
        for table in TABLES:
            cursor.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                kept = dict(zip(names, row, strict=True))
                yield (table, *(str(v) for name, v in kept.items() if name not in RANDOM))


def live_days(
    new_database: Callable[[], AbstractContextManager[None]], *, leaky: bool = False
) -> list[list[tuple[object, ...]]]:
    """Return what databases contain after the same day, with the cap reached in each of HOURS."""
    stored = []
    for hour in HOURS:
        with new_database():
            stored.append(live_a_day(cap_at=hour, leaky=leaky))
    return stored


def test_neither_the_moment_of_the_cap_nor_the_order_of_reports_shows(
    new_database: Callable[[], AbstractContextManager[None]],
) -> None:
    stored = live_days(new_database)
    assert len(stored[0]) > 8
    for one in stored:
        assert one == stored[0]


def test_the_linker_catches_an_end_that_is_written_at_once(
    new_database: Callable[[], AbstractContextManager[None]],
) -> None:
    assert len({str(one) for one in live_days(new_database, leaky=True)}) == len(HOURS)
