"""Comparisons of questions: asked for on a page, computed from batches by a worker, kept.

One is computed once per snapshot. The work is in the rows: a waiting comparison, or one whose
worker let its lease run out, is found by the sweep.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import prod
from typing import Any

import numpy as np
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import MAX_CELLS as MAX_CODES
from aggregator.batches.cross_tabulation import PairCounter
from aggregator.comparisons.analysis import (
    MAX_PREDICTORS,
    analyse_pairs,
    analyse_regression,
    analyse_table,
)
from aggregator.comparisons.indicators import (
    Indicator,
    cross_tabulate_indicators,
    find_indicators,
    list_indicators,
)
from aggregator.models import Batch, Comparison, Snapshot
from aggregator.results.results import hide_small_groups
from aggregator.results.snapshots import METHOD_VERSION, ended_as_frozen, newest_snapshot
from privacy.associations.regression import SeparationError
from privacy.associations.tables import MAX_CELLS, NotSettledError
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

logger = logging.getLogger(__name__)
# Longer than any computation; a worker that died is replaced after it.
LEASE = timedelta(minutes=6)
MAX_ATTEMPTS = 3
KEPT_PER_WAVE = 100
# Read at once: 64 full batches of a hundred yes/no questions are 52 MB.
BATCHES_AT_ONCE = 64
# After a failure that may pass, such as a locked database.
PAUSE = timedelta(seconds=30)
GAVE_UP = (
    "This comparison could not be computed. Nothing is lost: the results of the survey are "
    "complete. Ask for it again; if that fails, tell whoever runs this server, whose log says "
    "what went wrong."
)
NOT_SETTLED = (
    "The search for the most likely true answers did not come to rest. Choose fewer predictors, "
    "or wait for more reports."
)


TOO_FEW_TOGETHER = (
    "Only {people:,} people were asked all of these questions: too few responses to show. Choose "
    "questions of fewer blocks."
)
HIDDEN_GROUP = (
    "{label} is a group of too few people to show, or one that would give away the size of such "
    "a group. Choose another group, or wait for more reports."
)


class TooFewToShow(Exception):
    """The message says what to choose instead."""


class NotComparable(Exception):
    """The choice of questions makes no comparison; the message says what to choose instead."""


def request_comparison(
    *, wave: Wave, snapshot: Snapshot, kind: Comparison.Kind, names: Sequence[str]
) -> Comparison:
    """Return the comparison for this snapshot, ready or to be computed."""
    manifest = wave.description
    _check_choice(manifest=manifest, kind=kind, names=names)
    comparison, created = Comparison.objects.get_or_create(
        wave=wave,
        through_batch=snapshot.through_batch,
        method_version=METHOD_VERSION,
        kind=kind,
        questions=",".join(names),
    )
    if created:
        _drop_old(wave)
    elif comparison.problem == GAVE_UP:
        comparison.state, comparison.problem, comparison.attempts = (
            Comparison.State.WAITING,
            "",
            0,
        )
        comparison.save(update_fields=["state", "problem", "attempts"])
    return comparison


def _drop_old(wave: Wave) -> None:
    """Keep the newest; what is waiting or being computed stays in any case."""
    kept = wave.comparisons.order_by("-pk").values_list("pk", flat=True)[:KEPT_PER_WAVE]
    settled = wave.comparisons.filter(state__in=[Comparison.State.DONE, Comparison.State.FAILED])
    settled.exclude(pk__in=list(kept)).delete()


@dataclass(frozen=True, kw_only=True)
class ComparisonStanding:
    """What a comparison may be used for, and whether there is news since."""

    manifest: Manifest
    fixed_end: bool
    is_newest: bool
    end_was_frozen: bool
    is_over: bool
    alarms: tuple[str, ...]  # names of questions in alarm
    contradiction: bool  # no true answers at all agree with the joint codes

    @property
    def is_impossible(self) -> bool:
        """Whether the codes cannot plausibly come from the design: no figure is to be used."""
        return self.contradiction or bool(self.alarms)


def find_standing(comparison: Comparison) -> ComparisonStanding:
    """Read from the wave as it is now: the same figures may stand once the wave has ended."""
    wave = comparison.wave
    newest = newest_snapshot(wave)
    is_newest = (
        newest is not None
        and newest.through_batch == comparison.through_batch
        and comparison.method_version == METHOD_VERSION
    )
    same = wave.snapshots.filter(
        through_batch=comparison.through_batch, method_version=METHOD_VERSION
    ).first()
    alarms = {row["name"] for row in same.estimates if row["alarm"]} if same else set()
    # All pairs involve all questions.
    involved = {name.partition(".")[0] for name in comparison.names} or alarms
    return ComparisonStanding(
        manifest=wave.description,
        fixed_end=is_newest and newest is not None and newest.final and ended_as_frozen(wave),
        is_newest=is_newest,
        end_was_frozen=wave.has_fixed_end,
        is_over=not wave.is_open,
        alarms=tuple(sorted(alarms & involved)),
        contradiction=bool(comparison.result and comparison.result["contradiction"]),
    )


def describe_divergence(names: Sequence[str]) -> str:
    """Say which questions make a coefficient grow without bound, and what to do."""
    questions = sorted({name.partition("=")[0].partition(".")[0] for name in names if "=" in name})
    numbers = [f"Q{name.removeprefix('q')}" for name in questions]
    which = f" of {', '.join(numbers)}" if numbers else ""
    return (
        f"The reports do not determine the effect{which}: by the codes, some combination of "
        "answers seems to have nobody, or everybody, with the outcome. Leave such a predictor "
        "out, or wait for more reports."
    )


def _check_choice(*, manifest: Manifest, kind: Comparison.Kind, names: Sequence[str]) -> None:
    if not set(names) <= {indicator.name for indicator in list_indicators(manifest)}:
        raise NotComparable("Choose questions of this survey.")
    if kind == Comparison.Kind.PAIRS:
        plain = find_plain_indicators(manifest)
        if (
            manifest.drawn == 1
            and len({indicator.symbol.block for indicator in plain}) == len(plain) > 1
        ):
            raise NotComparable(
                "Each person was asked one block of questions, so nobody was asked two of those "
                "that have just Yes and No: no pairs to test."
            )
        if len(plain) < 2:
            raise NotComparable(
                "Fewer than two questions have just Yes and No for everybody: no pairs to test. "
                "Choose two questions to compare instead."
            )
        return
    chosen = find_indicators(manifest, names)
    if chosen and all(indicator.is_known for indicator in chosen):
        raise NotComparable(
            "These answers are not scrambled, so there is nothing to estimate. Choose a scrambled "
            "question as the outcome."
        )
    if kind == Comparison.Kind.TABLE:
        if len(chosen) != 2:
            raise NotComparable("Choose two questions.")
        if len(_symbols(chosen)) < 2:
            raise NotComparable("Choose two different questions.")
        _check_no_number(chosen[1:])
    else:
        if len(chosen) < 2:
            raise NotComparable("Choose an outcome and at least one predictor.")
        _check_no_number(chosen)
        if chosen[0].symbol.name in _symbols(chosen[1:]):
            raise NotComparable(
                "The outcome cannot be one of its predictors. Choose other predictors."
            )
        if len(_symbols(chosen)) < len(chosen):
            raise NotComparable(
                "Two predictors are answers to the same question, so one of them says what the "
                "other does. Choose one of them."
            )
        if len(chosen) > MAX_PREDICTORS + 1:
            raise NotComparable(
                f"Choose at most {MAX_PREDICTORS} predictors: each one doubles the table of true "
                "answers that has to be estimated."
            )
    _check_size(manifest, chosen)


def _check_no_number(indicators: Sequence[Indicator]) -> None:
    for indicator in indicators:
        if indicator.is_number:
            raise NotComparable(
                f"{indicator.label} is a number that each browser rounds to one bit, so it makes "
                "no groups and explains nothing. Choose it as the outcome of two questions: then "
                "its mean is compared."
            )


def _symbols(indicators: Sequence[Indicator]) -> set[str]:
    return {indicator.symbol.name for indicator in indicators}


def _check_size(manifest: Manifest, chosen: Sequence[Indicator]) -> None:
    if prod(indicator.variable.size for indicator in chosen) > MAX_CELLS or (
        prod(indicator.codes for indicator in chosen) > MAX_CODES
    ):
        raise NotComparable(
            "These questions together have too many combinations of answers. Choose fewer, or "
            "some with fewer answers."
        )
    blocks = {indicator.symbol.block for indicator in chosen} - {None}
    if manifest.drawn is not None and len(blocks) > manifest.drawn:
        raise NotComparable(
            f"Each person was asked {manifest.drawn} of {manifest.block_count} blocks of "
            f"questions, so nobody was asked all of these. Choose questions of "
            f"{manifest.drawn} blocks at most."
        )


def find_plain_indicators(manifest: Manifest) -> list[Indicator]:
    return [indicator for indicator in list_indicators(manifest) if indicator.is_plain]


def find_comparisons_to_run(*, now: datetime | None = None) -> QuerySet[Comparison]:
    """Waiting ones that are due, and those whose worker let its lease run out."""
    return Comparison.objects.filter(_due(now or timezone.now())).order_by("pk")


def _due(now: datetime) -> Q:
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    return free & Q(state__in=[Comparison.State.WAITING, Comparison.State.RUNNING])


def run_comparison(*, comparison_id: int) -> bool:
    """Compute a comparison; False if there was nothing to do or another worker is at it."""
    now = timezone.now()
    claimed = (
        Comparison.objects.filter(pk=comparison_id)
        .filter(_due(now))
        .update(
            state=Comparison.State.RUNNING,
            leased_until=now + LEASE,
            attempts=F("attempts") + 1,
            batches_counted=0,
        )
    )
    if not claimed:
        return False
    comparison = Comparison.objects.select_related("wave").filter(pk=comparison_id).first()
    if comparison is None:
        return False  # deleted meanwhile
    if comparison.method_version != METHOD_VERSION:
        # Asked before an upgrade; whoever wants it asks again.
        comparison.delete()
    elif comparison.attempts > MAX_ATTEMPTS:
        _settle(comparison, problem=GAVE_UP)
    else:
        _attempt(comparison)
    return True


def _attempt(comparison: Comparison) -> None:
    try:
        result = _compute(comparison)
    except SeparationError as error:
        # The reports do not allow it: no later attempt will.
        _settle(comparison, problem=describe_divergence(error.names))
    except NotSettledError:
        _settle(comparison, problem=NOT_SETTLED)
    except TooFewToShow as error:
        _settle(comparison, problem=str(error))
    except Exception:
        logger.exception("comparison %s failed", comparison.pk)
        _mine(comparison).update(
            state=Comparison.State.WAITING, leased_until=timezone.now() + PAUSE
        )
    else:
        _settle(comparison, result=result)


def _mine(comparison: Comparison) -> QuerySet[Comparison]:
    """The row while this attempt holds it: a worker past its lease changes nothing."""
    return Comparison.objects.filter(
        pk=comparison.pk, state=Comparison.State.RUNNING, attempts=comparison.attempts
    )


def _settle(
    comparison: Comparison, *, result: dict[str, Any] | None = None, problem: str = ""
) -> None:
    done = Comparison.State.DONE if result is not None else Comparison.State.FAILED
    _mine(comparison).update(state=done, result=result, problem=problem, leased_until=None)


def _compute(comparison: Comparison) -> dict[str, Any]:
    manifest = comparison.wave.description
    columns = Columns.of(manifest)
    if comparison.kind == Comparison.Kind.PAIRS:
        counter = PairCounter(ks=columns.ks)
        _read_batches(comparison, lambda packed, size: counter.add(packed, size=size))
        return analyse_pairs(
            indicators=find_plain_indicators(manifest),
            counts=counter.result(),
            columns=columns,
            minimum=comparison.wave.display_minimum,
        )
    indicators = find_indicators(manifest, comparison.names)
    counts = _count_jointly(comparison, columns, indicators)
    _check_enough(counts, indicators, minimum=comparison.wave.display_minimum)
    if comparison.kind == Comparison.Kind.TABLE:
        return analyse_table(indicators=indicators, counts=counts)
    return analyse_regression(indicators=indicators, counts=counts)


def _check_enough(
    counts: NDArray[np.int64], indicators: Sequence[Indicator], *, minimum: int
) -> None:
    """Refuse what the results page would not show of these reports."""
    if counts.sum() < minimum:
        raise TooFewToShow(TOO_FEW_TOGETHER.format(people=int(counts.sum())))
    for axis, indicator in enumerate(indicators):
        if indicator.is_known:
            groups = counts.sum(axis=tuple(set(range(counts.ndim)) - {axis}))
            if not hide_small_groups(groups.tolist(), minimum=minimum).isdisjoint(indicator.yes):
                raise TooFewToShow(HIDDEN_GROUP.format(label=indicator.label))


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
    """Hand every batch on, and say after each few how far it got."""
    batches = Batch.objects.filter(
        wave_id=comparison.wave_id, number__lte=comparison.through_batch
    ).order_by("number")
    counted = 0
    for few in _in_groups(list(batches.values_list("pk", flat=True)), BATCHES_AT_ONCE):
        for packed, size in Batch.objects.filter(pk__in=few).values_list("packed", "size"):
            take(bytes(packed), size)
        counted += len(few)
        _mine(comparison).update(batches_counted=counted, leased_until=timezone.now() + LEASE)


def _in_groups(keys: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
