"""Attacks that surround one person with known reports and subtract these from the results.

The attacker knows when each person answers, and no one else answers in between. This is the worst
case for the people. Fake reports show No to every second question and Yes to the others. The
difference between two looks therefore shows how many new reports are not fakes. If there is exactly
one, every question differs by 0 or 1, and these numbers are the person's codes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from scripts.attacks.researcher.account import Account, Row, Sight
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work

SEED = 20261122
FIRST, LAST = b"\x00" * 4, b"\xff" * 4  # beginnings of the ids that the attacker chooses
# An attacker who sends fakes until a person appears gives up after this many times K.
PATIENCE = 40


@dataclass(kw_only=True)
class Outcome:
    """The result and the cost of an attack."""

    attack: str
    minimum_batch: int
    people: int
    fakes: int = 0
    isolated: int = 0  # people all of whose codes were read from figures about one report
    named: int = 0  # people among these whom the attacker can name
    rows: int = 0  # people whose row of reports.csv was found and attributed to them
    wrong: int = 0  # readings that match no one's codes
    acknowledged: Sequence[str] = ()  # limits that the author had to acknowledge

    @property
    def fakes_each(self) -> float:
        return self.fakes / self.people


@dataclass
class Watcher:
    """Compares looks of one survey and records what they reveal."""

    outcome: Outcome
    fake: bytes
    people: list[bytes] = field(default_factory=list)  # those who have answered so far
    counted: int = 0  # how many of `people` have been seen in results
    last: Sight | None = None
    found_rows: set[bytes] = field(default_factory=set)

    def watch(self, sight: Sight) -> int:
        """Record a new look; return how many people it shows for the first time."""
        before, self.last = self.last, sight
        if before is None or not before.n:
            return 0
        self._compare_rows(before, sight)
        if sight.n == before.n:
            return 0
        new = self._count_people(before, sight)
        self.counted += new
        if new == 1:
            self._read_codes(before, sight)
        return new

    def _count_people(self, before: Sight, sight: Sight) -> int:
        """Infer the number of new people: the most who differ from the fakes in any question."""
        return max(self._differing(before, sight))

    def _differing(self, before: Sight, sight: Sight) -> list[int]:
        """Count, for each question, the new reports that differ from the fakes."""
        found = []
        for name, shown in zip(sight.yes, self.fake, strict=True):
            yes = sight.yes[name] - before.yes[name]
            found.append(sight.asked[name] - before.asked[name] - yes if shown else yes)
        return found

    def _read_codes(self, before: Sight, sight: Sight) -> None:
        differing = self._differing(before, sight)
        codes = bytes(fake ^ other for fake, other in zip(self.fake, differing, strict=True))
        if codes not in self.people:
            self.outcome.wrong += 1
            return
        self.outcome.isolated += 1
        # Exactly one person had answered who was not in the results yet.
        if self.counted == len(self.people) and codes == self.people[-1]:
            self.outcome.named += 1

    def _compare_rows(self, before: Sight, sight: Sight) -> None:
        """Look for one new row that is not a fake."""
        new = sight.distinct - before.distinct
        other = {row: times for row, times in new.items() if read_codes(row) != self.fake}
        if sum(other.values()) == 1:
            self.found_rows.add(read_codes(next(iter(other))))
            self.outcome.rows = len(self.found_rows & set(self.people))


def read_codes(row: Row) -> bytes:
    return bytes(int(cell) for cell in row)


class Place(Protocol):
    """The place where a survey runs, as its author sees it."""

    def send(self, rows: Sequence[bytes], *, beginning: bytes = b"") -> None: ...
    def look(self) -> Sight:
        """Do all due work, then read everything."""

    def close(self) -> None: ...


class Here:
    """A survey that runs in this process."""

    def __init__(self, design: Design) -> None:
        self._account = Account()
        self._wave = open_survey(self._account.user, design)

    def send(self, rows: Sequence[bytes], *, beginning: bytes = b"") -> None:
        send(self._wave, rows, beginning=beginning)

    def look(self) -> Sight:
        work()
        return self._account.look(self._wave)

    def close(self) -> None:
        close(self._wave)


def attack_live(
    minimum_batch: int,
    *,
    fakes: int | None,
    people: int,
    begin: Callable[[Design], Place] = Here,
) -> Outcome:
    """Surround each person with this many fakes, or with as many as needed to see the person."""
    words = (
        f"live, {fakes} fakes for each person" if fakes else "live, fakes until a person is seen"
    )
    outcome = Outcome(attack=words, minimum_batch=minimum_batch, people=people)
    design = Design(minimum_batch=minimum_batch, display_minimum=minimum_batch)
    fake = bytes(number % 2 for number in range(design.questions))
    generator, place = random.Random(SEED), begin(design)
    watcher = Watcher(outcome, fake)

    def add_fakes(number: int, beginning: bytes = FIRST) -> int:
        place.send([fake] * number, beginning=beginning)
        outcome.fakes += number
        return watcher.watch(place.look())

    # These fakes would wait forever if the lowest ids were sealed first.
    add_fakes(minimum_batch, LAST)
    for _ in range(PATIENCE):  # until there are results
        add_fakes(minimum_batch)
        if watcher.last is not None and watcher.last.n:
            break
    for _ in range(people):
        person = draw_codes(design, generator=generator)
        watcher.people.append(person)
        place.send([person])
        if fakes:
            add_fakes(fakes)
            continue
        for _ in range(PATIENCE):
            if add_fakes(minimum_batch) and watcher.counted == len(watcher.people):
                break
    place.close()
    watcher.watch(place.look())
    return outcome


def attack_after_the_close(minimum_batch: int, *, fakes: int, people: int) -> Outcome:
    """Surround each person with marked fakes, and look for the rows next to the marks in the file.

    The marks come last in their batch. If the file lists one batch after another, the row before
    each mark belongs to the person whom the fakes surround.
    """
    words = f"after the close, {fakes} marked fakes for each person"
    outcome = Outcome(attack=words, minimum_batch=minimum_batch, people=people)
    design = Design(minimum_batch=minimum_batch, display_minimum=minimum_batch)
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    first, *marks = (_mark(number, design=design) for number in range(people + 1))
    crowd = [draw_codes(design, generator=generator) for _ in range(people)]

    def add_fakes(mark: bytes, number: int, beginning: bytes = FIRST) -> None:
        send(wave, [mark] * number, beginning=beginning)
        outcome.fakes += number
        work()

    add_fakes(first, minimum_batch, LAST)
    for mark, person in zip(marks, crowd, strict=True):
        send(wave, [person])
        add_fakes(mark, fakes)
    close(wave)
    rows = [read_codes(row) for row in account.look(wave).rows]
    found = _read_neighbours(rows, marks, known={first, *marks})
    outcome.rows = sum(codes == crowd[number] for number, codes in found.items())
    outcome.wrong = len(found) - outcome.rows
    outcome.isolated = outcome.named = outcome.rows
    return outcome


def _mark(number: int, *, design: Design) -> bytes:
    """Write a number into the last codes; the 1s before it sort the mark behind most people."""
    bits = 8
    return bytes([1] * (design.questions - bits)) + bytes(
        number >> bit & 1 for bit in reversed(range(bits))
    )


def _read_neighbours(
    rows: Sequence[bytes], marks: Sequence[bytes], *, known: Set[bytes]
) -> dict[int, bytes]:
    """Return, for each mark, the row before its first fake, unless that row is also a fake."""
    found = {}
    for number, mark in enumerate(marks):
        place = rows.index(mark)
        if place and rows[place - 1] not in known:
            found[number] = rows[place - 1]
    return found


def attack_one_by_one(design: Design, *, people: int) -> Outcome:
    """Copy the survey for each person, send them the link, and add fakes until it closes."""
    assert design.cap is not None
    words = f"one survey for each person, which ends after {design.cap}"
    outcome = Outcome(attack=words, minimum_batch=design.minimum_batch, people=people)
    fake = bytes(number % 2 for number in range(design.questions))
    account, generator = Account(), random.Random(SEED)
    for _ in range(people):
        wave = open_survey(account.user, design)
        outcome.acknowledged = wave.description.acknowledged
        person = draw_codes(design, generator=generator)
        send(wave, [person])
        send(wave, [fake] * (design.cap - 1))
        outcome.fakes += design.cap - 1
        work()
        sight = account.look(wave)
        read = Counter(read_codes(row) for row in sight.rows)
        outcome.rows += read[person] == 1 and read[fake] == design.cap - 1
        shown = [
            yes - bit * (design.cap - 1) for yes, bit in zip(sight.yes.values(), fake, strict=False)
        ]
        outcome.isolated += shown == list(person)
        outcome.named += shown == list(person)
    return outcome
