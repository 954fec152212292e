"""Manifests for tests of the privacy label, and the rules that its words keep to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, with_strength
from tests.support.factories import FOLLOW_UP, YES_NO

FORBIDDEN = re.compile(
    r"anonym|\blie[sd]?\b|\blying\b|false answer|\bfake|\bnois[ey]|garbl|epsilon|ε", re.IGNORECASE
)
LONGEST_SENTENCE = 20
RULE = {"name": "q1", "is": [1]}
THREE = tuple(Option(code=code, text=f"Row {code}") for code in range(3))
ITEMS = tuple(Option(code=code, text=f"Row {code}") for code in (1, 2, 3))


def survey(*questions: ManifestQuestion, cap: int | None = None) -> Manifest:
    return Manifest(
        survey="abc",
        wave=1,
        title="On the road",
        introduction="",
        language="en",
        minimum_batch=50,
        display_minimum=100,
        opens=None,
        closes=None,
        cap=cap,
        questions=tuple(
            replace(each, name=f"q{number}") for number, each in enumerate(questions, start=1)
        ),
    )


def sentences(html: str) -> Iterator[str]:
    html = re.sub(r'{% translate "([^"]*)"[^%]*%}', r"\1", html)
    html = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", html, flags=re.DOTALL)
    for block in re.split(r"</?(?:p|dt|dd|h1|h2|div|br|span|b|button|title|section)\b[^>]*>", html):
        text = " ".join(re.sub(r"<[^>]*>", " ", block).split())
        yield from (part for part in re.split(r"(?<=[.?!]) ", text) if part)


def make(kind: str, *, flips: int = 25, text: str = "Driven?", **content: Any) -> ManifestQuestion:
    usual: dict[str, dict[str, Any]] = {
        "yes_no": {"options": YES_NO},
        "choice": {"options": THREE},
        "scale": {"options": THREE, "minimum": 1, "maximum": 3},
        "several": {"options": ITEMS},
        "number": {"minimum": 0, "maximum": 24, "unit": "hours"},
        "follow_up": {"options": FOLLOW_UP, "follow_up": "And now?"},
        "declared": {"options": THREE},
        "information": {},
    }
    question = ManifestQuestion(
        name="", type=QuestionType(kind), text=text, **(usual[kind] | content)
    )
    return with_strength(question, flips=flips)
