"""Describe the draft that a definition becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surveys.authoring.answer_options import number_all
from surveys.authoring.pasting.preview import Row, describe_new
from surveys.formatting import join_list
from surveys.manifest.languages import name_language
from surveys.models import Question


def list_rows(questions: Sequence[Question]) -> list[Row]:
    """List the questions of a valid definition, as the preview of pasted questions does."""
    return [
        Row(
            lines=question.name,
            text=question.text,
            answers=tuple(question.options),
            became=describe_new(number, question, questions),
        )
        for number, question in number_all(questions)
    ]


def describe_rest(definition: Mapping[str, Any]) -> str:
    """Say what the definition contains besides questions, if anything."""
    counts = {
        "setting": len(definition.get("settings", {})),
        "planned comparison": len(definition.get("planned_comparisons", ())),
        "planned release": len(definition.get("planned_releases", ())),
    }
    parts = [f"{count} {what}{'s' * (count > 1)}" for what, count in counts.items() if count]
    languages = [name_language(code) for code in definition.get("translations", {})]
    parts += [f"translations into {join_list(languages)}"] * bool(languages)
    return f"With {join_list(parts)}." if parts else ""
