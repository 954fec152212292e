"""Create a draft from a definition: all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction

from accounts.models import User
from surveys.authoring.stamps import stamp_definition
from surveys.definition.checking import Checked, check_definition
from surveys.definition.format import ImportOutdated, InvalidDefinition
from surveys.history.recording import record
from surveys.manifest.names import rename_question
from surveys.manifest.rules import rename
from surveys.models import Kind, Question, Survey, Verb
from surveys.models.asked_questions import lock_people


@transaction.atomic
def create_draft(definition: Mapping[str, Any], *, owner: User) -> Survey:
    """Create a new draft; raise InvalidDefinition if anything is wrong."""
    checked = check_definition(definition)
    if checked.problems:
        raise InvalidDefinition(checked.problems)
    survey = Survey.objects.create_owned(owner, **checked.settings)
    _create_rows(survey, checked)
    record(survey, Verb.CREATED, Kind.SURVEY)
    return survey


def stamp_preview(definition: Mapping[str, Any], *, owner: User) -> str:
    """Stamp what a preview shows, and the surveys that the account has by then."""
    surveys = Survey.objects.of(owner).order_by("pk").values_list("pk", flat=True)
    return stamp_definition(definition, surveys=surveys)


@transaction.atomic
def create_previewed(definition: Mapping[str, Any], *, owner: User, stamp: str) -> Survey:
    """Create the draft of a preview; raise ImportOutdated if the owner has other surveys by now.

    So pressing twice creates one draft.
    """
    lock_people([owner.pk])
    if stamp != stamp_preview(definition, owner=owner):
        raise ImportOutdated
    return create_draft(definition, owner=owner)


def _create_rows(survey: Survey, checked: Checked) -> None:
    keys: dict[str, str] = {}
    for question in checked.questions:
        content = {name: getattr(question, name) for name in Question.CONTENT}
        if question.rule is not None:
            content["rule"] = rename(question.rule, partial(rename_question, names=keys))
        if question.same_fact is not None:
            content["same_fact"] = int(keys[str(question.same_fact)])
        created = survey.questions.create(position=question.position, **content)
        keys[str(question.pk)] = str(created.pk)
    for comparison in checked.comparisons:
        answers = [(int(keys[str(key)]), part) for key, part in comparison]
        survey.planned_comparisons.create(answers=answers)
    for release in checked.releases:
        group = release["group"]
        references = {
            "questions": [int(keys[str(key)]) for key in release["questions"]],
            "group": None if group is None else int(keys[str(group)]),
        }
        survey.planned_releases.create(**release | references)
    for language, texts in checked.translations.items():
        survey.translations.create(language=language, texts=texts)
