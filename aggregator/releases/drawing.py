"""Drawing a reserved release once and storing it; no worker may ever draw it a second time.

One transaction draws and stores. If it fails, the figure is rolled back but the draw is not, and a
restored backup forgets both. A file outside the database therefore records first that a draw begins
(aggregator.releases.counters). Where file and database contradict each other, the figure may be
known to someone, and the release is given up with its loss.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from aggregator.leases import Literal
from aggregator.models import Release, ReleaseLedger, today
from aggregator.releases.counters import DamagedFile, append_key, find_file, read_keys
from aggregator.releases.ledger import find_final_snapshot, find_public_day
from aggregator.releases.noise import NotDrawable, Sampler, prepare_sampler
from aggregator.releases.queries import leader_scores, table_cells, typical_scores
from aggregator.releases.requests import ReleaseRequest, read_plan

logger = logging.getLogger(__name__)
RESTORED = "restored"
INTERRUPTED = (
    "The server stopped while this release was drawn, or a backup from before the draw was "
    "restored. What it cost stays spent, because the figure may be known. You can make the same "
    "release again; it costs the same again."
)
CONTRADICTED = (
    "The database and the file that counts draws contradict each other, as after a backup was "
    "restored. Figures that are no longer in the database may be known, so everything that this "
    "survey may publish counts as spent, and nothing more is drawn."
)
NO_FILE = (
    "The server cannot draw this release yet: it cannot write the file that counts draws. Nothing "
    "is lost, and the price stays the same. Tell the server’s administrator."
)
NOT_COUNTED = (
    "This release is drawn as soon as the results of the survey are computed again. Nothing is "
    "lost, and the price stays the same."
)


def find_releases_to_draw() -> QuerySet[Release]:
    """Find releases that are paid for and not drawn."""
    return Release.objects.filter(state=Literal(Release.State.RESERVED.value)).order_by("pk")


def draw_release(release_id: int) -> bool:
    """Draw a release, or give it up; False if there was nothing to do, or not here or not now."""
    release = find_releases_to_draw().select_related("wave__survey").filter(pk=release_id).first()
    if release is None or settings.RELEASES is None:
        return False
    # Everything slow comes before the transaction: on SQLite, nobody else writes during it.
    try:
        draw = _Draw(release)
        _settle(release, draw, find_file(settings.RELEASES, bytes(release.wave.manifest_hash)))
    except NotDrawable as reason:
        _explain(release, str(reason), reason.__cause__)
        return False
    except OSError as error:
        _explain(release, NO_FILE, error)
        return False
    return True


class _Draw:
    """A release with all that its draw needs; drawing itself is one call."""

    def __init__(self, release: Release) -> None:
        manifest = release.wave.description
        request = ReleaseRequest.from_json(release.request)
        snapshot = find_final_snapshot(release.wave)
        if snapshot is None or snapshot.through_batch != release.through_batch:
            raise NotDrawable(NOT_COUNTED)
        self.sampler = prepare_sampler(read_plan(release, request, manifest))
        if request.kind == Release.Kind.TABLE:
            self._cells = table_cells(snapshot, manifest, request.questions)
        else:
            (question,) = (one for one in manifest.questions if one.name in request.questions)
            score = leader_scores if request.kind == Release.Kind.LEADER else typical_scores
            self._scores = score(snapshot, manifest, question)
        self._draws_table = request.kind == Release.Kind.TABLE

    def draw(self) -> dict[str, Any]:
        """Draw the figure. Call it once: every call reveals something more."""
        if self._draws_table:
            return {"cells": _add_noise(self._cells, self.sampler)}
        codes = list(self._scores)
        return {"code": codes[self.sampler.draw(list(self._scores.values()))]}


def _add_noise(cells: dict[str, list[int]], sampler: Sampler) -> dict[str, list[int]]:
    noisy: Sequence[int] = sampler.draw([count for counts in cells.values() for count in counts])
    values = iter(noisy)
    return {name: [next(values) for _ in counts] for name, counts in cells.items()}


@transaction.atomic(durable=True)
def _settle(release: Release, draw: _Draw, path: Path) -> None:
    # The ledger's row first, as in reserving: it makes all draws of a wave happen one by one.
    ledger = ReleaseLedger.objects.select_for_update().filter(wave=release.wave_id).first()
    ours = find_releases_to_draw().filter(pk=release.pk)
    if ledger is None or not ours.exists():
        return  # another worker drew it, or the survey was deleted
    states = dict(Release.objects.filter(wave=release.wave_id).values_list("key", "state"))
    if ledger.suspended or _contradict(states, path):
        _suspend(ledger)
    elif release.key in read_keys(path):
        ours.update(state=Release.State.LOST, problem=INTERRUPTED)
    else:
        append_key(path, release.key)
        # From here on, the release counts as drawn, whatever happens.
        ours.update(
            state=Release.State.DRAWN,
            result=draw.draw(),
            library=draw.sampler.library,
            problem="",
            # If midnight has passed, readers see it after the next one: pages change at no other
            # time.
            public_from=max(release.public_from, find_public_day(release.wave.survey, today())),
        )


def _contradict(states: dict[str, str], path: Path) -> bool:
    """Whether the file has draws that the database does not know, or the other way around."""
    try:
        counted = read_keys(path)
    except DamagedFile:
        return True
    drawn = {key for key, state in states.items() if state == Release.State.DRAWN}
    return not counted <= states.keys() or not drawn <= counted


def _suspend(ledger: ReleaseLedger) -> None:
    """Count the whole cap as spent, and give up what is not drawn."""
    logger.error("the releases of wave %s and their file contradict each other", ledger.wave_id)
    ReleaseLedger.objects.filter(pk=ledger.pk).update(
        suspended=RESTORED,
        spent_hundredths=F("cap_hundredths"),
        delta_spent_nanos=F("delta_cap_nanos"),
    )
    find_releases_to_draw().filter(wave=ledger.wave_id).update(
        state=Release.State.LOST, problem=CONTRADICTED
    )


def _explain(release: Release, problem: str, cause: BaseException | None) -> None:
    """Say why a release waits; log it once, although every sweep tries again."""
    ours = find_releases_to_draw().filter(pk=release.pk)
    if ours.exclude(problem=problem).update(problem=problem):
        logger.error("release %s waits: %s", release.pk, problem, exc_info=cause)
