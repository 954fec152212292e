"""Imports as background jobs: a page stores a file, and a worker reads it.

Files are deleted once they have been read, or after an hour at most.
"""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import asdict
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from surveys.definition.creating import create_draft
from surveys.exchange.child import read_in_child
from surveys.exchange.drafting import draft
from surveys.exchange.reading.questions import Parsed
from surveys.leases import MAX_ATTEMPTS, Queue
from surveys.models import Import, Survey
from surveys.models.imports import KEPT

logger = logging.getLogger(__name__)
# The lease is longer than the child process may take (child.WALL_SECONDS).
QUEUE = Queue(model=Import, lease=timedelta(minutes=1), pause=timedelta(seconds=5))
# The most imports of one account that are not drafts yet.
KEPT_PER_ACCOUNT = 5
GAVE_UP = "This file could not be read. Nothing was created. Upload it again, or a simpler one."
# The key of a second definition and its outcomes, in which the items of scores stay questions.
SINGLY = "singly"
TOO_OLD = "The upload is more than an hour old and was deleted. Upload the file again."


def find_imports_to_read() -> QuerySet[Import]:
    return QUEUE.find_due()


def store_upload(*, owner: User, name: str, content: bytes) -> Import:
    """Store a file until a worker reads it, and delete the account's oldest uploads if needed."""
    shown = "".join(filter(str.isprintable, name))[:200]
    upload = Import.objects.create(owner=owner, name=shown, content=content)
    waiting = Import.objects.filter(owner=owner, survey__isnull=True).order_by("-pk")
    kept = waiting.values_list("pk", flat=True)[:KEPT_PER_ACCOUNT]
    waiting.exclude(pk__in=list(kept)).delete()
    return upload


def read_upload(*, import_id: int) -> bool:
    """Read a file, or return False if nothing was due or another worker has the file."""
    upload = QUEUE.claim(Import.objects.filter(pk=import_id))
    if upload is None:
        return False
    if upload.attempts > MAX_ATTEMPTS or upload.content is None:
        _fail(upload, GAVE_UP)
        return True
    try:
        found = read_in_child(bytes(upload.content), name=upload.name)
        if "problem" in found:
            _fail(upload, found["problem"])
            return True
        drafted = draft(Parsed.read(deepcopy(found["parsed"])))
        if not drafted.definition["questions"]:
            QUEUE.mine(upload).update(outcomes=drafted.outcomes)
            _fail(upload, "No question of this file can be taken over. The reasons are below.")
            return True
        definition = drafted.definition
        if any(question["type"] == "score" for question in definition["questions"]):
            definition[SINGLY] = asdict(draft(Parsed.read(found["parsed"]), singly=True))
        QUEUE.store(upload, content=None, definition=definition, outcomes=drafted.outcomes)
    except Exception as error:
        if not QUEUE.mine(upload).exists():
            return False  # the upload was deleted in the meantime
        # The exception is not logged, because it may contain words from the file.
        logger.error("reading the import %s failed: %s", upload.pk, type(error).__name__)
        QUEUE.put_back(upload)
    return True


def _fail(upload: Import, problem: str) -> None:
    QUEUE.mine(upload).update(
        state=Import.State.FAILED, leased_until=None, problem=problem, content=None
    )


@transaction.atomic
def create_from(*, upload: Import, singly: bool = False) -> Survey | None:
    """Create the draft of an import only once. Return None if the import was deleted or never read.

    With `singly`, the items of scores stay questions. Pressing the button twice returns the same
    draft.
    """
    locked = Import.objects.select_for_update().filter(pk=upload.pk).first()
    if locked is None:
        return None
    if locked.survey is not None:
        return locked.survey
    if locked.definition is None:
        return None
    definition = locked.definition
    single = definition.pop(SINGLY, None)
    if singly and single is not None:
        definition, locked.outcomes = single["definition"], single["outcomes"]
    survey = create_draft(definition, owner=locked.owner)
    locked.survey, locked.definition = survey, None
    locked.save(update_fields=["survey", "definition", "outcomes"])
    return survey


def forget_imports() -> None:
    """Delete imports that have no draft after an hour, and those whose survey has opened."""
    now = timezone.now()
    is_old = Q(uploaded_at__lt=now - KEPT) | Q(uploaded_at__gt=now + KEPT)  # or the clock went back
    found = Q(survey__isnull=True) & is_old | Q(survey__waves__isnull=False)
    # If there is nothing to delete, nothing is written to the database.
    if old := list(Import.objects.filter(found).values_list("pk", flat=True)):
        Import.objects.filter(pk__in=old).delete()
