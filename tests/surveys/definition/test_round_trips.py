"""Exporting a draft to JSON and importing it changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from surveys.authoring.drafts import build_manifest, build_words
from surveys.definition.creating import create_draft
from surveys.definition.exporting import export_definition
from surveys.definition.parsing import parse_definition
from surveys.definition.replacing import hash_definition, replace_draft
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Survey
from tests.support.factories import make_survey, make_user
from tests.support.question_forms import GOOD
from tests.support.random_drafts import make_random_draft

pytestmark = pytest.mark.django_db
REPLACED = 3  # only every third draft also replaces another draft, because replacing takes a while


def _freeze(survey: Survey, *, like: Survey) -> tuple[bytes, dict[str, str]]:
    manifest = replace(build_manifest(survey=survey, wave_number=1), survey=like.slug)
    return serialize_manifest(manifest), build_words(survey=survey, manifest=manifest)


def _check_round_trip(seed: int, stored: Survey) -> set[str]:
    """Create a random draft again from its definition, and replace a stored draft with it."""
    user = make_user()
    draft = make_random_draft(Random(seed), owner=user)
    content = export_definition(draft)
    copy = Survey.objects.get(pk=create_draft(parse_definition(content), owner=user).pk)
    assert _freeze(copy, like=draft) == _freeze(draft, like=draft)
    assert export_definition(copy) == content
    if seed % REPLACED == 0:
        read = {hash_definition(export_definition(stored))}
        replaced = replace_draft(survey=stored, definition=parse_definition(content), read=read)
        assert _freeze(replaced, like=draft) == _freeze(draft, like=draft)
        assert export_definition(replaced) == content
    found = json.loads(content)
    return {
        *(key for key, value in found.items() if value),
        *(key for question in found["questions"] for key in question),
        *(f"{question['type']}" for question in found["questions"]),
    }


@pytest.mark.parametrize(
    ("first", "count"), [(14, 8), pytest.param(22, 20, marks=pytest.mark.long)]
)
def test_random_drafts_come_back_with_the_same_manifest(first: int, count: int) -> None:
    stored = make_survey()
    seen: set[str] = set()
    for seed in range(first, first + count):
        seen |= _check_round_trip(seed, Survey.objects.get(pk=stored.pk))
    assert seen >= {
        *("settings", "translations", "planned_comparisons", "planned_releases", *GOOD, "second"),
        *("rule", "same_fact", "limit", "unit", "source_name", "label", "refusal", "together"),
    }
