"""Attacks without fake reports: rows that are unique in facts known about a person.

Someone knows a colleague's declared answers, or which questions the colleague was asked. If only
one row agrees with these facts, that row shows all of the colleague's codes.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass

from aggregator.comparisons.jobs import request_comparison
from aggregator.models import Comparison
from aggregator.results.snapshots import newest_snapshot
from scripts.attacks.researcher.account import Account
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work
from scripts.attacks.researcher.isolation import SEED, Outcome, read_codes
from surveys.comparing.choice import NotComparable
from surveys.models import Wave

PEOPLE = 320
MINIMUM = 10
GROUPS = Design(
    minimum_batch=MINIMUM, display_minimum=MINIMUM, questions=2, flips=12, groups=(8, 8, 8)
)
SUBSETS = Design(minimum_batch=MINIMUM, display_minimum=MINIMUM, questions=16, drawn=8)
SCRAMBLED = "q4"  # the first question after the three groups
CROSSINGS = 6


@dataclass(frozen=True, kw_only=True)
class Fingerprints:
    """How many rows of reports.csv can be identified by known facts."""

    attack: str
    people: int
    rows: int
    alone: int
    few: int  # rows whose facts are shared by fewer than C people
    compared: int = 0  # crossed groups of fewer than C people that Compare counted


def find_fingerprints(name: str, design: Design) -> Fingerprints:
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    people = [draw_codes(design, generator=generator) for _ in range(PEOPLE)]
    send(wave, people)
    work()
    close(wave)
    sight = account.look(wave)
    known = Counter(sight.known)
    return Fingerprints(
        attack=name,
        people=PEOPLE,
        rows=len(sight.rows),
        alone=sum(times for times in known.values() if times == 1),
        few=sum(times for times in known.values() if times < design.crowd),
        compared=_cross_groups(wave, people) if design.groups else 0,
    )


def _cross_groups(wave: Wave, people: list[bytes]) -> int:
    """Count regressions that Murmur computes on two declared groups that few people share."""
    cells = Counter(person[:2] for person in people)
    small = [cell for cell in sorted(cells) if cells[cell] < MINIMUM][:CROSSINGS]
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    asked = []
    for cell in small:
        names = [SCRAMBLED, *(f"q{place}.{code}" for place, code in enumerate(cell, 1))]
        with suppress(NotComparable):
            kind = Comparison.Kind.REGRESSION
            asked.append(request_comparison(wave=wave, snapshot=snapshot, kind=kind, names=names))
    work()
    done = Comparison.objects.filter(pk__in=[one.pk for one in asked], state=Comparison.State.DONE)
    return done.count()


def attack_small_groups(*, people: int) -> Outcome:
    """Add fakes to people who are alone in their groups; count people whose row is found.

    The attacker knows these people's declared answers.
    """
    design, generator, account = GROUPS, random.Random(SEED), Account()
    outcome = Outcome(
        attack=f"after the close, {design.crowd - 1} fakes in each person's groups",
        minimum_batch=design.minimum_batch,
        people=people,
    )
    width = len(design.groups)
    wave = open_survey(account.user, design)
    crowd = [draw_codes(design, generator=generator) for _ in range(PEOPLE)]
    shared = Counter(person[:width] for person in crowd)
    victims = [person for person in crowd if shared[person[:width]] == 1][:people]
    send(wave, crowd)
    for victim in victims:
        # A fake repeats the victim's groups but reverses the other codes, so that the rows differ.
        fake = victim[:width] + bytes(1 - code for code in victim[width:])
        send(wave, [fake] * (design.crowd - 1))
        outcome.fakes += design.crowd - 1
    close(wave)
    sight = account.look(wave)
    cells: dict[object, Counter[bytes]] = defaultdict(Counter)
    for known, row in zip(sight.known, sight.rows, strict=True):
        cells[known][read_codes(row[-design.questions :])] += 1
    for victim in victims:
        codes = victim[width:]
        alone = {codes: 1, bytes(1 - code for code in codes): design.crowd - 1}
        outcome.rows += alone in cells.values()
    return outcome


def find_all_fingerprints() -> list[Fingerprints]:
    return [
        find_fingerprints("three declared groups of eight", GROUPS),
        find_fingerprints("8 of 16 questions drawn", SUBSETS),
    ]
