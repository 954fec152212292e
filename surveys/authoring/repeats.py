"""Find questions that ask for the same fact, within a survey or across surveys of one author.

The ε of such questions add up: together, their codes reveal more about the fact than either alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import are_similar
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey
from surveys.models.asked_questions import AskedQuestion, count_deleted, list_asked, list_keys

MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Repeat:
    """A scrambled question and an earlier one that asks the same, or nearly the same."""

    first: int
    second: int
    is_equal: bool


def find_repeats(manifest: Manifest) -> list[Repeat]:
    """Find, for each scrambled question, the first earlier one that it repeats.

    An equal question takes precedence over a similar one. Questions that the author marked as
    asking for the same fact do not count as repeats.
    """
    found = []
    protected = [question for question in manifest.questions if question.is_scrambled]
    asked = {question.name: set(list_asked(question)) for question in protected}
    for place, question in enumerate(protected):
        fact = manifest.facts[question.name]
        earlier = [one for one in protected[:place] if manifest.facts[one.name] != fact]
        equal = (one for one in earlier if asked[one.name] & asked[question.name])
        similar = (one for one in earlier if _ask_nearly_the_same(one, question))
        for is_equal, repeated in ((True, next(equal, None)), (False, next(similar, None))):
            if repeated is not None:
                number = repeated.number
                found.append(Repeat(first=number, second=question.number, is_equal=is_equal))
                break
    return found


def _ask_nearly_the_same(one: ManifestQuestion, other: ManifestQuestion) -> bool:
    pairs = product(one.statements, other.statements)
    return any(are_similar(first, second) for (first, _), (second, _) in pairs)


def describe_equal(manifest: Manifest) -> Iterator[str]:
    """Say which questions repeat an equal one, which prevents the opening, and what to do."""
    for repeat in find_repeats(manifest):
        if repeat.is_equal:
            yield (
                f"Question {repeat.second} asks the same as question {repeat.first}. Both codes "
                "together reveal more about this fact than each page says. Delete one of them, or "
                f"edit question {repeat.second} and choose question {repeat.first} under “Same "
                "fact as”."
            )


def describe_similar(manifest: Manifest) -> Iterator[str]:
    for repeat in find_repeats(manifest):
        if not repeat.is_equal:
            yield (
                f"Question {repeat.second} resembles question {repeat.first}. If both ask for the "
                f"same fact, edit question {repeat.second} and choose question {repeat.first} "
                "under “Same fact as”, so that respondents read what both codes reveal together."
            )


def describe_elsewhere(survey: Survey, manifest: Manifest) -> Iterator[str]:
    """Name the author's other surveys that ask the same, and the questions that they share."""
    for numbers, titles in _find_elsewhere(survey, manifest):
        named = [f"“{title}”" for title in titles[:MOST_NAMED]]
        if len(titles) > MOST_NAMED:
            named.append(f"{len(titles) - MOST_NAMED} more")
        one = len(numbers) == 1
        yield (
            f"Question{'' if one else 's'} {join_list([str(number) for number in numbers])} "
            f"{'is' if one else 'are'} also asked in your survey{'s' if len(titles) > 1 else ''} "
            f"{join_list(named)}. Someone who answers both reveals more, and respondents read that."
        )
    deleted = count_deleted(manifest=manifest, owner=survey.owner_id)
    if deleted:
        yield (
            f"{deleted} of your deleted surveys asked one of these questions too. Respondents read "
            "that, because someone who answered both reveals more."
        )


def _find_elsewhere(survey: Survey, manifest: Manifest) -> list[tuple[list[int], list[str]]]:
    """Group the questions that other surveys share by the set of these surveys.

    Returns question numbers with the titles of the surveys, newest first.
    """
    numbers = {
        key: question.number
        for question in reversed(manifest.questions)
        for asked in list_asked(question)
        for key in list_keys(asked, owner=survey.owner_id)
    }
    rows = AskedQuestion.objects.of_others(
        keys=list(numbers), survey=survey.pk, owner=survey.owner_id
    )
    titles: dict[int, str] = {}
    shared: dict[int, set[int]] = {}
    for key, other, title in rows.order_by("-survey").values_list("key", "survey", "survey__title"):
        titles[other] = title
        shared.setdefault(numbers[bytes(key)], set()).add(other)
    together: dict[frozenset[int], list[int]] = {}
    for number in sorted(shared):
        together.setdefault(frozenset(shared[number]), []).append(number)
    return [
        (found, [title for other, title in titles.items() if other in others])
        for others, found in together.items()
    ]
