"""Launches and deletions by one owner at the same time, on PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from aggregator.models import SpentId
from aggregator.upkeep.deleting import delete_survey
from scripts.attacks.linker.server import Server, django_on
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from surveys.models.asked_questions import AskedBefore
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey

pytestmark = pytest.mark.django_db(transaction=True)


def end(wave: Wave) -> Survey:
    SpentId.objects.create(id=secrets.token_bytes(32), wave=wave)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    return wave.survey


def test_deletions_during_launches_lose_no_count(postgres_server: Server) -> None:
    url = postgres_server.application_url
    with django_on(url):
        owner = make_user()
        ended = [end(make_launched_survey(owner=owner)) for _ in range(6)]
        drafts = [make_survey(owner=owner) for _ in range(3)]

    def run(step: Callable[[], object]) -> object:
        with django_on(url):
            return step()

    def delete(survey: Survey) -> None:
        with suppress(Survey.DoesNotExist):  # the second deletion finds that the first was faster
            delete_survey(survey=survey)

    steps: list[Callable[[], object]] = [
        *(lambda survey=survey: delete(survey) for survey in ended * 2),
        *(lambda draft=draft: open_survey(survey=draft) for draft in drafts),
    ]
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(run, steps))
    with django_on(url):
        waves = Wave.objects.filter(survey__memberships__account=owner)
        # Six surveys ended before. Of the three new surveys, the second to open counts the first,
        # and the third counts both.
        assert sorted(wave.description.asked_elsewhere for wave in waves) == [6, 7, 8]
        assert {row.surveys for row in AskedBefore.objects.filter(people=str(owner.pk))} == {6}
