"""The privacy label: what a respondent reads before the first question, in plain sentences.

Every number comes from the question's real k and T, rounded so that it never promises more
than what runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privacy.mechanisms import SCALE
from privacy.precision import watched_half_width
from surveys.manifest import Manifest, ManifestQuestion
from surveys.strength import MEDIUM_FROM, STRONG_FROM, TWO_COINS

Z_95 = 1.96
GUESS = "Someone who saw {whose} could make a fair guess."


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How one group of equally protected questions is scrambled."""

    scope: str  # "Questions 1 and 3"; empty where one statement covers all
    sentence: str
    strength: str
    swapped: int  # of 100, for the picture; 0 where k > 2

    @property
    def dots(self) -> Dots:
        return Dots(swapped=self.swapped)


@dataclass(frozen=True, kw_only=True)
class Row:
    question: str
    answers: tuple[str, ...]
    odds: tuple[Odds, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PrivacyLabel:
    rows: tuple[Row, ...]
    process: tuple[str, ...]
    together: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Ten rows of ten dots as two SVG paths of dashed lines, each dash a dot."""

    swapped: int

    @property
    def all(self) -> str:
        return "".join(f"M5 {10 * row + 5}h91" for row in range(10))

    @property
    def marked(self) -> str:
        rows, rest = divmod(self.swapped, 10)
        lines = [f"M5 {10 * row + 5}h91" for row in range(rows)]
        if rest:
            lines.append(f"M5 {10 * rows + 5}h{10 * rest - 9}")
        return "".join(lines)


def describe_protection(manifest: Manifest) -> PrivacyLabel:
    """Write the label of one survey."""
    return PrivacyLabel(
        rows=_describe_rows(manifest),
        process=_describe_process(manifest.questions),
        together=_describe_together(manifest),
    )


def equivalent_flips(*, k: int, threshold: int) -> int:
    """Return 100 / (1 + e^ε), rounded down: for k = 2, how many of 100 send the other code."""
    swapped = SCALE - threshold
    return 100 * swapped // (swapped + (k - 1) * threshold)


def strength_word(flips: int) -> str:
    if flips >= STRONG_FROM:
        return "strong"
    return "medium" if flips >= MEDIUM_FROM else "light"


def _describe_odds(questions: Sequence[ManifestQuestion]) -> tuple[Odds, ...]:
    groups: dict[tuple[int, int], list[int]] = {}
    for number, question in enumerate(questions, start=1):
        groups.setdefault((question.k, question.threshold), []).append(number)
    return tuple(
        Odds(
            scope="" if len(groups) == 1 else _name_questions(numbers),
            sentence=_odds_sentence(questions[numbers[0] - 1]),
            strength=strength_word(equivalent_flips(k=k, threshold=threshold)),
            swapped=100 * (SCALE - threshold) // SCALE if k == 2 else 0,
        )
        for (k, threshold), numbers in groups.items()
    )


def _odds_sentence(question: ManifestQuestion) -> str:
    swapped = SCALE - question.threshold
    if question.k == 2:
        yes, no = (option.text for option in sorted(question.options, key=lambda o: -o.code))
        count = 100 * swapped // SCALE
        return f"Of every 100 people who answer {no}, {count} send the same code as a {yes}."
    tenths = 1000 * swapped // (SCALE * (question.k - 1))
    times = f"{tenths // 10}" if tenths % 10 == 0 else f"{tenths / 10:.1f}"
    return f"Whatever you answer, each other answer’s code is sent {times} times in 100."


def _name_questions(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Question {numbers[0]}"
    listed = ", ".join(str(number) for number in numbers[:-1])
    return f"Questions {listed} and {numbers[-1]}"


def _describe_rows(manifest: Manifest) -> tuple[Row, ...]:
    answers, them = ("answers", "them") if len(manifest.questions) > 1 else ("answer", "it")
    odds = _describe_odds(manifest.questions)
    see: tuple[str, ...] = ("No. They get a scrambled copy.",)
    steal: tuple[str, ...] = ("No. The database holds only scrambled copies.",)
    prove: tuple[str, ...] = ("No.",)
    if any(one.strength == "light" for one in odds):
        guess = GUESS.format(whose="your code")
        see = ("Not directly. They get a lightly scrambled copy.", guess)
        steal = ("Not directly. The database holds only lightly scrambled copies.", guess)
        prove = ("Not for certain.", guess)
    return (
        Row(question=f"Can the researchers see my {answers}?", answers=see),
        Row(question=f"Could a hacker or a court get {them} from the database?", answers=steal),
        Row(question="Can anyone prove what I answered?", answers=prove, odds=odds),
        Row(question="What can they learn?", answers=_describe_finding(manifest)),
        Row(
            question="What is not hidden?",
            answers=(
                "That this phone or computer, with its network address, opened this page.",
                "What someone sees over your shoulder.",
                "Spyware on the phone or computer.",
            ),
        ),
    )


def _describe_finding(manifest: Manifest) -> tuple[str, ...]:
    what = "gives each answer" if any(q.k > 2 for q in manifest.questions) else "says Yes"
    people = manifest.cap or manifest.display_minimum
    points = math.ceil(100 * _half_width(manifest, people=people) - 1e-9)
    learned = f"The share of everyone who {what}."
    if points >= 50:
        return (learned, f"With only {people:,} people even that stays unclear.")
    return (learned, f"With {people:,} people, that is give or take {points} points.")


def _half_width(manifest: Manifest, *, people: int) -> float:
    """Of the 95 % interval that results will show, for the least precise share there can be."""
    weakest = min((question.mechanism for question in manifest.questions), key=lambda m: m.slope)
    c, d = weakest.other_probability, weakest.slope
    if manifest.cap is None and manifest.closes is None:
        # Nobody fixed the end, so only the wider interval for watchers will be shown.
        middle = min(1.0, max(0.0, (0.5 - c) / d))
        return watched_half_width(share=middle, people=people, mechanism=weakest)
    return Z_95 * 0.5 / (math.sqrt(people) * d)


def _describe_process(questions: Sequence[ManifestQuestion]) -> tuple[str, ...]:
    coins = all(
        question.k == 2 and 100 * (SCALE - question.threshold) == TWO_COINS * SCALE
        for question in questions
    )
    how = "tosses two coins" if coins else "draws a number"
    swap = "for each answer and may swap it" if len(questions) > 1 else "and may swap your answer"
    return (
        "You answer honestly.",
        f"Before sending, this page {how} {swap}.",
        "This happens on your phone or computer.",
        "Only the result is sent.",
    )


def _describe_together(manifest: Manifest) -> tuple[str, ...]:
    count = len(manifest.questions)
    if count < 2:
        return ()
    word = strength_word(math.floor(100 / (1 + math.exp(manifest.epsilon))))
    first = f"Together, your {count} codes say more than one alone."
    if word == "light":
        return (first, "Taken together, the protection is light.", GUESS.format(whose="them all"))
    return (first, f"Taken together, the protection is {word}.")
