"""The frozen description of a launched survey, as bytes and as an object.

The bytes are canonical JSON (sorted keys, no spaces, no floats, UTF-8). They are stored,
served and hashed as they are; nothing ever writes them a second time.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from privacy.accounting import Entry, basic_epsilon
from privacy.mechanisms import RandomizedResponse

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Option:
    code: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ManifestQuestion:
    name: str
    type: str
    text: str
    flips: int
    threshold: int
    options: tuple[Option, ...]

    @property
    def k(self) -> int:
        return len(self.options)

    @cached_property
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(symbols=self.k, threshold=self.threshold)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    survey: str
    wave: int
    title: str
    introduction: str
    language: str
    minimum_batch: int
    display_minimum: int
    opens: datetime | None
    closes: datetime | None
    cap: int | None
    questions: tuple[ManifestQuestion, ...]

    @property
    def epsilon(self) -> float:
        """Basic sum over all questions, in nats, never below the true sum: the headline."""
        if not self.questions:
            return 0.0
        return basic_epsilon(
            [
                Entry(name=question.name, epsilon=question.mechanism.epsilon)
                for question in self.questions
            ]
        )


def _format_moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse_moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


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
        "questions": [
            {
                "name": question.name,
                "type": question.type,
                "text": question.text,
                "flips": question.flips,
                "k": question.k,
                "threshold": question.threshold,
                "options": [{"code": o.code, "text": o.text} for o in question.options],
            }
            for question in manifest.questions
        ],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


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
        questions=tuple(
            ManifestQuestion(
                name=question["name"],
                type=question["type"],
                text=question["text"],
                flips=question["flips"],
                threshold=question["threshold"],
                options=tuple(Option(code=o["code"], text=o["text"]) for o in question["options"]),
            )
            for question in raw["questions"]
        ),
    )
