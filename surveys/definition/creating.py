"""Create a draft from a whole definition, or create nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.models import User
from surveys.authoring.stamps import stamp_definition
from surveys.definition.checking import Checked, check_definition
from surveys.definition.format import ImportOutdated, InvalidDefinition
from surveys.definition.writing import write_content
from surveys.history.recording import record
from surveys.models import Kind, Survey, Verb
from surveys.models.asked_questions import lock_people


def check_whole(definition: Mapping[str, Any]) -> Checked:
    checked = check_definition(definition)
    if checked.problems:
        raise InvalidDefinition(checked.problems)
    return checked


@transaction.atomic
def create_draft(definition: Mapping[str, Any], *, owner: User) -> Survey:
    """Create a new draft, or raise InvalidDefinition if anything is wrong."""
    checked = check_whole(definition)
    survey = Survey.objects.create_owned(owner, **checked.settings)
    write_content(survey, checked)
    record(survey, Verb.CREATED, Kind.SURVEY)
    return survey


def stamp_preview(definition: Mapping[str, Any], *, owner: User) -> str:
    """Stamp the previewed definition and the surveys that the owner has now."""
    surveys = Survey.objects.of(owner).order_by("pk").values_list("pk", flat=True)
    return stamp_definition(definition, surveys=surveys)


@transaction.atomic
def create_previewed(definition: Mapping[str, Any], *, owner: User, stamp: str) -> Survey:
    """Create the previewed draft. Raises ImportOutdated if the owner's set of surveys has changed.

    Pressing the button twice therefore creates only one draft.
    """
    lock_people([owner.pk])
    if stamp != stamp_preview(definition, owner=owner):
        raise ImportOutdated
    return create_draft(definition, owner=owner)
