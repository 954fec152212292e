"""Copy chosen questions from another survey to the end of a draft, either all or none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction

from surveys.authoring.answer_options import call_all
from surveys.authoring.errors import InsertionOutdated
from surveys.authoring.services import add_questions, list_content, lock_draft
from surveys.authoring.stamps import stamp_insertion
from surveys.authoring.variable_names import conform_name
from surveys.manifest.names import split_name
from surveys.manifest.rules import leaves
from surveys.models import Question, QuestionContent, Survey


@dataclass(frozen=True, kw_only=True)
class Inserted:
    """The new questions, and the source's names for those that were inserted without their rule."""

    questions: tuple[Question, ...]
    without_rule: tuple[str, ...]


@transaction.atomic
def insert_questions(
    *, survey: Survey, source: Survey, keys: Collection[int], stamp: str
) -> Inserted:
    """Insert the questions with these primary keys, in the order of the source.

    A rule, or a reference to the same fact or page, is left out if the question that it needs is
    not inserted. The scale of a second code is also inserted. A letter is added to a name that the
    draft already has. Raises InsertionOutdated if one of the surveys no longer matches the stamp,
    so pressing the button twice inserts the questions only once.
    """
    locked = lock_draft(survey=survey)
    questions, stored = list(source.questions.all()), list(locked.questions.all())
    if stamp != stamp_insertion(stored, source=questions):
        raise InsertionOutdated
    scales = {one.same_fact for one in questions if one.pk in keys and one.is_second}
    taken = [question.name for question in stored]
    called, without_rule = call_all(questions), []
    contents: dict[str, QuestionContent] = {}
    for before, question in zip([None, *questions], questions, strict=False):
        if question.pk not in keys and question.pk not in scales:
            continue
        content = list_content(question)
        if question.name:
            content["name"] = conform_name(question.name, taken=taken)
            taken.append(content["name"])
        if not _list_needed(question) <= contents.keys():
            content["rule"] = None
            without_rule.append(called[str(question.pk)])
        if str(question.same_fact) not in contents:
            content["same_fact"] = None
        content["together"] &= before is not None and before.pk in keys
        contents[str(question.pk)] = content
    added = add_questions(survey=locked, contents=contents)
    return Inserted(questions=tuple(added), without_rule=tuple(without_rule))


def _list_needed(question: Question) -> set[str]:
    """List the keys of the questions that a rule names."""
    named = [] if question.rule is None else leaves(question.rule)
    return {split_name(leaf["name"])[0] for leaf in named}
