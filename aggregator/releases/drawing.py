"""Draw a reserved release once and store it; no worker may ever draw it again.

One transaction draws the figure and stores it. If the transaction fails, the figure is rolled back,
but the draw cannot be undone. A restored backup lacks both the figure and any sign of the draw. A
file outside the database therefore first records that a draw begins (aggregator.releases.counters).
If the file and the database contradict each other, someone may know the figure, so the release is
given up and its loss stays charged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from aggregator.models import Release, ReleaseLedger
from aggregator.releases.agreeing import find_agreeing
from aggregator.releases.counters import (
    DamagedFile,
    append_key,
    find_file,
    read_keys,
)
from aggregator.releases.folder import WrongFolder, claim_folder, lock_folder
from aggregator.releases.ledger import find_final_counts, find_public_day, list_keys, read_plan
from aggregator.releases.noise import NotDrawable, Sampler, prepare_sampler
from aggregator.releases.queries import (
    RuleCounts,
    grouped_cells,
    leader_scores,
    median_scores,
    table_cells,
)
from privacy.central.key_driver import list_rules
from surveys.leases import Literal
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import today
from surveys.releasing.choice import OFFERED
from surveys.releasing.noise import plan_table_of_choice

logger = logging.getLogger(__name__)
RESTORED = "restored"
INTERRUPTED = (
    "The server stopped while this release was being drawn, or a backup from before the draw was "
    "restored. Its cost stays spent, because the figure may be known. You can make the same "
    "release again at the same cost."
)
# Used for kinds of releases that must be planned before the survey opens.
NEVER_AGAIN = (
    "The server stopped while this release was being made, it could not write the file that counts "
    "draws, or a backup from before the draw was restored. Its cost stays spent, because the "
    "figure may be known. It cannot be made again: releases of this kind are planned before the "
    "survey opens."
)
CONTRADICTED = (
    "The database and the file that counts draws contradict each other, as they may after a backup "
    "is restored. Figures that are no longer in the database may be known, so everything that this "
    "survey may publish counts as spent, and nothing more is drawn."
)
NO_FILE = (
    "The server cannot draw this release yet: it cannot write the file that counts draws. Nothing "
    "is lost, and the price stays the same. Tell the server’s administrator."
)
OTHER_FOLDER = (
    "The server cannot draw this release yet: the folder that counts draws is missing, or a "
    "different folder is in its place. Nothing is lost, and the price stays the same. Tell the "
    "server’s administrator."
)
NOT_COUNTED = (
    "This release will be drawn as soon as the results of the survey are computed again. Nothing "
    "is lost, and the price stays the same."
)


def find_releases_to_draw() -> QuerySet[Release]:
    """Find releases that are charged but not drawn."""
    return Release.objects.filter(state=Literal(Release.State.RESERVED.value)).order_by("pk")


def draw_release(release_id: int) -> bool:
    """Draw a release or give it up; return False if none was due or drawing is impossible now."""
    release = find_releases_to_draw().select_related("wave__survey").filter(pk=release_id).first()
    return release is not None and attempt(release, _draw_in)


def attempt(release: Release, work: Callable[[Release, Path], None]) -> bool:
    """Run `work` on a release with the folder that counts draws.

    If the work is impossible here or now, store the reason with the release, and return False.
    """
    if settings.RELEASES is None:
        return False
    try:
        work(release, settings.RELEASES)
    except NotDrawable as reason:
        explain(release, str(reason), reason.__cause__)
        return False
    except WrongFolder as error:
        explain(release, OTHER_FOLDER, error)
        return False
    except OSError as error:
        explain(release, NO_FILE, error)
        return False
    return True


def _draw_in(release: Release, folder: Path) -> None:
    # Slow steps come before the transaction, which blocks all other writers on SQLite.
    draw = _Draw(release)
    claim_folder(folder)
    _settle(release, draw, folder)


class _Draw:
    """A release with the data for its draw; drawing itself is one call."""

    def __init__(self, release: Release) -> None:
        manifest = release.wave.description
        request = ReleaseRequest.from_json(release.request)
        counted = find_final_counts(release.wave)
        if counted is None or counted.through_batch != release.through_batch:
            raise NotDrawable(NOT_COUNTED)
        plan = read_plan(release, request, manifest)
        self.sampler = prepare_sampler(plan)
        self._rules: RuleCounts | None = None
        if request.kind == ReleaseKind.KEY_DRIVER:
            agreeing = find_agreeing(release.wave, request, through_batch=counted.through_batch)
            if agreeing is None:
                raise NotDrawable(NOT_COUNTED)
            self._rules = RuleCounts.of(counted.counts, manifest, request.questions, agreeing)
            self._table_sampler = prepare_sampler(plan_table_of_choice(plan))
        elif request.group:
            self._cells = grouped_cells(counted, release.wave, request)
            if not self._cells:
                raise NotDrawable(NOT_COUNTED)
        elif request.kind == ReleaseKind.TABLE:
            self._cells = table_cells(counted.counts, manifest, request.questions)
        else:
            (question,) = (one for one in manifest.questions if one.name in request.questions)
            score = leader_scores if request.kind == ReleaseKind.LEADER else median_scores
            self._scores = score(counted.counts, manifest, question)
        self._draws_table = request.kind == ReleaseKind.TABLE

    def draw(self) -> dict[str, Any]:
        """Draw the figure. Call this only once, because every call reveals something more."""
        if self._draws_table:
            return {"cells": _add_noise(self._cells, self.sampler)}
        if self._rules is not None:
            return _draw_rule(self._rules, self.sampler, self._table_sampler)
        codes = list(self._scores)
        return {"code": codes[self.sampler.draw(list(self._scores.values()))]}


def _draw_rule(counts: RuleCounts, choice: Sampler, table: Sampler) -> dict[str, Any]:
    """Choose a rule, then add noise to the cells that say how often it is right."""
    rule = choice.draw(counts.score())
    cells = counts.list_cells(list_rules(len(counts.predictors))[rule])
    return {"rule": rule, "cells": table.draw(cells)}


def _add_noise(cells: dict[str, list[int]], sampler: Sampler) -> dict[str, list[int]]:
    noisy: Sequence[int] = sampler.draw([count for counts in cells.values() for count in counts])
    values = iter(noisy)
    return {name: [next(values) for _ in counts] for name, counts in cells.items()}


@transaction.atomic(durable=True)
def _settle(release: Release, draw: _Draw, folder: Path) -> None:
    # Lock the ledger's row first, as reserving does, so that draws of a wave happen one by one.
    ledger = ReleaseLedger.objects.select_for_update().filter(wave=release.wave_id).first()
    ours = find_releases_to_draw().filter(pk=release.pk)
    if ledger is None or not ours.exists():
        return  # another worker drew it, or the survey was deleted
    lock_folder(folder)
    path = find_file(folder, bytes(release.wave.manifest_hash))
    if ledger.suspended or is_contradicted(release.wave_id, path):
        logger.error("wave %s: its releases and their file contradict each other", release.wave_id)
        suspend(ledger)
    elif release.key in read_keys(path):
        again = ReleaseKind(release.kind) in OFFERED
        give_up(ours, INTERRUPTED if again else NEVER_AGAIN)
    else:
        append_key(path, release.key)
        # From here on, the release counts as drawn, whatever happens.
        ours.update(
            state=Release.State.DRAWN,
            result=draw.draw(),
            library=draw.sampler.library,
            problem="",
            # If midnight has passed, readers see the release after the next midnight, when pages
            # change.
            public_from=max(release.public_from, find_public_day(release.wave.survey, today())),
        )


def is_contradicted(wave_id: int, path: Path) -> bool:
    """Return whether the file and the database disagree about which releases were drawn."""
    try:
        counted = read_keys(path)
    except DamagedFile:
        return True
    known, drawn = list_keys(Release.objects.filter(wave=wave_id))
    return not counted <= known or not drawn <= counted


def suspend(ledger: ReleaseLedger) -> None:
    """Count the whole cap as spent, and give up all releases that are not drawn."""
    ReleaseLedger.objects.filter(pk=ledger.pk).update(
        suspended=RESTORED,
        spent_hundredths=F("cap_hundredths"),
        delta_spent_nanos=F("delta_cap_nanos"),
    )
    give_up(Release.objects.filter(wave=ledger.wave_id), CONTRADICTED)


def give_up(releases: QuerySet[Release], problem: str) -> int:
    """Give up the releases that are not drawn, and return their number.

    The public page announces them until the next day, so that it changes only at midnight.
    """
    unfinished = releases.filter(state__in=(Release.State.RESERVED, Release.State.WATCHING))
    tomorrow = today() + timedelta(days=1)
    return unfinished.update(state=Release.State.LOST, problem=problem, public_from=tomorrow)


def explain(release: Release, problem: str, cause: BaseException | None) -> None:
    """Store why a release waits; log the reason only once, although every sweep tries again."""
    ours = Release.objects.filter(pk=release.pk, state=release.state)
    if ours.exclude(problem=problem).update(problem=problem):
        logger.error("release %s waits: %s", release.pk, problem, exc_info=cause)
