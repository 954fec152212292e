"""The bytes of a manifest: canonical JSON (sorted keys, no spaces, no floats, UTF-8).

They are stored, served and hashed as they are, and never written a second time. Keys without
information are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, get_type_hints

from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.modes import Mode
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option

FORMAT = 1
# Phones load all of it, and servers keep it compressed in six languages.
MOST_BYTES = 256_000
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"
_OPTIONAL_OF_QUESTIONS = (
    "refusal",
    "rule",
    "minimum",
    "maximum",
    "unit",
    "low_label",
    "high_label",
    "limit",
    "gate_threshold",
    "follow_up",
    "same_fact",
)


def serialize_manifest(manifest: Manifest) -> bytes:
    """Write the canonical bytes; the caller stores them and never calls this again.

    A field with a default is left out where it has it.
    """
    values = {field: getattr(manifest, field.name) for field in fields(Manifest)}
    content = {
        field.name: value for field, value in values.items() if value != _find_default(field)
    }
    text = json.dumps(
        {"format": FORMAT, **content},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        default=_write,
    )
    return text.encode("utf-8")


def _find_default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _write(value: object) -> object:
    """Write what JSON does not know."""
    if isinstance(value, ManifestQuestion):
        return _build_question_object(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime(_MOMENT)
    assert isinstance(value, date)
    return value.isoformat()


def _build_question_object(question: ManifestQuestion) -> dict[str, Any]:
    content: dict[str, Any] = {"name": question.name, "type": question.type, "text": question.text}
    if question.is_answered:
        content["options"] = [{"code": o.code, "text": o.text} for o in question.options]
        content["k"] = question.k
    if question.is_scrambled:
        content |= {"flips": question.flips, "threshold": question.threshold}
    values = {key: getattr(question, key) for key in _OPTIONAL_OF_QUESTIONS}
    return content | {key: value for key, value in values.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    """Whether a value says nothing; the number 0 does."""
    return value is None or value is False or value == ""


def hash_manifest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(maxsize=256)
def parse_manifest(content: bytes) -> Manifest:
    """Read stored bytes; cached, because the same bytes always mean the same survey."""
    raw = json.loads(content)
    if raw["format"] != FORMAT:
        raise ValueError(f"manifest format must be {FORMAT}, got {raw['format']!r}")
    return Manifest(**{key: _read(raw[key], hint) for key, hint in _HINTS.items() if key in raw})


def _read(value: Any, hint: object) -> Any:
    """Read a value of this type from JSON."""
    read = _READERS.get(hint)
    return _freeze(value) if read is None else read(value)


def _freeze(value: Any) -> Any:
    """JSON has lists where an object of ours has tuples."""
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _parse_question(raw: dict[str, Any]) -> ManifestQuestion:
    return ManifestQuestion(
        name=raw["name"],
        type=QuestionType(raw["type"]),
        text=raw["text"],
        flips=raw.get("flips", 0),
        threshold=raw.get("threshold"),
        options=tuple(Option(code=o["code"], text=o["text"]) for o in raw.get("options", ())),
        **{key: raw[key] for key in _OPTIONAL_OF_QUESTIONS if key in raw},
    )


def _parse_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)


_HINTS = get_type_hints(Manifest)
# For types that JSON does not know.
_READERS: dict[object, Callable[[Any], object]] = {
    datetime | None: _parse_moment,
    date | None: date.fromisoformat,
    Mode: Mode,
    Publication | None: Publication,
    tuple[ManifestQuestion, ...]: lambda raw: tuple(map(_parse_question, raw)),
}
