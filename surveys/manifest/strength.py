"""The strength of a question, in numbers and in words.

Authors choose it in flips: of 100 people with one answer, how many send the other answer's
code. ε and every sentence follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse

TWO_COINS = 25
OFFERED_FLIPS = (TWO_COINS, 40, 33, 20, 12, 5)
STRONG_FROM = 25
MEDIUM_FROM = 12
LIGHT = "light"
# Above this total the odds of a guess may move by a factor of more than 148.
HIGH_TOTAL_EPSILON = 5.0
# Above this total the respondent's page refuses to ask (LARGEST_TOTAL in report/manifest.js).
LARGEST_TOTAL_EPSILON = 20.0


def strength_word(flips: int) -> str:
    """Return a key that is the same in every language."""
    if flips >= STRONG_FROM:
        return "strong"
    return "medium" if flips >= MEDIUM_FROM else LIGHT


@dataclass(frozen=True, kw_only=True)
class Strength:
    """`mechanism` is None where the number of codes is not known yet."""

    flips: int
    mechanism: RandomizedResponse | None

    @property
    def epsilon(self) -> float:
        """ε of one code. Apart from rounding, it is the same for every number of codes."""
        mechanism = self.mechanism or RandomizedResponse.from_flips(symbols=2, flips=self.flips)
        return mechanism.epsilon

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
        return strength_word(self.flips)

    @property
    def is_light(self) -> bool:
        return self.word == LIGHT

    @property
    def sentence(self) -> str:
        """What happens to the codes. The numbers never promise more than the mechanism gives."""
        if self.mechanism is None:
            return "How often each other code is sent depends on the number of answers."
        if self._has_two_codes:
            return f"Of every 100 people, {self.flips} send the other answer’s code."
        swapped = SCALE - self.mechanism.threshold
        tenths = 1000 * swapped // (SCALE * (self.mechanism.symbols - 1))
        times = str(tenths // 10) if tenths % 10 == 0 else f"{tenths / 10:.1f}"
        return f"Each other code is sent {times} of 100 times."


def describe_strength(flips: int, *, symbols: int | None = 2) -> Strength:
    """Describe the strength of a question with this many codes; None if not known yet."""
    if symbols is None:
        return Strength(flips=flips, mechanism=None)
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    return Strength(flips=flips, mechanism=mechanism)
