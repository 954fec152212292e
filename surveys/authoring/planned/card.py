"""The planned comparisons of a draft, as its author reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surveys.authoring.launch_problems import Problem, link_questions
from surveys.authoring.planned.form import PlannedForm
from surveys.comparing.choice import NotComparable, check_planned, describe_planned
from surveys.comparing.indicators import Indicator, list_predictors
from surveys.manifest.manifest import Manifest
from surveys.models import Survey
from surveys.models.planned_comparisons import MAX_PLANNED


@dataclass(frozen=True, kw_only=True)
class PlannedLine:
    """One planned comparison. `problem` says why it cannot be made, if it cannot."""

    pk: int
    title: str
    texts: tuple[str, ...]  # the texts of the questions
    problem: str


@dataclass(frozen=True, kw_only=True)
class PlannedCard:
    lines: tuple[PlannedLine, ...]
    form: PlannedForm | None  # None if no more comparisons can be planned
    can_compare: bool
    most: int = MAX_PLANNED


def build_card(survey: Survey, manifest: Manifest, form: PlannedForm | None = None) -> PlannedCard:
    """Describe the planned comparisons, and add the form for planning more."""
    keys = [plan.pk for plan in survey.planned_comparisons.all()]
    indicators = {one.name: one for one in list_predictors(manifest)}
    lines = tuple(
        PlannedLine(
            pk=pk,
            title=describe_planned(manifest, names),
            texts=tuple(indicators[name].question.text for name in names if name in indicators),
            problem=_find_problem(manifest, names),
        )
        for pk, names in zip(keys, manifest.planned_comparisons, strict=True)
    )
    if form is None and len(lines) < MAX_PLANNED:
        form = PlannedForm(manifest=manifest, is_short=True)
    return PlannedCard(
        lines=lines,
        form=form,
        can_compare=_can_compare(list(indicators.values())),
    )


def _can_compare(indicators: Sequence[Indicator]) -> bool:
    """Return whether there are two questions, of which at least one can form groups."""
    has_groups = not all(indicator.is_number for indicator in indicators)
    return has_groups and len({indicator.symbol.name for indicator in indicators}) > 1


def list_titles(manifest: Manifest) -> list[str]:
    return [describe_planned(manifest, names) for names in manifest.planned_comparisons]


def find_planned_problems(manifest: Manifest) -> Iterator[str]:
    """Say which planned comparisons prevent the survey from opening, and how to fix each."""
    for names in manifest.planned_comparisons:
        if problem := _find_problem(manifest, names):
            title = describe_planned(manifest, names)
            said = f"The planned comparison {title} cannot be made. {problem}"
            yield Problem(
                said, "You can also remove it.", href=link_questions(manifest.survey, "planned")
            )


def _find_problem(manifest: Manifest, names: Sequence[str]) -> str:
    try:
        check_planned(manifest=manifest, names=names)
    except NotComparable as error:
        return str(error)
    return ""
