"""The progress of launched surveys, as of their newest looks."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aggregator.models import Batch, Discard, RawReport, Release, Snapshot
from aggregator.results.overview.next_steps import NextStep, plan_launched
from surveys.lifecycle.state import SurveyState
from surveys.manifest.manifest import Publication
from surveys.models import WaveQuerySet


def with_progress(waves: WaveQuerySet) -> QuerySet[Any]:
    """Add to each wave the number of reports at its newest look and what decides its next step."""
    own = {"wave": OuterRef("pk")}
    newest = Snapshot.objects.filter(**own).order_by("-through_batch")
    has_reports = Exists(RawReport.objects.filter(**own)) | Exists(Batch.objects.filter(**own))
    return waves.order_by("-number").annotate(
        counted=Coalesce(Subquery(newest.values("total")[:1]), 0),
        is_final=Coalesce(Subquery(newest.values("final")[:1]), False),
        is_half=Coalesce(Subquery(newest.values("is_half")[:1]), False),
        is_kept=Exists(Snapshot.objects.filter(**own).exclude(earlier_final=None)),
        is_released=Exists(Release.objects.filter(**own)),
        is_over=Exists(Discard.objects.filter(**own)) | (~has_reports & Q(planned_releases=None)),
    )


def find_step(wave: Any, *, state: SurveyState) -> NextStep:
    """Return the next step of a wave from `with_progress`."""
    return plan_launched(
        is_open=state.key in ("open", "scheduled"),
        is_counted=not wave.is_open and (wave.is_final or wave.is_half or wave.is_over),
        is_shown=is_shown(wave),
        awaits_release=_awaits_release(wave),
    )


def is_shown(wave: Any) -> bool:
    """Return whether results of a wave from `with_progress` are shown (see `find_shown`)."""
    comes_early = wave.survey.drawn is None and not wave.sealed_half
    is_whole = wave.is_final or wave.is_half or comes_early
    return wave.is_kept or (is_whole and wave.counted >= wave.crowd)


def _awaits_release(wave: Any) -> bool:
    survey = wave.survey
    is_protected = survey.publication == Publication.PROTECTED and not survey.public_results_off
    return is_protected and not wave.is_released
