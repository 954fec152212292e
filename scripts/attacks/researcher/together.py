"""Attacks that combine others: by groups, random subsets, coins, copies and accounts.

One person is known to have answered. All fake reports copy the known facts: the groups, the block,
and whether the person used paper. Many other people, whose groups or block differ, also answer. The
person is found if any figure describes exactly this person and the fakes.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from aggregator.upkeep.deleting import delete_survey
from scripts.attacks.researcher.account import OK, Account
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work
from scripts.attacks.researcher.isolation import SEED
from surveys.manifest.manifest import NOT_DRAWN
from surveys.models import Survey, Wave

OTHERS = 4  # times the crowd C
CHANGES = 25  # how often a few people answer
FLIPS = 30  # few enough for coins to stay within the largest ε


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The attacks to combine; the result is the cheapest attack, not the sum of all."""

    name: str
    groups: Sequence[int] = ()
    drawn: int | None = None
    coins: bool = False
    copies: int = 1
    accounts: int = 1
    deletes: bool = False  # deletes each survey after reading it


PLANS = (
    Plan(name="closed early"),
    Plan(name="declared group", groups=(4,)),
    Plan(name="block of a random subset", drawn=1),
    Plan(name="group × subset", groups=(4,), drawn=1),
    Plan(name="two groups × subset", groups=(4, 3), drawn=1),
    Plan(name="coins", coins=True),
    Plan(name="coins × group × subset", groups=(4,), drawn=1, coins=True),
    Plan(name="two copies, two accounts", copies=2, accounts=2),
    Plan(name="group × subset, two copies, deleted", groups=(4,), drawn=1, copies=2, deletes=True),
    Plan(
        name="all of these", groups=(4,), drawn=1, coins=True, copies=2, accounts=2, deletes=True
    ),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The least number of fakes that found the person, or None if not even C - 1 fakes did."""

    attack: str
    minimum_batch: int
    crowd: int
    fakes: int | None
    acknowledged: Sequence[str]


def find_cost(plan: Plan, *, k: int) -> Cost:
    design = Design(
        minimum_batch=k, display_minimum=k, questions=4, flips=FLIPS,
        groups=plan.groups, drawn=plan.drawn, coins=plan.coins,
    )  # fmt: skip
    crowd, acknowledged = design.crowd, set[str]()
    for fakes in (k - 1, crowd - 2, crowd - 1):
        for number in range(plan.accounts):
            account = Account(f"researcher{number}@example.org")
            for _ in range(plan.copies):
                wave = open_survey(account.user, design)
                acknowledged |= set(wave.description.acknowledged)
                sizes = list(_attack(account, wave, design, fakes=fakes))
                if plan.deletes:
                    delete_survey(survey=Survey.objects.get(pk=wave.survey_id))
                if fakes + 1 in sizes:
                    return Cost(
                        attack=plan.name, minimum_batch=k, crowd=crowd, fakes=fakes,
                        acknowledged=sorted(acknowledged),
                    )  # fmt: skip
    return Cost(
        attack=plan.name, minimum_batch=k, crowd=crowd, fakes=None,
        acknowledged=sorted(acknowledged),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The smallest changes of a figure, in people, if any: between looks, and at the close."""

    between_looks: int | None
    at_close: int | None


def find_changes(plan: Plan, *, k: int) -> Changes:
    """Let people answer a few at a time, and read the figures after each few."""
    design = Design(
        minimum_batch=k, display_minimum=k, questions=4, flips=FLIPS,
        groups=plan.groups, drawn=plan.drawn, coins=plan.coins,
    )  # fmt: skip
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    shown = []
    for _ in range(CHANGES):
        few = [draw_codes(design, generator=generator) for _ in range(generator.randrange(1, k))]
        _send(wave, few, design)
        work()
        shown.append(_count_people(account, wave, design))
    looks = [_find_change(*pair) for pair in pairwise(shown)]
    close(wave)
    return Changes(
        between_looks=min(filter(None, looks), default=None),
        at_close=_find_change(shown[-1], _count_people(account, wave, design)),
    )


def _count_people(account: Account, wave: Wave, design: Design) -> dict[str, int]:
    """Map each displayed figure to the number of people it describes."""
    if design.coins:
        return _read_paper(account, wave)
    sight = account.look(wave)
    shown = {name: sight.asked[name] for name in sight.yes}
    return shown | {"everybody": account.count_sealed(wave)}


def _find_change(before: Mapping[str, int], after: Mapping[str, int]) -> int | None:
    """Return the smallest change, in people, of a figure that was already shown."""
    moved = (after[name] - people for name, people in before.items() if people)
    return min(filter(None, moved), default=None)


def _attack(account: Account, wave: Wave, design: Design, *, fakes: int) -> Iterator[int]:
    """Yield the number of reports behind each figure or kind of row that includes the person."""
    generator = random.Random(SEED)
    person = _draw_person(design, generator)
    around = [person, *[_turn(person, design)] * fakes]
    can_differ = design.groups or design.drawn
    others = OTHERS * design.crowd if can_differ else 0
    send(wave, [_draw_other(design, generator, than=person) for _ in range(others)])
    _send(wave, around, design)
    close(wave)
    if design.coins:
        yield from _read_paper(account, wave).values()
    yield from _read_browsers(account, wave, person, design)


def _send(wave: Wave, rows: Sequence[bytes], design: Design) -> None:
    """Send rows from browsers, or on paper, where everyone gets all questions and no groups."""
    if design.coins:
        send(wave.survey.waves.manual().get(), [_toss(codes, design) for codes in rows])
    else:
        send(wave, rows)


def _read_browsers(account: Account, wave: Wave, person: bytes, design: Design) -> Iterator[int]:
    sight = account.look(wave)
    width = len(design.groups)
    asked = [f"q{place}" for place, code in enumerate(person, 1) if code != NOT_DRAWN]
    yield from (sight.asked[name] for name in asked[width:] if name in sight.yes)
    yield from (sight.known.count(known) for known in set(sight.known))
    for place in range(width):
        name, own = f"q{place + 1}", str(person[place] + 1)
        for (group, _), (people, _) in account.break_down(wave, name).items():
            if group == own:
                yield people


def _read_paper(account: Account, wave: Wave) -> dict[str, int]:
    """Map each question that is shown to the number of people who answered it with coins."""
    path = f"/surveys/{wave.survey.slug}/results/coins/estimates.csv"
    reply = account.client.get(path)
    if reply.status_code != OK:
        return {}
    rows = csv.DictReader(io.StringIO(reply.getvalue().decode()))
    return {row["question"]: int(row["n"]) for row in rows}


def _draw_person(design: Design, generator: random.Random) -> bytes:
    """Draw someone who is in the first group of each question and was asked the first blocks."""
    codes = draw_codes(replace(design, groups=(), drawn=None), generator=generator)
    drawn = design.drawn or design.questions
    return bytes(len(design.groups)) + codes[:drawn] + bytes([NOT_DRAWN]) * (len(codes) - drawn)


def _turn(person: bytes, design: Design) -> bytes:
    """Make a fake with the same groups and blocks and the opposite codes."""
    width = len(design.groups)
    own = (code if code == NOT_DRAWN else 1 - code for code in person[width:])
    return person[:width] + bytes(own)


def _toss(codes: bytes, design: Design) -> bytes:
    return bytes(int(code == 1) for code in codes[len(design.groups) :])


def _draw_other(design: Design, generator: random.Random, *, than: bytes) -> bytes:
    """Draw someone whose groups or blocks are not all the same as the person's."""
    width = len(design.groups)
    while True:
        codes = draw_codes(design, generator=generator)
        asked = [code == NOT_DRAWN for code in codes[width:]]
        if codes[:width] != than[:width] or asked != [code == NOT_DRAWN for code in than[width:]]:
            return codes
