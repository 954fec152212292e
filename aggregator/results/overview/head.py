"""The head of every page of a survey: its state, its reports and the next step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from aggregator.results.looks import EVERYBODY, list_least, reports_needed
from aggregator.results.overview.next_steps import (
    NextStep,
    describe_waiting,
    plan_draft,
)
from aggregator.results.overview.progress import find_step, is_shown, with_progress
from surveys.authoring.drafts import load_draft
from surveys.authoring.launch_checks import find_launch_problems
from surveys.lifecycle.state import SurveyState, describe_state, find_near_deletion
from surveys.models import Survey


@dataclass(frozen=True, kw_only=True)
class SurveyHead:
    """The head of a page; `sealed` grows only at a look, and is None for a draft."""

    state: SurveyState
    sealed: int | None
    step: NextStep
    deletion: date | None = None  # only in the week before this date
    is_half: bool = False  # the other reports are in the sealed half


def read_head(survey: Survey, *, now: datetime) -> SurveyHead:
    """Describe where a survey stands, with one query after the launch and at most five before."""
    wave = with_progress(survey.waves.electronic()).first()
    state = describe_state(wave=wave, now=now)
    if wave is None:
        return SurveyHead(state=state, sealed=None, step=_plan_draft(survey, now=now))
    step = find_step(wave, state=state)
    if state.key == "open":
        step = replace(step, note=_describe_waiting(wave))
    near = find_near_deletion(wave, now=now)
    return SurveyHead(
        state=state, sealed=wave.counted, step=step, deletion=near, is_half=wave.is_half
    )


def _describe_waiting(wave: Any) -> str:
    """Say how many reports the next look needs; the first look needs K more that stay unsealed."""
    least = list_least(wave.description)[EVERYBODY]
    more = reports_needed(seen=wave.counted, least=least)
    if is_shown(wave):
        return describe_waiting(reports_needed=more, is_shown=True)
    sealed = max(wave.crowd, wave.counted + more)
    return describe_waiting(
        reports_needed=sealed + wave.minimum_batch,
        is_shown=False,
        at_close=wave.survey.drawn is not None or wave.sealed_half,
    )


def _plan_draft(survey: Survey, *, now: datetime) -> NextStep:
    load_draft(survey)
    problems = find_launch_problems(survey=survey, now=now)
    return plan_draft(questions=len(survey.questions.all()), problems=len(problems))
