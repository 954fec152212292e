"""What a researcher enters in the planner."""

from __future__ import annotations

from dataclasses import dataclass

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import ExpectedReports, expect_answers
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
        return self.options + self.refusal + self.rule

    @property
    def is_conditional(self) -> bool:
        """Whether the share is among those who answer, and some will not."""
        return self.refusal or self.rule

    @property
    def answering(self) -> float:
        """The share of people who answer."""
        asked = self.asked if self.rule else 1.0
        return asked * (1 - self.refusing) if self.refusal else asked

    def mechanism(self, *, flips: int | None = None) -> RandomizedResponse:
        """Return the mechanism at the chosen strength, or at another one."""
        flips = self.flips if flips is None else flips
        return RandomizedResponse.from_flips(symbols=self.symbols, flips=flips)

    def expect(self, *, flips: int, share: float) -> ExpectedReports:
        """Describe the reports if not everyone answers."""
        return expect_answers(
            share=share,
            mechanism=self.mechanism(flips=flips),
            asked=self.asked if self.rule else None,
            refusing=self.refusing if self.refusal else None,
            parent=find_usual_parent(flips=flips) if self.rule else None,
        )

    @property
    def reports(self) -> int:
        """How many people get the question."""
        return max(1, round(self.people * self.part))


def find_usual_parent(*, flips: int) -> Floats:
    """Return the channel of a yes/no question that decides who is asked."""
    return RandomizedResponse.from_flips(symbols=2, flips=flips).channel()
