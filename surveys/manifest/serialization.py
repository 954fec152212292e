"""The bytes of a manifest: canonical JSON (sorted keys, no spaces, no floats, UTF-8).

They are stored, served and hashed as they are, and never written a second time. Keys without
information are left out.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from surveys.manifest.manifest import Manifest, Publication
from surveys.manifest.modes import Mode
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option

FORMAT = 1
# Phones load all of it, and servers keep it compressed in six languages.
MOST_BYTES = 256_000
_OPTIONAL = (
    "people_expected",
    "concentration",
    "drawn",
    "organization",
    "contact",
    "notice_url",
    "approval",
    "help_name",
    "help_phone",
    "help_url",
    "consent",
    "minimum_age",
    "shared_devices",
    "closing_message",
    "quick_exit",
    "coins",
    "release_epsilon_hundredths",
    "release_delta_nanos",
    "planned_comparisons",
    "translations",
)
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
    """Write the canonical bytes; the caller stores them and never calls this again."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "survey": manifest.survey,
        "wave": manifest.wave,
        "title": manifest.title,
        "introduction": manifest.introduction,
        "language": manifest.language,
        "minimum_batch": manifest.minimum_batch,
        "display_minimum": manifest.display_minimum,
        "opens": _format_moment(manifest.opens),
        "closes": _format_moment(manifest.closes),
        "cap": manifest.cap,
        "questions": [_describe_question(question) for question in manifest.questions],
    }
    if manifest.mode != Mode.ELECTRONIC:
        content["mode"] = manifest.mode
    if manifest.publication is not None:
        content["publication"] = manifest.publication
    if manifest.delete_on is not None:
        content["delete_on"] = manifest.delete_on.isoformat()
    if manifest.acknowledged:
        content["acknowledged"] = manifest.acknowledged
    if manifest.asked_elsewhere:
        content["asked_elsewhere"] = manifest.asked_elsewhere
    content |= _describe(manifest, _OPTIONAL)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def _describe_question(question: ManifestQuestion) -> dict[str, Any]:
    content: dict[str, Any] = {"name": question.name, "type": question.type, "text": question.text}
    if question.is_answered:
        content["options"] = [{"code": o.code, "text": o.text} for o in question.options]
        content["k"] = question.k
    if question.is_protected:
        content |= {"flips": question.flips, "threshold": question.threshold}
    return content | _describe(question, _OPTIONAL_OF_QUESTIONS)


def _describe(source: Manifest | ManifestQuestion, keys: tuple[str, ...]) -> dict[str, Any]:
    """The values that say something, by key."""
    values = {key: getattr(source, key) for key in keys}
    return {key: value for key, value in values.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    """Whether a value says nothing; the number 0 does."""
    return value is None or value is False or value in ("", {}, ())


def hash_manifest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(maxsize=256)
def parse_manifest(content: bytes) -> Manifest:
    """Read stored bytes; cached, because the same bytes always mean the same survey."""
    raw = json.loads(content)
    if raw["format"] != FORMAT:
        raise ValueError(f"manifest format must be {FORMAT}, got {raw['format']!r}")
    return Manifest(
        survey=raw["survey"],
        wave=raw["wave"],
        title=raw["title"],
        introduction=raw["introduction"],
        language=raw["language"],
        minimum_batch=raw["minimum_batch"],
        display_minimum=raw["display_minimum"],
        opens=_parse_moment(raw["opens"]),
        closes=_parse_moment(raw["closes"]),
        cap=raw["cap"],
        mode=Mode(raw.get("mode", Mode.ELECTRONIC)),
        publication=Publication(raw["publication"]) if "publication" in raw else None,
        delete_on=date.fromisoformat(raw["delete_on"]) if "delete_on" in raw else None,
        acknowledged=tuple(raw.get("acknowledged", ())),
        asked_elsewhere=raw.get("asked_elsewhere", 0),
        questions=tuple(map(_parse_question, raw["questions"])),
        **{key: _freeze(raw[key]) for key in _OPTIONAL if key in raw},
    )


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


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse_moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
