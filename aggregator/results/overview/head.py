"""What every page of a survey shows at its top: state, reports, the next step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from aggregator.models import Batch, Discard, RawReport, Snapshot
from aggregator.results.looks import EVERYBODY, list_least, reports_needed
from aggregator.results.overview.next_steps import NextStep, Progress, plan_draft, plan_launched
from surveys.authoring.drafts import load_draft
from surveys.authoring.launch_checks import find_launch_problems
from surveys.authoring.state import SurveyState, describe_state
from surveys.models import Survey


@dataclass(frozen=True, kw_only=True)
class SurveyHead:
    """`sealed` grows only at a look; None for a draft, which cannot have reports."""

    state: SurveyState
    sealed: int | None
    step: NextStep


def read_head(survey: Survey, *, now: datetime) -> SurveyHead:
    """Describe where a survey stands: one query after the launch, four before."""
    wave = _find_wave(survey)
    state = describe_state(wave=wave, now=now)
    if wave is None:
        return SurveyHead(state=state, sealed=None, step=_plan_draft(survey, now=now))
    sealed = wave.sealed or 0
    least = list_least(wave.description)[EVERYBODY]
    next_look = reports_needed(seen=sealed, least=least)
    progress = Progress(
        is_open=wave.accepts_at(now) or state.key == "scheduled",
        is_scheduled=state.key == "scheduled",
        is_counted=not wave.is_open and bool(wave.is_final or _is_empty(wave)),
        sealed=sealed,
        first_look=next_look + wave.minimum_batch,
        next_look=next_look,
        is_shown=sealed >= wave.display_minimum,
    )
    return SurveyHead(state=state, sealed=sealed, step=plan_launched(progress))


def _find_wave(survey: Survey) -> Any:
    """Find the newest wave of browsers, with what its newest look counted."""
    own = {"wave": OuterRef("pk")}
    newest = Snapshot.objects.filter(**own).order_by("-through_batch")
    return (
        survey.waves.electronic()
        .annotate(
            sealed=Subquery(newest.values("total")[:1]),
            is_final=Subquery(newest.values("final")[:1]),
            is_discarded=Exists(Discard.objects.filter(**own)),
            has_reports=Exists(RawReport.objects.filter(**own))
            | Exists(Batch.objects.filter(**own)),
        )
        .newest()
    )


def _is_empty(wave: Any) -> bool:
    """Whether a closed wave will never count a report."""
    return wave.is_discarded or not wave.has_reports


def _plan_draft(survey: Survey, *, now: datetime) -> NextStep:
    load_draft(survey)
    problems = find_launch_problems(survey=survey, now=now)
    return plan_draft(questions=len(survey.questions.all()), problems=len(problems))
