"""Replace the content of a draft with a definition, if the draft is still what the author read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from surveys.authoring.errors import Overtaken
from surveys.authoring.services import changes_draft, lock_draft
from surveys.definition.checking import Checked
from surveys.definition.creating import check_whole
from surveys.definition.exporting import export_definition
from surveys.definition.writing import write_content
from surveys.models import Kind, Survey
from surveys.models.settings import SETTING_NAMES


def hash_definition(content: bytes) -> str:
    """Return the ETag of an exported definition, without quotation marks."""
    return hashlib.sha256(content).hexdigest()


def replace_draft(
    *, survey: Survey, definition: Mapping[str, Any], read: Collection[str]
) -> Survey:
    """Replace settings, questions, plans and translations, and return the draft.

    `read` contains the hashes of the versions that may be replaced. Raises Overtaken if the draft
    is none of these versions, and may also raise InvalidDefinition or NotDraft.
    """
    checked = check_whole(definition)  # before the lock, because this may take seconds
    return _replace(survey=survey, checked=checked, read=read)


@changes_draft(Kind.DEFINITION)
def _replace(*, survey: Survey, checked: Checked, read: Collection[str]) -> Survey:
    locked = lock_draft(survey=survey)
    if hash_definition(export_definition(locked)) not in read:
        raise Overtaken
    # Read the survey again, because the export has cached the questions of `locked`.
    stored = Survey.objects.get(pk=locked.pk)
    for name, value in checked.settings.items():
        setattr(stored, name, value)
    stored.save(update_fields=SETTING_NAMES)
    write_content(stored, checked)
    return Survey.objects.get(pk=locked.pk)
