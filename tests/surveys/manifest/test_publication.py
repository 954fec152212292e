"""What a survey publishes is chosen in its draft, frozen, and told to respondents."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, transaction

from surveys.authoring.drafts import describe
from surveys.authoring.services import copy_survey
from surveys.manifest.manifest import Publication
from surveys.manifest.serialization import parse_manifest, serialize_manifest
from surveys.models import Wave
from surveys.respondent.label.label import describe_protection
from tests.support.factories import make_survey, open_survey

ANYONE = (
    "The results: once the survey has closed, anyone can see estimates for everyone together, but "
    "no codes and no groups."
)
PROTECTED = Publication.PROTECTED
pytestmark = pytest.mark.django_db


def change(wave: Wave, **values: str) -> bytes:
    """Return the wave's manifest with another publication, or without any."""
    raw = json.loads(bytes(wave.manifest))
    del raw["publication"]
    text = json.dumps({**raw, **values}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


@pytest.mark.parametrize("chosen", Publication)
def test_every_new_manifest_says_what_is_published(chosen: Publication) -> None:
    wave = open_survey(survey=make_survey(publication=chosen))
    content = bytes(wave.manifest)
    assert json.loads(content)["publication"] == chosen.value
    assert wave.description.publication is chosen
    assert serialize_manifest(wave.description) == content


def test_nothing_is_published_unless_the_author_chooses_it() -> None:
    manifest = open_survey(survey=make_survey()).description
    assert manifest.publication is Publication.NONE
    assert not manifest.has_public_results


def test_a_manifest_older_than_the_key_publishes_nothing_and_keeps_its_bytes() -> None:
    old = change(open_survey(survey=make_survey()))
    manifest = parse_manifest(old)
    assert manifest.publication is None
    assert not manifest.has_public_results
    assert serialize_manifest(manifest) == old


def test_a_kind_of_publication_that_this_release_does_not_know_is_refused() -> None:
    content = change(open_survey(survey=make_survey()), publication="everything")
    with pytest.raises(ValueError, match="everything"):
        parse_manifest(content)


def test_a_protected_manifest_holds_its_limits_as_whole_numbers() -> None:
    survey = make_survey(
        publication=PROTECTED, release_epsilon_hundredths=250, release_delta_nanos=0
    )
    wave = open_survey(survey=survey)
    raw = json.loads(bytes(wave.manifest))
    assert (raw["release_epsilon_hundredths"], raw["release_delta_nanos"]) == (250, 0)
    manifest = wave.description
    assert (manifest.release_epsilon_hundredths, manifest.release_delta_nanos) == (250, 0)
    assert serialize_manifest(manifest) == bytes(wave.manifest)


@pytest.mark.parametrize("chosen", [Publication.NONE, Publication.EXACT])
def test_only_protected_manifests_name_limits(chosen: Publication) -> None:
    survey = make_survey(publication=chosen, release_epsilon_hundredths=250)
    content = bytes(open_survey(survey=survey).manifest)
    assert b"release" not in content
    limits = b'"release_delta_nanos":1000,"release_epsilon_hundredths":100,"survey"'
    with pytest.raises(ValueError, match="release_epsilon_hundredths belongs to protected"):
        parse_manifest(content.replace(b'"survey"', limits))


@pytest.mark.parametrize("name", ["release_epsilon_hundredths", "release_delta_nanos"])
@pytest.mark.parametrize("value", ["-1", "0.5", "301.0", "1001", "true", '"100"', "null"])
def test_limits_that_are_no_whole_numbers_in_their_range_are_refused(name: str, value: str) -> None:
    content = bytes(open_survey(survey=make_survey(publication=PROTECTED)).manifest).decode()
    usual = f'"{name}":{json.loads(content)[name]}'
    with pytest.raises(ValueError, match=name):
        parse_manifest(content.replace(usual, f'"{name}":{value}').encode())
    with pytest.raises(ValueError, match=name):
        parse_manifest(content.replace(usual + ",", "").encode())


@pytest.mark.parametrize("value", [9, 301])
def test_the_database_refuses_a_cap_out_of_range(value: int) -> None:
    with pytest.raises(IntegrityError, match="release_epsilon"), transaction.atomic():
        make_survey(release_epsilon_hundredths=value)


def test_people_who_toss_coins_are_told_the_same() -> None:
    survey = make_survey(publication=PROTECTED, coins=True, release_epsilon_hundredths=30)
    open_survey(survey=survey)
    coins = Wave.objects.manual().get().description
    assert coins.publishes_releases
    assert (coins.release_epsilon_hundredths, coins.release_delta_nanos) == (30, 1000)


def test_a_copy_publishes_the_same_and_is_not_switched_off() -> None:
    survey = make_survey(
        publication=PROTECTED,
        public_results_off=True,
        release_epsilon_hundredths=70,
        release_delta_nanos=5,
    )
    copied = copy_survey(survey=survey)
    assert copied.publication == PROTECTED
    assert (copied.release_epsilon_hundredths, copied.release_delta_nanos) == (70, 5)
    assert not copied.public_results_off


def test_the_label_says_what_anyone_can_see() -> None:
    exact, nothing = (
        describe_protection(describe(survey=make_survey(publication=chosen), wave_number=1)).shows
        for chosen in (Publication.EXACT, Publication.NONE)
    )
    assert set(exact) - set(nothing) == {ANYONE}
    assert set(nothing) - set(exact) == {"The results: the researchers decide who sees them."}
