"""Finds the precision to expect with a draft's number of people, and the figures that stay hidden.

Cards, the overview, the launch page and the remedies use this module. The planner, which reads the
question from a link, finds the same margins. The assumptions are in assumptions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from surveys.formatting import join_list, list_numbers, mean_margin, percent, whole
from surveys.formatting import margin as write_margin
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.planning.assumptions import ASKED, FOLLOW_UP_ASKED, REFUSING, SHARE
from surveys.planning.figures import COMPARED_AT, HALF, WIDEST, Figure
from surveys.planning.people_needed import find_figure, find_follow_up


@dataclass(frozen=True, kw_only=True)
class ExpectedFigure:
    """A share or a mean for this many people, of whom `asked` get the question.

    `hidden` says why results would not show the figure; it is empty if they would.
    """

    question: ManifestQuestion
    is_follow_up: bool
    people: int
    asked: int
    margin: float
    hidden: str

    @property
    def name(self) -> str:
        return f"Q{self.question.number}{' follow-up' if self.is_follow_up else ''}"

    @property
    def says_nothing(self) -> bool:
        return self.margin >= HALF

    @property
    def precision(self) -> str:
        return describe_margin(self.question, self.margin)


def describe_margin(question: ManifestQuestion, margin: float) -> str:
    """Write the half width of a share in points, and the half width of a mean in its unit."""
    if not question.is_rounded:
        return write_margin(margin)
    assert question.minimum is not None
    assert question.maximum is not None
    return mean_margin(margin, low=question.minimum, high=question.maximum, unit=question.unit)


@dataclass(frozen=True, kw_only=True)
class ExpectedRow:
    """Figures that have the same precision."""

    precision: str
    names: str
    hidden: str


@dataclass(frozen=True, kw_only=True)
class Expected:
    """All figures of a draft, the least precise first. `hidden` says why none would be shown."""

    people: int
    rows: tuple[ExpectedRow, ...]
    hidden: str
    assumed: str


def find_expected(manifest: Manifest) -> Expected | None:
    """Find the expected figures of a draft, or None if the number of people is not known."""
    people = manifest.people_planned
    figures = [] if people is None else list_figures(manifest, people=people)
    if people is None or not figures:
        return None
    reasons = {one.hidden for one in figures}
    hidden = reasons.pop() if len(reasons) == 1 else ""
    return Expected(
        people=people,
        rows=tuple(_list_rows(figures, hidden=hidden)),
        hidden=hidden,
        assumed=describe_assumptions(manifest, [one.question for one in figures]),
    )


def list_figures(manifest: Manifest, *, people: int) -> list[ExpectedFigure]:
    """List the figures of all scrambled questions, with the least precise first."""
    scrambled = [one for one in manifest.questions if one.is_scrambled]
    found = (expect_figures(manifest, one, people=people) for one in scrambled)
    return sorted((one for each in found for one in each), key=lambda one: -one.margin)


def expect_figures(
    manifest: Manifest, question: ManifestQuestion, *, people: int
) -> tuple[ExpectedFigure, ...]:
    """Describe the one figure of a scrambled question, or two figures if it has a follow-up."""
    compared = find_figure(manifest, question, share=COMPARED_AT if question.is_rounded else None)
    figures = [(find_figure(manifest, question), compared)]
    if question.described.has_follow_up:
        figures.append((find_follow_up(manifest, question),) * 2)
    return tuple(
        ExpectedFigure(
            question=question,
            is_follow_up=bool(place),
            people=people,
            asked=figure.count_asked(people),
            margin=figure.find_margin(people),
            hidden=_describe_hidden(compared, people=people, crowd=manifest.crowd),
        )
        for place, (figure, compared) in enumerate(figures)
    )


def _describe_hidden(compared: Figure, *, people: int, crowd: int) -> str:
    """Say why results would hide a figure; `compared` is the figure that the results check."""
    asked = compared.count_asked(people)
    if people < crowd:
        return f"not shown: results need {whole(crowd)} people"
    if asked < crowd:
        return f"not shown: about {whole(asked)} get it, but results need {whole(crowd)}"
    if 2 * compared.find_margin(people) > WIDEST:
        return "not shown: too imprecise"
    return ""


def _list_rows(figures: Sequence[ExpectedFigure], *, hidden: str) -> list[ExpectedRow]:
    rows = groupby(figures, key=lambda one: (one.precision, one.hidden))
    return [
        ExpectedRow(
            precision=precision,
            names=_list_names(list(group)),
            hidden="" if reason == hidden else reason,
        )
        for (precision, reason), group in rows
    ]


def _list_names(figures: Sequence[ExpectedFigure]) -> str:
    numbers = sorted(one.question.number for one in figures if not one.is_follow_up)
    others = [one.name for one in figures if one.is_follow_up]
    return join_list([*([list_numbers(numbers, mark="Q")] if numbers else []), *others])


def describe_assumptions(manifest: Manifest, questions: Sequence[ManifestQuestion]) -> str:
    """Say on which assumptions the margins and numbers of people of these questions rest."""
    looks = ", valid at all looks together" if manifest.is_watched else ""
    texts = {
        f"{percent(SHARE)} give an answer": any(not one.is_rounded for one in questions),
        "means are in the middle": any(one.is_rounded for one in questions),
        f"a rule asks {percent(ASKED)}": any(one.rule is not None for one in questions),
        f"{percent(REFUSING)} prefer not to say": any(one.refusal for one in questions),
        f"{percent(FOLLOW_UP_ASKED)} get a follow-up": any(
            one.described.has_follow_up for one in questions
        ),
    }
    assumed = join_list([text for text, applies in texts.items() if applies])
    return f"The margin of error (±) is half of a 95 % interval{looks}. It assumes that {assumed}."
