"""What authors choose as the strength of a question, in numbers and in words.

Strength is given in flips: of 100 people with one answer, how many send the other
answer's code. ε and every sentence follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from privacy.mechanisms import RandomizedResponse

TWO_COINS = 25
OFFERED_FLIPS = (TWO_COINS, 40, 33, 20, 12, 5)
STRONG_FROM = 25
MEDIUM_FROM = 12
# Above this total the odds of a guess may move by a factor of more than 148.
HIGH_TOTAL_EPSILON = 5.0
# Above this total the respondent's page refuses to ask (LARGEST_TOTAL in client/manifest.js).
LARGEST_TOTAL_EPSILON = 20.0


@dataclass(frozen=True, kw_only=True)
class Strength:
    flips: int
    epsilon: float

    @property
    def name(self) -> str:
        return f"Two coins ({self.flips} of 100)" if self.is_two_coins else f"{self.flips} of 100"

    @property
    def is_two_coins(self) -> bool:
        return self.flips == TWO_COINS

    @property
    def word(self) -> str:
        if self.flips >= STRONG_FROM:
            return "strong"
        return "medium" if self.flips >= MEDIUM_FROM else "light"

    @property
    def is_light(self) -> bool:
        return self.word == "light"

    @property
    def sentence(self) -> str:
        return f"Of every 100 people, {self.flips} send the other answer’s code."


def describe_strength(flips: int) -> Strength:
    """Describe the strength of a yes/no question."""
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    return Strength(flips=flips, epsilon=mechanism.epsilon)
