"""List a researcher's surveys with their states and the numbers of reports at their looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import User
from aggregator.results.overview.next_steps import NextStep, limit_to_role, plan_draft
from aggregator.results.overview.progress import find_step, with_progress
from surveys.lifecycle.state import SurveyState, describe_state, find_near_deletion
from surveys.models import Question, Survey, Wave

# Information texts are not questions.
ANSWERED = ~Q(type=Question.Type.INFORMATION)


@dataclass(frozen=True, kw_only=True)
class SurveyLine:
    """One survey in a list; `sealed` grows only at a look."""

    survey: Survey
    slug: str
    title: str
    state: SurveyState
    step: NextStep
    questions: int
    sealed: int
    opens_at: datetime | None
    closes_at: datetime | None
    delete_on: date | None
    deletion: date | None  # only in the week before this date
    cap: int | None
    ending: str
    origin: Survey.Origin

    @property
    def demo(self) -> bool:
        return self.origin is Survey.Origin.DEMO

    @property
    def rehearsal(self) -> bool:
        return self.origin is Survey.Origin.REHEARSAL

    @property
    def is_draft(self) -> bool:
        return self.state.key == "draft"


def find_surveys(*, account: User) -> QuerySet[Survey, Any]:
    """Find the surveys on which an account has a role, newest first, for `read_lines`.

    This takes two queries. Reports from coins are counted on a separate results page.
    """
    waves = with_progress(Wave.objects.electronic()).defer("manifest")
    # A join would group all surveys before a page takes 25 of them.
    mine = Question.objects.filter(ANSWERED, survey=OuterRef("pk")).order_by()
    questions = mine.values("survey").annotate(count=Count("pk"))
    return (
        Survey.objects.of(account)
        .annotate(question_count=Coalesce(Subquery(questions.values("count")), 0))
        .prefetch_related(Prefetch("waves", waves, to_attr="newest_waves"))
        .order_by("-created_at", "-pk")
    )


def read_lines(surveys: Iterable[Any], *, now: datetime) -> list[SurveyLine]:
    return [_read_line(survey, now=now) for survey in surveys]


def _read_line(survey: Any, *, now: datetime) -> SurveyLine:
    wave = survey.newest_waves[0] if survey.newest_waves else None
    state = describe_state(wave=wave, now=now)
    if wave is None:
        step = plan_draft(questions=survey.question_count, problems=None)
    else:
        step = find_step(wave, state=state)
    step = limit_to_role(step, survey, is_draft=wave is None)
    return SurveyLine(
        survey=survey,
        slug=survey.slug,
        title=survey.title,
        state=state,
        step=step,
        questions=survey.question_count,
        sealed=sum(each.counted for each in survey.newest_waves),
        opens_at=survey.opens_at,
        closes_at=survey.closes_at,
        delete_on=survey.delete_on,
        deletion=find_near_deletion(wave, now=now),
        cap=survey.cap,
        ending=wave.ending if wave else "",
        origin=survey.origin,
    )
