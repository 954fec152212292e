"""The planned comparisons of a draft, as its author reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surveys.authoring.planned.form import PlannedForm
from surveys.comparing.choice import NotComparable, check_two_questions
from surveys.comparing.indicators import Indicator, list_indicators
from surveys.manifest.manifest import Manifest
from surveys.models import Survey
from surveys.models.planned_comparisons import MAX_PLANNED


@dataclass(frozen=True, kw_only=True)
class PlannedLine:
    """One planned comparison; `problem` says why it cannot be made, or is empty."""

    pk: int
    title: str
    texts: tuple[str, ...]  # of the two questions
    problem: str


@dataclass(frozen=True, kw_only=True)
class PlannedCard:
    lines: tuple[PlannedLine, ...]
    form: PlannedForm | None  # None if no more can be planned
    can_compare: bool
    most: int = MAX_PLANNED


def build_card(survey: Survey, manifest: Manifest, form: PlannedForm | None = None) -> PlannedCard:
    """Describe what a draft plans, and the form to plan more."""
    keys = [plan.pk for plan in survey.planned_comparisons.all()]
    indicators = {indicator.name: indicator for indicator in list_indicators(manifest)}
    lines = tuple(
        PlannedLine(
            pk=pk,
            title=describe_pair(manifest, pair),
            texts=tuple(indicators[name].question.text for name in pair if name in indicators),
            problem=_find_problem(manifest, pair),
        )
        for pk, pair in zip(keys, manifest.planned_comparisons, strict=True)
    )
    is_full = len(lines) >= MAX_PLANNED
    return PlannedCard(
        lines=lines,
        form=None if is_full and form is None else form or PlannedForm(manifest=manifest),
        can_compare=_can_compare(list(indicators.values())),
    )


def _can_compare(indicators: Sequence[Indicator]) -> bool:
    """Return whether there are two questions, at least one of which can form groups."""
    has_groups = not all(indicator.is_number for indicator in indicators)
    return has_groups and len({indicator.symbol.name for indicator in indicators}) > 1


def describe_pair(manifest: Manifest, pair: tuple[str, str]) -> str:
    """Name a comparison as pages do, such as "Q1 by Q2 (Work)"."""
    labels = {indicator.name: indicator.label for indicator in list_indicators(manifest)}
    return " by ".join(labels.get(name, "a deleted answer") for name in pair)


def list_titles(manifest: Manifest) -> list[str]:
    return [describe_pair(manifest, pair) for pair in manifest.planned_comparisons]


def find_planned_problems(manifest: Manifest) -> Iterator[str]:
    """Say which planned comparisons prevent the opening, and what to do about them."""
    for pair in manifest.planned_comparisons:
        if problem := _find_problem(manifest, pair):
            title = describe_pair(manifest, pair)
            yield f"The planned comparison {title} cannot be made. {problem} Or remove it."


def _find_problem(manifest: Manifest, pair: tuple[str, str]) -> str:
    try:
        check_two_questions(manifest=manifest, names=pair)
    except NotComparable as error:
        return str(error)
    return ""
