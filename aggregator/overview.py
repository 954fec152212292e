"""A researcher's own surveys: their state and how much of each has been sealed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts.models import User
from aggregator.models import Batch
from surveys.models import Survey, Wave


@dataclass(frozen=True, kw_only=True)
class SurveyLine:
    """One survey in a list; `sealed` grows only when a batch is sealed."""

    slug: str
    title: str
    state: str  # draft, scheduled, open or closed
    questions: int
    sealed: int
    opens_at: datetime | None
    closes_at: datetime | None
    cap: int | None
    ending: str
    demo: bool

    @property
    def is_draft(self) -> bool:
        return self.state == "draft"


def find_surveys(*, owner: User) -> QuerySet[Survey, Any]:
    """Own surveys, newest first, annotated for `read_line`: one query for any number."""
    newest = Wave.objects.filter(survey=OuterRef("pk")).order_by("-number")
    sealed = (
        Batch.objects.filter(wave__survey=OuterRef("pk"))
        .order_by()
        .values("wave__survey")
        .annotate(total=Sum("size"))
        .values("total")
    )
    return Survey.objects.owned_by(owner).annotate(
        question_count=Count("questions"),
        wave_state=Subquery(newest.values("state")[:1]),
        wave_ending=Subquery(newest.values("ending")[:1]),
        sealed_count=Coalesce(Subquery(sealed, output_field=IntegerField()), 0),
    )


def read_line(survey: Any, *, now: datetime) -> SurveyLine:
    return SurveyLine(
        slug=survey.slug,
        title=survey.title,
        state=name_state(state=survey.wave_state, opens_at=survey.opens_at, now=now),
        questions=survey.question_count,
        sealed=survey.sealed_count,
        opens_at=survey.opens_at,
        closes_at=survey.closes_at,
        cap=survey.cap,
        ending=survey.wave_ending or "",
        demo=survey.demo,
    )


def read_lines(surveys: Iterable[Any], *, now: datetime) -> list[SurveyLine]:
    return [read_line(survey, now=now) for survey in surveys]


def name_state(*, state: str | None, opens_at: datetime | None, now: datetime) -> str:
    """Say draft, scheduled, open or closed: the words of the marks on every page."""
    if state is None:
        return "draft"
    if state == Wave.State.OPEN and opens_at is not None and now < opens_at:
        return "scheduled"
    return state
