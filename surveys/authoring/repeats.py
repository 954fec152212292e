"""Find questions that repeat or nearly repeat others, in a survey or in an author's surveys.

The ε of such questions add up, because their codes together reveal more about the fact than each
code alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from django.db.models import Case, Value, When

from accounts.acting import acting_account
from surveys.authoring.launch_problems import Problem, link_questions
from surveys.formatting import join_list, list_numbers
from surveys.manifest.manifest import Manifest
from surveys.manifest.plain_text import are_similar, find_skeleton
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey
from surveys.models.asked_questions import AskedQuestion, count_deleted, list_asked, list_keys
from surveys.models.people import find_people

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
        equal = (
            one
            for one in earlier
            if asked[one.name] & asked[question.name] or _share_item(one, question)
        )
        similar = (one for one in earlier if _ask_nearly_the_same(one, question))
        for is_equal, repeated in ((True, next(equal, None)), (False, next(similar, None))):
            if repeated is not None:
                number = repeated.number
                found.append(Repeat(first=number, second=question.number, is_equal=is_equal))
                break
    return found


def _share_item(one: ManifestQuestion, other: ManifestQuestion) -> bool:
    """Return whether two questions, at least one of them a scale, have an item in common."""
    if one.score is None and other.score is None:
        return False
    first, second = ({find_skeleton(text) for text, _ in each.statements} for each in (one, other))
    return not first.isdisjoint(second)


def _ask_nearly_the_same(one: ManifestQuestion, other: ManifestQuestion) -> bool:
    if one.score is not None or other.score is not None:
        return False  # items of one scale resemble each other; comparing all pairs takes minutes
    pairs = product(one.statements, other.statements)
    return any(are_similar(first, second) for (first, _), (second, _) in pairs)


def describe_equal(manifest: Manifest) -> Iterator[str]:
    """Say which questions repeat an equal question. Such repeats prevent a launch."""
    for pairs, later, earlier in _say_repeats(manifest, is_equal=True):
        yield Problem(
            f"{pairs}. Codes about the same fact together reveal more than each page says.",
            f"Delete {later}, or edit {later} and choose {earlier} under “Same fact as”.",
            href=link_questions(manifest.survey, "question-list"),
        )


def describe_similar(manifest: Manifest) -> Iterator[str]:
    for pairs, later, earlier in _say_repeats(manifest, is_equal=False):
        yield (
            f"{pairs}. If they ask for the same fact, edit {later} and choose {earlier} under "
            "“Same fact as”, so that respondents read what the codes reveal together."
        )


def _say_repeats(manifest: Manifest, *, is_equal: bool) -> Iterator[tuple[str, str, str]]:
    """Yield one line about all repeats, if any, and phrases for the later and earlier questions.

    Such a line reads: questions 2 to 5 resemble question 1; question 9 resembles question 8.
    """
    repeating: dict[int, list[int]] = {}
    for repeat in find_repeats(manifest):
        if repeat.is_equal == is_equal:
            repeating.setdefault(repeat.first, []).append(repeat.second)
    if not repeating:
        return
    verbs = ("asks the same as", "ask the same as") if is_equal else ("resembles", "resemble")
    said = "; ".join(
        f"{_call(numbers)} {verbs[len(numbers) > 1]} question {first}"
        for first, numbers in repeating.items()
    )
    [first, *others] = repeating
    later = [number for numbers in repeating.values() for number in numbers]
    yield (
        said[0].upper() + said[1:],
        f"question {later[0]}" if len(later) == 1 else "the later ones",
        "the earlier one" if others else f"question {first}",
    )


def _call(numbers: Sequence[int]) -> str:
    return f"question{'s' if len(numbers) > 1 else ''} {list_numbers(numbers)}"


def describe_elsewhere(survey: Survey, manifest: Manifest) -> Iterator[str]:
    """Name the questions that other surveys of the author also ask, and name those surveys."""
    answered = [one.number for one in manifest.questions if one.is_answered]
    for numbers, titles in _find_elsewhere(survey, manifest):
        one = len(numbers) == 1
        named = "all questions" if numbers == answered and not one else _call(numbers)
        yield (
            f"{named[0].upper()}{named[1:]} {'is' if one else 'are'} also asked in "
            f"{_name_surveys(titles)}. Someone who answers both reveals more, and respondents are "
            "told so."
        )
    deleted = count_deleted(manifest=manifest, survey=survey.pk)
    if deleted:
        yield (
            f"{deleted} of your deleted surveys also asked one of these questions. Respondents are "
            "told so, because someone who answered both reveals more."
        )


def _name_surveys(titles: Sequence[str]) -> str:
    """Name the reader's own surveys, and count colleagues' surveys, whose titles are empty."""
    own = [f"“{title}”" for title in titles if title]
    others = len(titles) - len(own)
    said = []
    if own:
        more = [f"{len(own) - MOST_NAMED} more"] if len(own) > MOST_NAMED else []
        named = join_list([*own[:MOST_NAMED], *more])
        said.append(f"your survey{'s' if len(own) > 1 else ''} {named}")
    if others:
        said.append(f"{others} survey{'s' if others > 1 else ''} of colleagues")
    return join_list(said)


def _find_elsewhere(survey: Survey, manifest: Manifest) -> list[tuple[list[int], list[str]]]:
    """Group the questions that other surveys share by the set of these surveys.

    Returns question numbers with the titles of the surveys, newest first.
    """
    numbers = {
        key: question.number
        for question in reversed(manifest.questions)
        for asked in list_asked(question)
        for key in list_keys(asked)
    }
    rows = AskedQuestion.objects.of_others(
        keys=numbers, survey=survey.pk, people=find_people(survey.pk)
    )
    # A colleague may have surveys that the reader must not know by name.
    known = Survey.objects.of(acting_account() or survey.owner.pk).values("pk")
    named = rows.annotate(
        title=Case(When(survey__in=known, then="survey__title"), default=Value(""))
    )
    titles: dict[int, str] = {}
    shared: dict[int, set[int]] = {}
    for key, other, title in named.order_by("-survey").values_list("key", "survey", "title"):
        titles[other] = title
        shared.setdefault(numbers[bytes(key)], set()).add(other)
    together: dict[frozenset[int], list[int]] = {}
    for number in sorted(shared):
        together.setdefault(frozenset(shared[number]), []).append(number)
    return [
        (found, [title for other, title in titles.items() if other in others])
        for others, found in together.items()
    ]
