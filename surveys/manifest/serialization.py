"""The bytes of a manifest: canonical JSON (sorted keys, no spaces, no floats, UTF-8).

The bytes for a launched survey are stored, served and hashed as they are, and never rewritten.
Fields at their default value are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, TypeVar, get_origin, get_type_hints

from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.modes import Mode
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option
from surveys.manifest.releases import ReleaseRequest
from surveys.manifest.scores import Score, ScoredItem, ScoredOption

FORMAT = 1
# Phones load the whole manifest, and servers keep it in compressed form in six languages.
MOST_BYTES = 256_000
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"
_Read = TypeVar("_Read", Manifest, ManifestQuestion, Option, Score, ScoredItem, ScoredOption)
_SCORED = (Score, ScoredItem, ScoredOption)
_OF_SECOND = ("of", "bounds")


def serialize_manifest(manifest: Manifest) -> bytes:
    """Write the canonical bytes. For a launched wave, use the stored bytes instead."""
    text = json.dumps(
        {"format": FORMAT, **_list_values(manifest)},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        default=_write,
    )
    return text.encode("utf-8")


def _list_values(
    source: Manifest | ManifestQuestion | Score | ScoredItem | ScoredOption,
) -> dict[str, Any]:
    """Return the values of all fields that differ from their default."""
    values = {field: getattr(source, field.name) for field in fields(source)}
    if isinstance(source, Score) and source.of:  # the scale's own question has the items
        values = {field: value for field, value in values.items() if field.name in _OF_SECOND}
    return {field.name: value for field, value in values.items() if value != _find_default(field)}


def _find_default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _write(value: object) -> object:
    """Convert a value of a type that JSON lacks."""
    if isinstance(value, ManifestQuestion):
        return _build_question_object(value)
    if isinstance(value, _SCORED):
        return _list_values(value)
    if isinstance(value, ReleaseRequest):
        return value.to_json()
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime(_MOMENT)
    assert isinstance(value, date)
    return value.isoformat()


def _build_question_object(question: ManifestQuestion) -> dict[str, Any]:
    content = _list_values(question)
    for name in ("number", "options", "flips", "threshold"):
        content.pop(name, None)
    if question.is_answered:
        content["options"] = [{"code": o.code, "text": o.text} for o in question.options]
        content["k"] = question.k
    if question.is_scrambled:
        content |= {"flips": question.flips, "threshold": question.threshold}
    return content


def hash_manifest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(maxsize=256)
def parse_manifest(content: bytes) -> Manifest:
    """Read stored bytes. Results are cached, because equal bytes give equal manifests."""
    raw = json.loads(content)
    if raw["format"] != FORMAT:
        raise ValueError(f"manifest format must be {FORMAT}, got {raw['format']!r}")
    return _read(Manifest, raw)


def _read(kind: type[_Read], raw: dict[str, Any]) -> _Read:
    """Read the fields that the JSON contains. The other fields keep their defaults."""
    hints = _HINTS[kind].items()
    return kind(**{key: _read_value(raw[key], hint) for key, hint in hints if key in raw})


def _read_questions(raw: Sequence[dict[str, Any]]) -> tuple[ManifestQuestion, ...]:
    """Read the questions, and give a second code of a scale the items of the scale."""
    found: dict[str, ManifestQuestion] = {}
    for one in raw:
        name, score = one["name"], one.get("score", {})
        if "of" not in score:
            found[name] = _read(ManifestQuestion, one)
            continue
        first = found.get(score["of"])
        if first is None or first.score is None or first.is_second:
            raise ValueError(f"score of {name}: {score['of']} is no scale before it")
        bounds = _freeze(score.get("bounds", []))
        described = replace(first.score, bounds=bounds, of=first.name)
        unscored = {key: value for key, value in one.items() if key != "score"}
        found[name] = second = replace(_read(ManifestQuestion, unscored), score=described)
        own, expected = (
            (each.refusal, each.rule, fact)
            for each, fact in ((second, second.same_fact), (first, first.name))
        )
        if own != expected:
            raise ValueError(f"score of {name}: it must be asked as {first.name} is, as one fact")
        if [one.scale for one in found.values()].count(first.name) > 2 or second.type == first.type:
            raise ValueError(f"score of {name}: {first.name} has one or two different codes")
    return tuple(found.values())


def _read_value(value: Any, hint: Any) -> Any:
    if hint in _READERS:
        return _READERS[hint](value)
    return _freeze(value) if get_origin(hint) is tuple else value


def _freeze(value: Any) -> Any:
    """Turn the lists of JSON into tuples."""
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _parse_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)


_HINTS: dict[Any, dict[str, Any]] = {
    kind: get_type_hints(kind) for kind in (Manifest, ManifestQuestion, Option, *_SCORED)
}
# Readers for the types that JSON lacks.
_READERS: dict[Any, Callable[[Any], Any]] = {
    datetime | None: _parse_moment,
    date | None: date.fromisoformat,
    Mode: Mode,
    Publication | None: Publication,
    QuestionType: QuestionType,
    tuple[ManifestQuestion, ...]: _read_questions,
    tuple[ReleaseRequest, ...] | None: lambda raw: tuple(map(ReleaseRequest.from_json, raw)),
    Score | None: lambda raw: _read(Score, raw),
    tuple[ScoredItem, ...]: lambda raw: tuple(_read(ScoredItem, one) for one in raw),
    tuple[ScoredOption, ...]: lambda raw: tuple(_read(ScoredOption, one) for one in raw),
    tuple[Option, ...]: lambda raw: tuple(_read(Option, one) for one in raw),
}
