"""Files that workers make on request: charts and reports of the newest look at a survey.

Files of older looks or of other inputs are never shown or made.

The database keeps files together with the reports, so it keeps only a few: the newest of each
survey, and as many bytes per account as a setting allows. Large files are kept only until they are
sent. Files that are no longer kept are made again on request.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Length

from aggregator.models import Rendering
from aggregator.renderings.recipes import NotRenderable, Recipe
from aggregator.results.display import Results, read_results
from aggregator.results.snapshots import (
    METHOD_VERSION,
    UnreadableSnapshotError,
    find_shown,
    newest_snapshot,
)
from surveys.leases import MAX_ATTEMPTS, Queue
from surveys.models import Role, Wave

logger = logging.getLogger(__name__)
QUEUE = Queue(model=Rendering, lease=timedelta(minutes=3), pause=timedelta(seconds=10))
find_renderings_to_run = QUEUE.find_due
# A visit adds a row, so the oldest rows are deleted; their files are made again on request.
KEPT_PER_WAVE = 8
KEPT_BYTES = 1_000_000
GAVE_UP = (
    "This file could not be made. The results of the survey are complete and nothing is lost. If "
    "it fails again, ask the server’s administrator to look at the log."
)
NO_ROOM = (
    "This file is {size} MB, and the server keeps at most {most} MB of files for one account. "
    "Choose a chart of fewer questions, or ask the server’s administrator for more room."
)


def request_rendering(*, results: Results, name: str, inputs: str) -> Rendering:
    """Return the file of this name for these results, whether made, waiting or failed."""
    wave, snapshot = results.wave, results.snapshot
    rendering, created = Rendering.objects.get_or_create(
        wave=wave,
        through_batch=snapshot.through_batch,
        final=snapshot.final,
        name=name,
        inputs=_digest(inputs),
    )
    if created:
        _drop_old(rendering)
    return rendering


def note_sent(rendering: Rendering) -> None:
    """Delete a sent file if it is large."""
    if rendering.content is not None and len(rendering.content) > KEPT_BYTES:
        rendering.delete()


def run_rendering(*, rendering_id: int, find_recipe: Callable[[str], Recipe | None]) -> bool:
    """Make a file; return False if nothing was due or another worker is making the file."""
    rows = Rendering.objects.defer("content").select_related("wave__survey")
    rendering = QUEUE.claim(rows.filter(pk=rendering_id))
    if rendering is None:
        return False
    if rendering.attempts > MAX_ATTEMPTS:
        QUEUE.give_up(rendering, GAVE_UP)
    else:
        _attempt(rendering, find_recipe(rendering.name))
    return True


def _attempt(rendering: Rendering, recipe: Recipe | None) -> None:
    try:
        results = _read_newest(rendering.wave)
        if recipe is None or results is None or not _is_current(rendering, recipe, results):
            # The file is no longer current. The next visit requests a new one.
            QUEUE.mine(rendering).delete()
            return
        content = recipe.render(results, rendering.name)
        if _make_room(rendering, len(content)):
            QUEUE.store(rendering, content=content)
        else:
            # An administrator may make room, so a retry is possible.
            most = settings.FILE_BYTES_PER_ACCOUNT // 1_000_000
            problem = NO_ROOM.format(size=f"{len(content) / 1e6:.1f}", most=most)
            QUEUE.give_up(rendering, problem)
    except NotRenderable as refusal:
        QUEUE.fail(rendering, str(refusal))
    except Exception:
        if not QUEUE.mine(rendering).exists():
            return  # the survey was deleted while its file was made
        logger.exception("the file %s of wave %s failed", rendering.name, rendering.wave_id)
        QUEUE.put_back(rendering)


def _read_newest(wave: Wave) -> Results | None:
    """Read the results of the newest look that may be shown."""
    newest = newest_snapshot(wave)
    snapshot = find_shown(wave, newest) if newest else None
    if snapshot is None:
        return None
    try:
        return read_results(wave=wave, snapshot=snapshot, newest=newest)
    except UnreadableSnapshotError:
        return None


def _is_current(rendering: Rendering, recipe: Recipe, results: Results) -> bool:
    inputs = recipe.find_inputs(results, rendering.name)
    return (
        inputs is not None
        and rendering.inputs == _digest(inputs)
        and rendering.through_batch == results.snapshot.through_batch
        and rendering.final == results.snapshot.final
    )


def _digest(inputs: str) -> str:
    return hashlib.sha256(f"{METHOD_VERSION}\n{inputs}".encode()).hexdigest()


def _make_room(rendering: Rendering, size: int) -> bool:
    """Delete the account's oldest files until a new file fits; return False if it cannot fit."""
    room = settings.FILE_BYTES_PER_ACCOUNT - size
    if room < 0:
        return False
    made = Rendering.objects.filter(
        wave__survey__memberships__account=rendering.wave.survey.owner,
        wave__survey__memberships__role=Role.OWNER,
        state=Rendering.State.DONE,
    ).annotate(size=Length("content"))
    for pk, taken in made.order_by("-pk").values_list("pk", "size"):
        room -= taken
        if room < 0:
            made.filter(pk__lte=pk).delete()
            break
    return True


def _drop_old(rendering: Rendering) -> None:
    """Delete the wave's files of other looks, and all but the newest files of this look."""
    ours = Rendering.objects.filter(wave=rendering.wave_id)
    look = Q(through_batch=rendering.through_batch, final=rendering.final)
    kept = ours.filter(look).order_by("-pk").values_list("pk", flat=True)[:KEPT_PER_WAVE]
    ours.exclude(pk__in=list(kept)).delete()
