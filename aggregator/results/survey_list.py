"""A researcher's own surveys: their state and how much of each has been sealed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Prefetch, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts.models import User
from aggregator.models import Batch
from surveys.authoring.state import SurveyState, describe_state
from surveys.models import Survey, Wave


@dataclass(frozen=True, kw_only=True)
class SurveyLine:
    """One survey in a list; `sealed` grows only when a batch is sealed."""

    slug: str
    title: str
    state: SurveyState
    questions: int
    sealed: int
    opens_at: datetime | None
    closes_at: datetime | None
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


def find_surveys(*, owner: User) -> QuerySet[Survey, Any]:
    """Find a researcher's surveys, newest first, for `read_lines`: two queries in all.

    Reports from coins are counted on their own results page.
    """
    sealed = (
        Batch.objects.filter(wave__survey=OuterRef("pk"), wave__mode=Wave.Mode.ELECTRONIC)
        .order_by()
        .values("wave__survey")
        .annotate(total=Sum("size"))
        .values("total")
    )
    waves = Wave.objects.electronic().order_by("-number").defer("manifest")
    return (
        Survey.objects.owned_by(owner)
        .annotate(
            question_count=Count("questions"),
            sealed_count=Coalesce(Subquery(sealed, output_field=IntegerField()), 0),
        )
        .prefetch_related(Prefetch("waves", waves, to_attr="newest_waves"))
        .order_by("-created_at", "-pk")
    )


def read_lines(surveys: Iterable[Any], *, now: datetime) -> list[SurveyLine]:
    return [_read_line(survey, now=now) for survey in surveys]


def _read_line(survey: Any, *, now: datetime) -> SurveyLine:
    wave = survey.newest_waves[0] if survey.newest_waves else None
    return SurveyLine(
        slug=survey.slug,
        title=survey.title,
        state=describe_state(wave=wave, now=now),
        questions=survey.question_count,
        sealed=survey.sealed_count,
        opens_at=survey.opens_at,
        closes_at=survey.closes_at,
        cap=survey.cap,
        ending=wave.ending if wave else "",
        origin=survey.origin,
    )
