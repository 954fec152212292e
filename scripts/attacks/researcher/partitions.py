"""Attacks without fakes: declared groups that are large one by one, and single out one person.

Two lists cut the same people differently. The author knows that everybody in "B" of the first list
is in "B" of the second, and no one else. So "A", of one person, is everybody without "C" of the
first and without "B" of the second list, which are both shown because they are large.

Two conditions hold together for one person. A question that is asked only of people in both of
their groups, each of them large, is then estimated from that person's code.
"""

from __future__ import annotations

import random
from datetime import timedelta

from django.utils import timezone

from scripts.attacks.researcher.account import YES, Account
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work
from scripts.attacks.researcher.isolation import SEED, Outcome
from surveys.authoring.services import add_question, close_wave, create_survey, launch_survey
from surveys.manifest.manifest import Limit
from surveys.models import Question, Wave

LARGE = 6  # times C: enough people for each equation
ASKED = 6  # questions behind both conditions
NOT_ASKED = 2  # the code of everybody else


def attack_two_lists(k: int) -> Outcome:
    """Break down by both lists, and subtract."""
    design = Design(minimum_batch=k, display_minimum=k, questions=12, groups=(3, 2))
    outcome = Outcome(attack="two lists of the same people", minimum_batch=k, people=1)
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    outcome.acknowledged = wave.description.acknowledged

    def draw(*groups: int) -> bytes:
        return bytes(groups) + draw_codes(design, generator=generator)[len(groups) :]

    person = draw(0, 1)
    others = [draw(*own) for own in ((1, 0), (2, 1)) for _ in range(LARGE * design.crowd)]
    send(wave, [person, *others])
    close(wave)
    everybody = account.look(wave).yes
    first, second = (account.break_down(wave, name) for name in ("q1", "q2"))
    shown = [
        everybody[name] - first["3", name][1] - second["1", name][1]
        for name in everybody
        if ("3", name) in first and ("1", name) in second
    ]
    outcome.isolated = outcome.named = int(shown == list(person[len(design.groups) :]))
    return outcome


def attack_two_conditions(k: int) -> Outcome:
    """Ask only people of two groups together, and read the code off the estimate."""
    outcome = Outcome(attack="two conditions of a question", minimum_batch=k, people=1)
    account, generator = Account(), random.Random(SEED)
    wave = _open_with_conditions(account, k)
    outcome.acknowledged = wave.description.acknowledged
    person = bytes(generator.getrandbits(1) for _ in range(ASKED))
    crowd = 3 * k
    others = [
        bytes([*groups, *(generator.randrange(NOT_ASKED + 1) for _ in range(ASKED))])
        for groups in ((0, 1), (1, 0))
        for _ in range(crowd)
    ]
    send(wave, [bytes([0, 0]) + person, *others])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    work()
    found = account.client.get(f"/api/surveys/{wave.survey.slug}/results").json()
    shares = [
        estimate["estimate"]
        for question in found["questions"]
        for estimate in question["estimates"]
        if estimate["estimand"] == YES
    ]
    # One report gives a share far outside of 0 and 1.
    read = [int(share > 1) for share in shares if share is not None and not 0 <= share <= 1]
    outcome.isolated = outcome.named = int(read == list(person))
    return outcome


def _open_with_conditions(account: Account, k: int) -> Wave:
    survey = create_survey(
        owner=account.user, title="Working conditions", minimum_batch=k, display_minimum=k,
        closes_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    declared = [
        add_question(
            survey=survey, text=text, type=Question.Type.DECLARED, options=["First", "Second"]
        )
        for text in ("Unit", "Age")
    ]
    rule = {"all": [{"name": str(one.pk), "is": [0]} for one in declared]}
    for number in range(ASKED):
        add_question(survey=survey, text=f"Statement {number}", flips=30, rule=rule)
    return launch_survey(survey=survey, acknowledged=set(Limit))
