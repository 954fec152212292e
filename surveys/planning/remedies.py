"""Remedies that bring a draft's total ε within a limit, and how precise its figures then are.

A remedy is the draft's manifest with fewer blocks drawn for each person, or with more flips. It
never protects a question less than before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from surveys.formatting import list_numbers, share_of_recommended, whole
from surveys.manifest.manifest import UNKNOWN_PEOPLE, Manifest
from surveys.manifest.questions import ManifestQuestion, with_strength
from surveys.planning.expected import ExpectedFigure, list_figures

MOST_FLIPS = 49  # of 100, the strongest protection
_VERY_IMPRECISE = 0.2  # a margin, as a fraction
_KEPT_SHARE = 0.5  # of the limit, for the questions that are suggested to keep their strength


class RemedyKind(StrEnum):
    SUBSET = "subset"  # each person is asked fewer of the blocks
    STRENGTH = "strength"  # all questions get at least some strength
    SOME = "some"  # all questions except some get at least some strength


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One way to change a draft. `manifest` is the changed draft; `kept` are question names."""

    kind: RemedyKind
    manifest: Manifest
    flips: int = 0
    kept: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        return self.manifest.epsilon

    @property
    def button(self) -> str:
        match self.kind:
            case RemedyKind.SUBSET:
                return f"Ask each person {self._subset}"
            case RemedyKind.STRENGTH:
                return f"Use {self._strength} for every question"
            case RemedyKind.SOME:
                return "Use more flips for all but the ticked questions"

    @property
    def done(self) -> str:
        """The sentence for a draft that was changed in this way."""
        match self.kind:
            case RemedyKind.SUBSET:
                return f"Each person is asked {self._subset}."
            case RemedyKind.STRENGTH:
                return f"Every question has {self._strength}."
            case RemedyKind.SOME:
                return f"All questions except {self.kept_numbers} have {self._strength}."

    @property
    def _subset(self) -> str:
        blocks = self.manifest.block_count
        is_alone = len(self.manifest.blocks) == blocks
        return f"{self.manifest.drawn} of {blocks} {'questions' if is_alone else 'blocks'}"

    @property
    def _strength(self) -> str:
        return f"at least {self.flips} flips of 100"

    @property
    def kept_numbers(self) -> str:
        kept = [one.number for one in self.manifest.questions if one.name in self.kept]
        return list_numbers(kept, mark="Q")

    @cached_property
    def precision(self) -> ExpectedFigure:
        return find_widest(self.manifest)

    @property
    def facts(self) -> str:
        """Say what the remedy costs: the total, the people per question and the widest margin."""
        suggested = f"Suggested: {self.kept_numbers}. The others then have {self._strength}. "
        only = suggested if self.kind == RemedyKind.SOME else ""
        caution = " That is very imprecise." if self.precision.margin > _VERY_IMPRECISE else ""
        used = f"Privacy used: {share_of_recommended(self.total)}."
        return f"{only}{used} {self._describe_precision()}{caution}"

    def _describe_precision(self) -> str:
        widest = self.precision
        expected = "For" if self.manifest.people_planned is None else "With your"
        get = "all get" if widest.asked == widest.people else f"about {whole(widest.asked)} get"
        return (
            f"{expected} {whole(widest.people)} people, {get} each question. The least precise is "
            f"{widest.name}: {widest.precision}."
        )


def find_widest(manifest: Manifest) -> ExpectedFigure:
    """Find the least precise figure for the planned number of people."""
    return list_figures(manifest, people=manifest.people_planned or UNKNOWN_PEOPLE)[0]


def find_remedy(
    manifest: Manifest, kind: RemedyKind, *, goal: float, kept: Collection[str] | None = None
) -> Remedy | None:
    """Find the remedy that changes the draft least for a total ε of at most `goal`.

    For RemedyKind.SOME, `kept` names the questions that keep their strength. If it is None, this
    function suggests some.
    """
    match kind:
        case RemedyKind.SUBSET:
            return _draw_fewer(manifest, goal)
        case RemedyKind.STRENGTH:
            return _strengthen(manifest, kind, goal, frozenset())
        case RemedyKind.SOME if kept is None:
            return _suggest_kept(manifest, goal)
        case RemedyKind.SOME:
            kind = RemedyKind.SOME if kept else RemedyKind.STRENGTH
            return _strengthen(manifest, kind, goal, frozenset(kept))


def protect(manifest: Manifest, *, flips: int, kept: Collection[str] = ()) -> Manifest:
    """Give all questions at least this many flips, except the questions in `kept`."""

    def change(question: ManifestQuestion) -> ManifestQuestion:
        if question.name in kept or question.flips >= flips:
            return question
        return with_strength(question, flips=flips)

    return replace(manifest, questions=tuple(map(change, manifest.questions)))


def _draw_fewer(manifest: Manifest, goal: float) -> Remedy | None:
    sizes = range(1, manifest.drawn or manifest.block_count)
    fitting = bisect_right(sizes, goal, key=lambda size: replace(manifest, drawn=size).epsilon)
    if not fitting:
        return None
    return Remedy(kind=RemedyKind.SUBSET, manifest=replace(manifest, drawn=sizes[fitting - 1]))


def _strengthen(
    manifest: Manifest, kind: RemedyKind, goal: float, kept: frozenset[str]
) -> Remedy | None:
    strengths = range(1, MOST_FLIPS + 1)

    def fits(flips: int) -> bool:
        return protect(manifest, flips=flips, kept=kept).epsilon <= goal

    place = bisect_left(strengths, True, key=fits)
    if place == len(strengths):
        return None
    flips = strengths[place]
    changed = protect(manifest, flips=flips, kept=kept)
    return Remedy(kind=kind, manifest=changed, flips=flips, kept=kept)


def _suggest_kept(manifest: Manifest, goal: float) -> Remedy | None:
    """Keep the first questions whose ε fit into half of the limit.

    Keep fewer if the others would otherwise not fit, or would become too imprecise to say anything.
    Keep one if nothing helps.
    """
    kept: list[str] = []
    spent = 0.0
    for question in manifest.questions:
        if question.is_scrambled and spent + question.epsilon <= _KEPT_SHARE * goal:
            spent += question.epsilon
            kept.append(question.name)

    def keep(count: int) -> Remedy | None:
        return _strengthen(manifest, RemedyKind.SOME, goal, frozenset(kept[:count]))

    is_lost = find_widest(manifest).says_nothing

    def is_too_many(count: int) -> bool:
        found = keep(count)
        return found is None or (found.precision.says_nothing and not is_lost)

    fitting = bisect_left(range(1, len(kept) + 1), True, key=is_too_many)
    return keep(max(1, fitting)) if kept else None
