"""The JSON Schema of definitions, built from the forms and models that define each limit."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django import forms
from django.db import models

from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.authoring.forms import QUESTION_FORMS, QuestionForm
from surveys.comparing.choice import MAX_PREDICTORS
from surveys.definition.format import FORMAT, SETTINGS_IN_FILES, VERSION
from surveys.form_fields import Lines, PlainText, WholeNumber
from surveys.manifest.languages import LANGUAGES
from surveys.manifest.manifest import (
    LEAST_RELEASE_EPSILON,
    MOST_RELEASE_DELTA,
    MOST_RELEASE_EPSILON,
)
from surveys.manifest.names import MAX_LABEL_LENGTH, MAX_NAME_LENGTH, MAX_SOURCE_LENGTH
from surveys.manifest.question_types import TYPES
from surveys.manifest.scores import Output
from surveys.models import MAX_QUESTIONS, Question, Survey
from surveys.models.planned_comparisons import MAX_PLANNED
from surveys.models.settings import SETTINGS
from surveys.releasing.choice import MOST_PERCENT, MOST_PLANNED, PLANNABLE

Schema = dict[str, Any]
# Matches the end of the text. In Python, $ would also match before a final line break.
_END = r"(?![\s\S])"
# Control characters, lone surrogates, and characters that reorder text.
_REFUSED = r"\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
LINE = rf"^[^\u0000-\u001f{_REFUSED}]*{_END}"
LINES = rf"^[^\u0000-\u0009\u000b-\u001f{_REFUSED}]*{_END}"
_NAME = "[a-z][a-z0-9]*(_[a-z0-9]+)*"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MOMENT = rf"^{_DAY}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?Z{_END}"
_FURTHEST_LIMITS = {
    "release_epsilon_hundredths": (LEAST_RELEASE_EPSILON, MOST_RELEASE_EPSILON),
    "release_delta_nanos": (0, MOST_RELEASE_DELTA),
}
_NAMED = {"$ref": "#/$defs/name"}


@lru_cache(maxsize=1)
def build_schema() -> Schema:
    """Build the schema of version 1. Callers must not change it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A survey of Murmur",
        "type": "object",
        "required": ["format", "version", "title", "questions"],
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "title": _describe_setting("title"),
            "settings": {
                "type": "object",
                "additionalProperties": False,
                "properties": {name: _describe_setting(name) for name in SETTINGS_IN_FILES},
            },
            "questions": {
                "type": "array",
                "maxItems": MAX_QUESTIONS,
                "items": {"$ref": "#/$defs/question"},
            },
            "translations": {
                "type": "object",
                "propertyNames": {"enum": [code for code, _ in LANGUAGES]},
                "additionalProperties": {
                    "type": "object",
                    "propertyNames": _text(_longest_text(), LINES),
                    "additionalProperties": _text(_longest_text(), LINES),
                },
            },
            "planned_comparisons": {
                "type": "array",
                "maxItems": MAX_PLANNED,
                "items": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": MAX_PREDICTORS + 1,
                    "items": {
                        "type": "string",
                        "pattern": rf"^{_NAME}(\.[a-z0-9_]+(\.[0-9]+)?)?{_END}",
                        "description": "Write a name, or a name with an answer, such as work.2.",
                    },
                },
            },
            "planned_releases": {
                "type": "array",
                "maxItems": MOST_PLANNED,
                "items": {"$ref": "#/$defs/release"},
            },
        },
        "$defs": {
            "name": {
                "type": "string",
                "maxLength": MAX_NAME_LENGTH,
                "pattern": f"^{_NAME}{_END}",
                "description": "A name consists of small letters a to z, digits and single "
                "underscores between them, and begins with a letter.",
            },
            "rule": _describe_rule(),
            "question": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"enum": list(QUESTION_FORMS)}},
                "allOf": [
                    {
                        "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                        "then": {"$ref": f"#/$defs/{name}"},
                    }
                    for name in QUESTION_FORMS
                ],
            },
            **{name: _describe_question(name, form) for name, form in QUESTION_FORMS.items()},
            "release": {
                "type": "object",
                "required": ["kind", "questions", "epsilon_hundredths"],
                "additionalProperties": False,
                "properties": {
                    "kind": {"enum": [str(kind.value) for kind in PLANNABLE]},
                    "questions": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MAX_QUESTIONS,
                        "uniqueItems": True,
                        "items": _NAMED,
                    },
                    "epsilon_hundredths": _whole(1, MOST_RELEASE_EPSILON),
                    "answer": _whole(0, MAX_SYMBOLS),
                    "percent": _whole(1, MOST_PERCENT),
                    "group": _NAMED,
                },
            },
        },
    }


def _describe_rule() -> Schema:
    """Describe a stored rule, which is a condition on one question or joins other rules."""
    itself = {"$ref": "#/$defs/rule"}
    several = {"type": "array", "minItems": 2, "items": itself}
    shapes = [["name", "is"], ["all"], ["any"], ["not"]]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "name": {
                "type": "string",
                "maxLength": MAX_NAME_LENGTH + len("_20"),
                "pattern": f"^{_NAME}{_END}",
                "description": "Write the name of a question, or of an item, such as drinks_1.",
            },
            "is": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_SYMBOLS,
                "uniqueItems": True,
                "items": _whole(0, MAX_SYMBOLS - 1),
            },
            "all": several,
            "any": several,
            "not": itself,
        },
        "oneOf": [{"required": keys, "maxProperties": len(keys)} for keys in shapes],
        "description": 'Write {"name": …, "is": […]}, {"all": […]}, {"any": […]} or {"not": …}.',
    }


def _describe_question(name: str, form: type[QuestionForm]) -> Schema:
    """Describe a type of question by the fields of its form."""
    fields = {key: field for key, field in form.base_fields.items() if key in Question.CONTENT}
    described: Schema = {"type": {"const": name}}
    required = ["type", *(key for key, field in fields.items() if field.required)]
    if TYPES[name].is_answered:
        described |= {
            "name": _NAMED,
            "source_name": _text(MAX_SOURCE_LENGTH, LINE),
            "label": _text(MAX_LABEL_LENGTH, LINE, empty=True),
        }
        required.append("name")
    fields.pop("name", None)
    fields.pop("short_label", None)
    described |= {key: _describe_field(key, field) for key, field in fields.items()}
    # Importers write flips for every question. Flips have no effect if nothing is scrambled.
    described["flips"] = _whole(1, 49)
    return {
        "type": "object",
        "required": [key for key in required if key in described],
        "additionalProperties": False,
        "properties": described,
    }


def _describe_field(key: str, field: forms.Field) -> Schema:
    if key == "rule":
        return {"$ref": "#/$defs/rule"}
    if key == "same_fact":
        return _NAMED
    if isinstance(field, Lines):
        return {
            "type": "array",
            "minItems": field.least,
            "maxItems": field.most,
            "uniqueItems": True,
            "items": _text(field.longest, LINE),
        }
    if isinstance(field, PlainText):
        assert field.max_length is not None
        pattern = LINES if field.lines else LINE
        return _text(field.max_length, pattern, empty=not field.required)
    if isinstance(field, WholeNumber):
        assert isinstance(field.min_value, int)
        assert isinstance(field.max_value, int)
        return _whole(field.min_value, field.max_value)
    if isinstance(field, forms.BooleanField):
        return {"type": "boolean"}
    if key == "output":
        return {"enum": list(Output.values)}
    assert isinstance(field, forms.TypedChoiceField)  # flips, which the caller describes
    return {}


def _describe_setting(name: str) -> Schema:
    """Describe a setting by its model field, with the default that applies if it is left out."""
    stored = Survey._meta.get_field(name)
    assert isinstance(stored, models.Field)
    described = _describe_stored(name, stored)
    if stored.null:
        described |= {"type": [described["type"], "null"], "default": None}
    elif name != "title":
        described["default"] = stored.get_default()
    return described


def _describe_stored(name: str, stored: models.Field[Any, Any]) -> Schema:
    if isinstance(stored, models.BooleanField):
        return {"type": "boolean"}
    if isinstance(stored, models.DateTimeField):
        return {
            "type": "string",
            "pattern": _MOMENT,
            "description": "Write a moment in UTC, such as 2027-03-31T18:00:00Z.",
        }
    if isinstance(stored, models.DateField):
        return {
            "type": "string",
            "pattern": f"^{_DAY}{_END}",
            "description": "Write a date, such as 2027-03-31.",
        }
    if stored.choices:
        return {"enum": [str(value) for value, _ in stored.flatchoices]}
    if isinstance(stored, models.IntegerField):
        return _whole(*(_FURTHEST_LIMITS.get(name) or SETTINGS[name].limits))
    assert stored.max_length is not None
    pattern = LINES if isinstance(stored, models.TextField) else LINE
    return _text(stored.max_length, pattern, empty=stored.blank)


def _text(longest: int, pattern: str, *, empty: bool = False) -> Schema:
    return {
        "type": "string",
        "minLength": 0 if empty else 1,
        "maxLength": longest,
        "pattern": pattern,
        "description": "This has an invisible character that is not allowed"
        + (". Delete it." if pattern == LINES else ", or a line break. Delete it."),
    }


def _whole(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _longest_text() -> int:
    """Return the length of the longest text that can be translated."""
    stored = (Survey._meta.get_field(name) for name in SETTINGS_IN_FILES)
    return max(one.max_length or 0 for one in stored if isinstance(one, models.Field))
