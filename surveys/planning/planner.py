"""Computes for the planner what a survey can find out and what it could reveal about a person.

Every number refers to one share of one question. The planner stores nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from privacy.level import Z_95
from privacy.mechanism.accounting import Entry, basic_epsilon
from privacy.mechanism.attacks import attacker_success, posterior
from privacy.mechanism.composition_with_delta import exact_composition
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_epsilon
from privacy.planning.answerers import one_report_ratio_spread
from privacy.planning.budgets import (
    full_standard_error,
    split_standard_error,
    subset_standard_error,
)
from privacy.planning.designs import design_effect
from privacy.planning.power import people_for_power_two_samples
from surveys.formatting import percent
from surveys.manifest.strength import MEDIUM_FROM, OFFERED_FLIPS
from surveys.planning.assumptions import POWER
from surveys.planning.plan_input import PlanInput

DELTA = 1e-6
SHARES = (0.05, 0.2, 0.5)
BASES = (0.01, 0.1, 0.5)
FINE_MARGIN = 0.02
CROWD = 50  # the usual smallest batch
SHOWN_FROM = 150  # the usual crowd C: 3 × K, for a K of 50


@dataclass(frozen=True, kw_only=True)
class StrengthLine:
    """One strength in the table: how many people it needs, and what an attacker can infer."""

    flips: int
    epsilon: float
    chosen: bool
    people: tuple[int, ...]  # for the margin at each of the plan's other shares
    people_wanted: int  # for the margin at the expected share
    margin: float  # at the expected share, with the expected number of people
    people_fine: int  # for FINE_MARGIN at the expected share
    design_effect: float
    posteriors: tuple[float, ...]  # at each of BASES


@dataclass(frozen=True, kw_only=True)
class BudgetLine:
    """One way of asking several questions."""

    name: str
    total_epsilon: float
    margin: float
    note: str


@dataclass(kw_only=True)
class Plan:
    """All numbers that the page shows. Each is computed when it is first used."""

    given: PlanInput

    @property
    def mechanism(self) -> RandomizedResponse:
        return self.given.mechanism()

    @cached_property
    def margin_at_end(self) -> float:
        """The half-width of the 95 % interval if the close is fixed beforehand."""
        return self.given.figure(watched=False).find_margin(self.given.people)

    @cached_property
    def margin_watched(self) -> float:
        """The half-width if the researcher watches the results and expects this many people."""
        return self.given.figure(watched=True).find_margin(self.given.people)

    @cached_property
    def people_at_end(self) -> int:
        return self.given.figure(watched=False).find_people(self.given.margin)

    @cached_property
    def people_watched(self) -> int:
        return self.given.figure(watched=True).find_people(self.given.margin)

    @property
    def margin(self) -> float:
        """The margin for watched results or for a fixed end, as the researcher chose."""
        return self.margin_watched if self.given.watched else self.margin_at_end

    @property
    def people_needed(self) -> int:
        return self.people_watched if self.given.watched else self.people_at_end

    @property
    def design_effect(self) -> float:
        """How many codes are as informative as one direct answer from a person who answers."""
        return self._design_effect_for(self.given.flips)

    def _design_effect_for(self, flips: int) -> float:
        if not self.given.is_conditional:
            return design_effect(
                share=self.given.share, mechanism=self.given.mechanism(flips=flips)
            )
        direct = self.given.share * (1 - self.given.share) / self.given.answering
        reports = self.given.expect(flips=flips, share=self.given.share)
        return one_report_ratio_spread(reports=reports) ** 2 / direct

    @property
    def effective_sample_size(self) -> float:
        return self.given.reports / self.design_effect

    @cached_property
    def people_per_group(self) -> int | None:
        """People needed to detect a difference between declared groups, or None if not computed."""
        if self.given.is_conditional or self.given.mean:
            return None
        second = self.given.share + self.given.difference
        if second >= 1:
            second = self.given.share - self.given.difference
        if second <= 0:
            return None
        reports = people_for_power_two_samples(
            first=self.given.share, second=second, power=POWER, mechanism=self.mechanism
        )
        return ceil(reports / self.given.part - 1e-9)

    # What someone could infer.
    @property
    def epsilon(self) -> float:
        return self.mechanism.epsilon

    @cached_property
    def total_epsilon(self) -> float:
        entries = [
            Entry(name=f"q{number}", epsilon=self.epsilon) for number in range(self.given.questions)
        ]
        return basic_epsilon(entries)

    @cached_property
    def composed_epsilon(self) -> float:
        """The exact composition at DELTA, never above the total."""
        epsilons = [self.epsilon] * self.given.questions
        return min(self.total_epsilon, exact_composition(epsilons=epsilons, delta=DELTA))

    @cached_property
    def posteriors(self) -> list[tuple[str, float]]:
        """Pairs of the share of an answer and the chance that a code for it is true."""
        return [
            (write_share(base), posterior(share=base, mechanism=self.mechanism))
            for base in sorted({*BASES, self.given.share})
        ]

    @property
    def attacker_success(self) -> float:
        """The chance of guessing an answer from its code if all answers are equally likely."""
        k = self.given.symbols
        return attacker_success(shares=[1 / k] * k, mechanism=self.mechanism)

    @property
    def guess_without_code(self) -> float:
        return 1 / self.given.symbols

    @cached_property
    def sealed_epsilon(self) -> float:
        """The calculated shuffle bound for one question in a batch of honest people."""
        return shuffle_epsilon(mechanism=self.mechanism, people=CROWD, delta=DELTA)

    # Tables.
    @property
    def other_shares(self) -> list[float]:
        """Shares for comparison with the expected share."""
        return [share for share in SHARES if share != self.given.share]

    @cached_property
    def strengths(self) -> list[StrengthLine]:
        flips = sorted({*OFFERED_FLIPS, self.given.flips}, reverse=True)
        return [self._describe_strength(each) for each in flips]

    def _describe_strength(self, flips: int) -> StrengthLine:
        mechanism = self.given.mechanism(flips=flips)
        figure = self.given.figure(flips=flips)
        return StrengthLine(
            flips=flips,
            epsilon=mechanism.epsilon,
            chosen=flips == self.given.flips,
            people=tuple(
                self.given.figure(flips=flips, share=share).find_people(self.given.margin)
                for share in self.other_shares
            ),
            people_wanted=figure.find_people(self.given.margin),
            margin=figure.find_margin(self.given.people),
            people_fine=figure.find_people(FINE_MARGIN),
            design_effect=self._design_effect_for(flips),
            posteriors=tuple(posterior(share=base, mechanism=mechanism) for base in BASES),
        )

    @cached_property
    def budgets(self) -> list[BudgetLine]:
        """Ways of asking several questions, each with its total ε and margin."""
        if self.given.questions < 2 or self.given.is_conditional or self.given.part < 1:
            return []  # there is no formula for conditional shares and random subsets
        share, people, questions = self.given.share, self.given.people, self.given.questions
        mechanism = self.mechanism
        return [
            BudgetLine(
                name="Every question at this strength",
                total_epsilon=self.total_epsilon,
                margin=Z_95 * full_standard_error(share=share, people=people, mechanism=mechanism),
                note="if each person is asked every question",
            ),
            BudgetLine(
                name="The budget of one question, split over all questions",
                total_epsilon=self.epsilon,
                margin=Z_95
                * split_standard_error(
                    share=share, people=people, questions=questions, mechanism=mechanism
                ),
                note="same total as one question",
            ),
            BudgetLine(
                name="One random question per person",
                total_epsilon=self.epsilon,
                margin=Z_95
                * subset_standard_error(
                    share=share, people=people, questions=questions, mechanism=mechanism
                ),
                note="same total as one question; questions cannot be compared with each other",
            ),
        ]

    @property
    def margin_at_medium(self) -> float:
        """The margin at the weakest medium strength with the expected number of people."""
        weaker = Plan(given=replace(self.given, flips=MEDIUM_FROM))
        return weaker.margin

    @property
    def people_at_medium(self) -> int | None:
        """The people needed at the weakest medium strength, or None if the plan is no stronger."""
        if self.given.flips <= MEDIUM_FROM:
            return None
        return self.given.figure(flips=MEDIUM_FROM).find_people(self.given.margin)


def write_share(share: float) -> str:
    """Write a share such as 20 %, or 0.5 % if the percentage is not a whole number."""
    return percent(share, 0 if abs(100 * share - round(100 * share)) < 1e-9 else 1)
