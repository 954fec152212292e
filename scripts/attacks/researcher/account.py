"""What an ordinary account reads about its own survey: the API and every file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.test import Client

from accounts.models import User
from surveys.models import Wave

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
OK = 200
YES = "1"
QUESTION = re.compile(r"q\d")
Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """All figures of a survey at one moment."""

    n: int  # reports in the newest results
    asked: Mapping[str, int]  # of each question
    yes: Mapping[str, int]  # codes of each question that show Yes
    # The cells of the questions in reports.csv, in the order of the file; empty if there is none.
    rows: Sequence[Row]

    @property
    def distinct(self) -> Counter[Row]:
        return Counter(self.rows)


NOTHING = Sight(n=0, asked={}, yes={}, rows=())


# Returns the status and the content of a page or file of the signed-in account.
Fetch = Callable[[str], tuple[int, bytes]]


class Account:
    def __init__(self, email: str = "researcher@example.org") -> None:
        self.user, _ = User.objects.get_or_create(email=email)
        self.client = Client()
        self.client.force_login(self.user, backend=BACKEND)

    def look(self, wave: Wave) -> Sight:
        return read_everything(self._fetch, slug=wave.survey.slug)

    def _fetch(self, path: str) -> tuple[int, bytes]:
        reply = self.client.get(path)
        return reply.status_code, reply.getvalue()


def read_everything(fetch: Fetch, *, slug: str) -> Sight:
    status, content = fetch(f"/api/surveys/{slug}/results")
    if status != OK:  # below the display minimum
        return NOTHING
    found = json.loads(content)
    return Sight(
        n=found["n"],
        asked={question["name"]: question["n"] for question in found["questions"]},
        yes={
            question["name"]: estimate["count"]
            for question in found["questions"]
            for estimate in question["estimates"]
            if estimate["estimand"] == YES
        },
        rows=_read_rows(fetch, slug=slug),
    )


def _read_rows(fetch: Fetch, *, slug: str) -> list[Row]:
    status, content = fetch(f"/api/surveys/{slug}/reports.csv")
    if status != OK:
        return []
    lines = csv.reader(io.StringIO(content.decode()))
    header = next(lines)
    questions = [place for place, name in enumerate(header) if QUESTION.match(name)]
    return [tuple(line[place] for place in questions) for line in lines]
