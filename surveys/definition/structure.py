"""Compare a document with the JSON Schema, and describe the differences in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from surveys.definition.format import FORMAT, VERSION, InvalidDefinition, Problem, point
from surveys.definition.parsing import TOO_DEEP, measure
from surveys.definition.schema import build_schema
from surveys.form_fields import write_number
from surveys.formatting import join_list

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

MOST_PROBLEMS = 100
_TYPES = {
    "object": "an object, {…}",
    "array": "a list, […]",
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


@lru_cache(maxsize=1)
def _build_validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # slow to import

    return Draft202012Validator(build_schema())


def find_structure_problems(definition: Any) -> list[Problem]:
    """List the places in which a document differs from the schema, up to MOST_PROBLEMS.

    Raises InvalidDefinition if the document is not a definition of this version or is too large to
    compare.
    """
    problems = measure(definition)
    _check_version(definition)
    errors = _build_validator().iter_errors(definition)
    found = (problem for error in errors for problem in _describe(error))
    try:
        problems += islice(found, MOST_PROBLEMS)
    except RecursionError:
        raise InvalidDefinition([Problem(pointer="", text=TOO_DEEP)]) from None
    return list(dict.fromkeys(problems))


def _check_version(definition: Any) -> None:
    if not isinstance(definition, dict) or definition.get("format") != FORMAT:
        text = f'This is not a definition: "format" is not "{FORMAT}".'
        raise InvalidDefinition([Problem(pointer="", text=text)])
    version = definition.get("version")
    if isinstance(version, bool) or version != VERSION:
        text = f"This server reads version {VERSION}. The file has a different version."
        raise InvalidDefinition([Problem(pointer="/version", text=text)])


def _describe(error: ValidationError) -> Iterator[Problem]:
    path, schema = tuple(error.absolute_path), error.schema
    assert isinstance(schema, dict)
    if error.validator == "required":
        # The library names one missing key in each error, in quotation marks.
        missing = [key for key in error.validator_value if error.message.startswith(f"'{key}' ")]
        yield from (_at(path, f"“{key}” is missing.") for key in missing)
    elif error.validator == "additionalProperties":
        for key in error.instance.keys() - schema["properties"].keys():
            yield _at((*path, key), "This key is not known here.")
    elif error.validator in ("pattern", "minLength", "maxLength", "enum") and (
        error.parent is None and "propertyNames" in error.absolute_schema_path
    ):
        yield _at((*path, error.instance), f"The key is wrong: {_say(error, schema)}")
    elif error.validator not in ("minimum", "maximum") or isinstance(error.instance, int):
        yield _at(path, _say(error, schema))  # a number that is not whole has its own error


def _say(error: ValidationError, schema: dict[str, Any]) -> str:
    limit, instance = error.validator_value, error.instance
    match error.validator:
        case "type":
            names = [limit] if isinstance(limit, str) else limit
            return f"This must be {' or '.join(_TYPES[name] for name in names)}."
        case "const":
            return f"This must be {limit}."
        case "enum":
            return f"This must be one of {join_list(list(map(str, limit)))}."
        case "minimum" | "maximum":
            low, high = write_number(schema["minimum"]), write_number(schema["maximum"])
            return f"This must be a whole number from {low} to {high}."
        case "minLength":
            return "This must not be empty."
        case "maxLength":
            return f"This has {len(instance)} characters. Shorten it to {limit} or fewer."
        case "minItems":
            return f"The list must have at least {limit} entries. It has {len(instance)}."
        case "maxItems":
            return f"The list can have {limit} entries at most. It has {len(instance)}."
        case "uniqueItems":
            return "The list has an entry twice. Delete one of them."
        case _:  # pattern and oneOf
            return str(schema["description"])


def _at(path: tuple[str | int, ...], text: str) -> Problem:
    return Problem(pointer=point(*path), text=text)
