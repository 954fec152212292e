"""On PostgreSQL, people change a survey and look at the survey at the same moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from unittest import mock

import pytest

from aggregator.upkeep.deleting import delete_survey
from scripts.attacks.linker.server import Server, django_on
from surveys.history import recording
from surveys.history.recording import record_seen
from surveys.lifecycle.errors import NotClosed, NotOpen
from surveys.lifecycle.services import close_wave, state_people_invited
from surveys.models import HistoryRow, Survey, Verb, Wave
from tests.support.factories import make_launched_survey

pytestmark = pytest.mark.django_db(transaction=True)


def test_numbers_have_no_gaps_and_each_reader_one_row(postgres_server: Server) -> None:
    url = postgres_server.application_url
    with django_on(url):
        wave = make_launched_survey()
    survey = wave.survey

    def run(step: Callable[[], object]) -> None:
        with django_on(url), suppress(Survey.DoesNotExist, Wave.DoesNotExist, NotOpen, NotClosed):
            step()

    def close_and_delete() -> None:
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        delete_survey(survey=survey)

    steps: list[Callable[[], object]] = [
        *(lambda: record_seen(survey) for _ in range(8)),
        *(lambda n=n: state_people_invited(survey=survey, people=n + 1) for n in range(8)),
        *[close_and_delete] * 2,
    ]
    with (
        mock.patch.object(recording, "reading_account", return_value=7),
        ThreadPoolExecutor(len(steps)) as pool,
    ):
        list(pool.map(run, steps))
    with django_on(url):
        rows = HistoryRow.objects.filter(slug=survey.slug).order_by("number")
        assert [row.number for row in rows] == list(range(1, len(rows) + 1))
        verbs = Counter(row.verb for row in rows)
        assert verbs[Verb.SAW] <= 1
        assert (verbs[Verb.CLOSED], verbs[Verb.DELETED]) == (1, 1)
        assert rows[len(rows) - 1].verb == Verb.DELETED
