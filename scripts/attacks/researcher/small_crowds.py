"""Attacks that make the crowd small instead of surrounding a person in a large one.

Neither an action of the author at the close nor any part of a survey may show figures or rows of
fewer than C reports. To learn one person's codes, an attacker must add C - 1 fake reports.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping

from scripts.attacks.researcher.account import OK, YES, Account, Sight
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work
from scripts.attacks.researcher.isolation import SEED, Outcome, read_codes
from surveys.models import Wave


def attack_by_hand(k: int, *, fakes: int) -> Outcome:
    """Open a survey without a set end, surround a person with fakes, and close it by hand."""
    design = Design(minimum_batch=k, display_minimum=k)
    outcome = Outcome(attack=f"closed by hand, {fakes} fakes", minimum_batch=k, people=1)
    account = Account()
    wave = open_survey(account.user, design)
    outcome.acknowledged = wave.description.acknowledged
    person = _surround(wave, design, fakes=fakes, outcome=outcome)
    sight = account.look(wave)
    outcome.rows = [read_codes(row) for row in sight.rows].count(person)
    outcome.isolated = int(_subtract(sight.yes, design, fakes=fakes) == list(person))
    return outcome


def attack_coins(k: int, *, fakes: int, people: int) -> Outcome:
    """Hand the paper sheet to one person in a survey that many others answer in their browsers."""
    design = Design(minimum_batch=k, display_minimum=k, questions=12, flips=25, coins=True)
    outcome = Outcome(attack=f"on paper, {fakes} fakes", minimum_batch=k, people=1)
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    outcome.acknowledged = wave.description.acknowledged
    send(wave, [draw_codes(design, generator=generator) for _ in range(people)])
    coins = wave.survey.waves.manual().get()
    person = _surround(coins, design, fakes=fakes, outcome=outcome)
    address = f"/surveys/{wave.survey.slug}/results/coins"
    outcome.rows = int(account.client.get(f"{address}/reports.csv").status_code == OK)
    counts = _read_counts(account, f"{address}/estimates.csv")
    outcome.isolated = int(_subtract(counts, design, fakes=fakes) == list(person))
    return outcome


def find_smallest_move(*, k: int, blocks: int, people: int) -> int | None:
    """Return the fewest people that the close adds to a block, or None if no block was shown."""
    design = Design(minimum_batch=k, display_minimum=k, questions=blocks, drawn=1)
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    crowd = [draw_codes(design, generator=generator) for _ in range(people)]
    for start in range(0, people, k):
        send(wave, crowd[start : start + k])
        work()
    before: Sight = account.look(wave)
    close(wave)
    after = account.look(wave)
    assert after.n == people
    moved = [after.asked[name] - seen for name, seen in before.asked.items()]
    return min((number for number in moved if number), default=None)


def _surround(wave: Wave, design: Design, *, fakes: int, outcome: Outcome) -> bytes:
    """Send one person's codes and identical fakes, close by hand, and return the codes."""
    person = draw_codes(design, generator=random.Random(SEED))
    send(wave, [person, *[_fake(design)] * fakes])
    outcome.fakes = fakes
    close(wave)
    return person


def _fake(design: Design) -> bytes:
    return bytes(number % 2 for number in range(design.questions))


def _subtract(yes: Mapping[str, int], design: Design, *, fakes: int) -> list[int]:
    return [shown - bit * fakes for shown, bit in zip(yes.values(), _fake(design), strict=False)]


def _read_counts(account: Account, path: str) -> dict[str, int]:
    reply = account.client.get(path)
    if reply.status_code != OK:
        return {}
    rows = csv.DictReader(io.StringIO(reply.getvalue().decode()))
    return {row["question"]: int(row["count"]) for row in rows if row["estimand"] == YES}
