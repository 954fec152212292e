"""Rehearse a survey with synthetic respondents and a stated joint distribution of true answers.

People form groups. Within a group, answers are drawn independently; groups differ as stated, so
a mixture of groups can express any joint distribution. In JSON:

    [{"share": 0.3, "answers": {"q1": 1, "q2": {"0": 0.2, "1": 0.7, "refused": 0.1}}},
     {"share": 0.7, "answers": {"q1": 0, "q3": {"items": {"1": 0.4, "2": 0.1}}}}]

An answer is a code (for a number question, the number), a list of chosen items, null for "prefer
not to say", or weights to draw from. Unstated answers are drawn with equal chances. For a scale
with two codes, state both or neither; if you state neither, answers to its items are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from aggregator.simulation.respondents import Answer, Answers
from surveys.authoring.services import copy_survey, launch_survey, save_draft
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey, Wave

MAX_PEOPLE = 1_000_000
GREATEST_WEIGHT = 1e9
REFUSED = "refused"
TITLE = "Rehearsal of {title}"


class RehearsalError(ValueError):
    """The stated answers do not fit the survey; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Group:
    share: float
    answers: Mapping[str, Any]


def read_groups(content: Any, *, manifest: Manifest) -> list[Group]:
    """Read the groups and check that each stated answer is possible."""
    if not isinstance(content, list) or not content:
        raise RehearsalError('Write a list of groups, such as [{"share": 1, "answers": {}}].')
    questions = {question.name: question for question in manifest.questions}
    groups = []
    for number, group in enumerate(content, start=1):
        if not isinstance(group, dict) or set(group) != {"share", "answers"}:
            raise RehearsalError(f"Group {number} must have a share and answers, and nothing else.")
        share, answers = group["share"], group["answers"]
        if not _is_weight(share) or not share > 0:
            raise RehearsalError(f"The share of group {number} must be a number above 0.")
        if not isinstance(answers, dict):
            raise RehearsalError(
                f"The answers of group {number} must be an object keyed by question."
            )
        for name, stated in answers.items():
            question = questions.get(name)
            if question is None or not question.is_answered:
                raise RehearsalError(f"Group {number}: the survey asks no question named {name}.")
            try:
                _Stated(question, stated).check()
            except RehearsalError as error:
                raise RehearsalError(f"Group {number}, {name}: {error}") from None
        for one in manifest.questions:
            if one.is_second and (one.name in answers) != (one.scale in answers):
                raise RehearsalError(
                    f"Group {number}: {one.scale} and {one.name} are codes of one scale. State "
                    "both or neither."
                )
        groups.append(Group(share=float(share), answers=answers))
    return groups


def draw_people(
    groups: Sequence[Group], *, manifest: Manifest, people: int, seed: int
) -> list[Answers]:
    """Draw true answers at random, with group sizes as exact as whole numbers allow."""
    generator = random.Random(seed)  # noqa: S311  invented people, no secrets
    return [
        _draw_person(group, manifest, generator)
        for group, count in zip(groups, share_out([g.share for g in groups], people), strict=True)
        for _ in range(count)
    ]


def _draw_person(group: Group, manifest: Manifest, generator: random.Random) -> Answers:
    with_two_codes = {one.scale for one in manifest.questions if one.is_second}
    found: dict[str, Answer] = {}
    for question in manifest.questions:
        if not question.is_answered:
            continue
        stated = group.answers.get(question.name, ...)
        if question.scale not in with_two_codes or stated is not ...:
            found[question.name] = _Stated(question, stated).draw(generator)
        elif not question.is_second:  # the second code follows from the items
            assert question.score is not None
            places = range(len(question.score.options))
            found[question.name] = [generator.choice(places) for _ in question.score.items]
    return found


def share_out(shares: Sequence[float], people: int) -> list[int]:
    """Divide people in proportion to the shares; those with the largest remainders get one more."""
    total = sum(shares)
    exact = [people * share / total for share in shares]
    counts = [int(number) for number in exact]
    order = sorted(range(len(shares)), key=lambda place: counts[place] - exact[place])
    for place in order[: people - sum(counts)]:
        counts[place] += 1
    return counts


def _is_weight(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= GREATEST_WEIGHT  # NaN is not a weight either


class _Stated:
    """The stated answer to one question; `...` if none is stated."""

    def __init__(self, question: ManifestQuestion, stated: Any) -> None:
        self._question, self._stated = question, stated

    def check(self) -> None:
        stated = self._stated
        if isinstance(stated, dict):
            weights = stated.get("items") if self._is_several else stated
            if not isinstance(weights, dict) or (self._is_several and len(stated) > 1):
                raise RehearsalError('write {"items": {"1": 0.4, …}}, with the chance of each item')
            for key, weight in weights.items():
                if not _is_weight(weight) or (self._is_several and weight > 1):
                    ends = "0 to 1" if self._is_several else f"0 to {GREATEST_WEIGHT:.0e}"
                    raise RehearsalError(f"the weight of {key} must be a number from {ends}")
                self._check_one([self._item(key)] if self._is_several else self._read(key))
            if not self._is_several and not sum(stated.values()) > 0:
                raise RehearsalError("at least one weight must be above 0")
        elif stated is not ...:
            self._check_one(stated)

    def draw(self, generator: random.Random) -> Answer:
        stated = self._stated
        if stated is ...:
            return self._draw_evenly(generator)
        if not isinstance(stated, dict):
            return stated  # type: ignore[no-any-return]  # checked: a code, items or None
        if self._is_several:
            chosen = [int(k) for k, p in stated["items"].items() if generator.random() < p]
            return self._cut(chosen, generator)
        (key,) = generator.choices(list(stated), list(stated.values()))
        return self._read(key)

    def _draw_evenly(self, generator: random.Random) -> Answer:
        question = self._question
        if self._is_several:
            chosen = [option.code for option in question.options if generator.random() < 0.5]
            return self._cut(chosen, generator)
        if question.is_rounded:
            assert question.minimum is not None
            assert question.maximum is not None
            return generator.randint(question.minimum, question.maximum)
        return generator.choice([option.code for option in question.options])

    def _cut(self, chosen: list[int], generator: random.Random) -> list[int]:
        limit = self._question.limit
        if limit is not None and len(chosen) > limit:
            chosen = generator.sample(chosen, limit)
        return sorted(chosen)

    @property
    def _is_several(self) -> bool:
        return self._question.has_items

    def _item(self, key: str) -> int:
        if not key.isdecimal():
            raise RehearsalError(f"items are named by their numbers, not {key!r}")
        return int(key)

    def _read(self, key: str) -> int | None:
        if key == REFUSED:
            return None
        try:
            return int(key)
        except ValueError:
            raise RehearsalError(f"answers are named by their codes, not {key!r}") from None

    def _check_one(self, answer: Any) -> None:
        question = self._question
        codes = {option.code for option in question.options}
        if answer is None:
            if not question.refusal:
                raise RehearsalError("the question does not offer “prefer not to say”")
        elif self._is_several:
            if not isinstance(answer, list) or not all(
                type(item) is int and item in codes and answer.count(item) == 1 for item in answer
            ):
                raise RehearsalError(f"choose items from {sorted(codes)}, each at most once")
            if question.limit is not None and len(answer) > question.limit:
                raise RehearsalError(f"at most {question.limit} items can be chosen")
        elif isinstance(answer, bool) or not isinstance(answer, int):
            raise RehearsalError("an answer is a whole number, its code")
        elif question.is_rounded:
            assert question.minimum is not None
            assert question.maximum is not None
            if not question.minimum <= answer <= question.maximum:
                raise RehearsalError(f"the range is {question.minimum} to {question.maximum}")
        elif answer not in codes:
            raise RehearsalError(f"the codes are {sorted(codes)}")


@transaction.atomic
def open_rehearsal(*, survey: Survey, people: int) -> Wave:
    """Launch a copy that closes after this number of people; the survey itself does not change.

    The copy is a separate survey, so rehearsed reports can never reach the real results.
    """
    rehearsal = copy_survey(survey=survey, title=TITLE)
    rehearsal.rehearsal = True
    rehearsal.cap, rehearsal.opens_at, rehearsal.closes_at = people, None, None
    rehearsal.people_expected = None  # that is the real survey's number
    save_draft(survey=rehearsal)
    return launch_survey(survey=rehearsal)
