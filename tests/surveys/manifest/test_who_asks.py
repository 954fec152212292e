"""Who asks, who helps, and what people agree to: frozen, copied and translated."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from surveys.authoring.drafts import build_manifest, build_words
from surveys.authoring.services import copy_survey
from surveys.manifest.languages import list_texts, translate_manifest
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Survey
from tests.support.factories import make_survey, open_survey

CARE: dict[str, Any] = {
    "organization": "Murmur demo",
    "contact": "Room 12, or ask@example.org",
    "notice_url": "https://example.org/privacy",
    "approval": "EK 2026/114",
    "help_name": "Helpline",
    "help_phone": "112",
    "help_url": "https://example.org/help",
    "consent": "You may stop.\n\nNobody asks why.",
    "minimum_age": 18,
    "shared_devices": True,
    "confirm_answers": True,
}


def manifest_of(survey: Survey) -> Manifest:
    return build_manifest(survey=survey, wave_number=1)


def test_who_asks_and_who_helps_is_frozen(db: None) -> None:
    survey = make_survey(**CARE, may_decline=True)
    content = serialize_manifest(manifest_of(survey))
    assert json.loads(content).items() >= CARE.items()
    assert "may_decline" not in json.loads(content)  # each question has its own setting
    assert serialize_manifest(parse_manifest(content)) == content
    assert parse_manifest(content) == manifest_of(survey)
    copied = copy_survey(survey=survey)
    # The approval was given for the other study, so it is not copied.
    assert {name: getattr(copied, name) for name in CARE} == {**CARE, "approval": ""}
    assert copied.may_decline


def test_the_day_of_deletion_is_frozen_also_for_coins_and_not_copied(db: None) -> None:
    day = (timezone.now() + timedelta(days=30)).date()
    survey = make_survey(delete_on=day, coins=True)
    open_survey(survey=survey)
    for wave in survey.waves.all():
        content = bytes(wave.manifest)
        assert json.loads(content)["delete_on"] == day.isoformat()
        assert serialize_manifest(parse_manifest(content)) == content
        assert wave.delete_on == wave.description.delete_on == day
    assert survey.waves.count() == 2
    assert copy_survey(survey=survey).delete_on is None


@pytest.mark.parametrize("day", ['"2027-02-30"', '"soon"', "20270331", "null"])
def test_a_manifest_with_a_day_that_does_not_exist_is_refused(db: None, day: str) -> None:
    survey = make_survey(delete_on=date(2027, 3, 31))
    content = serialize_manifest(manifest_of(survey)).decode()
    with pytest.raises((TypeError, ValueError)):
        parse_manifest(content.replace('"2027-03-31"', day).encode())


def test_without_them_a_manifest_has_none_of_their_keys(db: None) -> None:
    content = serialize_manifest(manifest_of(make_survey()))
    assert {*CARE, "delete_on"}.isdisjoint(json.loads(content))
    manifest = parse_manifest(content)
    assert not any(getattr(manifest, name) for name in CARE)


def test_only_words_are_translated(db: None) -> None:
    survey = make_survey(**CARE, questions=())
    words = [CARE[name] for name in ("organization", "contact", "consent", "help_name")]
    assert [source.text for source in list_texts(manifest_of(survey))] == [survey.title, *words]
    survey.contact = "ask@example.org"
    assert survey.contact not in [source.text for source in list_texts(manifest_of(survey))]
    texts = {word: f"fr: {word}" for word in words}
    survey.translations.create(language="fr", texts=texts)
    survey.contact = CARE["contact"]
    manifest = manifest_of(survey)
    french = translate_manifest(manifest, "fr", build_words(survey=survey, manifest=manifest)["fr"])
    assert [french.organization, french.contact, french.consent, french.help_name] == [
        *texts.values()
    ]
    assert (french.help_phone, french.help_url) == (CARE["help_phone"], CARE["help_url"])
