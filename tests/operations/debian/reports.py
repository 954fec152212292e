"""Runs in Murmur's shell on Debian: sends reports through nginx, and waits until some are sealed.

It opens a survey first, unless one is open. Random codes are enough, because nobody looks at the
estimates.
"""

import os
import secrets
import ssl
import time
import urllib.error
import urllib.request

from accounts.models import User
from aggregator.intake.wire import encode_report
from aggregator.models import Batch, RawReport
from surveys.authoring.services import launch_survey
from surveys.manifest.manifest import Limit
from surveys.models import Question, Survey, Wave


def open_survey() -> None:
    survey = Survey.objects.create_owned(
        User.objects.get(),
        title="A rehearsal",
        rehearsal=True,
        minimum_batch=10,
        display_minimum=10,
    )
    Question.objects.create(survey=survey, position=1, text="Is it?", flips=25)
    launch_survey(survey=survey, acknowledged=set(Limit))


def send(request: urllib.request.Request, certificate: ssl.SSLContext) -> None:
    """Send one report; after a refusal (429), wait as a browser does and send the report again."""
    while True:
        try:
            assert urllib.request.urlopen(request, context=certificate).status == 201
            return
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(int(error.headers["Retry-After"]))


def send_reports(count: int) -> None:
    if not Wave.objects.exists():
        open_survey()
    wave = Wave.objects.get()
    address = f"https://{os.environ['ALLOWED_HOSTS']}/api/reports"
    certificate = ssl._create_unverified_context()  # accepts the placeholder used in the first hour
    batches = Batch.objects.count()
    for _ in range(count):
        body = encode_report(
            manifest_hash=bytes(wave.manifest_hash),
            report_id=secrets.token_bytes(32),
            symbols=bytes([secrets.randbelow(2)]),
        )
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        send(request, certificate)
    for _ in range(600):
        if Batch.objects.count() > batches:
            break
        time.sleep(0.1)
    else:
        raise SystemExit("No batch was sealed within a minute.")
    assert RawReport.objects.count() >= 10, "every report was sealed, so a backup loses none"
