"""The cost of a question in ε and in people, and what each of its switches adds.

The number of people is how many must take part for a margin of ± 5 points, under the assumptions in
assumptions.py. Every sentence names its assumptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from privacy.mechanism.mechanisms import MAX_SYMBOLS, RandomizedResponse
from privacy.planning.designs import mean_variance_ratio
from surveys.formatting import epsilon as write_epsilon
from surveys.formatting import join_list, percent, points, whole
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import (
    MOST_POINTS_WITH_SHARES,
    ManifestQuestion,
    with_strength,
)
from surveys.manifest.strength import (
    PROTECTION,
    Strength,
    count_true_codes,
    describe_strength,
    strength_word,
)
from surveys.planning.assumptions import ASKED, FOLLOW_UP_ASKED, MARGIN, REFUSING, SHARE
from surveys.planning.expected import (
    ExpectedFigure,
    describe_assumptions,
    describe_margin,
    expect_figures,
)
from surveys.planning.long_lists import describe_long_list
from surveys.planning.people_needed import find_follow_up, people_needed
from surveys.planning.score_gain import describe_score_gain

NO_ROOM = (
    f"would add a code, but a question can have at most {MAX_SYMBOLS}. Offer fewer answers first."
)
LONG_SCALE = 6  # for this many points or more, a longer scale gives a more precise mean


@dataclass(frozen=True, kw_only=True)
class QuestionCost:
    """The cost of one question.

    `epsilon` is what its codes reveal. `statement` is what all codes reveal about the fact that the
    question asks for. If people may toss coins instead, both are for the way of answering that
    reveals more. `lines` say where the ε comes from. `switches` say what each active switch adds;
    a second code has no switches, because its scale has them.
    """

    epsilon: float
    statement: float
    strength: Strength
    sentence: str
    codes: str
    people: int
    margin: str
    assumed: str
    expected: tuple[ExpectedFigure, ...]  # empty if the number of people is not known
    lines: tuple[str, ...]
    switches: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def together(self) -> float | None:
        """The ε that decides the word for the strength, if other questions add to it."""
        differ = write_epsilon(self.statement) != write_epsilon(self.epsilon)
        return self.statement if differ else None


def find_question_cost(manifest: Manifest, question: ManifestQuestion) -> QuestionCost | None:
    """Compute the cost of one question of a survey, or None if it is not scrambled."""
    if not question.is_scrambled:
        return None
    coins = manifest.coin_epsilon_of(question)
    people = manifest.people_planned
    statement = max(manifest.statement_epsilon(question), manifest.coin_statement_epsilon(question))
    strength = describe_strength(question.flips, symbols=question.k, statement=statement)
    switches = []
    if question.refusal and not question.is_second:
        switches.append(describe_refusal_cost(manifest, question))
    if question.rule is not None and not question.is_second:
        switches.append(describe_rule_cost(manifest, question))
    return QuestionCost(
        epsilon=max(question.epsilon, coins),
        statement=statement,
        strength=strength,
        sentence=_describe_scrambling(question, strength),
        codes=_describe_codes(question),
        people=people_needed(manifest, question),
        margin=_write_margin(question),
        assumed=describe_assumptions(manifest, [question]),
        expected=() if people is None else expect_figures(manifest, question, people=people),
        lines=tuple(_describe_costs(manifest, question)),
        switches=tuple(switches),
        warnings=tuple(_warn(question)),
    )


def describe_refusal_cost(manifest: Manifest, question: ManifestQuestion) -> str:
    """Say what "prefer not to say" adds or would add."""
    if _is_full(question, refusal=True):
        return f"“Prefer not to say” {NO_ROOM}"
    without, with_it = _switched(question, refusal=False), _switched(question, refusal=True)
    return (
        f"“Prefer not to say” {_compare(manifest, without, with_it)} among those who answer, if "
        f"{percent(REFUSING)} prefer not to say."
    )


def describe_rule_cost(manifest: Manifest, question: ManifestQuestion) -> str:
    """Say what a rule adds or would add."""
    any_rule = question.rule or {"all": []}
    if _is_full(question, rule=any_rule):
        return f"A rule {NO_ROOM}"
    without, with_it = _switched(question, rule=None), _switched(question, rule=any_rule)
    return (
        f"A rule {_compare(manifest, without, with_it)} among those asked, if {percent(ASKED)} are."
    )


def describe_ties(manifest: Manifest, question: ManifestQuestion) -> str:
    """Say what a rule costs the questions that it names, or return "" if it names none."""
    parents = manifest.parents_of(question)
    if not parents:
        return ""
    free = _switched(question, rule=None)
    others = (free if each.name == question.name else each for each in manifest.questions)
    without = replace(manifest, questions=tuple(others))
    said = []
    for each in manifest.questions:
        if each.name in parents:
            before, after = without.statement_epsilon(each), manifest.statement_epsilon(each)
            words = [PROTECTION[strength_word(epsilon)] for epsilon in (before, after)]
            changed = f" (“{words[1]}” instead of “{words[0]}”)" if words[0] != words[1] else ""
            said.append(
                f"This question also reveals something about Q{each.number}, raising "
                f"Q{each.number}’s ε from {write_epsilon(before)} to {write_epsilon(after)}"
                f"{changed}."
            )
    if manifest.drawn is not None:
        blocks = manifest.block_count
        said.append(
            f"The random subset draws these questions together, so there are {blocks} blocks "
            f"instead of {without.block_count}."
        )
        if manifest.drawn >= blocks:
            said.append(
                f"That is too few to draw {manifest.drawn} blocks from. Choose a smaller "
                "subset in the settings before you open the survey."
            )
    return " ".join(said)


def _is_full(question: ManifestQuestion, **changes: Any) -> bool:
    return replace(question, **changes).k > MAX_SYMBOLS


def _switched(question: ManifestQuestion, **changes: Any) -> ManifestQuestion:
    return with_strength(replace(question, **changes), flips=question.flips)


def _compare(manifest: Manifest, without: ManifestQuestion, with_it: ManifestQuestion) -> str:
    """Say how many more people one more code requires."""
    own = "a separate ε and " if with_it.has_gate and not without.has_gate else ""
    return (
        f"takes {own}more people: about {whole(people_needed(manifest, with_it))} instead of "
        f"{whole(people_needed(manifest, without))} for {_write_margin(with_it)}"
    )


def _write_margin(question: ManifestQuestion) -> str:
    return describe_margin(question, MARGIN) if question.is_rounded else f"±{points(MARGIN)} points"


def _describe_scrambling(question: ManifestQuestion, strength: Strength) -> str:
    """Say how the answer is scrambled, with the same counts as the label."""
    kept = count_true_codes(question.mechanism)
    true = f"{kept} of 100 codes are the true answer."
    swapped = f"of every 100 people, {question.flips} send the other"
    if question.has_items:
        return f"For each option: {true if kept else f'{swapped} code.'}"
    if question.is_rounded and (kept or question.k == 2):
        what = "number" if question.score is None else "total"
        then = f" {kept} of 100 codes stay as they are" if kept else f", {swapped} end’s code"
        return f"The {what} becomes one end of the range at random, with the same mean. Then{then}."
    return true if kept else strength.sentence


def _describe_codes(question: ManifestQuestion) -> str:
    """Say how many codes there are and what they stand for."""
    others = ["“prefer not to say”"] if question.refusal else []
    if question.rule is not None:
        others.append("“not asked”")
    if question.has_items:
        text = f"one code for each of {len(question.options)} options"
        return f"{text}, and one for {join_list(others, last='or')}" if others else text
    parts = ["the range’s two ends" if question.is_rounded else f"{question.answers} answers"]
    made = f": {join_list([*parts, *others])}" if others else ""
    return f"{question.k} codes{made}"


def _describe_costs(manifest: Manifest, question: ManifestQuestion) -> list[str]:
    lines = []
    said = _describe_telling(manifest, question)
    if said:
        lines.append(f"{said}: together ε = {write_epsilon(manifest.statement_epsilon(question))}.")
    coins = manifest.coin_epsilon_of(question)
    if coins > question.epsilon:
        lines.append(
            "With two coins, this question reveals more than in the browser: ε = "
            f"{write_epsilon(coins)} instead of {write_epsilon(question.epsilon)}."
        )
    if question.has_items:
        lines.append(_describe_several(question))
    if question.score is not None:
        lines += describe_score_gain(question, people=people_needed(manifest, question))
    if question.described.has_follow_up:
        lines.append(
            f"If {percent(FOLLOW_UP_ASKED)} say Yes to the first part, the follow-up needs about "
            f"{whole(find_follow_up(manifest, question).find_people(MARGIN))} people for "
            f"{_write_margin(question)}."
        )
    asked = manifest.asked_fraction
    if asked < 1:
        lines.append(
            f"Only {percent(asked)} of people get this question. Numbers of people count everyone "
            "who takes part."
        )
    return lines


def _describe_telling(manifest: Manifest, question: ManifestQuestion) -> str:
    """Name the other questions that reveal something about this one, or return "" if none do."""
    same = [one.number for one in manifest.list_same_fact(question)]
    telling = [one.number for one in manifest.telling(question) if one.name != question.name]
    others = [number for number in telling if number not in same]
    plural = len(others) > 1
    if not same:
        verbs = ("depend", "reveal") if plural else ("depends", "reveals")
        about = f"{verbs[0]} on this question and also {verbs[1]} something about it"
        return f"{_name(others)} {about}" if others else ""
    asks = f"{_name(same)} {'ask' if len(same) > 1 else 'asks'} for the same fact"
    if not others:
        return asks
    return (
        f"{asks}, and {_name(others)} also {'reveal' if plural else 'reveals'} something about it"
    )


def _name(numbers: Sequence[int]) -> str:
    return join_list([f"Q{number}" for number in numbers])


def _describe_several(question: ManifestQuestion) -> str:
    items = len(question.options)
    differing = question.differing_items
    one = describe_strength(question.flips).epsilon
    text = f"{differing} × ε of one option, {write_epsilon(one)}"
    if question.limit is not None:
        text = (
            f"With at most {question.limit} of {items} chosen, two people can differ in "
            f"{2 * question.limit}: {text}"
            if differing < items
            else f"This limit saves nothing, because two people can differ in all {items}: {text}"
        )
    if question.has_gate:
        text += "; plus ε once more for the code that says whether it was answered"
    return f"{text}."


def _warn(question: ManifestQuestion) -> list[str]:
    found = []
    if question.described.has_points and question.is_rounded:
        found.append(
            f"With {question.points} points, you learn only the mean, not how many people chose "
            f"each point. For that, use {MOST_POINTS_WITH_SHARES} points or fewer."
        )
    elif question.described.has_points and question.points >= LONG_SCALE:
        mechanism = RandomizedResponse.from_flips(symbols=question.points, flips=question.flips)
        even = [1 / question.points] * question.points
        ratio = mean_variance_ratio(shares=even, mechanism=mechanism)
        if ratio > 1:
            found.append(
                f"A scale of {question.points} points is long. For the mean alone, you need "
                f"{ratio:.1f} times as many people as with a scale of 8 to 11 points, which gives "
                "only the mean."
            )
    elif not question.described.has_points:
        epsilon = question.mechanism.epsilon
        long_list = describe_long_list(codes=question.k, epsilon=epsilon, share=SHARE)
        found += [long_list] if long_list else []
    if question.has_items and question.limit == 1:
        found.append(
            "If people may choose only one, “one answer” costs half as much and gives the same "
            "result."
        )
    return found
