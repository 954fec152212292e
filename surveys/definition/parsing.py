"""Read the bytes of a definition as JSON, and reject content that no definition needs.

Python's parser accepts more than JSON allows, and the checks of a large or deeply nested document
could take minutes. Documents are therefore measured before the schema is applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from surveys.definition.format import MOST_BYTES, InvalidDefinition, Problem, point

# A rule may be nested as deeply as authors can write it, with two levels for each bracket.
MOST_LEVELS = 100
MOST_VALUES = 50_000
MOST_ENTRIES = 100  # the most entries of a list
LONGEST_KEY = 10_000
TOO_DEEP = f"It is nested more than {MOST_LEVELS} levels deep."
_EXACT = 2**53


class _Object(dict[str, Any]):
    """A JSON object that remembers its duplicate keys."""

    twice: tuple[str, ...] = ()


def _build_object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        found.twice = tuple(dict.fromkeys(k for k, _ in pairs if k in seen or seen.add(k)))  # type: ignore[func-returns-value]
    return found


def _read_number(text: str) -> float | int:
    """Read a number. 25.0 becomes 25, because JSON does not distinguish the two."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def parse_definition(content: bytes) -> Any:
    """Parse the bytes. Raises InvalidDefinition if they are not JSON or are too long."""
    if len(content) > MOST_BYTES:
        raise _refuse(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refuse(f"Byte {error.start + 1} is not UTF-8. Save the file as UTF-8.") from None
    try:
        return json.loads(text, object_pairs_hook=_build_object, parse_float=_read_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _refuse(f"This is not JSON: {error.msg} ({where}).") from None
    except RecursionError:
        raise _refuse(TOO_DEEP) from None
    except ValueError:  # Python refuses to read numbers with thousands of digits
        raise _refuse("A number has too many digits.") from None


def _refuse(text: str) -> InvalidDefinition:
    return InvalidDefinition([Problem(pointer="", text=text)])


def measure(definition: Any) -> list[Problem]:
    """List duplicate keys. Raises InvalidDefinition if the checks would take too long."""
    problems: list[Problem] = []
    values = 0
    left: list[tuple[Any, tuple[str | int, ...]]] = [(definition, ())]
    while left:
        value, path = left.pop()
        values += 1
        if values > MOST_VALUES:
            raise _refuse(f"It has more than {MOST_VALUES:,} values.")
        if len(path) > MOST_LEVELS:
            raise _refuse(TOO_DEEP)
        if isinstance(value, list) and len(value) > MOST_ENTRIES:
            text = f"The list has {len(value):,} entries. It can have {MOST_ENTRIES} at most."
            raise InvalidDefinition([Problem(pointer=point(*path), text=text)])
        if isinstance(value, dict):
            problems += _find_bad_keys(value, path)
        left += [(inner, (*path, key)) for key, inner in _list_inner(value)]
    return problems


def _find_bad_keys(value: dict[Any, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    for key in value:
        if not isinstance(key, str) or len(key) > LONGEST_KEY or not _is_text(key):
            text = "A key is too long, or contains an incomplete character."
            raise InvalidDefinition([Problem(pointer=point(*path), text=text)])
    for key in getattr(value, "twice", ()):
        yield Problem(
            pointer=point(*path, key), text="This key appears twice. Delete one of the two."
        )


def _is_text(key: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in key)


def _list_inner(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []
