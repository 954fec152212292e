"""Run comparisons as background jobs, which pages request and workers compute and store.

Each choice is computed once for each snapshot.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import Q
from numpy.typing import NDArray

from accounts.acting import acting_account
from aggregator.background.levels import find_levels, read_background
from aggregator.background.rows_files import find_rows_file
from aggregator.batches.columns import Columns
from aggregator.batches.combinations import BATCHES_AT_ONCE, count_combinations
from aggregator.batches.halves import find_half_with_groups
from aggregator.comparisons.analysis import (
    analyse_pairs,
    analyse_regression,
    analyse_table,
    count_planned,
)
from aggregator.comparisons.breakdown.computing import GroupCounter, compute_breakdown
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.breakdown.together import find_broken_down
from aggregator.comparisons.choice import (
    NotPrepared,
    check_choice,
    check_claim,
    check_people,
    find_looks,
    find_problem,
    find_through_batch,
    settle_answers,
)
from aggregator.comparisons.counting import cross_tabulate_indicators
from aggregator.comparisons.empty_groups import check_not_empty
from aggregator.comparisons.pairs import PairCodes
from aggregator.comparisons.result import (
    PairsResult,
    StoredResult,
    TooFewToShow,
    TwoQuestionsResult,
)
from aggregator.comparisons.segments import analyse_segments
from aggregator.comparisons.stored import read_result, write_result
from aggregator.models import Batch, Comparison, RowsFile, SealedHalf, Snapshot
from aggregator.results.snapshots import (
    METHOD_VERSION,
    list_looks_before_close,
    list_shown_looks,
    list_told,
)
from privacy.associations.claims import count_possible_claims
from privacy.associations.maximum_likelihood import NotSettledError
from surveys.access import Action, ask_again
from surveys.comparing.choice import NotComparable, is_table
from surveys.comparing.indicators import (
    Indicator,
    find_indicators,
    list_names,
)
from surveys.comparing.pairs import list_pair_indicators
from surveys.history.recording import lock_survey, record
from surveys.leases import MAX_ATTEMPTS, Queue
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Kind, Survey, Verb, Wave

logger = logging.getLogger(__name__)
QUEUE = Queue(model=Comparison, lease=timedelta(minutes=6), pause=timedelta(seconds=30))
find_comparisons_to_run = QUEUE.find_due
KEPT_PER_WAVE = 100
GAVE_UP = (
    "This comparison could not be computed. The results of the survey are complete and nothing is "
    "lost. Try again. If it fails again, ask the server’s administrator to look at the log."
)
NOT_SETTLED = "The estimation did not converge. It needs fewer predictors, or more reports."
TOO_FEW_TOGETHER = (
    "Fewer than {minimum:,} people were asked all of these questions, which is too few to show a "
    "result. Choose questions from fewer blocks."
)
FEW_TOGETHER = (
    "Results are not broken down by Q{number}. From its groups and those of other questions, "
    "someone could work out figures about a few people."
)
OLDER_METHOD = (
    "An older version of Murmur computed this comparison. Compare the same questions again to see "
    "the current result."
)


def request_comparison(
    *,
    wave: Wave,
    snapshot: Snapshot,
    kind: Comparison.Kind,
    names: Sequence[str],
    segments: int = 0,
) -> Comparison:
    """Return the requested comparison, computed or waiting; may raise NotComparable."""
    manifest = wave.description
    check_people(manifest, snapshot)
    check_choice(
        manifest=manifest,
        kind=kind,
        names=names,
        is_final=snapshot.final,
        rows_file=find_rows_file(wave),
        half=find_half_with_groups(wave, through_batch=snapshot.through_batch),
    )
    through_batch = find_through_batch(manifest=manifest, snapshot=snapshot, kind=kind, names=names)
    is_asked = acting_account() is not None
    with transaction.atomic():
        if is_asked:
            lock_survey(wave.survey)
            ask_again(wave.survey, Action.ANALYSE)
        comparison, created = Comparison.objects.get_or_create(
            wave=wave,
            through_batch=through_batch,
            method_version=METHOD_VERSION,
            kind=kind,
            names=list(names),
            segments=segments,
            defaults={"planned": is_planned(manifest, kind, names)},
        )
        # Requests by workers are not recorded, because they are for planned comparisons and the
        # time of the requests depends on the reports.
        if created and is_asked:
            _record(wave.survey, comparison)
    if created:
        _drop_old(wave)
    else:
        QUEUE.try_again(comparison)
    return comparison


def _record(survey: Survey, comparison: Comparison) -> None:
    is_breakdown = comparison.kind == Comparison.Kind.BREAKDOWN
    asked = (str(comparison.get_kind_display()), None, " ".join(comparison.names))
    object_kind = Kind.BREAKDOWN if is_breakdown else Kind.COMPARISON
    record(survey, Verb.COMPARED, object_kind, changes=[asked])


def find_comparison(
    *, wave: Wave, snapshot: Snapshot, kind: Comparison.Kind, names: Sequence[str]
) -> Comparison | None:
    """Find the comparison that was requested for this snapshot, in any state."""
    looks = find_looks(manifest=wave.description, snapshot=snapshot, kind=kind, names=names)
    return wave.comparisons.filter(
        through_batch=max(looks.values()),
        method_version=METHOD_VERSION,
        kind=kind,
        names=list(names),
    ).first()


def is_planned(manifest: Manifest, kind: str, names: Sequence[str]) -> bool:
    """Return whether the author planned this comparison before opening the survey."""
    return kind == find_kind(names) and tuple(names) in manifest.planned_comparisons


def find_kind(names: Sequence[str]) -> Comparison.Kind:
    """Return the kind of a planned comparison, which is a table or a regression."""
    return Comparison.Kind.TABLE if is_table(names) else Comparison.Kind.REGRESSION


def compute_again(comparison: Comparison) -> None:
    """Queue a comparison again, because its stored result cannot be read."""
    logger.error(
        "The result of comparison %s could not be read; computing it again.", comparison.pk
    )
    stored = Comparison.objects.filter(pk=comparison.pk, state=Comparison.State.DONE)
    try:
        with transaction.atomic():
            stored.update(
                state=Comparison.State.WAITING,
                result=None,
                method_version=METHOD_VERSION,
                attempts=0,
                batches_counted=0,
                leased_until=None,
            )
    except IntegrityError:
        # After an upgrade, the same choice was requested again, so another row already has this
        # method version.
        stored.update(state=Comparison.State.FAILED, result=None, problem=OLDER_METHOD)
    comparison.refresh_from_db()


def divides_by_groups(comparison: Comparison, manifest: Manifest) -> bool:
    """Return whether a comparison divides people by declared answers."""
    if comparison.kind == Comparison.Kind.BREAKDOWN:
        return True
    return any(indicator.is_known for indicator in list_compared(comparison, manifest))


def list_compared(comparison: Comparison, manifest: Manifest) -> list[Indicator]:
    if comparison.kind == Comparison.Kind.PAIRS:
        return list_pair_indicators(manifest)
    return find_indicators(manifest, comparison.names)


def is_of_final_snapshot(comparison: Comparison) -> bool:
    """Return whether a comparison counts all reports of a closed wave."""
    return comparison.wave.snapshots.filter(
        through_batch=comparison.through_batch, final=True
    ).exists()


def withdraw(comparison: Comparison, *, problem: str) -> None:
    """Drop an earlier version's result that may no longer be shown, and store the reason."""
    Comparison.objects.filter(pk=comparison.pk).update(
        state=Comparison.State.FAILED, result=None, problem=problem
    )
    comparison.refresh_from_db()


def _drop_old(wave: Wave) -> None:
    """Delete old comparisons, except planned, waiting or running ones and tests of claims."""
    kept = wave.comparisons.order_by("-pk").values_list("pk", flat=True)[:KEPT_PER_WAVE]
    settled = wave.comparisons.filter(state__in=[Comparison.State.DONE, Comparison.State.FAILED])
    kept_anyway = Q(planned=True) | Q(kind=Comparison.Kind.CLAIM)
    settled.exclude(kept_anyway).exclude(pk__in=list(kept)).delete()


def run_comparison(*, comparison_id: int) -> bool:
    """Compute a comparison; return False if nothing was due or another worker is computing it."""
    rows = Comparison.objects.select_related("wave").filter(pk=comparison_id)
    comparison = QUEUE.claim(rows, batches_counted=0)
    if comparison is None:
        return False
    if comparison.method_version != METHOD_VERSION and comparison.kind != Comparison.Kind.CLAIM:
        # The comparison was requested before an upgrade, and can be requested again.
        comparison.delete()
    elif comparison.attempts > MAX_ATTEMPTS:
        QUEUE.give_up(comparison, GAVE_UP)
    else:
        _attempt(comparison)
    return True


def _attempt(comparison: Comparison) -> None:
    try:
        result = _compute(comparison)
        stored = write_result(result)
        # A result that cannot be read back would be computed again at every visit.
        _check_readable(comparison, stored)
    except NotSettledError:
        QUEUE.fail(comparison, NOT_SETTLED)
    except NotPrepared:
        QUEUE.put_back(comparison)
    except (NotComparable, TooFewToShow) as error:
        QUEUE.fail(comparison, str(error))
    except Exception:
        logger.exception("comparison %s failed", comparison.pk)
        QUEUE.put_back(comparison)
    else:
        QUEUE.store(comparison, result=stored)


def _check_readable(comparison: Comparison, stored: dict[str, Any]) -> None:
    manifest = comparison.wave.description
    read_result(comparison.kind, stored, indicators=list_names(manifest))


def _compute(comparison: Comparison) -> StoredResult:
    manifest, rows_file = comparison.wave.description, find_rows_file(comparison.wave)
    columns = Columns.of(manifest)
    is_claim = comparison.kind == Comparison.Kind.CLAIM
    # The choice is checked again, because an earlier version may have requested the comparison.
    if is_claim:
        half = SealedHalf.objects.get(wave=comparison.wave_id)
        check_claim(manifest=manifest, names=comparison.names, half=half)
    else:
        check_choice(
            manifest=manifest,
            kind=comparison.kind,
            names=comparison.names,
            is_final=is_of_final_snapshot(comparison),
            rows_file=rows_file,
            half=find_half_with_groups(comparison.wave, through_batch=comparison.through_batch),
        )
    if comparison.kind == Comparison.Kind.BREAKDOWN:
        assert rows_file is not None
        return _break_down(comparison, manifest, rows_file)
    if comparison.kind == Comparison.Kind.PAIRS:
        return _test_pairs(comparison, manifest, rows_file)
    minimum = comparison.wave.crowd
    indicators = settle_answers(find_indicators(manifest, comparison.names), rows_file)
    counts = _count_jointly(comparison, columns, indicators)
    if counts.sum() < minimum:
        raise TooFewToShow(TOO_FEW_TOGETHER.format(minimum=minimum))
    if is_claim:
        return compute_table(comparison, indicators, counts)  # the verdict names an empty group
    indicators = check_not_empty(counts, indicators)
    if comparison.kind == Comparison.Kind.TABLE:
        return compute_table(comparison, indicators, counts)
    if comparison.kind == Comparison.Kind.SEGMENTS:
        return analyse_segments(
            indicators=indicators,
            counts=counts,
            segments=comparison.segments,
            minimum=minimum,
            after_each=lambda: QUEUE.renew(comparison),
        )
    return analyse_regression(
        indicators=indicators,
        counts=counts,
        planned=_count_planned(comparison),
        times=_list_times(comparison),
        after_each=lambda: QUEUE.renew(comparison),
    )


def _test_pairs(
    comparison: Comparison, manifest: Manifest, rows_file: RowsFile | None
) -> PairsResult:
    listed = settle_answers(list_pair_indicators(manifest), rows_file)
    listed = [one for one in listed if not find_problem(one, is_final=True, rows_file=rows_file)]
    codes = PairCodes(manifest, listed)
    _read_batches(comparison, lambda packed, size: codes.add(packed, size=size))
    tables = codes.result()
    indicators: list[Indicator] = []
    for one in listed:
        with suppress(TooFewToShow):
            indicators += check_not_empty(tables.count_one(one), [one])
    return analyse_pairs(
        manifest=manifest,
        indicators=indicators,
        tables=tables,
        minimum=comparison.wave.crowd,
        crosses_blocks=rows_file is None or rows_file.crosses_blocks,
        after_each=lambda: QUEUE.renew(comparison),
    )


def compute_table(
    comparison: Comparison, indicators: Sequence[Indicator], counts: NDArray[np.int64]
) -> TwoQuestionsResult:
    """Compare two questions from their counted reports; verification also calls this."""
    return analyse_table(
        indicators=indicators,
        counts=counts,
        planned=_count_planned(comparison),
        times=_list_times(comparison),
    )


def _count_planned(comparison: Comparison) -> int:
    if comparison.kind == Comparison.Kind.CLAIM:
        half = SealedHalf.objects.get(wave=comparison.wave_id)
        return count_possible_claims(len(half.claims), misses=1)  # claims are tested all at once
    return count_planned(comparison.wave.description) if comparison.planned else 0


def find_first_batch(comparison: Comparison) -> int:
    """Return the first batch that a comparison reads; a claim reads only the sealed half."""
    if comparison.kind != Comparison.Kind.CLAIM:
        return 1
    return SealedHalf.objects.get(wave=comparison.wave_id).through_batch + 1


def _list_times(comparison: Comparison) -> list[float]:
    """List the looks that could decide when to stop, as fractions of the people expected."""
    manifest = comparison.wave.description
    if divides_by_groups(comparison, manifest):
        return []  # groups are not compared before the close
    return [n / manifest.people_for_looks for n in _list_looks(comparison)]


def _list_looks(comparison: Comparison) -> list[int]:
    """List the number of reports at each shown look before the close, up to the comparison."""
    wave = comparison.wave
    if is_of_final_snapshot(comparison):
        return list_looks_before_close(wave)
    look = (
        wave.snapshots.filter(through_batch__gte=comparison.through_batch)
        .order_by("through_batch")
        .first()
    )
    return list_shown_looks(wave, look.totals if look else [], final=False)


def _break_down(comparison: Comparison, manifest: Manifest, rows_file: RowsFile) -> BreakdownResult:
    question = find_declared(comparison, manifest)
    assert question is not None
    check_broken_down(comparison.wave, question, rows_file)
    QUEUE.renew(comparison)
    counter = GroupCounter(manifest, question)
    _read_batches(comparison, lambda packed, size: counter.add(packed, size=size))
    return compute_breakdown(
        manifest=manifest,
        question=question,
        rows_file=rows_file,
        counts=counter.result(),
        told=list_told(comparison.wave),
        shown_at=list_looks_before_close(comparison.wave),
        after_each=lambda: QUEUE.renew(comparison),
    )


def check_broken_down(wave: Wave, question: ManifestQuestion, rows_file: RowsFile) -> None:
    """Raise TooFewToShow if the question's groups and others reveal figures about few people."""
    if find_levels(read_background(rows_file.chosen or []), question.name) is not None:
        return
    if rows_file.broken_down is None:
        rows_file.broken_down = compute_broken_down(wave, rows_file)
        rows_file.save(update_fields=["broken_down"])
    if question.name not in rows_file.broken_down:
        raise TooFewToShow(FEW_TOGETHER.format(number=question.number))


def compute_broken_down(wave: Wave, rows_file: RowsFile) -> list[str]:
    """Compute which questions outside the file of rows are broken down, also for verification."""
    manifest = wave.description
    found, told = count_combinations(wave, manifest), list_told(wave)
    return list(find_broken_down(manifest, found, rows_file, told=told))


def find_declared(comparison: Comparison, manifest: Manifest) -> ManifestQuestion | None:
    """Return the declared question of a breakdown, or None for any other comparison."""
    if comparison.kind != Comparison.Kind.BREAKDOWN:
        return None
    declared = (one for one in manifest.questions if one.is_declared)
    return next((one for one in declared if [one.name] == comparison.names), None)


def _count_jointly(
    comparison: Comparison, columns: Columns, indicators: Sequence[Indicator]
) -> NDArray[np.int64]:
    total = np.zeros([indicator.codes for indicator in indicators], dtype=np.int64)

    def add(packed: bytes, size: int) -> None:
        nonlocal total
        total = total + cross_tabulate_indicators(
            packed, size=size, columns=columns, indicators=indicators
        )

    _read_batches(comparison, add)
    return total


def _read_batches(comparison: Comparison, take: Callable[[bytes, int], None]) -> None:
    """Pass every batch to `take`, and record progress after each group of batches."""
    batches = Batch.objects.filter(
        wave_id=comparison.wave_id,
        number__range=(find_first_batch(comparison), comparison.through_batch),
    ).order_by("number")
    counted = 0
    for few in _in_groups(list(batches.values_list("pk", flat=True)), BATCHES_AT_ONCE):
        for packed, size in Batch.objects.filter(pk__in=few).values_list("packed", "size"):
            take(bytes(packed), size)
        counted += len(few)
        QUEUE.renew(comparison, batches_counted=counted)


def _in_groups(keys: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
