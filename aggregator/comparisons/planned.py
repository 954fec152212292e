"""Planned comparisons, which are chosen before the survey opens and requested after the wave ends.

The manifest names them. They are computed from the last snapshot with the current method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest

from aggregator.comparisons.choice import check_people
from aggregator.comparisons.jobs import compute_again, find_kind, request_comparison
from aggregator.comparisons.result import RegressionResult, TwoQuestionsResult
from aggregator.comparisons.sentences import IMPOSSIBLE
from aggregator.comparisons.stored import UnreadableResult, read_result
from aggregator.comparisons.words.regression_sentences import summarize_terms, write_terms
from aggregator.comparisons.words.two_questions_sentences import (
    describe_difference,
    describe_verdict,
)
from aggregator.models import Comparison, Snapshot
from aggregator.results.display import Results
from aggregator.results.snapshots import METHOD_VERSION, newest_snapshot
from surveys.comparing.choice import NotComparable, describe_planned
from surveys.comparing.indicators import find_indicators, list_names
from surveys.manifest.manifest import BATCHES_IN_CROWD
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave


def find_waves_to_compare() -> QuerySet[Wave]:
    """Find ended waves whose planned comparisons were not all requested for the last snapshot."""
    last = Snapshot.objects.filter(
        wave=OuterRef("pk"),
        final=True,
        method_version=METHOD_VERSION,
        total__gte=Greatest(
            OuterRef("display_minimum"), BATCHES_IN_CROWD * OuterRef("minimum_batch")
        ),
    ).order_by("-through_batch")
    requested = (
        Comparison.objects.filter(
            wave=OuterRef("pk"),
            planned=True,
            method_version=METHOD_VERSION,
            through_batch=OuterRef("last"),
        )
        .order_by()
        .values("wave")
        .annotate(count=Count("pk"))
    )
    return (
        Wave.objects.closed()
        .filter(planned_comparisons__gt=0, rows_file__isnull=False)
        .annotate(last=Subquery(last.values("through_batch")[:1]))
        .filter(last__isnull=False)
        .annotate(requested=Coalesce(Subquery(requested.values("count")), 0))
        .filter(requested__lt=F("planned_comparisons"))
        .order_by()
    )


def request_planned(*, wave_id: int) -> None:
    """Request the planned comparisons of an ended wave; existing requests do not change.

    A comparison that a later version's stricter rules forbid is stored with the reason.
    """
    wave = Wave.objects.get(pk=wave_id)
    snapshot = newest_snapshot(wave)
    if snapshot is None or not snapshot.final:
        return
    manifest = wave.description
    for names in manifest.planned_comparisons:
        try:
            request_comparison(wave=wave, snapshot=snapshot, kind=find_kind(names), names=names)
        except NotComparable as error:
            Comparison.objects.get_or_create(
                wave=wave,
                through_batch=snapshot.through_batch,
                method_version=METHOD_VERSION,
                kind=find_kind(names),
                names=list(names),
                defaults={
                    "planned": True,
                    "state": Comparison.State.FAILED,
                    "problem": str(error),
                },
            )


@dataclass(frozen=True, kw_only=True)
class PlannedResult:
    """One planned comparison; `comparison` is None until it is requested, after the wave ends.

    `sentence` is the finding; it is empty until there is a result that may be used. `problem` says
    why there will be no such result.
    """

    title: str
    questions: tuple[ManifestQuestion, ...]
    comparison: Comparison | None
    result: TwoQuestionsResult | RegressionResult | None = None
    sentence: str = ""
    problem: str = ""

    @property
    def state(self) -> str:
        """Either "later" (the wave has not ended), "waiting", "done" or "failed"."""
        if self.comparison is None:
            return "later"
        if self.comparison.state == Comparison.State.RUNNING:
            return "waiting"
        return self.comparison.state

    @property
    def verdict(self) -> str:
        """A sentence on whether two questions are related, if this is a table with a result."""
        result = self.result
        return describe_verdict(result) if isinstance(result, TwoQuestionsResult) else ""


def list_planned(results: Results) -> tuple[PlannedResult, ...]:
    """List the planned comparisons in the order of the manifest, with their results."""
    manifest = results.manifest
    if not manifest.planned_comparisons:
        return ()
    rows = find_rows(results.wave, through_batch=results.snapshot.through_batch)
    return tuple(
        _build_result(results, names, rows.get(names)) for names in manifest.planned_comparisons
    )


def find_rows(wave: Wave, *, through_batch: int) -> dict[tuple[str, ...], Comparison]:
    """Map the names of planned comparisons to their rows for one snapshot, in one query."""
    rows = wave.comparisons.filter(
        planned=True, through_batch=through_batch, method_version=METHOD_VERSION
    )
    return {tuple(row.names): row for row in rows}


def _explain_missing(results: Results) -> str:
    """Say why a planned comparison of a closed wave was not requested; return "" if it will be."""
    try:
        check_people(results.manifest, results.snapshot)
    except NotComparable as error:
        return str(error)
    return ""


def _build_result(
    results: Results, names: tuple[str, ...], row: Comparison | None
) -> PlannedResult:
    manifest = results.manifest
    indicators = find_indicators(manifest, names)
    described = PlannedResult(
        title=describe_planned(manifest, names),
        questions=tuple(one.question for one in indicators),
        comparison=row if results.is_final else None,
    )
    if not results.is_settled:
        return described
    if row is None or not results.is_final:
        return replace(described, problem=_explain_missing(results))
    if row.state != Comparison.State.DONE:
        return replace(described, problem=row.problem)
    try:
        result = read_result(row.kind, row.result, indicators=list_names(manifest))
    except UnreadableResult:
        compute_again(row)
        return described
    assert isinstance(result, TwoQuestionsResult | RegressionResult)
    alarmed = {question.question.name for question in results.alarms}
    is_alarmed = not alarmed.isdisjoint(one.question.name for one in indicators)
    if is_alarmed or result.contradiction.applies(fixed_end=results.fixed_end):
        return replace(described, problem=IMPOSSIBLE)
    if isinstance(result, RegressionResult):
        sentence = summarize_terms(write_terms(result, manifest))
    else:
        sentence = describe_difference(result, *indicators)
    return replace(described, result=result, sentence=sentence)
