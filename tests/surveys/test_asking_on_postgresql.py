"""Launches and deletions of one owner at the same time, and the upgrade, on PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.core.management import call_command
from django.db import connection

from aggregator.models import SpentId
from aggregator.upkeep.deleting import delete_survey
from scripts.attacks.linker.server import Server, django_on, migrate
from surveys.asked_questions import AskedBefore, AskedQuestion
from surveys.authoring.services import close_wave
from surveys.models import StoredText, Survey, Wave
from tests.support.factories import make_launched_survey, make_survey, make_user, open_survey

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


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
        with suppress(Survey.DoesNotExist):  # the second one is told that the first was faster
            delete_survey(survey=survey)

    steps: list[Callable[[], object]] = [
        *(lambda survey=survey: delete(survey) for survey in ended * 2),
        *(lambda draft=draft: open_survey(survey=draft) for draft in drafts),
    ]
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(run, steps))
    with django_on(url):
        waves = Wave.objects.filter(survey__owner=owner)
        # Six ended before; of the three, the second to open counts the first, and so on.
        assert sorted(wave.description.asked_elsewhere for wave in waves) == [6, 7, 8]
        assert {row.surveys for row in AskedBefore.objects.filter(owner=owner)} == {6}


def test_the_upgrade_keys_every_hash_drops_the_old_file_and_stores_texts(
    postgres_server: Server,
) -> None:
    with django_on(postgres_server.application_url):
        survey = make_launched_survey().survey
        digest = Wave.objects.get(survey=survey).manifest_hash_hex
        keys = {bytes(key) for key in AskedQuestion.objects.values_list("key", flat=True)}
        call_command("migrate", "surveys", "0017", verbosity=0, reverse=True)
        unkeyed = secrets.token_bytes(32)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO surveys_asked_question (survey_id, key) VALUES (%s, %s)",
                [survey.pk, unkeyed],
            )
            cursor.execute("ANALYZE surveys_asked_question")
        migrate()
        assert {bytes(key) for key in AskedQuestion.objects.values_list("key", flat=True)} == keys
        assert StoredText.objects.filter(name=f"{digest} manifest").exists()
        connection.close()
    postgres_server.run("CHECKPOINT")
    assert postgres_server.files_with([unkeyed]) <= {"pg_wal"}
