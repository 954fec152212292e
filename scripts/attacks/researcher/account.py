"""What an ordinary account reads about its own survey: the API and every file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.test import Client

from accounts.models import User
from surveys.models import Wave

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
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


class Account:
    def __init__(self, email: str = "researcher@example.org") -> None:
        self.user, _ = User.objects.get_or_create(email=email)
        self.client = Client()
        self.client.force_login(self.user, backend=BACKEND)

    def look(self, wave: Wave) -> Sight:
        reply = self.client.get(f"/api/surveys/{wave.survey.slug}/results")
        if reply.status_code != 200:  # below the display minimum
            return NOTHING
        found = json.loads(reply.content)
        return Sight(
            n=found["n"],
            asked={question["name"]: question["n"] for question in found["questions"]},
            yes={
                question["name"]: estimate["count"]
                for question in found["questions"]
                for estimate in question["estimates"]
                if estimate["estimand"] == YES
            },
            rows=self._read_rows(wave),
        )

    def _read_rows(self, wave: Wave) -> list[Row]:
        reply = self.client.get(f"/surveys/{wave.survey.slug}/results/reports.csv")
        if reply.status_code != 200:
            return []
        lines = csv.reader(io.StringIO(reply.getvalue().decode()))
        header = next(lines)
        questions = [place for place, name in enumerate(header) if QUESTION.match(name)]
        return [tuple(line[place] for place in questions) for line in lines]
