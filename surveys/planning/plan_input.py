"""What a researcher enters in the planner."""

from __future__ import annotations

from dataclasses import dataclass

from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.strength import TWO_COINS
from surveys.planning.assumptions import ASKED, DIFFERENCE, MARGIN, PEOPLE, REFUSING, SHARE


@dataclass(frozen=True, kw_only=True)
class PlanInput:
    """What a researcher expects and wants; shares are fractions."""

    share: float = SHARE
    people: int = PEOPLE
    margin: float = MARGIN
    flips: int = TWO_COINS
    questions: int = 1
    options: int = 2
    refusal: bool = False
    refusing: float = REFUSING  # of those who are asked
    rule: bool = False
    asked: float = ASKED  # of all, where there is a rule
    part: float = 1.0  # of the people who get the question, if each gets a random subset
    mean: bool = False  # of a number, as a share of its range
    difference: float = DIFFERENCE
    watched: bool = False

    @property
    def symbols(self) -> int:
        return self.options + len(self.outside)

    @property
    def outside(self) -> list[float]:
        """Shares of those who prefer not to say and of those who are not asked."""
        asked = self.asked if self.rule else 1.0
        refusing = [asked * self.refusing] if self.refusal else []
        return [*refusing, 1 - asked] if self.rule else refusing

    @property
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse.from_flips(symbols=self.symbols, flips=self.flips)

    @property
    def reports(self) -> int:
        """How many people get the question."""
        return max(1, round(self.people * self.part))
