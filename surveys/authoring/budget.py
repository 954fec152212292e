"""The total ε of a draft, and one-step remedies that bring this total within a limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from surveys.authoring.planned.card import find_planned_problems
from surveys.authoring.planned.release_card import find_planned_release_problems
from surveys.formatting import epsilon, guess, percent, share_of_recommended
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import (
    LARGEST_TOTAL_EPSILON,
    LARGEST_UNCONFIRMED_EPSILON,
    is_weak,
    strength_word,
)
from surveys.planning.remedies import MOST_FLIPS, Remedy, RemedyKind, find_remedy, protect

RECOMMENDED, LIMIT = "recommended", "limit"
ALL = "100"  # all of 100 guesses, after rounding up
GOALS = {RECOMMENDED: LARGEST_UNCONFIRMED_EPSILON, LIMIT: LARGEST_TOTAL_EPSILON}


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Remedies that reach one of GOALS, and the reasons why other remedies are left out.

    An offer is folded if the previous offer, which has a lower limit, has remedies.
    """

    goal: str
    remedies: tuple[Remedy, ...]
    reasons: tuple[str, ...]
    is_folded: bool

    @property
    def limit(self) -> float:
        return GOALS[self.goal]

    @property
    def must_be_acknowledged(self) -> bool:
        return self.goal == LIMIT


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The total ε of one report of a draft, and its limits."""

    manifest: Manifest

    @property
    def sentence(self) -> str:
        return f"Privacy used: {self.used}"

    @property
    def used(self) -> str:
        return f"{share_of_recommended(self.manifest.epsilon)} of what is recommended."

    @property
    def total(self) -> str:
        """State the total in ε, for specialists."""
        return (
            f"ε = {epsilon(self.manifest.epsilon)} (recommended: up to "
            f"{LARGEST_UNCONFIRMED_EPSILON}; limit: {LARGEST_TOTAL_EPSILON:.0f})."
        )

    @property
    def meaning(self) -> str:
        most = guess(self.manifest.epsilon)
        right = (
            "nearly all guesses about these answers can be right."
            if most == ALL
            else f"at most {most} of 100 guesses about these answers are right."
        )
        return f"If a person’s answers are related, {right}"

    @property
    def consequence(self) -> str:
        """Say what follows if the total exceeds a limit; otherwise return an empty string."""
        if self.is_refused:
            return "That is above the limit, so the survey cannot be opened."
        if self.is_high:
            return "Above 100\N{NO-BREAK SPACE}%, you must acknowledge the risk."
        return ""

    @property
    def largest(self) -> ManifestQuestion | None:
        """The question with the largest ε, if this ε is above twice the mean; otherwise None.

        The result is also None if the total is not the sum over the questions, or if the total is
        not high and the answer is not weakly protected.
        """
        asked = [one for one in self.manifest.questions if one.is_scrambled]
        # With a random subset or two coins, the ε of the questions do not add up to the total.
        is_sum = self.manifest.drawn is None and not self.manifest.coin_questions
        most = max(asked, key=lambda one: one.epsilon, default=None) if is_sum else None
        if most is None or most.epsilon * len(asked) <= 2 * self.manifest.epsilon:
            return None
        is_read = is_weak(strength_word(self.manifest.statement_epsilon(most)))
        return most if self.is_high or is_read else None

    @property
    def largest_share(self) -> str:
        return percent(self.largest.epsilon / self.manifest.epsilon) if self.largest else ""

    @property
    def is_high(self) -> bool:
        return self.manifest.epsilon > LARGEST_UNCONFIRMED_EPSILON

    @property
    def is_refused(self) -> bool:
        return self.manifest.epsilon > LARGEST_TOTAL_EPSILON

    @property
    def filled(self) -> str:
        """The length of the bar, which ends at the limit."""
        return _place(self.manifest.epsilon)

    @property
    def mark(self) -> str:
        return _place(LARGEST_UNCONFIRMED_EPSILON)

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """The remedies for each exceeded limit. No remedy is listed twice or breaks a plan."""
        return tuple(self._list_offers(tuple(RemedyKind)))

    def _list_offers(self, kinds: Sequence[RemedyKind]) -> Iterator[Offer]:
        least, said, is_folded = 0.0, set[str](), False
        for goal, limit in GOALS.items():
            if self.manifest.epsilon <= limit:
                return
            found = [self._try(kind, limit) for kind in kinds]
            remedies = [one for one in found if isinstance(one, Remedy) and one.total > least]
            reasons = [one for one in found if isinstance(one, str)]
            if not all(one.precision.says_nothing for one in remedies):
                reasons += [_say_nothing(one) for one in remedies if one.precision.says_nothing]
                remedies = [one for one in remedies if not one.precision.says_nothing]
            new = tuple(one for one in dict.fromkeys(reasons) if one and one not in said)
            yield Offer(goal=goal, remedies=tuple(remedies), reasons=new, is_folded=is_folded)
            least, said, is_folded = limit, said | set(new), is_folded or bool(remedies)

    def _try(self, kind: RemedyKind, limit: float) -> Remedy | str:
        """Return the remedy, or say why there is none. That explanation may be an empty string."""
        if kind == RemedyKind.SOME and sum(one.is_scrambled for one in self.manifest.questions) < 2:
            return ""
        found = find_remedy(self.manifest, kind, goal=limit)
        if found is None:
            return _explain_missing(self.manifest, kind, limit)
        return find_broken_plan(self.manifest, found) or found

    @property
    def refusal(self) -> str:
        """Say in one line that browsers reject the total, and name the smallest steps that help.

        The line is empty unless browsers reject the total. It is also empty if two coins alone
        exceed the limit, because no remedy helps while they are switched on. The launch checks
        report that case.
        """
        browsers, coins = self.manifest.drawn_epsilon, self.manifest.coin_epsilon
        if not coins <= LARGEST_TOTAL_EPSILON < browsers:
            return ""
        offers = reversed([*self._list_offers((RemedyKind.SUBSET, RemedyKind.STRENGTH))])
        ways = next(
            ([one.button for one in offer.remedies] for offer in offers if offer.remedies), []
        )
        fix = ", or ".join([*ways[:1], *(way[0].lower() + way[1:] for way in ways[1:])])
        return (
            f"Together, the questions exceed a total ε of {LARGEST_TOTAL_EPSILON:.0f}, the "
            f"most that respondents’ browsers accept. {fix or 'Ask fewer questions'}."
        )


def find_broken_plan(manifest: Manifest, remedy: Remedy) -> str:
    """Return the first problem that the remedy would cause for plans, or an empty string."""
    present = set(_list_plan_problems(manifest))
    new = (one for one in _list_plan_problems(remedy.manifest) if one not in present)
    problem = next(new, "")
    return f"{_if(remedy)}: {problem}" if problem else ""


def _list_plan_problems(manifest: Manifest) -> Iterator[str]:
    yield from find_planned_problems(manifest)
    yield from find_planned_release_problems(manifest)


def _say_nothing(remedy: Remedy) -> str:
    return f"{_if(remedy)}, any value is plausible for {remedy.precision.name}."


def _if(remedy: Remedy) -> str:
    return f"If {remedy.done[0].lower()}{remedy.done[1:].removesuffix('.')}"


def _explain_missing(manifest: Manifest, kind: RemedyKind, limit: float) -> str:
    if manifest.coin_epsilon > limit:
        return (
            f"Two coins cost ε = {epsilon(manifest.coin_epsilon)}, whatever the strength. Switch "
            "them off, or ask fewer yes/no questions."
        )
    match kind:
        case RemedyKind.SUBSET if manifest.block_count < 2:
            return "You need at least two questions that no rule ties together."
        case RemedyKind.SUBSET:
            return f"No random subset stays within {limit:g}."
        case RemedyKind.STRENGTH:
            strongest = protect(manifest, flips=MOST_FLIPS).epsilon
            return (
                f"Even {MOST_FLIPS} flips of 100 for all questions cost ε = {epsilon(strongest)}."
            )
        case RemedyKind.SOME:
            return ""


def _place(value: float) -> str:
    return f"{100 * min(1.0, value / LARGEST_TOTAL_EPSILON):.1f}%"
