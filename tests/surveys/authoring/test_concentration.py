"""What a survey's watched intervals are best at is chosen once, before it opens, and frozen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.manifest.coins import derive_coin_manifest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Wave
from tests.support.factories import make_survey
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("settings", "concentration"),
    [
        ({}, 150),
        ({"people_expected": 10}, 40),
        ({"people_expected": 100}, 40),
        ({"people_expected": 1000}, 111),
        ({"people_expected": 10**8}, 400),
        ({"cap": 900}, 100),
        ({"people_expected": 900, "cap": 3600}, 100),
    ],
    ids=[
        "unknown",
        "as few as possible",
        "few",
        "some",
        "many",
        "a cap",
        "expected counts before the cap",
    ],
)
def test_it_is_chosen_for_the_people_expected(settings: dict[str, Any], concentration: int) -> None:
    assert (
        build_manifest(survey=make_survey(**settings), wave_number=1).concentration == concentration
    )


def test_a_question_that_some_people_are_asked_gets_fewer_reports() -> None:
    survey = make_survey(questions=[], people_expected=3600, drawn=1)
    for number in range(4):
        add_question(survey=survey, text=f"Question {number}?")
    assert build_manifest(survey=survey, wave_number=1).concentration == 100


def test_it_is_frozen_at_the_launch() -> None:
    wave = make_wave(people_expected=900)
    assert json.loads(bytes(wave.manifest))["concentration"] == 100
    assert wave.description.concentration == 100


def test_manifests_older_than_the_key_stay_as_they_are() -> None:
    content = json.loads(bytes(make_wave(people_expected=900).manifest))
    del content["concentration"]
    old = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    manifest = parse_manifest(old)
    assert manifest.concentration is None
    assert serialize_manifest(manifest) == old


def test_nobody_knows_how_many_toss_coins() -> None:
    wave = make_wave(people_expected=900, coins=True)
    coins = Wave.objects.get(survey=wave.survey, mode="manual")
    assert coins.description.concentration == 150
    content = json.loads(bytes(wave.manifest))
    del content["concentration"]
    derived = derive_coin_manifest(parse_manifest(json.dumps(content).encode()))
    assert derived is not None
    assert derived.concentration is None, "nor does it invent a key for an older survey"
