"""An ordinary account's view of its own survey: the API and every file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.test import Client

from accounts.models import User
from scripts.attacks.researcher.ground import work
from surveys.models import Wave

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
OK, FOUND, NOT_FOUND = 200, 302, 404
MOST_BLOCKS = 24
NOT_CHOSEN = b"background-not-chosen"
YES = "1"
QUESTION = re.compile(r"q\d")
SCRAMBLED = "_randomized"
OFFERED = re.compile(r'type="checkbox" name="(q\d+)"')
Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """All figures of a survey at one moment."""

    n: int  # reports in the newest results
    asked: Mapping[str, int]  # people asked each question; 0 if not shown
    yes: Mapping[str, int]  # codes of each question that show Yes
    # The questions' cells in reports.csv, in the order of the file, or in the files of all blocks;
    # empty if there is no file.
    rows: Sequence[Row]
    # What each row reveals about its person: the file, the background, and which cells are empty.
    known: Sequence[tuple[object, ...]] = ()

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
        """Read everything; if the rows await a background, accept the whole proposal."""
        _, content = self._fetch(f"/api/surveys/{wave.survey.slug}/reports.csv")
        if NOT_CHOSEN in content:
            self.choose(wave)
        return read_everything(self._fetch, slug=wave.survey.slug)

    def choose(self, wave: Wave, *, left_out: Collection[str] = ()) -> None:
        """Choose the whole proposal except `left_out`."""
        path = f"/surveys/{wave.survey.slug}/data/background"
        _, page = self._fetch(path)
        chosen = {"is_sent", *OFFERED.findall(page.decode())} - set(left_out)
        assert self.client.post(path, dict.fromkeys(chosen, "on")).status_code == FOUND

    def count_sealed(self, wave: Wave) -> int:
        """Return the number of sealed reports, which is shown even without results."""
        _, content = self._fetch(f"/api/surveys/{wave.survey.slug}")
        return int(json.loads(content)["sealed"])

    def break_down(self, wave: Wave, question: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Map each group and question shown to the number of people and of codes that show Yes."""
        path = f"/surveys/{wave.survey.slug}/breakdown/{question}"
        self._fetch(path)
        work()
        status, content = self._fetch(f"{path}/breakdown.csv")
        lines = csv.DictReader(io.StringIO(content.decode())) if status == OK else ()
        return {
            (line["group"], line["question"]): (int(line["n"]), int(line["count"]))
            for line in lines
            if line["section"] == "estimate" and line["estimand"] == YES
        }

    def _fetch(self, path: str) -> tuple[int, bytes]:
        reply = self.client.get(path)
        return reply.status_code, reply.getvalue()


def read_everything(fetch: Fetch, *, slug: str) -> Sight:
    status, content = fetch(f"/api/surveys/{slug}/results")
    if status != OK:  # below the display minimum
        return NOTHING
    found = json.loads(content)
    found_rows = list(_read_rows(fetch, slug=slug))
    return Sight(
        n=found["n"],
        asked={question["name"]: question["n"] or 0 for question in found["questions"]},
        yes={
            question["name"]: estimate["count"]
            for question in found["questions"]
            for estimate in question["estimates"]
            if estimate["estimand"] == YES
        },
        rows=[row for row, _ in found_rows],
        known=[known for _, known in found_rows],
    )


def _read_rows(fetch: Fetch, *, slug: str) -> Iterator[tuple[Row, tuple[object, ...]]]:
    for number in ("", *map(str, range(1, MOST_BLOCKS + 1))):
        query = f"?block={number}" if number else ""
        status, content = fetch(f"/api/surveys/{slug}/reports.csv{query}")
        if status != OK and number:
            continue  # too few people were asked this block
        if status == OK:
            yield from _read_file(content, number=number)
        if not number and status != NOT_FOUND:
            return  # there is one file, or none


def _read_file(content: bytes, *, number: str) -> Iterator[tuple[Row, tuple[object, ...]]]:
    lines = csv.reader(io.StringIO(content.decode()))
    header = next(lines)
    questions = [place for place, name in enumerate(header) if QUESTION.match(name)]
    for line in lines:
        row = tuple(line[place] for place in questions)
        known = (
            cell if not header[place].endswith(SCRAMBLED) else cell == ""
            for place, cell in enumerate(line)
        )
        yield row, (number, *known)
