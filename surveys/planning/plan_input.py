"""The planner's input as an object, made by its form (authoring/forms/planning.py)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privacy.checks import Floats
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import ExpectedReports, expect_answers
from surveys.manifest.strength import TWO_COINS
from surveys.planning.assumptions import ASKED, DIFFERENCE, MARGIN, PEOPLE, REFUSING, SHARE
from surveys.planning.figures import Figure


@dataclass(frozen=True, kw_only=True)
class Decider:
    """The symbol that decides who is asked: `leading` of its `codes` lead to the question.

    Without flips, the answer is sent as it is. `codes` is 0 if the plan cannot describe the rule,
    for example because several symbols decide. The plan then ignores the deciding code, and the
    results are more precise than planned.
    """

    codes: int
    leading: int
    flips: int

    @classmethod
    def usual(cls, flips: int) -> Decider:
        return cls(codes=2, leading=1, flips=flips)

    @classmethod
    def parse(cls, text: str) -> Decider:
        codes, leading, flips = map(int, text.split("-"))
        return cls(codes=codes, leading=leading, flips=flips)

    def __str__(self) -> str:
        return f"{self.codes}-{self.leading}-{self.flips}"

    @property
    def is_possible(self) -> bool:
        return 0 < self.leading < self.codes and self.flips < 50

    def channel(self) -> Floats | None:
        if not self.codes:
            return None
        if not self.flips:
            return np.eye(2)
        mechanism = RandomizedResponse.from_flips(symbols=self.codes, flips=self.flips)
        sizes = np.array([self.codes - self.leading, self.leading], dtype=np.float64)
        other = np.outer(sizes * mechanism.other_probability, np.ones(2))
        channel: Floats = other + mechanism.slope * np.eye(2)
        return channel


@dataclass(frozen=True, kw_only=True)
class PlanInput:
    """What a researcher expects and wants. Shares are fractions."""

    share: float = SHARE
    people: int = PEOPLE
    margin: float = MARGIN
    flips: int = TWO_COINS
    questions: int = 1
    options: int = 2
    refusal: bool = False
    refusing: float = REFUSING  # of those who are asked
    rule: bool = False
    asked: float = ASKED  # of all people, if there is a rule
    part: float = 1.0  # of the people who get the question, if each gets a random subset
    mean: bool = False  # whether the figure is the mean of a number, as a share of its range
    # The code that decides who is asked. None stands for a yes/no question of the same strength.
    decided: Decider | None = None
    difference: float = DIFFERENCE
    watched: bool = False

    @property
    def symbols(self) -> int:
        return self.options + self.refusal + self.rule

    @property
    def is_conditional(self) -> bool:
        """Whether some people will not answer, so that the share refers to those who do."""
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
            parent=(self.decided or Decider.usual(flips)).channel() if self.rule else None,
        )

    def figure(
        self, *, flips: int | None = None, share: float | None = None, watched: bool | None = None
    ) -> Figure:
        """Describe the figure that is planned, or a variant with the given values changed."""
        flips = self.flips if flips is None else flips
        share = self.share if share is None else share
        return Figure(
            share=share,
            mechanism=self.mechanism(flips=flips),
            reports=self.expect(flips=flips, share=share) if self.is_conditional else None,
            watched=self.watched if watched is None else watched,
            part=self.part,
        )

    @property
    def reports(self) -> int:
        """How many people get the question."""
        return max(1, round(self.people * self.part))
