"""The strength of a question, in numbers and in words.

Authors choose the strength in flips: how many of 100 people with one answer send the other answer's
code. ε follows from the flips, and every word about protection follows from ε. The pages of authors
and of respondents all take these words from here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.question_types import noop

TWO_COINS = 25
OFFERED_FLIPS = (40, 33, TWO_COINS, 20, 12, 5)
# The smallest number of flips with which one code has medium protection.
MEDIUM_FROM = 12

STRONG, MEDIUM, LIGHT, HARDLY = "strong", "medium", "light", "hardly"
# The largest ε for each word. The ε of one code is 1.10 at 25 flips, 2.00 at 12 flips and 2.45 at 8
# flips, all rounded up.
_LARGEST = ((1.10, STRONG), (2.00, MEDIUM), (2.45, LIGHT))
PROTECTION = {
    STRONG: noop("Protection: strong"),
    MEDIUM: noop("Protection: medium"),
    LIGHT: noop("Protection: light"),
    HARDLY: noop("Hardly protected"),
}
# With this total or more, a guess may be right more than 99 times in 100.
PRACTICALLY_CERTAIN_FROM = 4.6
# Authors must acknowledge a larger total at the launch.
LARGEST_UNCONFIRMED_EPSILON = 5.5
# The respondent's page rejects surveys with a larger total (LARGEST_TOTAL in report/manifest.js).
LARGEST_TOTAL_EPSILON = 20.0
# This is subtracted before rounding up. ε has already been rounded up by less than this, and 75
# must not become 76.
_TINY = 1e-6


def strength_word(epsilon: float) -> str:
    """Return the key of the word for this ε. Keys are the same in every language.

    The ε must include everything that a report reveals about the answer: the answer's own code or
    codes, and the codes of other questions that reveal something about the answer.
    """
    return next((word for largest, word in _LARGEST if epsilon <= largest), HARDLY)


def is_weak(word: str) -> bool:
    return word in (LIGHT, HARDLY)


def largest_guess_in_tenths(epsilon: float) -> int:
    """Return how many guesses out of 100 can be right at this ε, in tenths, rounded up.

    A guess is between two equally likely answers, so 50 guesses are right without the codes. Up to
    99, the number is rounded up to a whole number.
    """
    guesses = 100 / (1 + math.exp(-epsilon))
    if guesses > 99:
        return math.ceil(10 * guesses - _TINY)
    return 10 * math.ceil(guesses - _TINY)


def count_true_codes(mechanism: RandomizedResponse) -> int:
    """Return how many of 100 codes are sent unchanged, if most are and protection is weak.

    Otherwise, return 0, and sentences count the swapped codes instead. If protection is weak, a
    small number of swapped codes would sound safe.
    """
    kept = -(-100 * mechanism.threshold // SCALE)
    return kept if kept > 50 and is_weak(strength_word(mechanism.epsilon)) else 0


@dataclass(frozen=True, kw_only=True)
class Strength:
    """The strength of a question. `mechanism` is None while the number of codes is unknown.

    `statement` is the ε of all codes that reveal something about the answer, if several do.
    """

    flips: int
    mechanism: RandomizedResponse | None
    statement: float = 0.0

    @property
    def epsilon(self) -> float:
        """The ε of one code. Apart from rounding, this ε does not depend on the number of codes."""
        mechanism = self.mechanism or RandomizedResponse.from_flips(symbols=2, flips=self.flips)
        return mechanism.epsilon

    @property
    def statement_epsilon(self) -> float:
        return max(self.epsilon, self.statement)

    @property
    def name(self) -> str:
        if self.is_two_coins:
            return f"Two coins ({self.flips} of 100)"
        return (
            f"{self.flips} of 100" if self._has_two_codes else f"As strong as {self.flips} of 100"
        )

    @property
    def is_two_coins(self) -> bool:
        return self.flips == TWO_COINS and self._has_two_codes

    @property
    def _has_two_codes(self) -> bool:
        return self.mechanism is not None and self.mechanism.symbols == 2

    @property
    def word(self) -> str:
        return strength_word(self.statement_epsilon)

    @property
    def protection(self) -> str:
        """What the privacy label says about this strength, in English."""
        return PROTECTION[self.word]

    @property
    def is_weak(self) -> bool:
        return is_weak(self.word)

    @property
    def sentence(self) -> str:
        """A sentence about the codes. The numbers never promise more than the mechanism gives."""
        if self.mechanism is None:
            return "How often each other code is sent depends on the number of answers."
        kept = count_true_codes(self.mechanism)
        if kept:
            return f"{kept} of 100 codes are sent unchanged."
        if self._has_two_codes:
            return f"Of every 100 people, {self.flips} send the other answer’s code."
        swapped = SCALE - self.mechanism.threshold
        tenths = 1000 * swapped // (SCALE * (self.mechanism.symbols - 1))
        times = str(tenths // 10) if tenths % 10 == 0 else f"{tenths / 10:.1f}"
        return f"Of every 100 people, {times} send each of the other answers’ codes."


def offer_flips(present: int) -> list[int]:
    """List the strengths to choose from, and the present one, which a definition may have set."""
    return sorted({*OFFERED_FLIPS, present}, reverse=True)


def name_flips(flips: int) -> str:
    """Name a strength, with the word for the protection of one code, as in "25 of 100: strong"."""
    word = describe_strength(flips).word
    return f"{flips} of 100: {'hardly protected' if word == HARDLY else word}"


def describe_strength(flips: int, *, symbols: int | None = 2, statement: float = 0.0) -> Strength:
    """Describe the strength of a question. `symbols` is its number of codes, or None if unknown."""
    if symbols is None:
        return Strength(flips=flips, mechanism=None)
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    return Strength(flips=flips, mechanism=mechanism, statement=statement)
