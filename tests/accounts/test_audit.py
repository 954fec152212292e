"""Acts on accounts and surveys leave a line in the log that contains no address."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from aggregator.exports.worker_files import find_recipe
from aggregator.renderings.jobs import find_renderings_to_run, run_rendering
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.factories import PASSWORD, make_survey, make_user
from tests.support.fielding import process, send_codes, sign_in
from tests.support.waves import make_wave

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]
LOGIN = "/accounts/login/"
NEW = "an even longer passphrase"


@pytest.fixture
def person() -> User:
    return make_user("rosa@example.org")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    caplog.set_level(logging.INFO, logger="murmur.audit")
    found: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    handler = Collect()
    logging.getLogger("murmur.audit").addHandler(handler)
    yield found
    logging.getLogger("murmur.audit").removeHandler(handler)


def test_signing_in_and_out_and_new_passwords_are_recorded(
    client: Client, person: User, lines: list[str]
) -> None:
    client.post(LOGIN, {"login": person.email, "password": "a wrong guess"})
    client.post(LOGIN, {"login": "nobody@example.org", "password": "a wrong guess"})
    client.post(LOGIN, {"login": person.email, "password": PASSWORD})
    fields = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    client.post("/accounts/password/change/", fields)
    client.post("/accounts/logout/")
    for _ in range(7):
        client.post(LOGIN, {"login": person.email, "password": "a wrong guess"})
    own = f"account={person.pk}"
    assert lines == [
        f"sign-in-failed {own}",
        "sign-in-failed account=none",
        f"signed-in {own}",
        f"password-changed {own}",
        f"signed-out {own}",
        *[f"sign-in-failed {own}"] * 6,
        f"sign-in-refused {own}",
    ]


def test_opening_closing_and_deleting_a_survey_are_recorded(person: User, lines: list[str]) -> None:
    client = sign_in(person)
    survey = make_survey(owner=person, minimum_batch=50, display_minimum=50)
    launch = reverse("surveys:launch", args=[survey.slug])
    shown = re.search(r'name="manifest" value="(\w+)"', client.get(launch).text)
    assert shown is not None
    client.post(launch, {"manifest": shown[1]})
    client.post(reverse("surveys:close", args=[survey.slug]))
    client.post(reverse("aggregator:delete", args=[survey.slug]), {"title": survey.title})
    own = f"account={person.pk} survey={survey.slug}"
    assert lines[1:] == [f"survey-opened {own}", f"survey-closed {own}", f"survey-deleted {own}"]


@pytest.mark.parametrize(
    "path",
    [
        "/surveys/{}/results/estimates.csv",
        "/surveys/{}/files/report.pdf",
        "/surveys/{}/files/report.docx",
        "/surveys/{}/files/chart-q1.85mm.svg",
        "/api/surveys/{}/estimates.csv",
        "/api/surveys/{}/results",
    ],
)
def test_every_export_is_recorded_with_its_file(person: User, lines: list[str], path: str) -> None:
    wave = make_wave(owner=person)
    send_codes(wave, yes=[10, 10, 10], total=40)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    client = sign_in(person)
    lines.clear()
    path = path.format(wave.survey.slug)
    if client.get(path).status_code == 202:  # the file was requested, but not sent
        assert lines == []
        [rendering] = find_renderings_to_run()
        run_rendering(rendering_id=rendering.pk, find_recipe=find_recipe)
        assert client.get(path).status_code == 200
    for other in (f"/surveys/{wave.survey.slug}/results", f"{path}x"):
        client.get(other)
    own = f"account={person.pk} survey={wave.survey.slug}"
    assert lines == [f"export {own} path={path}"]


def test_the_lines_are_written_whatever_the_log_level_is(person: User) -> None:
    assert logging.getLogger("murmur.audit").level == logging.INFO
