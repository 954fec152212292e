"""Manifests without a survey."""

from __future__ import annotations

from random import Random
from typing import Any

from surveys.manifest.manifest import NOT_DRAWN, Manifest, Publication
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength


def make_manifest(*questions: ManifestQuestion, **changes: Any) -> Manifest:
    """Make a manifest of these questions, small enough for tests; `changes` are other fields."""
    usual: dict[str, Any] = {
        "survey": "abcdefghijkm",
        "wave": 1,
        "title": "On the road",
        "introduction": "",
        "language": "en",
        "minimum_batch": 10,
        "display_minimum": 10,
        "opens": None,
        "closes": None,
        "cap": None,
    }
    return Manifest(questions=questions, **usual | changes)


def protect(*questions: ManifestQuestion, delta: int = 1000, **changes: Any) -> Manifest:
    """Make a manifest whose releases may spend ε = 3 and δ = `delta` · 10⁻⁹."""
    return make_manifest(
        *questions,
        publication=Publication.PROTECTED,
        release_epsilon_hundredths=300,
        release_delta_nanos=delta,
        **changes,
    )


def any_report(manifest: Manifest, source: Random) -> bytes:
    """Draw any codes that the server accepts, whether or not they fit together."""
    asked = set(range(manifest.block_count))
    if manifest.drawn is not None:
        asked = set(source.sample(sorted(asked), manifest.drawn))
    return bytes(
        source.randrange(symbol.k) if symbol.block is None or symbol.block in asked else NOT_DRAWN
        for symbol in manifest.symbols
    )


def make_question(
    type_: str = "yes_no", *, options: int = 2, flips: int = 25, **more: Any
) -> ManifestQuestion:
    first = 1 if type_ == "several" else 0
    question = ManifestQuestion(
        name=more.pop("name", "q1"),
        type=QuestionType(type_),
        text="Q?",
        options=tuple(Option(code=first + i, text=f"Option {i}") for i in range(options)),
        **more,
    )
    return with_strength(question, flips=flips)
