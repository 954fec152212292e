"""Attacks without fake reports: large declared groups together single out one person.

Two lists divide the same people differently. The author knows that "B" of the first list and "B" of
the second contain the same people. "A", with one person, is then everyone except "C" of the first
list and "B" of the second, which are both large enough to be shown.

Three lists of "yes" and "no" also single out one person, although no two of them suffice: nearly
everyone is in one of the three groups, and one person is in two.

Two conditions hold together for only one person. Each group is large, but a question that is asked
only of people in both groups is then estimated from that person's code.

Many questions are asked only of one group. Each estimate is an equation about its members, as in a
breakdown.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from scripts.attacks.researcher.account import YES, Account
from scripts.attacks.researcher.ground import Design, close, draw_codes, open_survey, send, work
from scripts.attacks.researcher.isolation import SEED, Outcome
from scripts.attacks.researcher.membership import PEOPLE_FOR_EQUATION
from surveys.authoring.services import add_question, launch_survey
from surveys.lifecycle.services import close_wave
from surveys.manifest.manifest import Limit
from surveys.models import Question, Survey, Wave

LARGE = 6  # times C: enough people for each equation
ASKED = 6  # questions behind both conditions
MANY = 40  # questions behind one condition
JOINT = "likelihood_ratio_joint"  # the method of a share among the members of a group
NOT_ASKED = 2  # the code of everyone else


def attack_two_lists(k: int) -> Outcome:
    """Break down by both lists, which the rows omit, and subtract the groups from everyone."""
    return _attack_two_lists(k, "two lists of the same people", left_out=("q1", "q2"))


def attack_marked_list(k: int) -> Outcome:
    """Break down by both lists, one of which the rows have, and subtract as above."""
    return _attack_two_lists(k, "two lists, one of them in the rows", left_out=())


def _attack_two_lists(k: int, attack: str, *, left_out: Sequence[str]) -> Outcome:
    return _attack_lists(
        k, attack, ((1, 0), (2, 1)), person=(0, 1), groups=(3, 2),
        subtracted={"q1": "3", "q2": "1"}, left_out=left_out,
    )  # fmt: skip


def attack_three_lists(k: int) -> Outcome:
    """Break down by three lists, add up their groups, and subtract the figures of everyone."""
    return _attack_lists(
        k, "three lists of the same people", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), person=(1, 1, 0),
        groups=(2, 2, 2), subtracted=dict.fromkeys(("q1", "q2", "q3"), "2"),
        left_out=("q1", "q2", "q3"),
    )  # fmt: skip


def _attack_lists(
    k: int, attack: str, others: Sequence[Sequence[int]], *, person: Sequence[int],
    groups: Sequence[int], subtracted: Mapping[str, str], left_out: Sequence[str],
) -> Outcome:  # fmt: skip
    """Break down by all lists, and compare the sum of these groups with everyone."""
    design = Design(minimum_batch=k, display_minimum=k, questions=12, groups=groups)
    outcome = Outcome(attack=attack, minimum_batch=k, people=1)
    account, generator = Account(), random.Random(SEED)
    wave = open_survey(account.user, design)
    outcome.acknowledged = wave.description.acknowledged

    def draw(own: Sequence[int]) -> bytes:
        return bytes(own) + draw_codes(design, generator=generator)[len(groups) :]

    codes = draw(person)
    send(wave, [codes, *(draw(own) for own in others for _ in range(LARGE * design.crowd))])
    close(wave)
    account.choose(wave, left_out=left_out)
    everybody = account.look(wave).yes
    shown = {name: account.break_down(wave, name) for name in subtracted}
    found = [
        abs(everybody[name] - sum(shown[one][group, name][1] for one, group in subtracted.items()))
        for name in everybody
        if all((group, name) in shown[one] for one, group in subtracted.items())
    ]
    outcome.isolated = outcome.named = int(found == list(codes[len(groups) :]))
    return outcome


def attack_two_conditions(k: int) -> Outcome:
    """Ask only people in both groups, and infer one person's codes from the estimates."""
    outcome = Outcome(attack="two conditions of a question", minimum_batch=k, people=1)
    account, generator = Account(), random.Random(SEED)
    wave = _open_with_conditions(account, k, conditions=("Unit", "Age"), questions=ASKED)
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
    # A share that is estimated from one report is far outside the range from 0 to 1.
    read = [int(share > 1) for share in shares if share is not None and not 0 <= share <= 1]
    outcome.isolated = outcome.named = int(read == list(person))
    return outcome


def attack_many_conditions(k: int) -> Outcome:
    """Count the equations about a group of C people; with too many, the group is `isolated`."""
    outcome = Outcome(attack="many questions behind a condition", minimum_batch=k, people=3 * k)
    account, generator = Account(), random.Random(SEED)
    wave = _open_with_conditions(account, k, conditions=("Unit",), questions=MANY)
    outcome.acknowledged = wave.description.acknowledged
    rows = [
        bytes([group, *(generator.randrange(NOT_ASKED + 1) for _ in range(MANY))])
        for group in (0, 1, 1, 1)
        for _ in range(outcome.people)
    ]
    send(wave, rows)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.DATE)
    work()
    found = account.client.get(f"/api/surveys/{wave.survey.slug}/results").json()
    estimates = [one for question in found["questions"] for one in question["estimates"]]
    equations = sum(one["interval_method"] == JOINT for one in estimates)
    outcome.isolated = outcome.people if equations * PEOPLE_FOR_EQUATION > outcome.people else 0
    return outcome


def _open_with_conditions(
    account: Account, k: int, *, conditions: Sequence[str], questions: int
) -> Wave:
    survey = Survey.objects.create_owned(
        account.user, title="Working conditions", minimum_batch=k, display_minimum=k,
        closes_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    declared = [
        add_question(
            survey=survey, text=text, type=Question.Type.DECLARED, options=["First", "Second"]
        )
        for text in conditions
    ]
    rule = {"all": [{"name": str(one.pk), "is": [0]} for one in declared]}
    for number in range(questions):
        add_question(survey=survey, text=f"Statement {number}", flips=45, rule=rule)
    return launch_survey(survey=survey, acknowledged=set(Limit))


ATTACKS = (
    attack_two_lists,
    attack_marked_list,
    attack_three_lists,
    attack_two_conditions,
    attack_many_conditions,
)
