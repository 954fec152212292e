"""Drafts of all kinds of questions, drawn at random."""

from __future__ import annotations

from random import Random
from typing import Any

from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.manifest import Manifest
from surveys.models import Question, Survey
from tests.support.factories import make_survey

TYPES: tuple[dict[str, Any], ...] = (
    {"type": "yes_no"},
    {"type": "choice", "options": ["North", "South", "East", "West"]},
    {"type": "scale", "minimum": 1, "maximum": 5},
    {"type": "number", "minimum": 0, "maximum": 24, "unit": "hours"},
    {"type": "several", "options": ["Bus", "Bike", "Car"], "limit": 1},
    {"type": "follow_up", "follow_up": "Again?"},
    {"type": "declared", "options": ["Nurse", "Physician"]},
    {"type": "information"},
)


def texts(count: int) -> list[str]:
    """Return texts that do not resemble one another."""
    letters = Random(7)
    return ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz ", k=30)) for _ in range(count)]


def make_random(seed: int) -> Survey:
    random = Random(seed)
    count = random.randint(4, 30)
    survey = make_survey(
        questions=(),
        cap=random.choice([None, 300]),
        people_expected=random.choice([None, 250, 20_000]),
        coins=random.random() < 0.15,
    )
    firsts: list[Question] = []
    for text in texts(count):
        content = dict(random.choice(TYPES) if random.random() < 0.4 else TYPES[0])
        content |= {"text": text, "flips": random.choice((25, 40, 33, 20, 12, 5))}
        if content["type"] not in ("declared", "information"):
            content["refusal"] = random.random() < 0.3
            if firsts and random.random() < 0.2:
                content["rule"] = {"name": str(random.choice(firsts).pk), "is": [1]}
        question = add_question(survey=survey, **content)
        firsts += [question] if content["type"] == "yes_no" else []
    blocks = manifest_of(survey).block_count
    if blocks > 2 and random.random() < 0.4:
        survey.drawn = random.randint(1, blocks - 1)
        survey.save()
    return survey


def manifest_of(survey: Survey) -> Manifest:
    return build_manifest(survey=Survey.objects.get(pk=survey.pk), wave_number=1)
