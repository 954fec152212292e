"""Write the content of a checked definition into a draft, new or stored.

A question with the same name, a plan with the same answers and a translation into the same language
keep their database rows. Forms that are open elsewhere therefore still find these rows, and notice
the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from surveys.authoring.services import list_content, place_questions
from surveys.definition.checking import Checked
from surveys.manifest.names import rename_question
from surveys.manifest.rules import rename
from surveys.models import Question, Survey

# Added to the positions of new questions until all are placed. Stored positions are far lower.
_NEW = 20_000


def write_content(survey: Survey, checked: Checked) -> None:
    """Write questions, plans and translations. The caller writes settings and holds the lock."""
    keys = _write_questions(survey, checked)
    _write_plans(
        survey.planned_comparisons,
        [
            {"answers": [[int(keys[str(key)]), part] for key, part in comparison]}
            for comparison in checked.comparisons
        ],
    )
    _write_plans(survey.planned_releases, [_refer(release, keys) for release in checked.releases])
    survey.translations.exclude(language__in=checked.translations).delete()
    for language, texts in checked.translations.items():
        survey.translations.update_or_create(language=language, defaults={"texts": texts})


def _write_questions(survey: Survey, checked: Checked) -> dict[str, str]:
    """Write all questions in order, and map each key in the definition to the stored key."""
    stored = {_identify(question): question for question in survey.questions.all()}
    kept = {_identify(question) for question in checked.questions}
    survey.questions.exclude(pk__in=[stored[one].pk for one in kept & stored.keys()]).delete()
    keys: dict[str, str] = {}
    written = []
    for place, question in enumerate(checked.questions):
        content = list_content(question)
        if question.rule is not None:
            content["rule"] = rename(question.rule, partial(rename_question, names=keys))
        if question.same_fact is not None:
            content["same_fact"] = int(keys[str(question.same_fact)])
        # A text may occur twice, but only one of its copies keeps the stored row.
        row = stored.pop(_identify(question), None) or Question(
            survey=survey, position=_NEW + place
        )
        for name, value in content.items():
            setattr(row, name, value)
        row.save()
        keys[str(question.pk)] = str(row.pk)
        written.append(row)
    place_questions(written)
    return keys


def _identify(question: Question) -> tuple[str, str]:
    """Identify a question by its name, or an information text, which has no name, by its words."""
    return question.name, "" if question.name else question.text


def _refer(release: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    group = release["group"]
    return {
        **release,
        "questions": [int(keys[str(key)]) for key in release["questions"]],
        "group": None if group is None else int(keys[str(group)]),
    }


def _write_plans(plans: Any, wanted: list[dict[str, Any]]) -> None:
    """Keep stored plans up to the first difference, delete the others, and create the rest."""
    stored = list(plans.all())
    same = 0
    while same < min(len(stored), len(wanted)) and all(
        getattr(stored[same], name) == value for name, value in wanted[same].items()
    ):
        same += 1
    plans.filter(pk__in=[plan.pk for plan in stored[same:]]).delete()
    for values in wanted[same:]:
        plans.create(**values)
