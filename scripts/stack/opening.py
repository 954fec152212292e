"""Opens surveys in a Murmur instance that runs in other processes, and makes reports for them."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aggregator.intake.wire import encode_report
from scripts.stack.stack import Stack
from scripts.stack.world import OWNER

# `manage.py shell` sets up Django with the project's folder on its path. Values, including dates,
# are passed as Python literals.
_CALL = """
import datetime
from scripts.stack.opening import _open_here
_open_here({surveys!r}, questions={questions!r}, flips={flips!r})
"""


@dataclass(frozen=True)
class OpenWave:
    pk: int
    slug: str
    manifest_hash: bytes

    @property
    def manifest(self) -> str:
        """Return the hash in the form that reports use."""
        return base64.urlsafe_b64encode(self.manifest_hash).rstrip(b"=").decode()

    def body(self, symbols: bytes, *, report_id: bytes = b"") -> bytes:
        return encode_report(
            manifest_hash=self.manifest_hash,
            report_id=report_id or secrets.token_bytes(32),
            symbols=symbols,
        )


def open_surveys(
    stack: Stack, surveys: Sequence[Mapping[str, Any]], *, questions: int, flips: int = 25
) -> list[OpenWave]:
    """Open one yes/no survey for each set of settings; create the owner if needed."""
    code = _CALL.format(surveys=list(map(dict, surveys)), questions=questions, flips=flips)
    rows = [line.split() for line in stack.manage("shell", "-v", "0", "-c", code).splitlines()]
    return [OpenWave(int(pk), slug, bytes.fromhex(digest)) for pk, slug, digest in rows]


def _open_here(surveys: Sequence[Mapping[str, Any]], *, questions: int, flips: int) -> None:
    from accounts.models import User
    from surveys.authoring.services import launch_survey
    from surveys.manifest.manifest import Limit
    from surveys.models import Question, Survey

    owner = User.objects.first() or User.objects.create_user(email=OWNER, password=None)
    for settings in surveys:
        survey = Survey.objects.create_owned(owner, **{"title": "Opened by a test", **settings})
        Question.objects.bulk_create(
            Question(survey=survey, position=number, text=f"Question {number}?", flips=flips)
            for number in range(1, questions + 1)
        )
        wave = launch_survey(survey=survey, acknowledged=set(Limit))
        print(wave.pk, survey.slug, wave.manifest_hash_hex)
